// deduce_bound: rewrites a comparison as `left >= limit`, `left <= limit` or `left == limit` with
// the variable in `left`, and replaces both sides by their worst case. Then it removes operations
// from `left`, outermost first, and applies their inverses to the limit, until only the variable
// remains.

#include "arith/ends.h"
#include "arith/facts_state.h"
#include "tenon/arith/simplify.h"
#include "tenon/arith/wraps.h"
#include "tenon/tir/walk.h"

namespace tenon::arith {

using namespace tir;

namespace {

enum class BoundKind { AtLeast, AtMost, Equal };

BoundKind reversed(BoundKind kind) {
  switch (kind) {
    case BoundKind::AtLeast:
      return BoundKind::AtMost;
    case BoundKind::AtMost:
      return BoundKind::AtLeast;
    case BoundKind::Equal:
      return BoundKind::Equal;
  }
  internal_error("bound kind outside its enumeration");
}

struct Comparison {
  BoundKind kind;
  Expr left;
  Expr limit;
};

std::size_t count_uses(const Expr& e, const Var& var) {
  std::size_t count = 0;
  walk(e, [&](const VarNode& node) { count += &node == var.as<VarNode>() ? 1 : 0; });
  return count;
}

Expr plus_constant(const Expr& e, std::int64_t value) {
  BinaryOp op = value < 0 ? BinaryOp::Sub : BinaryOp::Add;
  return fold(op, e, make_int(e.dtype(), value < 0 ? -value : value));
}

/// Returns the condition with the variable on the left; nullopt unless it is a comparison of
/// integers that do not wrap.
std::optional<Comparison> oriented(const Expr& condition, const Var& var, const Facts& facts) {
  const Binary* node = condition.as<Binary>();
  if (!node || !is_comparison(node->op) || !node->a.dtype().is_integral() ||
      wraps(condition, facts))
    return std::nullopt;
  bool flipped = !uses_var(node->a, var);
  const Expr& left = flipped ? node->b : node->a;
  const Expr& right = flipped ? node->a : node->b;
  auto make = [&](BoundKind kind, std::int64_t offset) {
    Expr limit = offset == 0 ? right : plus_constant(right, flipped ? -offset : offset);
    return Comparison{flipped ? reversed(kind) : kind, left, limit};
  };
  switch (node->op) {
    case BinaryOp::Lt:
      return make(BoundKind::AtMost, -1);
    case BinaryOp::Le:
      return make(BoundKind::AtMost, 0);
    case BinaryOp::Gt:
      return make(BoundKind::AtLeast, 1);
    case BinaryOp::Ge:
      return make(BoundKind::AtLeast, 0);
    case BinaryOp::Eq:
      return make(BoundKind::Equal, 0);
    default:
      return std::nullopt;
  }
}

/// Returns the most restrictive case over all values of the relaxed variables.
std::optional<Comparison> worst_case(const Comparison& c, const IntervalMap& relaxed,
                                     const Facts& facts) {
  Interval left = values_of(c.left, relaxed, facts);
  Interval limit = values_of(c.limit, relaxed, facts);
  if (left.is_empty() || limit.is_empty()) return std::nullopt;
  bool at_least = c.kind == BoundKind::AtLeast;
  const std::optional<Expr>& hard_left = at_least ? left.min() : left.max();
  const std::optional<Expr>& hard_limit = at_least ? limit.max() : limit.min();
  if (!hard_left || !hard_limit) return std::nullopt;
  if (c.kind == BoundKind::Equal) {
    auto is_fixed = [&](const Interval& s) {
      return s.is_point() || (s.is_bounded() && can_prove_equal(*s.min(), *s.max(), facts));
    };
    if (!is_fixed(left) || !is_fixed(limit)) return std::nullopt;
  }
  return Comparison{c.kind, *hard_left, *hard_limit};
}

class Deducer {
 public:
  Deducer(const Var& var, Comparison comparison, const IntervalMap& hint, const Facts& facts)
      : var_(var), now_(std::move(comparison)), hint_(hint), facts_(facts) {}

  std::optional<Comparison> operator()() {
    while (!now_.left.same_as(var_)) {
      const Binary* node = now_.left.as<Binary>();
      if (!node || !step(*node)) return std::nullopt;
    }
    return now_;
  }

 private:
  bool step(const Binary& node) {
    bool on_left = uses_var(node.a, var_);
    Expr target = on_left ? node.a : node.b;
    Expr other = on_left ? node.b : node.a;
    switch (node.op) {
      case BinaryOp::Add:
        now_.limit = combine(BinaryOp::Sub, now_.limit, other);
        break;
      case BinaryOp::Sub:
        if (on_left) {
          now_.limit = combine(BinaryOp::Add, now_.limit, other);
        } else {
          // For a comparison `?` with the reverse `?'`: other - target ? limit if and only if
          // target ?' -(limit - other).
          Expr difference = combine(BinaryOp::Sub, now_.limit, other);
          now_.limit = fold(BinaryOp::Sub, make_int(difference.dtype(), 0), difference);
          now_.kind = reversed(now_.kind);
        }
        break;
      case BinaryOp::Mul:
        if (!undo_product(other)) return false;
        break;
      default:
        return false;
    }
    now_.left = target;
    return true;
  }

  /// Solves target * factor ? limit. With q = floordiv(limit, factor): target <= q suffices for
  /// `<=`, and target >= q + 1 (or q, if the division is exact) for `>=`. A negative factor
  /// reverses the relation.
  bool undo_product(const Expr& factor) {
    Interval values = values_of(factor, hint_, facts_);
    bool is_positive = values.min() && can_prove_at_least(*values.min(), 1, facts_);
    bool is_negative = !is_positive && values.max() && can_prove_below(*values.max(), 0, facts_);
    if (!is_positive && !is_negative) return false;
    if (is_negative) now_.kind = reversed(now_.kind);
    Expr rest = combine(BinaryOp::FloorMod, now_.limit, factor);
    bool is_exact = can_prove(fold(BinaryOp::Eq, rest, make_int(rest.dtype(), 0)), facts_);
    now_.limit = combine(BinaryOp::FloorDiv, now_.limit, factor);
    if (is_exact) return true;
    if (now_.kind == BoundKind::Equal) return false;
    if (now_.kind == BoundKind::AtLeast) now_.limit = plus_constant(now_.limit, 1);
    return true;
  }

  const Var& var_;
  Comparison now_;
  const IntervalMap& hint_;
  const Facts& facts_;
};

}  // namespace

std::optional<Interval> deduce_bound(const Var& var, const Expr& condition, const IntervalMap& hint,
                                     const IntervalMap& relaxed, const Facts& facts) {
  if (count_uses(condition, var) != 1) return std::nullopt;
  std::optional<Comparison> comparison = oriented(condition, var, facts);
  if (comparison) comparison = worst_case(*comparison, relaxed, facts);
  if (!comparison || count_uses(comparison->left, var) != 1 || uses_var(comparison->limit, var))
    return std::nullopt;
  std::optional<Comparison> solved = Deducer(var, *comparison, hint, facts)();
  if (!solved) return std::nullopt;
  switch (solved->kind) {
    case BoundKind::AtLeast:
      return Interval::at_least(solved->limit);
    case BoundKind::AtMost:
      return Interval::at_most(solved->limit);
    case BoundKind::Equal:
      return Interval::point(solved->limit);
  }
  internal_error("bound kind outside its enumeration");
}

}  // namespace tenon::arith

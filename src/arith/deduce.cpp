// deduce_bound: rewrites a comparison as `a >= b`, `a <= b` or `a == b` with the variable in `a`,
// and replaces both sides by their worst case. Then it removes operations from `a`, outermost
// first, and applies their inverses to the limit `b`, until only the variable remains.

#include "arith/ends.h"
#include "arith/facts_state.h"
#include "tenon/arith/simplify.h"
#include "tenon/arith/wraps.h"
#include "tenon/tir/walk.h"

namespace tenon::arith {

using namespace tir;

namespace {

/// Returns the relation of b and a that is equivalent to the relation Ge, Le or Eq of a and b.
BinaryOp reversed(BinaryOp op) {
  if (op == BinaryOp::Eq) return op;
  return op == BinaryOp::Ge ? BinaryOp::Le : BinaryOp::Ge;
}

std::size_t count_uses(const Expr& e, const Var& var) {
  std::size_t count = 0;
  walk(e, [&](const VarNode& node) { count += &node == var.as<VarNode>() ? 1 : 0; });
  return count;
}

Expr plus_constant(const Expr& e, std::int64_t value) {
  BinaryOp op = value < 0 ? BinaryOp::Sub : BinaryOp::Add;
  return fold(op, e, make_int(e.dtype(), value < 0 ? -value : value));
}

/// Returns the condition with the variable on the left and the relation Ge, Le or Eq; nullopt
/// unless it is a comparison of integers that do not wrap.
std::optional<Binary> oriented(const Expr& condition, const Var& var, const Facts& facts) {
  const Binary* node = condition.as<Binary>();
  if (!node || !is_comparison(node->op) || !node->a.dtype().is_integral() ||
      wraps(condition, facts))
    return std::nullopt;
  bool flipped = !uses_var(node->a, var);
  const Expr& left = flipped ? node->b : node->a;
  const Expr& right = flipped ? node->a : node->b;
  auto make = [&](BinaryOp op, std::int64_t offset) {
    Expr limit = offset == 0 ? right : plus_constant(right, flipped ? -offset : offset);
    return Binary{flipped ? reversed(op) : op, left, limit};
  };
  switch (node->op) {
    case BinaryOp::Lt:
      return make(BinaryOp::Le, -1);
    case BinaryOp::Gt:
      return make(BinaryOp::Ge, 1);
    case BinaryOp::Le:
    case BinaryOp::Ge:
    case BinaryOp::Eq:
      return make(node->op, 0);
    default:
      return std::nullopt;
  }
}

/// Returns the most restrictive case over all values of the relaxed variables.
std::optional<Binary> worst_case(const Binary& c, const IntervalMap& relaxed, const Facts& facts) {
  Interval left = values_of(c.a, relaxed, facts);
  Interval limit = values_of(c.b, relaxed, facts);
  if (left.is_empty() || limit.is_empty()) return std::nullopt;
  bool at_least = c.op == BinaryOp::Ge;
  const std::optional<Expr>& hard_left = at_least ? left.min() : left.max();
  const std::optional<Expr>& hard_limit = at_least ? limit.max() : limit.min();
  if (!hard_left || !hard_limit) return std::nullopt;
  if (c.op == BinaryOp::Eq) {
    auto is_fixed = [&](const Interval& s) {
      return s.is_point() || (s.is_bounded() && can_prove_equal(*s.min(), *s.max(), facts));
    };
    if (!is_fixed(left) || !is_fixed(limit)) return std::nullopt;
  }
  return Binary{c.op, *hard_left, *hard_limit};
}

/// Solves target * factor ? limit for the target. With q = floordiv(limit, factor): target <= q
/// suffices for `<=`, and target >= q + 1 (or q, if the division is exact) for `>=`. A negative
/// factor reverses the relation. Returns false if the comparison cannot be solved.
bool undo_product(Binary& now, const Expr& factor, const IntervalMap& hint, const Facts& facts) {
  Interval values = values_of(factor, hint, facts);
  bool is_positive = values.min() && can_prove_at_least(*values.min(), 1, facts);
  bool is_negative = !is_positive && values.max() && can_prove_below(*values.max(), 0, facts);
  if (!is_positive && !is_negative) return false;
  if (is_negative) now.op = reversed(now.op);
  Expr rest = combine(BinaryOp::FloorMod, now.b, factor);
  bool is_exact = can_prove(fold(BinaryOp::Eq, rest, make_int(rest.dtype(), 0)), facts);
  now.b = combine(BinaryOp::FloorDiv, now.b, factor);
  if (is_exact) return true;
  if (now.op == BinaryOp::Eq) return false;
  if (now.op == BinaryOp::Ge) now.b = plus_constant(now.b, 1);
  return true;
}

/// Removes the operations from the left side until it is the variable. Returns false if the
/// comparison cannot be solved.
bool solve(Binary& now, const Var& var, const IntervalMap& hint, const Facts& facts) {
  while (!now.a.same_as(var)) {
    const Binary* node = now.a.as<Binary>();
    if (!node) return false;
    const bool on_left = uses_var(node->a, var);
    const Expr target = on_left ? node->a : node->b, other = on_left ? node->b : node->a;
    if (node->op == BinaryOp::Add) {
      now.b = combine(BinaryOp::Sub, now.b, other);
    } else if (node->op == BinaryOp::Sub && on_left) {
      now.b = combine(BinaryOp::Add, now.b, other);
    } else if (node->op == BinaryOp::Sub) {
      // For a comparison `?` with the reverse `?'`: other - target ? limit if and only if target
      // ?' -(limit - other).
      Expr difference = combine(BinaryOp::Sub, now.b, other);
      now.b = fold(BinaryOp::Sub, make_int(difference.dtype(), 0), difference);
      now.op = reversed(now.op);
    } else if (node->op != BinaryOp::Mul || !undo_product(now, other, hint, facts)) {
      return false;
    }
    now.a = target;
  }
  return true;
}

}  // namespace

std::optional<Interval> deduce_bound(const Var& var, const Expr& condition, const IntervalMap& hint,
                                     const IntervalMap& relaxed, const Facts& facts) {
  if (count_uses(condition, var) != 1) return std::nullopt;
  std::optional<Binary> comparison = oriented(condition, var, facts);
  if (comparison) comparison = worst_case(*comparison, relaxed, facts);
  if (!comparison || count_uses(comparison->a, var) != 1 || uses_var(comparison->b, var) ||
      !solve(*comparison, var, hint, facts))
    return std::nullopt;
  if (comparison->op == BinaryOp::Ge) return Interval::at_least(comparison->b);
  if (comparison->op == BinaryOp::Le) return Interval::at_most(comparison->b);
  return Interval::point(comparison->b);
}

}  // namespace tenon::arith

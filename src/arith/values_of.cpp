// Interval evaluation: every node maps the intervals of its operands to an interval that contains
// its values. Operands without relaxed variables are kept, so an expression without relaxed
// variables is a point.

#include "arith/ends.h"
#include "arith/facts_state.h"
#include "tenon/arith/simplify.h"
#include "tenon/arith/wraps.h"
#include "tenon/support/deep_stack.h"
#include "tenon/support/each_of.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/walk.h"

namespace tenon::arith {

using namespace tir;

namespace {

bool surely_at_least(const Expr& e, std::int64_t bound, const Facts& facts) {
  if (e.dtype().is_uint() && bound <= 0) return true;
  if (std::optional<std::int64_t> value = constant_int(e)) return *value >= bound;
  return can_prove_at_least(e, bound, facts);
}

Expr zero_like(const Expr& e) { return make_int(e.dtype(), 0); }
Expr one_like(const Expr& e) { return make_int(e.dtype(), 1); }
Expr minus(const Expr& e) { return fold(BinaryOp::Sub, zero_like(e), e); }

// ---- one function per family of operators; operands are neither both points nor empty -----------

Interval add(const Interval& a, const Interval& b) {
  return Interval::between(combine_if_both(BinaryOp::Add, a.min(), b.min()),
                           combine_if_both(BinaryOp::Add, a.max(), b.max()));
}

Interval subtract(const Interval& a, const Interval& b) {
  return Interval::between(combine_if_both(BinaryOp::Sub, a.min(), b.max()),
                           combine_if_both(BinaryOp::Sub, a.max(), b.min()));
}

/// Returns x op factor for x in a, where op is monotone in x and increasing for a positive factor.
Interval scale(BinaryOp op, const Interval& a, const Expr& factor, const Facts& facts) {
  // Zero divided by anything is zero, if the division is defined.
  auto scaled = [&](const std::optional<Expr>& end) {
    return end && is_zero(*end) ? end : combine_if_both(op, end, factor);
  };
  const std::optional<Expr> low = scaled(a.min()), high = scaled(a.max());
  // Without a lower end, the operand may be the minimum of its type, whose quotient by -1
  // overflows.
  if (op != BinaryOp::Mul &&
      (low.has_value() != a.min().has_value() || high.has_value() != a.max().has_value() ||
       (constant_int(factor) == -1 && !a.min())))
    return Interval::everything();
  if (surely_at_least(factor, 0, facts)) return Interval::between(low, high);
  if (surely_at_least(minus(factor), 1, facts)) return Interval::between(high, low);
  if (!low || !high) return Interval::everything();
  Expr rises = fold(BinaryOp::Ge, factor, zero_like(factor));
  return Interval::between(select(rises, *low, *high), select(rises, *high, *low));
}

Interval multiply(const Interval& a, const Interval& b, const Facts& facts) {
  if (a.is_point()) return multiply(b, a, facts);
  if (!b.is_point()) return Interval::everything();
  if (is_zero(*b.min())) return b;
  if (is_one(*b.min())) return a;
  return scale(BinaryOp::Mul, a, *b.min(), facts);
}

/// Returns [-(|divisor| - 1), |divisor| - 1] for a signed divisor.
Interval remainders_of_any_sign(const Expr& divisor) {
  Expr bound = fold(BinaryOp::Sub, abs(divisor), one_like(divisor));
  return Interval::of(minus(bound), bound);
}

/// Returns [0, divisor - 1].
Interval remainders(const Expr& divisor) {
  return Interval::of(zero_like(divisor), fold(BinaryOp::Sub, divisor, one_like(divisor)));
}

Interval floor_remainder(const Interval& a, const Expr& divisor, const Facts& facts) {
  if (!surely_at_least(divisor, 0, facts)) return remainders_of_any_sign(divisor);
  if (constant_int(divisor) && a.is_bounded()) {
    // If both ends have the same quotient q, the remainder is x - divisor * q throughout.
    Expr least = combine(BinaryOp::FloorDiv, *a.min(), divisor);
    Expr greatest = combine(BinaryOp::FloorDiv, *a.max(), divisor);
    if (can_prove(combine(BinaryOp::Eq, greatest, least), facts)) {
      Expr below = combine(BinaryOp::Mul, divisor, least);
      return Interval::of(combine(BinaryOp::Sub, *a.min(), below),
                          combine(BinaryOp::Sub, *a.max(), below));
    }
  }
  return remainders(divisor);
}

/// Bounds a truncated remainder, which has the sign of the dividend.
Interval trunc_remainder(const Interval& a, const Expr& divisor, const Facts& facts) {
  const bool is_nonnegative =
      divisor.dtype().is_uint() || (a.min() && surely_at_least(*a.min(), 0, facts));
  if (surely_at_least(divisor, 0, facts) && is_nonnegative) return remainders(divisor);
  return remainders_of_any_sign(divisor);
}

/// Applies an operator to intervals. If `wraps` is true, sums, differences and products wrap, and
/// the result is known only for points. Otherwise the operands are indices, and a result that
/// overflows is unknown.
Interval apply(BinaryOp op, const Interval& a, const Interval& b, DataType type, bool wraps,
               const Facts& facts) {
  if (a.is_empty()) return a;
  if (b.is_empty()) return b;
  if (a.is_point() && b.is_point()) {
    if (wraps) return Interval::point(combine(op, *a.min(), *b.min()));
    const std::optional<Expr> value = combine_if_both(op, a.min(), b.min());
    return value ? Interval::point(*value) : Interval::everything();
  }
  switch (op) {
    case BinaryOp::Add:
      return wraps ? Interval::everything() : add(a, b);
    case BinaryOp::Sub:
      return wraps ? Interval::everything() : subtract(a, b);
    case BinaryOp::Mul:
      return wraps ? Interval::everything() : multiply(a, b, facts);
    case BinaryOp::TruncDiv:
    case BinaryOp::FloorDiv:
    case BinaryOp::FloorMod:
    case BinaryOp::TruncMod:
      if (!b.is_point() || is_zero(*b.min())) return Interval::everything();
      if (op == BinaryOp::FloorMod) return floor_remainder(a, *b.min(), facts);
      if (op == BinaryOp::TruncMod) return trunc_remainder(a, *b.min(), facts);
      return is_one(*b.min()) ? a : scale(op, a, *b.min(), facts);
    case BinaryOp::Min:
      return Interval::between(combine_if_both(op, a.min(), b.min()),
                               combine_or_other(op, a.max(), b.max()));
    case BinaryOp::Max:
      return Interval::between(combine_or_other(op, a.min(), b.min()),
                               combine_if_both(op, a.max(), b.max()));
    case BinaryOp::Div:
      return Interval::everything();
    case BinaryOp::Eq:
    case BinaryOp::Ne:
    case BinaryOp::Lt:
    case BinaryOp::Le:
    case BinaryOp::Gt:
    case BinaryOp::Ge:
    case BinaryOp::And:
    case BinaryOp::Or:
      return Interval::of(make_int(type.element(), 0), make_int(type.element(), 1));
  }
  internal_error("operator outside its enumeration");
}

// ---- the evaluator ------------------------------------------------------------------------------

class Evaluator {
 public:
  Evaluator(const IntervalMap& relaxed, const Facts& facts) : relaxed_(relaxed), facts_(facts) {}

  Interval operator()(const Expr& e) {
    if (is_stack_low()) return with_deep_stack([&] { return (*this)(e); });
    return match(
        e.node().value,
        // A uint64 above the int64 range is unbounded, because the ends of intervals are compared
        // as int64.
        [&](const IntImm& node) {
          const bool is_beyond = e.dtype().is_uint() && node.value < 0;
          return is_beyond ? Interval::everything() : Interval::point(e);
        },
        [&](const VarNode&) { return variable(e); },
        [&](const Cast& node) { return cast_of(node, e); },
        [&](const Binary& node) { return binary(node, e); },
        [&](const Select& node) {
          Interval if_false = (*this)(node.if_false);
          return raw_hull(if_false, (*this)(node.if_true));
        },
        [&](const Ramp& node) { return ramp(node); },
        [&](const Broadcast& node) { return (*this)(node.value); },
        [&](const Load& node) {
          // The value at a fixed index is unknown but the same throughout, so an integer load is a
          // point.
          for (const Expr& index : node.indices) {
            if (touches(index)) return Interval::everything();
          }
          return e.dtype().is_integral() ? Interval::point(e) : Interval::everything();
        },
        each_of<FloatImm, StringImm, Not, Shuffle, LetExpr, Call, ProducerLoad, Reduce>(
            [] { return Interval::everything(); }));
  }

  Interval ends(const Interval& s) {
    if (s.is_empty()) return s;
    return Interval::between(s.min() ? (*this)(*s.min()).min() : std::nullopt,
                             s.max() ? (*this)(*s.max()).max() : std::nullopt);
  }

 private:
  bool touches(const Expr& e) const {
    return uses_var(e, [&](const Expr& var) { return relaxed_.find(var.node()) != nullptr; });
  }

  /// Returns the interval of a variable. If the ends contain relaxed variables, these are relaxed
  /// as well. The nesting is limited to the number of relaxed variables, because intervals can
  /// refer to each other in a cycle.
  Interval variable(const Expr& e) {
    const Interval* own = relaxed_.find(e.node());
    if (!own) return Interval::point(e);
    if (own->is_point() && own->min()->same_as(e)) return *own;
    if (depth_ >= relaxed_.size()) return *own;
    ++depth_;
    Interval result = ends(*own);
    --depth_;
    // The two ends of a point are evaluated separately, so they are equal but may have different
    // handles.
    if (own->is_point() && result.is_bounded() && structural_equal(*result.min(), *result.max())) {
      return Interval::point(*result.min());
    }
    return result;
  }

  static bool is_itself(const Interval& s, const Expr& e) {
    return s.is_point() && s.min()->same_as(e);
  }

  Interval binary(const Binary& node, const Expr& e) {
    Interval a = (*this)(node.a);
    Interval b = (*this)(node.b);
    if (is_itself(a, node.a) && is_itself(b, node.b)) return Interval::point(e);
    return apply(node.op, a, b, e.dtype(), wraps(e, facts_), facts_);
  }

  Interval cast_of(const Cast& node, const Expr& e) {
    Interval value = (*this)(node.value);
    if (is_itself(value, node.value)) return Interval::point(e);
    if (value.is_empty()) return value;
    DataType from = node.value.dtype(), to = e.dtype().element();
    // A narrower type may wrap. Indices are assumed not to wrap.
    const bool is_position = to.bits >= 32 && !wraps(node.value, facts_);
    const auto converted = [&](const std::optional<Expr>& end) -> std::optional<Expr> {
      const std::optional<std::int64_t> number = end ? constant_int(*end) : std::nullopt;
      if (!end || (is_position && number && to.is_int() && !fits(*number, to))) return std::nullopt;
      return cast(to, *end);
    };
    if (value.is_point()) {
      const std::optional<Expr> point = converted(value.min());
      return point ? Interval::point(*point) : Interval::everything();
    }
    bool keeps_order = from.is_int() && to.is_int() && (to.bits >= from.bits || is_position);
    if (!keeps_order) return Interval::everything();
    return Interval::between(converted(value.min()), converted(value.max()));
  }

  Interval ramp(const Ramp& node) {
    std::optional<std::int64_t> stride = constant_int(node.stride);
    if (!stride) return Interval::everything();
    Expr first = zero_like(node.base);
    Expr last = make_int(node.base.dtype(), *stride * (node.lanes - 1));
    Interval steps = *stride >= 0 ? Interval::of(first, last) : Interval::of(last, first);
    return apply(BinaryOp::Add, (*this)(node.base), steps, node.base.dtype(),
                 wraps(node.base, facts_), facts_);
  }

  const IntervalMap& relaxed_;
  const Facts& facts_;
  std::size_t depth_ = 0;
};

}  // namespace

Interval values_of(const Expr& e, const IntervalMap& relaxed, const Facts& facts) {
  return Evaluator(relaxed, facts)(e);
}

Interval values_of(const Interval& s, const IntervalMap& relaxed, const Facts& facts) {
  return Evaluator(relaxed, facts).ends(s);
}

}  // namespace tenon::arith

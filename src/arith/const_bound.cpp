#include "tenon/arith/const_bound.h"

#include <algorithm>

#include "arith/facts_state.h"
#include "tenon/support/deep_stack.h"
#include "tenon/support/each_of.h"
#include "tenon/support/match.h"
#include "tenon/tir/compare.h"

namespace tenon::arith {

using namespace tir;

namespace {

constexpr std::int64_t kPlus = Bound::kPlusInfinity;
constexpr std::int64_t kMinus = Bound::kMinusInfinity;

bool is_infinite(std::int64_t x) { return x == kPlus || x == kMinus; }
bool is_finite(const Bound& b) { return !is_infinite(b.min) && !is_infinite(b.max); }

// ---- arithmetic on ends; results outside the range of int64 are infinite ------------------------

std::int64_t saturate(bool overflowed, std::int64_t value, bool is_positive) {
  if (overflowed || value == std::numeric_limits<std::int64_t>::min())
    return is_positive ? kPlus : kMinus;
  return value;
}

/// Adds two ends. Precondition: they are not infinities of opposite sign.
std::int64_t add_ends(std::int64_t x, std::int64_t y) {
  if (is_infinite(x)) return x;
  if (is_infinite(y)) return y;
  std::int64_t sum = 0;
  const bool overflowed = __builtin_add_overflow(x, y, &sum);
  return saturate(overflowed, sum, x > 0);
}

std::int64_t opposite(std::int64_t x) {
  if (is_infinite(x)) return x == kPlus ? kMinus : kPlus;
  return -x;
}

std::int64_t multiply_ends(std::int64_t x, std::int64_t y) {
  if (x == 0 || y == 0) return 0;
  if (is_infinite(x) || is_infinite(y)) return (x > 0) == (y > 0) ? kPlus : kMinus;
  std::int64_t product = 0;
  const bool overflowed = __builtin_mul_overflow(x, y, &product);
  return saturate(overflowed, product, (x > 0) == (y > 0));
}

std::int64_t floor_divide_ends(std::int64_t x, std::int64_t y) {
  if (is_infinite(x)) return y > 0 ? x : opposite(x);
  const std::int64_t q = x / y;
  return x % y != 0 && (x < 0) != (y < 0) ? q - 1 : q;
}

std::int64_t truncate_divide_ends(std::int64_t x, std::int64_t y) {
  if (is_infinite(x)) return y > 0 ? x : opposite(x);
  return x / y;
}

std::int64_t shift_left_ends(std::int64_t x, std::int64_t y) {
  if (is_infinite(x) || x == 0) return x;
  if (y >= 63) return kPlus;
  return multiply_ends(x, std::int64_t{1} << y);
}

std::int64_t shift_right_ends(std::int64_t x, std::int64_t y) {
  if (is_infinite(x)) return x;
  return x >> std::clamp<std::int64_t>(y, 0, 63);
}

// ---- intervals ----------------------------------------------------------------------------------

Bound hull(const Bound& a, const Bound& b) {
  return {std::min(a.min, b.min), std::max(a.max, b.max)};
}

Bound add(const Bound& a, const Bound& b) {
  return {add_ends(a.min, b.min), add_ends(a.max, b.max)};
}

Bound subtract(const Bound& a, const Bound& b) {
  return {add_ends(a.min, opposite(b.max)), add_ends(a.max, opposite(b.min))};
}

/// Bounds an operation that is monotone in each operand; its extremes are at the corners.
template <class Op>
Bound at_corners(const Bound& a, const Bound& b, Op op) {
  const auto [min, max] =
      std::minmax({op(a.min, b.min), op(a.min, b.max), op(a.max, b.min), op(a.max, b.max)});
  return {min, max};
}

/// Bounds a quotient. The magnitude is largest for divisors nearest to zero. A signed divisor range
/// that contains zero is therefore split into negative and positive divisors. If one of these parts
/// is empty, it is replaced by all divisors of the type, as in TVM 0.9. Two ranges give no
/// information: an empty one (of a loop without iterations), and [0, 0] of an unsigned type.
template <class Op>
Bound divide(const Bound& a, const Bound& b, DataType type, Op op) {
  if (b.min > b.max || (type.is_uint() && b.max <= 0)) return Bound::of_type(type);
  if (b.min > 0 || b.max < 0) return at_corners(a, b, op);
  if (type.is_uint()) return at_corners(a, Bound{1, b.max}, op);
  const Bound below = b.min < 0 ? Bound{b.min, -1} : Bound::of_type(type);
  const Bound above = b.max > 0 ? Bound{1, b.max} : Bound::of_type(type);
  return hull(at_corners(a, below, op), at_corners(a, above, op));
}

Bound floor_mod(const Bound& a, const Bound& b, DataType type) {
  const std::int64_t greatest = add_ends(b.max, -1);
  if (b.min > 0) {
    if (a.min < 0) return {0, greatest};
    return a.max < b.min ? a : Bound{0, std::min(a.max, greatest)};
  }
  // The remainder has the divisor's sign and a smaller magnitude.
  const std::int64_t least = add_ends(b.min, 1);
  return intersect({std::min<std::int64_t>(0, least), std::max<std::int64_t>(0, greatest)},
                   Bound::of_type(type));
}

Bound trunc_mod(const Bound& a, const Bound& b, DataType type) {
  if (b.min <= 0) return Bound::of_type(type);
  const std::int64_t greatest = add_ends(b.max, -1);
  if (a.min >= 0) return a.max < b.min ? a : Bound{0, std::min(a.max, greatest)};
  return {std::max(a.min, opposite(greatest)),
          std::min(std::max<std::int64_t>(a.max, 0), greatest)};
}

Bound bitwise_and(const Bound& a, const Bound& b, DataType type) {
  if (a.min >= 0 && b.min >= 0) return {0, std::min(a.max, b.max)};
  if (b.min >= 0) return {0, b.max};
  if (a.min >= 0) return {0, a.max};
  return Bound::of_type(type);
}

// ---- expressions --------------------------------------------------------------------------------

class BoundOf {
 public:
  explicit BoundOf(const Facts::State& state) : state_(state) {}

  Bound operator()(const Expr& e) const {
    if (is_stack_low()) return with_deep_stack([&] { return (*this)(e); });
    const bool is_part = std::exchange(is_part_, false);
    return within_facts(e, by_kind(e, is_part));
  }

  /// Whether a sum, difference or product in `e` may overflow its type.
  bool may_overflow(const Expr& e) const {
    const Binary* n = e.as<Binary>();
    if (const Not* inverted = e.as<Not>()) return may_overflow(inverted->a);
    if (n && e.dtype().is_bool()) return may_overflow(n->a) || may_overflow(n->b);
    may_overflow_ = false;
    (*this)(e);
    return may_overflow_;
  }
  /// Like may_overflow, but only for the operation at the root, regardless of facts about its
  /// result.
  bool root_may_overflow(const Expr& e, const Binary& n) const {
    const Bound a = (*this)(n.a), b = (*this)(n.b);
    may_overflow_ = false;
    of_operation(e, n.op, a, b);
    return may_overflow_;
  }
  /// Implements leaves_type and, if `with_parts`, any_part_leaves_type.
  bool leaves_type(const Expr& e, bool with_parts) {
    leaves_type_ = false;
    with_parts_ = with_parts;
    (*this)(e);
    return leaves_type_;
  }

 private:
  Bound within_facts(const Expr& e, Bound bound) const {
    for (const Facts::State::BoundFact& fact : state_.bound_facts)
      if (structural_equal(fact.e, e)) bound = intersect(bound, fact.bound);
    return bound;
  }

  Bound by_kind(const Expr& e, bool is_part) const {
    const BoundOf& self = *this;
    return match(
        e.node().value, [&](const IntImm& n) { return of_constant(n, e.dtype()); },
        [&](const VarNode& n) { return of_variable(e, n); },
        [&](const Cast& n) { return of_cast(self(n.value), n.value.dtype(), e.dtype()); },
        [&](const Binary& n) { return of_binary(e, n, is_part); },
        [&](const Select& n) { return hull(self(n.if_true), self(n.if_false)); },
        [&](const Ramp& n) {
          const Bound base = self(n.base), stride = self(n.stride);
          const Bound steps = at_corners(stride, Bound::exactly(n.lanes - 1), multiply_ends);
          return of_result(hull(base, add(base, steps)), e);
        },
        [&](const Call& n) { return of_call(e, n); },
        each_of<FloatImm, StringImm, Not, Broadcast, Shuffle, LetExpr, Load, ProducerLoad, Reduce>(
            [&] { return Bound::of_type(e.dtype()); }));
  }

  static Bound before_wrapping(BinaryOp op, const Bound& a, const Bound& b) {
    if (op == BinaryOp::Mul) return at_corners(a, b, multiply_ends);
    return op == BinaryOp::Add ? add(a, b) : subtract(a, b);
  }

  /// Returns the bound of the wrapped result. If `e` wraps and may overflow, it can have any value
  /// of its type. An index does not wrap, but its bound can still exceed the type for all values of
  /// its variables. This happens if the index contained data before a choice was resolved, or if it
  /// is a difference that a proof made. Such an index, and an index with such an operand, can also
  /// have any value of its type.
  Bound of_result(const Bound& value, const Expr& e) const {
    constexpr std::int64_t kSmall = std::int64_t{1} << 30;
    const DataType type = e.dtype();
    if (type.is_int() && type.bits >= 32 && value.min >= -kSmall && value.max <= kSmall)
      return value;
    const Bound all = Bound::of_type(type);
    // An end beyond 64 bits is infinite, as are the limits of int64 themselves.
    const bool fits = value.min >= all.min && value.max <= all.max && is_finite(value);
    if (fits) return value;
    leaves_type_ = leaves_type_ || is_finite(value);
    // If the minimum is plus infinity, all values are beyond 64 bits.
    const bool overflows =
        value.min > all.max || value.max < all.min || value.min == kPlus || value.max == kMinus;
    if (!overflows && !may_overflow_ && !wraps(e, state_)) return value;
    may_overflow_ = true;
    return all;
  }

  /// The minimum of a type cannot be divided by -1.
  Bound of_quotient(const Bound& a, const Bound& b, const Bound& quotient, const Expr& e) const {
    const bool is_signed = e.dtype().is_int();
    const bool may_leave =
        is_signed && b.min <= -1 && b.max >= -1 && a.min <= Bound::of_type(e.dtype()).min;
    return may_leave ? of_result(quotient, e) : quotient;
  }

  /// Bounds a cast. A result that wraps or is rounded to a float may have any value.
  static Bound of_cast(const Bound& value, DataType from, DataType type) {
    if (type.is_floating()) {
      const int digits = type.is_bfloat() ? 8 : type.bits == 16 ? 11 : type.bits == 32 ? 24 : 53;
      const std::int64_t most = std::int64_t{1} << digits;
      const bool is_exact = value.min >= -most && value.max <= most;
      return from.is_integral() && is_exact ? value : Bound::everything();
    }
    return may_wrap(value, from, type) ? Bound::of_type(type) : value;
  }

  static Bound of_constant(const IntImm& n, DataType type) {
    if (type.is_uint() && n.value < 0) return Bound::of_type(type);  // above the range of int64
    // The limits of int64 represent infinity and not a value.
    if (is_infinite(n.value))
      return n.value == kPlus ? Bound{kPlus - 1, kPlus} : Bound{kMinus, kMinus + 1};
    return Bound::exactly(n.value);
  }

  Bound of_variable(const Expr& e, const VarNode& n) const {
    const Facts::State::OfVar* known = state_.find(e);
    if (known && known->bound) return *known->bound;
    return n.is_size ? Bound{0, kPlus} : Bound::of_type(e.dtype());
  }

  Bound of_binary(const Expr& e, const Binary& n, bool is_part) const {
    if (is_comparison(n.op) || n.op == BinaryOp::And || n.op == BinaryOp::Or ||
        n.op == BinaryOp::Div)
      return Bound::of_type(e.dtype());
    const bool has_parts = n.op == BinaryOp::Add || n.op == BinaryOp::Sub || n.op == BinaryOp::Mul;
    const auto operand = [&](const Expr& x) {
      is_part_ = has_parts && !with_parts_;
      return (*this)(x);
    };
    const Bound a = operand(n.a), b = operand(n.b);
    const bool left_before = leaves_type_;
    const Bound result = of_operation(e, n.op, a, b);
    if (is_part) leaves_type_ = left_before;
    return result;
  }

  Bound of_operation(const Expr& e, BinaryOp op, const Bound& a, const Bound& b) const {
    // Floats are rounded, and may be NaN.
    if (e.dtype().is_floating()) return Bound::everything();
    switch (op) {
      case BinaryOp::Add:
      case BinaryOp::Sub:
      case BinaryOp::Mul: {
        const Bound value = before_wrapping(op, a, b);
        // An end beyond 64 bits is infinite, although no operand is infinite.
        leaves_type_ = leaves_type_ || (!is_finite(value) && is_finite(a) && is_finite(b));
        return of_result(value, e);
      }
      case BinaryOp::TruncDiv:
        return of_quotient(a, b, divide(a, b, e.dtype(), truncate_divide_ends), e);
      case BinaryOp::FloorDiv:
        return of_quotient(a, b, divide(a, b, e.dtype(), floor_divide_ends), e);
      case BinaryOp::TruncMod:
        return trunc_mod(a, b, e.dtype());
      case BinaryOp::FloorMod:
        return floor_mod(a, b, e.dtype());
      case BinaryOp::Min:
        return {std::min(a.min, b.min), std::min(a.max, b.max)};
      case BinaryOp::Max:
        return {std::max(a.min, b.min), std::max(a.max, b.max)};
      default:
        return Bound::of_type(e.dtype());
    }
  }

  /// Returns bounds of `bitwise_and` and shifts, which occur in index arithmetic. For other calls,
  /// returns the bounds of the type.
  Bound of_call(const Expr& e, const Call& n) const {
    if (n.is(Intrin::bitwise_and))
      return bitwise_and((*this)(n.args[0]), (*this)(n.args[1]), e.dtype());
    if (n.is(Intrin::shift_right) || n.is(Intrin::shift_left)) {
      const Bound a = (*this)(n.args[0]), b = (*this)(n.args[1]);
      if (n.is(Intrin::shift_right)) {
        // A shift amount beyond the width counts modulo the width.
        const bool is_within = b.min >= 0 && b.max < e.dtype().bits;
        return at_corners(a, is_within ? b : Bound{0, e.dtype().bits - 1}, shift_right_ends);
      }
      // An index that is shifted left may lose bits, so its bound may exceed the type.
      const Bound type = Bound::of_type(e.dtype());
      if (a.min < 0 || b.min < 0 || b.max >= e.dtype().bits) return type;
      const Bound shifted = at_corners(a, b, shift_left_ends);
      return shifted.max <= type.max && !is_infinite(shifted.max) ? shifted : type;
    }
    return Bound::of_type(e.dtype());
  }

  const Facts::State& state_;
  mutable bool may_overflow_ = false, leaves_type_ = false;
  bool with_parts_ = false;
  /// Whether the next visited expression is an operand of a sum, difference or product.
  mutable bool is_part_ = false;
};

}  // namespace

Bound Bound::of_type(DataType type) {
  if (type.is_int() && type.bits == 32)
    return {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};
  if (!type.is_integral()) return everything();
  if (type.bits == 64) return {type.is_uint() ? 0 : kMinus, kPlus};
  return {integer_min(type), *integer_max(type)};
}

Bound Bound::of(const ConstBound& b) { return {b.min.value_or(kMinus), b.max.value_or(kPlus)}; }

ConstBound Bound::to_const_bound() const {
  ConstBound b;
  if (min != kMinus) b.min = min;
  if (max != kPlus) b.max = max;
  return b;
}

Bound intersect(const Bound& a, const Bound& b) {
  return {std::max(a.min, b.min), std::min(a.max, b.max)};
}

bool may_wrap(const Bound& value, DataType from, DataType to) {
  const Bound all = Bound::of_type(to);
  if (value.min < all.min || value.max > all.max) return true;
  // A bound cannot distinguish the upper half of uint64 from infinity.
  return value.max == kPlus && from.is_uint() && from.bits == 64 && to.is_int();
}

Bound bound_of(const Expr& e, const Facts::State& state) {
  const InData scope(state, e);
  return BoundOf(state)(e);
}

bool may_overflow(const Expr& e, const Facts::State& state) {
  const InData scope(state, e);
  return state.in_data && BoundOf(state).may_overflow(e);
}

bool root_may_overflow(const Expr& e, const Facts::State& state) {
  const Binary* n = e.as<Binary>();
  const InData scope(state, e);
  return n && state.in_data && BoundOf(state).root_may_overflow(e, *n);
}

bool leaves_type(const Expr& e, const Facts::State& state) {
  return BoundOf(state).leaves_type(e, /*with_parts=*/false);
}
bool any_part_leaves_type(const Expr& e, const Facts::State& state) {
  return BoundOf(state).leaves_type(e, /*with_parts=*/true);
}

ConstBound const_bound(const Expr& e, const Facts& facts) {
  return bound_of(e, facts.state()).to_const_bound();
}

}  // namespace tenon::arith

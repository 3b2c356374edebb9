#include "tests/fuzz/random_expression.h"

#include <algorithm>

#include "tenon/te/operation_kind.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/make.h"
#include "tenon/tir/walk.h"
#include "tests/common/special_numbers.h"

namespace tenon::fuzz {

namespace {

const std::vector<DataType>& types() {
  static const std::vector<DataType> all = {Int(8),    Int(16),    Int(32),  Int(64),   UInt(8),
                                            UInt(16),  UInt(32),   UInt(64), Float(16), Float(32),
                                            Float(64), BFloat(16), Bool()};
  return all;
}

bool has_elements(const Expr& e) {
  return tir::contains<tir::Load>(e) || tir::contains<tir::ProducerLoad>(e) ||
         tir::contains<tir::Reduce>(e);
}

bool has_index_type(const Expr& e) { return e.dtype().is_int() && e.dtype().bits >= 32; }

/// Whether the integer is data that becomes a constant where axes have one value. Constants are
/// positions.
bool is_foldable_data(const Expr& e) { return has_index_type(e) && is_data(e) && !has_elements(e); }

bool is_variable_position(const Expr& e) { return !tir::constant_int(e) && !is_data(e); }

/// The operation on integers. Of positions, which may be taken not to overflow, it is on small
/// ones.
template <class F>
Expr without_overflow(const Expr& a, const Expr& b, const F& operation) {
  Expr result = operation(a, b);
  const bool meets_position = (is_foldable_data(a) && is_variable_position(b)) ||
                              (is_foldable_data(b) && is_variable_position(a));
  if (is_data(result) && !meets_position) return result;
  constexpr std::int64_t kMax = 1000;
  const auto small = [](const Expr& e) {
    const std::optional<std::int64_t> value = tir::constant_int(e);
    const bool is_small =
        value ? *value >= -kMax && *value <= kMax : e.as<tir::VarNode>() != nullptr;
    return is_small ? e : max(min(e, make_const(e.dtype(), kMax)), make_const(e.dtype(), -kMax));
  };
  return operation(small(a), small(b));
}

/// A division by the constant 0 is refused.
Expr not_zero_constant(const Expr& e) { return tir::is_zero(e) ? make_const(e.dtype(), 3) : e; }

}  // namespace

bool is_data(const Expr& e, bool has_folded_constants) {
  using tir::Intrin;
  if (!has_index_type(e)) return true;
  bool found = has_elements(e);
  const auto is_folded = [&](const Expr& operand) {
    return has_folded_constants && !tir::uses_var(operand, [](const Expr&) { return true; });
  };
  tir::walk(e, [&](const tir::Cast& n) {
    found = found || !(has_index_type(n.value) || n.value.dtype().is_bool() || is_folded(n.value));
  });
  tir::walk(e, [&](const tir::Call& n) {
    bool is_of_positions = std::ranges::all_of(n.args, is_folded);
    for (const Intrin intrin :
         {Intrin::if_then_else, Intrin::likely, Intrin::shift_right, Intrin::bitwise_and,
          Intrin::bitwise_or, Intrin::bitwise_xor, Intrin::bitwise_not})
      is_of_positions = is_of_positions || n.is(intrin);
    found = found || !is_of_positions;
  });
  return found;
}

DataType random_type(Random& random) { return random.pick(types()); }

Expr ExpressionMaker::noted(const char* kind, Expr e) {
  notes_.operation(kind, e.dtype());
  return e;
}

Expr ExpressionMaker::constant(DataType type) {
  std::mt19937 engine = random_->engine();
  if (type.is_bool()) return tir::make_int(type, random_->between(0, 1));
  if (type.is_floating() && random_->one_in(4))
    return noted("a constant of many digits", make_const(type, random_->between(-30, 30) * 0.1));
  if (random_->one_in(2)) return make_const(type, random_->between(type.is_uint() ? 0 : -8, 8));
  return noted("a special constant",
               testing::constant_of(testing::special_number(type, engine), type));
}

Expr ExpressionMaker::leaf(DataType type) {
  if (random_->one_in(4)) return constant(type);
  if (const std::optional<Expr> e = leaf_(type)) return *e;
  const DataType other = random_type(*random_);
  if (const std::optional<Expr> e = leaf_(other)) return cast(type, *e);
  return constant(type);
}

Expr ExpressionMaker::value(DataType type, int depth) {
  if (!made_.empty() && random_->one_in(5)) {
    const Expr& again = random_->pick(made_);
    if (again.dtype() == type) return again;
  }
  if (depth == 0) return leaf(type);
  Random own(static_cast<unsigned>(random_->between(0, 1 << 30)));
  Random* const outer = std::exchange(random_, &own);
  const bool is_kept = kept_.next();
  const std::size_t first = made_.size();
  Expr e = compound(type, depth - 1);
  if (!is_kept) {
    // Its parts were made, so that all others keep their numbers and their values.
    for (std::size_t n = first; n < made_.size(); ++n) made_[n] = make_const(made_[n].dtype(), 1);
    e = leaf(type);
  }
  random_ = outer;
  made_.push_back(e);
  return e;
}

Expr ExpressionMaker::second(DataType type, int depth) {
  return random_->one_in(3) ? constant(type) : value(type, depth);
}

Expr ExpressionMaker::compound(DataType type, int depth) {
  if (random_->one_in(8)) return chosen(type, depth);
  if (random_->one_in(8)) {
    const DataType from = random_type(*random_);
    if (from != type) return noted("a conversion", cast(type, value(from, depth)));
  }
  if (random_->one_in(12))
    if (const std::optional<Expr> e = reinterpreted(type, depth)) return noted("the same bits", *e);
  if (type.is_bool()) return boolean(depth);
  return type.is_floating() ? floating(type, depth) : integer(type, depth);
}

/// The bits of a NaN that was computed are not determined; an input's NaN keeps its own.
std::optional<Expr> ExpressionMaker::reinterpreted(DataType type, int depth) {
  std::vector<DataType> from;
  for (const DataType t : types())
    if (t.bits == type.bits && t != type && !t.is_bool()) from.push_back(t);
  if (from.empty() || type.is_bool()) return std::nullopt;
  const DataType chosen = random_->pick(from);
  if (!chosen.is_floating()) return reinterpret(type, value(chosen, depth));
  if (rules_.has_extremes) return std::nullopt;
  const std::optional<Expr> data = leaf_(chosen);
  const tir::ProducerLoad* load = data ? data->as<tir::ProducerLoad>() : nullptr;
  if (!load || !te::Tensor::of(*load).op().as<te::Placeholder>()) return std::nullopt;
  return reinterpret(type, *data);
}

/// Choices whose other side must not be evaluated are those of divisions (quotient) and of reads,
/// which are leaves.
Expr ExpressionMaker::chosen(DataType type, int depth) {
  const Expr condition = value(Bool(), depth), a = value(type, depth), b = value(type, depth);
  if (random_->one_in(2)) return noted("select", select(condition, a, b));
  return noted("if_then_else", if_then_else(condition, a, b));
}

Expr ExpressionMaker::divided(const Expr& a, const Expr& b) {
  switch (random_->between(0, 3)) {
    case 0:
      return noted("floordiv", floordiv(a, b));
    case 1:
      return noted("floormod", floormod(a, b));
    case 2:
      return noted("truncdiv", truncdiv(a, b));
    default:
      return noted("truncmod", truncmod(a, b));
  }
}

/// Divides by a constant, by data that cannot be 0, or by data if a condition protects the
/// division.
Expr ExpressionMaker::quotient(DataType type, int depth) {
  const Expr a = value(type, depth), one = make_const(type, 1), zero = make_const(type, 0);
  if (random_->one_in(2)) return divided(a, not_zero_constant(constant(type)));
  const Expr by = not_zero_constant(value(type, depth)), other = value(type, depth);
  switch (random_->between(0, 3)) {
    case 0:
      return divided(a, by | one);
    case 1:
      return divided(a, select(by == zero, one, by));
    case 2:
      return noted("a protected division", if_then_else(by != zero, divided(a, by), other));
    default:
      return noted("a protected division", select(by == zero, other, divided(a, by)));
  }
}

Expr ExpressionMaker::shifted(DataType type, int depth) {
  const Expr a = value(type, depth);
  const Expr by = random_->one_in(2) ? make_const(type, random_->between(0, type.bits - 1))
                                     : noted("a shift by data", value(type, depth));
  // A constant amount that is out of range is refused.
  const Expr amount =
      tir::constant_int(by) ? make_const(type, *tir::constant_int(by) & (type.bits - 1)) : by;
  return random_->one_in(2) ? noted("shift left", a << amount) : noted("shift right", a >> amount);
}

Expr ExpressionMaker::bitwise(DataType type, int depth) {
  const Expr a = value(type, depth);
  switch (random_->between(0, 5)) {
    case 0:
      return noted("bits", a & value(type, depth));
    case 1:
      return noted("bits", a | value(type, depth));
    case 2:
      return noted("bits", a ^ value(type, depth));
    case 3:
      return noted("bits", popcount(a));
    case 4:
      return noted("bits", clz(a));
    default:
      return noted("bits", ~a);
  }
}

Expr ExpressionMaker::integer(DataType type, int depth) {
  const Expr a = value(type, depth);
  switch (random_->between(0, 12)) {
    case 0:
    case 1:
      return noted("+",
                   without_overflow(a, second(type, depth), [](auto x, auto y) { return x + y; }));
    case 2:
    case 3:
      return noted("-",
                   without_overflow(a, second(type, depth), [](auto x, auto y) { return x - y; }));
    case 4:
    case 5:
      return noted("*",
                   without_overflow(a, second(type, depth), [](auto x, auto y) { return x * y; }));
    case 6:
    case 7:
      return quotient(type, depth);
    case 8:
      return noted("max and min", max(a, second(type, depth)));
    case 9: {
      const Expr smaller = noted("max and min", min(a, second(type, depth)));
      return random_->one_in(2) ? smaller : noted("max and min", max(smaller, constant(type)));
    }
    case 10:
      return shifted(type, depth);
    case 11:
      return random_->one_in(2)
                 ? noted("negation", without_overflow(a, a, [](auto x, auto) { return -x; }))
                 : noted("abs", abs(a));
    default:
      return cast(type, bitwise(type, depth));
  }
}

Expr ExpressionMaker::floating(DataType type, int depth) {
  const Expr a = value(type, depth);
  const int kind = random_->between(0, 11);
  if (kind <= 4) {
    if (rules_.has_products) return noted("*", a * value(type, depth));
    return kind <= 2 ? noted("+", a + value(type, depth)) : noted("-", a - value(type, depth));
  }
  if (kind <= 6) {
    if (!rules_.has_extremes) return noted("/", a / value(type, depth));
    const Expr b = value(type, depth);
    return noted("max and min", random_->one_in(2) ? max(a, b) : min(a, b));
  }
  if (kind == 7) return random_->one_in(2) ? noted("negation", -a) : noted("abs", abs(a));
  if (kind == 8) {
    if (type != Float(32) && type != Float(64)) return noted("abs", abs(a));
    if (!rules_.has_products) return noted("sqrt", sqrt(a));
    const Expr b = value(type, depth), c = value(type, depth);
    return noted("fma", fma(a, b, c));
  }
  if (kind == 9 && !rules_.has_extremes) {
    const Expr b = value(type, depth);
    // The sign of a NaN that was computed is not determined.
    return noted("copysign", copysign(a, select(isnan(b), make_const(type, 1), b)));
  }
  switch (random_->between(0, 4)) {
    case 0:
      return noted("floor and such", floor(a));
    case 1:
      return noted("floor and such", ceil(a));
    case 2:
      return noted("floor and such", trunc(a));
    case 3:
      return noted("floor and such", nearbyint(a));
    default:
      return noted("floor and such", round(a));
  }
}

Expr ExpressionMaker::comparison(int depth) {
  DataType type = random_type(*random_);
  if (type.is_bool()) type = Int(32);
  const Expr a = value(type, depth), b = second(type, depth);
  switch (random_->between(0, 5)) {
    case 0:
      return noted("comparison", a < b);
    case 1:
      return noted("comparison", a <= b);
    case 2:
      return noted("comparison", a > b);
    case 3:
      return noted("comparison", a >= b);
    case 4:
      return noted("comparison", a == b);
    default:
      return noted("comparison", a != b);
  }
}

/// Whether an integer is between two constants, or outside of them.
Expr ExpressionMaker::in_range(int depth) {
  DataType type = random_type(*random_);
  if (type.is_bool() || type.is_floating()) type = random_->one_in(2) ? Int(64) : UInt(64);
  const Expr x = value(type, depth), low = constant(type), high = constant(type);
  const bool is_strict = random_->one_in(2);
  const Expr above = is_strict ? low < x : x >= low, below = is_strict ? x < high : x <= high;
  return noted("a range", random_->one_in(2) ? above && below : !above || !below);
}

Expr ExpressionMaker::boolean(int depth) {
  switch (random_->between(0, 9)) {
    case 0:
    case 1:
      return noted("!", !value(Bool(), depth));
    case 2:
    case 3: {
      const Expr a = value(Bool(), depth), b = value(Bool(), depth);
      return random_->one_in(2) ? noted("&&", a && b) : noted("||", a || b);
    }
    case 4: {
      DataType type = random_type(*random_);
      if (type.is_bool() || type.is_floating()) type = Int(16);
      const Expr by = not_zero_constant(value(type, depth));
      const Expr a = value(type, depth), b = value(type, depth);
      const Expr zero = make_const(type, 0), quotient = divided(a, by) <= b;
      return noted("a division protected by && or ||",
                   random_->one_in(2) ? by != zero && quotient : by == zero || quotient);
    }
    case 5: {
      DataType type = random_type(*random_);
      if (!type.is_floating()) type = Float(32);
      const Expr x = value(type, depth);
      const int kind = random_->between(0, 2);
      return noted("isnan and such", kind == 0 ? isnan(x) : kind == 1 ? isinf(x) : isfinite(x));
    }
    case 6:
      return in_range(depth);
    default:
      return comparison(depth);
  }
}

}  // namespace tenon::fuzz

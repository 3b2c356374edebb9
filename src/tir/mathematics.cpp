// Math functions on floats, and bit operations.
#include "tenon/tir/expr.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"
#include "tir/operands.h"

namespace tenon::tir {

namespace {

Expr float_call(Intrin intrin, std::initializer_list<Operand> args) {
  const Operand& first = *args.begin();
  return at(first.where(), [&] {
    std::optional<DataType> common;
    for (const Operand& a : args)
      if (!a.is_literal())
        common = common ? common_type(*common, a.alone().dtype()) : a.alone().dtype();
    const DataType type = common.value_or(first.alone().dtype());
    if (!type.is_floating())
      throw TypeError(std::string(to_string(intrin)) + " takes floats, got " + type.str() + ": " +
                      print_expr(first.alone()) + "; cast it first");
    std::vector<Expr> list;
    for (const Operand& a : args) list.push_back(to_type(type, a.beside(type)));
    return make_call(type, intrin, std::move(list));
  });
}

Expr float_test(Intrin intrin, const Operand& x, bool of_integers) {
  return at(x.where(), [&]() -> Expr {
    Expr e = x.alone();
    const DataType truth = Bool(e.dtype().lanes);
    if (e.dtype().is_integral()) return make_int(truth, of_integers);
    if (!e.dtype().is_floating())
      throw TypeError(std::string(to_string(intrin)) + " takes numbers, got " + e.dtype().str());
    return make_call(truth, intrin, {e});
  });
}

/// Returns the argument of a bit count. TypeError unless it is an integer that is not a bool.
Expr integers_of(Intrin intrin, const Operand& x) {
  Expr e = x.alone();
  if (!e.dtype().is_integral() || e.dtype().is_bool())
    throw TypeError(std::string(to_string(intrin)) + " takes integers, got " + e.dtype().str(),
                    x.where());
  return e;
}

Expr rounding(Intrin intrin, const Operand& x) {
  Expr e = x.alone();
  if (e.dtype().is_integral()) return e;
  if (const auto constant = fold_call(e.dtype(), intrin, {e})) return *constant;
  return float_call(intrin, {x});
}

}  // namespace

Expr exp(const Operand& x) { return float_call(Intrin::exp, {x}); }
Expr exp2(const Operand& x) { return float_call(Intrin::exp2, {x}); }
Expr exp10(const Operand& x) { return float_call(Intrin::exp10, {x}); }
Expr log(const Operand& x) { return float_call(Intrin::log, {x}); }
Expr log2(const Operand& x) { return float_call(Intrin::log2, {x}); }
Expr log10(const Operand& x) { return float_call(Intrin::log10, {x}); }
Expr log1p(const Operand& x) { return float_call(Intrin::log1p, {x}); }
Expr sqrt(const Operand& x) { return float_call(Intrin::sqrt, {x}); }
Expr rsqrt(const Operand& x) { return float_call(Intrin::rsqrt, {x}); }
Expr pow(const Operand& x, const Operand& y) { return float_call(Intrin::pow, {x, y}); }
Expr sin(const Operand& x) { return float_call(Intrin::sin, {x}); }
Expr cos(const Operand& x) { return float_call(Intrin::cos, {x}); }
Expr tan(const Operand& x) { return float_call(Intrin::tan, {x}); }
Expr sinh(const Operand& x) { return float_call(Intrin::sinh, {x}); }
Expr cosh(const Operand& x) { return float_call(Intrin::cosh, {x}); }
Expr tanh(const Operand& x) { return float_call(Intrin::tanh, {x}); }
Expr asin(const Operand& x) { return float_call(Intrin::asin, {x}); }
Expr acos(const Operand& x) { return float_call(Intrin::acos, {x}); }
Expr atan(const Operand& x) { return float_call(Intrin::atan, {x}); }
Expr atan2(const Operand& y, const Operand& x) { return float_call(Intrin::atan2, {y, x}); }
Expr asinh(const Operand& x) { return float_call(Intrin::asinh, {x}); }
Expr acosh(const Operand& x) { return float_call(Intrin::acosh, {x}); }
Expr atanh(const Operand& x) { return float_call(Intrin::atanh, {x}); }
Expr erf(const Operand& x) { return float_call(Intrin::erf, {x}); }
Expr sigmoid(const Operand& x) { return float_call(Intrin::sigmoid, {x}); }
Expr hypot(const Operand& x, const Operand& y) { return float_call(Intrin::hypot, {x, y}); }
Expr copysign(const Operand& x, const Operand& y) { return float_call(Intrin::copysign, {x, y}); }

Expr nextafter(const Operand& x, const Operand& y) {
  const Expr result = float_call(Intrin::nextafter, {x, y});
  if (result.dtype().bits < 32)
    throw TypeError("nextafter takes float32 or float64, got " + result.dtype().str(), x.where());
  return result;
}

Expr fmod(const Operand& x, const Operand& y) { return float_call(Intrin::fmod, {x, y}); }
Expr fma(const Operand& x, const Operand& y, const Operand& z) {
  return float_call(Intrin::fma, {x, y, z});
}

Expr ldexp(const Operand& x, const Operand& exponent) {
  Expr e = x.alone();
  if (!e.dtype().is_floating())
    throw TypeError("ldexp takes floats, got " + e.dtype().str(), x.where());
  const DataType count = exponent.alone().dtype();
  if (!count.is_integral())
    throw TypeError("the exponent of ldexp is an integer, got " + count.str() + ": " +
                        print_expr(exponent.alone()),
                    exponent.where());
  return make_call(e.dtype(), Intrin::ldexp, {e, cast(Int(32, e.dtype().lanes), exponent)});
}

Expr floor(const Operand& x) { return rounding(Intrin::floor, x); }
Expr ceil(const Operand& x) { return rounding(Intrin::ceil, x); }
Expr round(const Operand& x) { return rounding(Intrin::round, x); }
Expr trunc(const Operand& x) { return rounding(Intrin::trunc, x); }
Expr nearbyint(const Operand& x) { return rounding(Intrin::nearbyint, x); }

Expr abs(const Operand& x) {
  Expr e = x.alone();
  if (e.dtype().is_uint()) return e;
  if (const auto constant = fold_call(e.dtype(), Intrin::fabs, {e})) return *constant;
  if (e.dtype().is_int()) return select(e >= 0, e, 0 - e);
  return float_call(Intrin::fabs, {x});
}

Expr isnan(const Operand& x) { return float_test(Intrin::isnan, x, false); }
Expr isinf(const Operand& x) { return float_test(Intrin::isinf, x, false); }
Expr isfinite(const Operand& x) { return float_test(Intrin::isfinite, x, true); }

Expr popcount(const Operand& x) {
  Expr e = integers_of(Intrin::popcount, x);
  return make_call(e.dtype(), Intrin::popcount, {e});
}

Expr clz(const Operand& x) {
  Expr e = integers_of(Intrin::clz, x);
  return make_call(Int(32, e.dtype().lanes), Intrin::clz, {e});
}

}  // namespace tenon::tir

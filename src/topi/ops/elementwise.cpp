#include "tenon/topi/elementwise.h"

#include "tenon/topi/tags.h"
#include "topi/ops/declare.h"

namespace tenon::topi {

namespace {

template <class F>
Tensor unary(const std::string& function, F f, const Tensor& x, std::string name,
             const SourceLocation& where) {
  const auto element = [&](Indices indices) -> Expr {
    return f(Operand(x(indices, where), where));
  };
  const std::string what = describe(function, name, x);
  return declare(what, x.shape(), element, std::move(name), kElementwise, where);
}

Expr sign_of(const Operand& operand) {
  const Expr x = operand.alone();
  const DataType type = x.dtype();
  if (!type.is_floating() && !type.is_integral())
    throw TypeError("sign takes numbers, got " + type.str());
  const Expr zero = tir::make_const(type, 0), one = tir::make_const(type, 1);
  // Values of an unsigned type are never negative, and the type has no constant -1. A float that is
  // neither positive nor negative is a zero or a NaN, which is returned unchanged.
  const Expr same = type.is_floating() ? x : zero;
  const Expr below = type.is_uint() ? zero : tir::select(x < zero, tir::make_const(type, -1), same);
  return tir::select(x > zero, one, below);
}

}  // namespace

Tensor abs(const Tensor& x, Name name, SourceLocation where) {
  return unary("abs", tir::abs, x, std::move(name), where);
}
Tensor negative(const Tensor& x, Name name, SourceLocation where) {
  return unary(
      "negative", [](const Operand& e) { return -e; }, x, std::move(name), where);
}
Tensor sign(const Tensor& x, Name name, SourceLocation where) {
  return unary("sign", sign_of, x, std::move(name), where);
}
Tensor exp(const Tensor& x, Name name, SourceLocation where) {
  return unary("exp", tir::exp, x, std::move(name), where);
}
Tensor exp2(const Tensor& x, Name name, SourceLocation where) {
  return unary("exp2", tir::exp2, x, std::move(name), where);
}
Tensor exp10(const Tensor& x, Name name, SourceLocation where) {
  return unary("exp10", tir::exp10, x, std::move(name), where);
}
Tensor log(const Tensor& x, Name name, SourceLocation where) {
  return unary("log", tir::log, x, std::move(name), where);
}
Tensor log2(const Tensor& x, Name name, SourceLocation where) {
  return unary("log2", tir::log2, x, std::move(name), where);
}
Tensor log10(const Tensor& x, Name name, SourceLocation where) {
  return unary("log10", tir::log10, x, std::move(name), where);
}
Tensor log1p(const Tensor& x, Name name, SourceLocation where) {
  return unary("log1p", tir::log1p, x, std::move(name), where);
}
Tensor sqrt(const Tensor& x, Name name, SourceLocation where) {
  return unary("sqrt", tir::sqrt, x, std::move(name), where);
}
Tensor rsqrt(const Tensor& x, Name name, SourceLocation where) {
  return unary("rsqrt", tir::rsqrt, x, std::move(name), where);
}
Tensor erf(const Tensor& x, Name name, SourceLocation where) {
  return unary("erf", tir::erf, x, std::move(name), where);
}
Tensor sigmoid(const Tensor& x, Name name, SourceLocation where) {
  return unary("sigmoid", tir::sigmoid, x, std::move(name), where);
}
Tensor sin(const Tensor& x, Name name, SourceLocation where) {
  return unary("sin", tir::sin, x, std::move(name), where);
}
Tensor cos(const Tensor& x, Name name, SourceLocation where) {
  return unary("cos", tir::cos, x, std::move(name), where);
}
Tensor tan(const Tensor& x, Name name, SourceLocation where) {
  return unary("tan", tir::tan, x, std::move(name), where);
}
Tensor asin(const Tensor& x, Name name, SourceLocation where) {
  return unary("asin", tir::asin, x, std::move(name), where);
}
Tensor acos(const Tensor& x, Name name, SourceLocation where) {
  return unary("acos", tir::acos, x, std::move(name), where);
}
Tensor atan(const Tensor& x, Name name, SourceLocation where) {
  return unary("atan", tir::atan, x, std::move(name), where);
}
Tensor sinh(const Tensor& x, Name name, SourceLocation where) {
  return unary("sinh", tir::sinh, x, std::move(name), where);
}
Tensor cosh(const Tensor& x, Name name, SourceLocation where) {
  return unary("cosh", tir::cosh, x, std::move(name), where);
}
Tensor tanh(const Tensor& x, Name name, SourceLocation where) {
  return unary("tanh", tir::tanh, x, std::move(name), where);
}
Tensor asinh(const Tensor& x, Name name, SourceLocation where) {
  return unary("asinh", tir::asinh, x, std::move(name), where);
}
Tensor acosh(const Tensor& x, Name name, SourceLocation where) {
  return unary("acosh", tir::acosh, x, std::move(name), where);
}
Tensor atanh(const Tensor& x, Name name, SourceLocation where) {
  return unary("atanh", tir::atanh, x, std::move(name), where);
}
Tensor floor(const Tensor& x, Name name, SourceLocation where) {
  return unary("floor", tir::floor, x, std::move(name), where);
}
Tensor ceil(const Tensor& x, Name name, SourceLocation where) {
  return unary("ceil", tir::ceil, x, std::move(name), where);
}
Tensor trunc(const Tensor& x, Name name, SourceLocation where) {
  return unary("trunc", tir::trunc, x, std::move(name), where);
}
Tensor round(const Tensor& x, Name name, SourceLocation where) {
  return unary("round", tir::round, x, std::move(name), where);
}
Tensor isnan(const Tensor& x, Name name, SourceLocation where) {
  return unary("isnan", tir::isnan, x, std::move(name), where);
}
Tensor isinf(const Tensor& x, Name name, SourceLocation where) {
  return unary("isinf", tir::isinf, x, std::move(name), where);
}
Tensor isfinite(const Tensor& x, Name name, SourceLocation where) {
  return unary("isfinite", tir::isfinite, x, std::move(name), where);
}
Tensor logical_not(const Tensor& x, Name name, SourceLocation where) {
  return unary(
      "logical_not", [](const Operand& e) { return !e; }, x, std::move(name), where);
}
Tensor bitwise_not(const Tensor& x, Name name, SourceLocation where) {
  return unary(
      "bitwise_not", [](const Operand& e) { return ~e; }, x, std::move(name), where);
}

Tensor cast(const Tensor& x, DataType type, Name name, SourceLocation where) {
  if (x.dtype() == type) return x;
  const auto f = [&](const Operand& e) { return tir::cast(type, e); };
  return unary("cast", f, x, std::move(name), where);
}

Tensor reinterpret(const Tensor& x, DataType type, Name name, SourceLocation where) {
  const auto f = [&](const Operand& e) { return tir::reinterpret(type, e); };
  return unary("reinterpret", f, x, std::move(name), where);
}

Tensor clip(const Tensor& x, const Operand& low, const Operand& high, Name name,
            SourceLocation where) {
  // This order of operands preserves a NaN, because all comparisons with a NaN are false.
  const auto f = [&](const Operand& e) { return tir::min(high, tir::max(low, e)); };
  return unary("clip", f, x, std::move(name), where);
}

Tensor relu(const Tensor& x, Name name, SourceLocation where) {
  const auto f = [&](const Operand& e) { return tir::max(e, Operand(0, where)); };
  return unary("relu", f, x, std::move(name), where);
}

Tensor full(std::vector<Expr> shape, DataType type, const Operand& value, Name name,
            SourceLocation where) {
  const std::string what = "topi::full `" + name + "` of " + type.str();
  const auto element = [&](Indices) {
    const Expr e = value.beside(type);
    if (value.is_literal() && e.dtype() != type)
      throw TypeError("a literal of type " + e.dtype().str() + " is given");
    return tir::cast(type, e);
  };
  return declare(what, std::move(shape), element, std::move(name), kElementwise, where);
}

}  // namespace tenon::topi

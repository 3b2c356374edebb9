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

/// Defines the operator that applies the function of the same name to each element.
#define TENON_ELEMENTWISE(function)                                    \
  Tensor function(const Tensor& x, Name name, SourceLocation where) {  \
    return unary(#function, tir::function, x, std::move(name), where); \
  }

TENON_ELEMENTWISE(abs)
TENON_ELEMENTWISE(exp)
TENON_ELEMENTWISE(exp2)
TENON_ELEMENTWISE(exp10)
TENON_ELEMENTWISE(log)
TENON_ELEMENTWISE(log2)
TENON_ELEMENTWISE(log10)
TENON_ELEMENTWISE(log1p)
TENON_ELEMENTWISE(sqrt)
TENON_ELEMENTWISE(rsqrt)
TENON_ELEMENTWISE(erf)
TENON_ELEMENTWISE(sigmoid)
TENON_ELEMENTWISE(sin)
TENON_ELEMENTWISE(cos)
TENON_ELEMENTWISE(tan)
TENON_ELEMENTWISE(asin)
TENON_ELEMENTWISE(acos)
TENON_ELEMENTWISE(atan)
TENON_ELEMENTWISE(sinh)
TENON_ELEMENTWISE(cosh)
TENON_ELEMENTWISE(tanh)
TENON_ELEMENTWISE(asinh)
TENON_ELEMENTWISE(acosh)
TENON_ELEMENTWISE(atanh)
TENON_ELEMENTWISE(floor)
TENON_ELEMENTWISE(ceil)
TENON_ELEMENTWISE(trunc)
TENON_ELEMENTWISE(round)
TENON_ELEMENTWISE(isnan)
TENON_ELEMENTWISE(isinf)
TENON_ELEMENTWISE(isfinite)

#undef TENON_ELEMENTWISE

Tensor negative(const Tensor& x, Name name, SourceLocation where) {
  return unary(
      "negative", [](const Operand& e) { return -e; }, x, std::move(name), where);
}
Tensor sign(const Tensor& x, Name name, SourceLocation where) {
  return unary("sign", sign_of, x, std::move(name), where);
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

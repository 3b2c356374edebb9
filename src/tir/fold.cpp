// Constant folding with the semantics of interp/scalar.h, and the identities that are applied when
// an expression is built.
#include <cmath>

#include "tenon/interp/scalar.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/ops.h"
#include "tir/operands.h"

namespace tenon::tir {

namespace {

std::optional<interp::Scalar> value_of(const Expr& e) {
  if (const IntImm* n = e.as<IntImm>()) return interp::integer(n->value);
  if (const FloatImm* n = e.as<FloatImm>()) return interp::floating(n->value);
  return std::nullopt;
}

Expr constant(DataType type, interp::Scalar value) {
  return type.is_floating() ? make_float(type, value.d) : make_int(type, value.i);
}

bool is_integer(const Expr& e, std::int64_t value) {
  const IntImm* n = e.as<IntImm>();
  return n && n->value == value;
}

/// Whether the expression is a float constant of this value and sign.
bool is_float(const Expr& e, double value) {
  const FloatImm* n = e.as<FloatImm>();
  return n && n->value == value && std::signbit(n->value) == std::signbit(value);
}

/// Applies x op constant = x, constant op x = x, and absorbing constants. For floats, x + 0.0 is
/// not x if x is -0.0, and 0 * x is not 0 for infinities and NaN.
std::optional<Expr> fold_identities(BinaryOp op, const Expr& a, const Expr& b) {
  switch (op) {
    case BinaryOp::Add:
      if (is_integer(a, 0) || is_float(a, -0.0)) return b;
      if (is_integer(b, 0) || is_float(b, -0.0)) return a;
      return std::nullopt;
    case BinaryOp::Sub:
      if (is_integer(b, 0) || is_float(b, 0.0)) return a;
      return std::nullopt;
    case BinaryOp::Mul:
      if (is_integer(a, 1) || is_float(a, 1)) return b;
      if (is_integer(b, 1) || is_float(b, 1)) return a;
      if (is_integer(a, 0)) return a;
      if (is_integer(b, 0)) return b;
      return std::nullopt;
    case BinaryOp::Div:
      if (is_integer(b, 1) || is_float(b, 1)) return a;
      return std::nullopt;
    case BinaryOp::TruncDiv:
    case BinaryOp::FloorDiv:
      if (is_integer(b, 1)) return a;
      return std::nullopt;
    case BinaryOp::TruncMod:
    case BinaryOp::FloorMod:
      if (is_integer(b, 1)) return make_int(a.dtype(), 0);
      return std::nullopt;
    case BinaryOp::Min:
    case BinaryOp::Max:
      if (a.same_as(b)) return a;
      return std::nullopt;
    case BinaryOp::And:
      if (is_true(a) || is_false(b)) return b;
      if (is_true(b) || is_false(a)) return a;
      return std::nullopt;
    case BinaryOp::Or:
      if (is_false(a) || is_true(b)) return b;
      if (is_false(b) || is_true(a)) return a;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<Expr> fold_constants(BinaryOp op, const Expr& a, const Expr& b) {
  const auto x = value_of(a);
  if (!x) return std::nullopt;
  const auto y = value_of(b);
  if (!y) return std::nullopt;
  const auto result = interp::try_apply(op, *x, *y, a.dtype());
  if (!result) return std::nullopt;
  return constant(is_comparison(op) ? Bool() : a.dtype(), *result);
}

std::optional<Expr> fold_conversion(DataType type, const Expr& e) {
  const auto value = value_of(e);
  if (!value || type.is_handle()) return std::nullopt;
  return constant(type, interp::convert(*value, e.dtype(), type));
}

std::optional<Expr> fold_call(DataType type, Intrin intrin, std::initializer_list<Expr> args) {
  std::vector<interp::Scalar> values;
  for (const Expr& arg : args) {
    const auto value = value_of(arg);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return constant(type, interp::apply(intrin, values, args.begin()->dtype(), type));
}

Expr fold(BinaryOp op, const Expr& a, const Expr& b) {
  if (auto constant = fold_constants(op, a, b)) return *constant;
  if (auto same = fold_identities(op, a, b)) return *same;
  return make_binary(op, a, b);
}

}  // namespace tenon::tir

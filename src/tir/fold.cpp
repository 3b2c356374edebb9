// Constant folding and the identities that building an expression applies.
#include <cmath>
#include <limits>

#include "tenon/tir/expr.h"
#include "tenon/tir/ops.h"

namespace tenon::tir {

namespace {

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UnsignedWide;

/// A constant's mathematical value: a uint64 is kept as a bit pattern and read as unsigned here.
Wide widen(std::int64_t value, DataType type) {
  if (type.is_uint() && type.bits == 64) return static_cast<std::uint64_t>(value);
  return value;
}

Wide floor_div(Wide a, Wide b) {
  Wide q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

std::optional<Expr> fold_integers(BinaryOp op, std::int64_t x, std::int64_t y, DataType type) {
  const Wide a = widen(x, type), b = widen(y, type);
  auto number = [&](Wide value) {
    return make_int(type, wrap(static_cast<std::int64_t>(value), type));
  };
  auto truth = [](bool value) { return value ? make_true() : make_false(); };
  switch (op) {
    case BinaryOp::Add:
      return number(a + b);
    case BinaryOp::Sub:
      return number(a - b);
    case BinaryOp::Mul:
      // The product of two uint64 may leave even the wide type; only its low bits count.
      return number(static_cast<Wide>(static_cast<UnsignedWide>(a) * static_cast<UnsignedWide>(b)));
    case BinaryOp::Div:
      return std::nullopt;
    case BinaryOp::TruncDiv:
      return b == 0 ? std::nullopt : std::optional(number(a / b));
    case BinaryOp::TruncMod:
      return b == 0 ? std::nullopt : std::optional(number(a % b));
    case BinaryOp::FloorDiv:
      return b == 0 ? std::nullopt : std::optional(number(floor_div(a, b)));
    case BinaryOp::FloorMod:
      return b == 0 ? std::nullopt : std::optional(number(a - floor_div(a, b) * b));
    case BinaryOp::Min:
      return number(a < b ? a : b);
    case BinaryOp::Max:
      return number(a < b ? b : a);
    case BinaryOp::Eq:
      return truth(a == b);
    case BinaryOp::Ne:
      return truth(a != b);
    case BinaryOp::Lt:
      return truth(a < b);
    case BinaryOp::Le:
      return truth(a <= b);
    case BinaryOp::Gt:
      return truth(a > b);
    case BinaryOp::Ge:
      return truth(a >= b);
    case BinaryOp::And:
      return truth(a != 0 && b != 0);
    case BinaryOp::Or:
      return truth(a != 0 || b != 0);
  }
  return std::nullopt;
}

std::optional<Expr> fold_floats(BinaryOp op, double a, double b, DataType type) {
  // Double arithmetic on float32 values, rounded once, is correctly rounded float32 arithmetic;
  // narrower types are left to the target.
  const bool foldable = type.is_float() && type.bits >= 32;
  auto number = [&](double value) -> std::optional<Expr> {
    if (!foldable) return std::nullopt;
    return make_float(type,
                      type.bits == 32 ? static_cast<double>(static_cast<float>(value)) : value);
  };
  auto truth = [](bool value) { return value ? make_true() : make_false(); };
  switch (op) {
    case BinaryOp::Add:
      return number(a + b);
    case BinaryOp::Sub:
      return number(a - b);
    case BinaryOp::Mul:
      return number(a * b);
    case BinaryOp::Div:
      return b == 0 ? std::nullopt : number(a / b);
    case BinaryOp::Min:
      return number(a < b ? a : b);
    case BinaryOp::Max:
      return number(a < b ? b : a);
    case BinaryOp::Eq:
      return truth(a == b);
    case BinaryOp::Ne:
      return truth(a != b);
    case BinaryOp::Lt:
      return truth(a < b);
    case BinaryOp::Le:
      return truth(a <= b);
    case BinaryOp::Gt:
      return truth(a > b);
    case BinaryOp::Ge:
      return truth(a >= b);
    default:
      return std::nullopt;
  }
}

bool is_number(const Expr& e, double value) {
  if (const IntImm* n = e.as<IntImm>()) return static_cast<double>(n->value) == value;
  if (const FloatImm* n = e.as<FloatImm>()) return n->value == value;
  return false;
}

/// x op constant = x, constant op x = x, and absorbing constants.
std::optional<Expr> fold_identities(BinaryOp op, const Expr& a, const Expr& b) {
  const bool integral = a.dtype().is_integral();
  switch (op) {
    case BinaryOp::Add:
      if (is_number(a, 0)) return b;
      if (is_number(b, 0)) return a;
      return std::nullopt;
    case BinaryOp::Sub:
      if (is_number(b, 0)) return a;
      return std::nullopt;
    case BinaryOp::Mul:
      if (is_number(a, 1)) return b;
      if (is_number(b, 1)) return a;
      // Not for floats: 0 * infinity is no number.
      if (integral && is_number(a, 0)) return a;
      if (integral && is_number(b, 0)) return b;
      return std::nullopt;
    case BinaryOp::Div:
    case BinaryOp::TruncDiv:
    case BinaryOp::FloorDiv:
      if (is_number(b, 1)) return a;
      return std::nullopt;
    case BinaryOp::TruncMod:
    case BinaryOp::FloorMod:
      if (is_number(b, 1)) return make_int(a.dtype(), 0);
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
  const IntImm* x = a.as<IntImm>();
  const IntImm* y = b.as<IntImm>();
  if (x && y) return fold_integers(op, x->value, y->value, a.dtype());
  const FloatImm* f = a.as<FloatImm>();
  const FloatImm* g = b.as<FloatImm>();
  if (f && g) return fold_floats(op, f->value, g->value, a.dtype());
  return std::nullopt;
}

Expr fold(BinaryOp op, const Expr& a, const Expr& b) {
  if (auto constant = fold_constants(op, a, b)) return *constant;
  if (auto same = fold_identities(op, a, b)) return *same;
  return make_binary(op, a, b);
}

}  // namespace tenon::tir

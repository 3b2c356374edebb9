#include <cfloat>
#include <cmath>
#include <limits>

#include "tenon/tir/expr.h"
#include "tenon/tir/literal_text.h"
#include "tenon/tir/ops.h"
#include "tir/operands.h"

namespace tenon::tir {

namespace {

double greatest(DataType type) {
  if (type.is_bfloat()) return 3.3895313892515355e38;
  return type.bits == 64 ? DBL_MAX : type.bits == 32 ? static_cast<double>(FLT_MAX) : 65504.0;
}

/// Returns the least magnitude that rounds to infinity. It exceeds the maximum of the type by half
/// a unit in the last place.
double least_overflow(DataType type) {
  if (type.is_bfloat()) return 0x1.ffp127;
  return type.bits == 64   ? std::numeric_limits<double>::infinity()
         : type.bits == 32 ? 0x1.ffffffp127
                           : 65520.0;
}

/// Makes a floating constant. TypeError for a finite number that overflows the type.
Expr float_constant(DataType type, double value, const SourceLocation& where) {
  if (std::isfinite(value) && std::fabs(value) >= least_overflow(type.element()))
    throw TypeError("the constant " + shortest_text(value) + " does not fit " +
                        type.element().str() + "; infinity(...) is the type's infinity",
                    where);
  return make_float(type, value);
}

}  // namespace

// ---- the common type of operands ----------------------------------------------------------------

Expr to_lanes(const Expr& e, int lanes) {
  return e.dtype().lanes == 1 && lanes > 1 ? make_broadcast(e, lanes) : e;
}

DataType common_type(DataType s, DataType t) {
  if (s == t) return s;
  const int lanes = std::max<int>(s.lanes, t.lanes);
  if (s.lanes != t.lanes && s.is_vector() && t.is_vector())
    throw TypeError("cannot combine " + s.str() + " with " + t.str() + ": the lanes differ");
  s = s.with_lanes(lanes);
  t = t.with_lanes(lanes);
  if (s == t) return s;
  if (s.is_handle() || t.is_handle())
    throw TypeError("cannot combine " + s.str() + " with " + t.str());
  if (s.is_floating() && t.is_floating()) {
    // bfloat16 and float16 have no common 16-bit type.
    if (s.bits == t.bits) return Float(32, lanes);
    return s.bits > t.bits ? s : t;
  }
  if (s.is_floating()) return s;
  if (t.is_floating()) return t;
  if (s.bits != t.bits) return s.bits > t.bits ? s : t;
  return s.is_uint() ? s : t;
}

Expr to_type(DataType type, const Expr& e) {
  const Expr spread = to_lanes(e, type.lanes);
  return spread.dtype() == type ? spread : cast(type, spread);
}

Expr as_number(const Expr& e) {
  return e.dtype().is_bool() ? cast(Int(32, e.dtype().lanes), e) : e;
}

void Operand::refuse_moved_from(const SourceLocation& where) {
  throw TypeError("the expression has been moved from, and has no value any more", where);
}

Expr Operand::alone() const {
  if (expression_) return *expression_;
  if (is_floating_) return Expr(floating_, where_);
  return make_int(integer_.type(), integer_.bits);
}

Expr Operand::beside(DataType peer) const {
  if (expression_) return *expression_;
  if (is_floating_)
    return peer.is_floating() ? float_constant(peer, floating_, where_)
                              : to_lanes(alone(), peer.lanes);
  if (peer.is_floating()) return float_constant(peer, integer_.as_double(), where_);
  if (!peer.is_integral()) return alone();
  if (!integer_.fits(peer.element()))
    throw TypeError("the literal " + integer_.str() + " does not fit " + peer.element().str(),
                    where_);
  return make_int(peer, integer_.bits);
}

std::pair<Expr, Expr> promote(const Operand& a, const Operand& b) {
  if (!a.is_literal() && !b.is_literal()) {
    std::pair<Expr, Expr> both(a.alone(), b.alone());
    if (both.first.dtype() == both.second.dtype()) return both;
  }
  if (a.is_literal() && b.is_literal()) {
    const DataType type = common_type(a.alone().dtype(), b.alone().dtype());
    return {a.beside(type), b.beside(type)};
  }
  Expr x = a.is_literal() ? a.beside(b.alone().dtype()) : a.alone();
  Expr y = b.is_literal() ? b.beside(x.dtype()) : b.alone();
  const DataType type = common_type(x.dtype(), y.dtype());
  return {to_type(type, x), to_type(type, y)};
}

// ---- constants ----------------------------------------------------------------------------------

Expr make_const(DataType type, double value, SourceLocation where) {
  if (type.is_floating()) return float_constant(type, value, where);
  constexpr double kEndOfInt64 = 9223372036854775808.0;
  const bool is_whole =
      std::trunc(value) == value && value >= -kEndOfInt64 && value < 2 * kEndOfInt64;
  if (!is_whole)
    throw TypeError("the constant " + std::to_string(value) + " does not fit " + type.str(), where);
  return value < kEndOfInt64 ? make_const(type, static_cast<std::int64_t>(value), where)
                             : make_const(type, static_cast<std::uint64_t>(value), where);
}

Expr make_const(DataType type, const IntegerLiteral& value, SourceLocation where) {
  if (type.is_floating()) return float_constant(type, value.as_double(), where);
  if (!type.is_integral() || !value.fits(type.element()))
    throw TypeError("the constant " + value.str() + " does not fit " + type.str(), where);
  return make_int(type, value.bits);
}

Expr min_value(DataType type, SourceLocation where) {
  if (type.is_floating()) return make_float(type, -greatest(type));
  if (type.is_integral()) return make_int(type, integer_min(type));
  throw TypeError("type " + type.str() + " has no minimum value", where);
}

Expr max_value(DataType type, SourceLocation where) {
  if (type.is_floating()) return make_float(type, greatest(type));
  // The maximum of uint64 has the bit pattern of -1.
  if (type.is_integral()) return make_int(type, integer_max(type).value_or(-1));
  throw TypeError("type " + type.str() + " has no maximum value", where);
}

Expr infinity(DataType type, SourceLocation where) {
  if (!type.is_floating()) throw TypeError("type " + type.str() + " has no infinity", where);
  return make_float(type, std::numeric_limits<double>::infinity());
}

}  // namespace tenon::tir

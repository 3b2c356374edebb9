#include "tenon/tir/ops.h"

#include <cfloat>
#include <cmath>
#include <limits>

#include "tenon/tir/literal_text.h"
#include "tenon/tir/print.h"
#include "tir/check_call.h"

namespace tenon::tir {

namespace {

/// Runs a construction and adds the user's line to a TypeError that has none.
template <class F>
auto at(const SourceLocation& where, F construct) {
  try {
    return construct();
  } catch (const TypeError& error) {
    if (error.where()) throw;
    throw TypeError(error.what(), where);
  }
}

Expr to_lanes(const Expr& e, int lanes) {
  return e.dtype().lanes == 1 && lanes > 1 ? make_broadcast(e, lanes) : e;
}

void refuse_pointer(BinaryOp op, const Expr& e) {
  if (e.dtype().is_handle())
    throw TypeError("`" + std::string(to_string(op)) +
                    "` is not defined on values of type handle: " + print_expr(e));
}

Expr comparison(BinaryOp op, const Operand& a, const Operand& b) {
  return at(a.where(), [&] {
    Promoted p = promote(a, b);
    if (op != BinaryOp::Eq && op != BinaryOp::Ne) refuse_pointer(op, p.a);
    return fold(op, p.a, p.b);
  });
}

/// Arithmetic on truth values is done in int32.
Expr arithmetic(BinaryOp op, const Operand& a, const Operand& b) {
  return at(a.where(), [&] {
    Promoted p = promote(a, b);
    if (p.a.dtype().is_bool()) {
      const DataType type = Int(32, p.a.dtype().lanes);
      return fold(op, cast(type, p.a), cast(type, p.b));
    }
    refuse_pointer(op, p.a);
    return fold(op, p.a, p.b);
  });
}

Expr integer_binary(BinaryOp op, const Operand& a, const Operand& b) {
  return at(a.where(), [&] {
    Promoted p = promote(a, b);
    if (!p.a.dtype().is_integral())
      throw TypeError(std::string(to_string(op)) + " is on integers, got " + p.a.dtype().str() +
                      "; for floats use `/`, fmod");
    if (is_zero(p.b))
      throw TypeError(std::string(to_string(op)) + " by the constant zero: " + print_expr(p.a));
    return fold(op, p.a, p.b);
  });
}

Expr logical(BinaryOp op, const Operand& a, const Operand& b) {
  return at(a.where(), [&] {
    Expr x = a.alone(), y = b.alone();
    for (const Expr* e : {&x, &y})
      if (!e->dtype().is_bool())
        throw TypeError("the operands of `" + std::string(to_string(op)) + "` must be bool, got " +
                        e->dtype().str() + ": " + print_expr(*e));
    const int lanes = std::max<int>(x.dtype().lanes, y.dtype().lanes);
    return fold(op, to_lanes(x, lanes), to_lanes(y, lanes));
  });
}

Expr bitwise(Intrin intrin, const Operand& a, const Operand& b) {
  return at(a.where(), [&]() -> Expr {
    Promoted p = promote(a, b);
    const DataType type = p.a.dtype();
    if (!type.is_integral())
      throw TypeError(std::string(to_string(intrin)) + " is on integers, got " + type.str() + ": " +
                      print_expr(p.a));
    const bool is_shift = intrin == Intrin::shift_left || intrin == Intrin::shift_right;
    const auto amount = constant_int(p.b);
    if (is_shift && amount && (*amount < 0 || *amount >= type.bits))
      throw TypeError("a shift of " + type.str() + " must be by 0 to " +
                      std::to_string(type.bits - 1) + ", got " + std::to_string(*amount));
    const IntImm* x = p.a.as<IntImm>();
    const IntImm* y = p.b.as<IntImm>();
    if (x && y && type.is_scalar()) {
      const std::int64_t u = x->value, v = y->value;
      const std::uint64_t unsigned_u = static_cast<std::uint64_t>(u);
      const std::int64_t value = intrin == Intrin::shift_left
                                     ? static_cast<std::int64_t>(unsigned_u << v)
                                 : intrin == Intrin::shift_right && type.is_uint()
                                     ? static_cast<std::int64_t>(unsigned_u >> v)
                                 : intrin == Intrin::shift_right ? u >> v
                                 : intrin == Intrin::bitwise_and ? (u & v)
                                 : intrin == Intrin::bitwise_or  ? (u | v)
                                                                 : (u ^ v);
      return make_int(type, wrap(value, type));
    }
    if (is_shift && amount == 0) return p.a;
    return make_call(type, intrin, {p.a, p.b});
  });
}

/// The type in which two values meet: see the rules of promotion in ops.h.
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

Expr float_call(Intrin intrin, std::initializer_list<Operand> args) {
  const Operand& first = *args.begin();
  return at(first.where(), [&] {
    std::optional<DataType> common;
    for (const Operand& a : args)
      if (!a.is_literal())
        common = common ? common_type(*common, a.alone().dtype()) : a.alone().dtype();
    const DataType type = common.value_or(first.alone().dtype());
    if (!type.is_floating())
      throw TypeError(std::string(to_string(intrin)) + " is on floats, got " + type.str() + ": " +
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
      throw TypeError(std::string(to_string(intrin)) + " is on numbers, got " + e.dtype().str());
    return make_call(truth, intrin, {e});
  });
}

Expr rounding(Intrin intrin, const Operand& x, double (*round_one)(double)) {
  Expr e = x.alone();
  if (e.dtype().is_integral()) return e;
  if (const FloatImm* n = e.as<FloatImm>()) return make_float(e.dtype(), round_one(n->value));
  return float_call(intrin, {x});
}

double greatest(DataType type) {
  if (type.is_bfloat()) return 3.3895313892515355e38;
  return type.bits == 64 ? DBL_MAX : type.bits == 32 ? static_cast<double>(FLT_MAX) : 65504.0;
}

/// The least magnitude that rounds to infinity: half a step above the greatest value.
double least_overflow(DataType type) {
  if (type.is_bfloat()) return 0x1.ffp127;
  return type.bits == 64   ? std::numeric_limits<double>::infinity()
         : type.bits == 32 ? 0x1.ffffffp127
                           : 65520.0;
}

/// A floating constant; a finite number that the type has no finite value for is a mistake.
Expr float_constant(DataType type, double value, const SourceLocation& where) {
  if (std::isfinite(value) && std::fabs(value) >= least_overflow(type.element()))
    throw TypeError("the constant " + shortest_text(value) + " does not fit " +
                        type.element().str() + "; infinity(...) is the type's infinity",
                    where);
  return make_float(type, value);
}

}  // namespace

// ---- operands -----------------------------------------------------------------------------------

void Operand::refuse_moved_from(const SourceLocation& where) {
  throw TypeError("the expression has been moved from, and has no value any more", where);
}

Expr Operand::alone() const {
  if (const Expr* e = std::get_if<Expr>(&value_)) return *e;
  if (const IntegerLiteral* n = std::get_if<IntegerLiteral>(&value_))
    return make_int(n->type(), n->bits);
  return Expr(std::get<double>(value_), where_);
}

Expr Operand::beside(DataType peer) const {
  if (const Expr* e = std::get_if<Expr>(&value_)) return *e;
  if (const IntegerLiteral* n = std::get_if<IntegerLiteral>(&value_)) {
    if (peer.is_floating()) return float_constant(peer, n->as_double(), where_);
    if (!peer.is_integral()) return alone();
    if (!n->fits(peer.element()))
      throw TypeError("the literal " + n->str() + " does not fit " + peer.element().str(), where_);
    return make_int(peer, n->bits);
  }
  return peer.is_floating() ? float_constant(peer, std::get<double>(value_), where_)
                            : to_lanes(alone(), peer.lanes);
}

Promoted promote(const Operand& a, const Operand& b) {
  if (a.is_literal() && b.is_literal()) {
    Expr x = a.alone();
    Expr y = b.beside(x.dtype());
    return {a.beside(y.dtype()), y};
  }
  Expr x = a.is_literal() ? a.beside(b.alone().dtype()) : a.alone();
  Expr y = b.is_literal() ? b.beside(x.dtype()) : b.alone();
  const DataType type = common_type(x.dtype(), y.dtype());
  return {to_type(type, x), to_type(type, y)};
}

// ---- operators ----------------------------------------------------------------------------------

Expr operator+(const Operand& a, const Operand& b) { return arithmetic(BinaryOp::Add, a, b); }
Expr operator-(const Operand& a, const Operand& b) { return arithmetic(BinaryOp::Sub, a, b); }
Expr operator*(const Operand& a, const Operand& b) { return arithmetic(BinaryOp::Mul, a, b); }

Expr operator/(const Operand& a, const Operand& b) {
  return at(a.where(), [&] {
    Promoted p = promote(a, b);
    if (!p.a.dtype().is_floating())
      throw TypeError("`/` is on floats, got " + p.a.dtype().str() + ": " + print_expr(p.a) +
                      "; integers divide by floordiv or truncdiv (remainders: floormod, truncmod)");
    return fold(BinaryOp::Div, p.a, p.b);
  });
}

Expr operator%(const Operand& a, const Operand& b) {
  throw TypeError(
      "`%` is not defined: say how it rounds, floormod or truncmod (quotients: floordiv, truncdiv): " +
          print_expr(a.alone()) + " by " + print_expr(b.alone()),
      a.where());
}

Expr operator-(const Operand& a) {
  Expr e = a.alone();
  if (e.dtype().is_floating()) return e * make_float(e.dtype(), -1);
  at(a.where(), [&] { refuse_pointer(BinaryOp::Sub, e); });
  return make_int(e.dtype().is_bool() ? Int(32) : e.dtype(), 0) - Operand(e, a.where());
}

Expr operator<(const Operand& a, const Operand& b) { return comparison(BinaryOp::Lt, a, b); }
Expr operator<=(const Operand& a, const Operand& b) { return comparison(BinaryOp::Le, a, b); }
Expr operator>(const Operand& a, const Operand& b) { return comparison(BinaryOp::Gt, a, b); }
Expr operator>=(const Operand& a, const Operand& b) { return comparison(BinaryOp::Ge, a, b); }
Expr operator==(const Operand& a, const Operand& b) { return comparison(BinaryOp::Eq, a, b); }
Expr operator!=(const Operand& a, const Operand& b) { return comparison(BinaryOp::Ne, a, b); }
Expr operator&&(const Operand& a, const Operand& b) { return logical(BinaryOp::And, a, b); }
Expr operator||(const Operand& a, const Operand& b) { return logical(BinaryOp::Or, a, b); }

Expr operator!(const Operand& a) {
  Expr e = a.alone();
  if (is_true(e)) return make_false(e.dtype().lanes);
  if (is_false(e)) return make_true(e.dtype().lanes);
  return at(a.where(), [&] { return make_not(e); });
}

Expr operator&(const Operand& a, const Operand& b) { return bitwise(Intrin::bitwise_and, a, b); }
Expr operator|(const Operand& a, const Operand& b) { return bitwise(Intrin::bitwise_or, a, b); }
Expr operator^(const Operand& a, const Operand& b) { return bitwise(Intrin::bitwise_xor, a, b); }
Expr operator<<(const Operand& a, const Operand& b) { return bitwise(Intrin::shift_left, a, b); }
Expr operator>>(const Operand& a, const Operand& b) { return bitwise(Intrin::shift_right, a, b); }

Expr operator~(const Operand& a) {
  Expr e = a.alone();
  if (!e.dtype().is_integral())
    throw TypeError("`~` is on integers, got " + e.dtype().str(), a.where());
  return make_call(e.dtype(), Intrin::bitwise_not, {e});
}

Expr div(const Operand& a, const Operand& b) { return a / b; }
Expr floordiv(const Operand& a, const Operand& b) {
  return integer_binary(BinaryOp::FloorDiv, a, b);
}
Expr floormod(const Operand& a, const Operand& b) {
  return integer_binary(BinaryOp::FloorMod, a, b);
}
Expr truncdiv(const Operand& a, const Operand& b) {
  return integer_binary(BinaryOp::TruncDiv, a, b);
}
Expr truncmod(const Operand& a, const Operand& b) {
  return integer_binary(BinaryOp::TruncMod, a, b);
}

Expr ceildiv(const Operand& a, const Operand& b) {
  const Promoted p = at(a.where(), [&] { return promote(a, b); });
  if (!p.a.dtype().is_integral())
    throw TypeError("ceildiv is on integers, got " + p.a.dtype().str(), a.where());
  if (is_zero(p.b)) throw TypeError("ceildiv by the constant zero: " + print_expr(p.a), a.where());
  const IntImm* x = p.a.as<IntImm>();
  const IntImm* y = p.b.as<IntImm>();
  // The sum could leave the type where the quotient does not.
  if (x && y && p.a.dtype().is_int() && y->value > 0)
    return make_int(p.a.dtype(), x->value / y->value + (x->value % y->value > 0 ? 1 : 0));
  return floordiv(Operand(a + (b - 1), a.where()), b);
}

Expr min(const Operand& a, const Operand& b) { return arithmetic(BinaryOp::Min, a, b); }
Expr max(const Operand& a, const Operand& b) { return arithmetic(BinaryOp::Max, a, b); }

// ---- choice, types ------------------------------------------------------------------------------

Expr if_then_else(const Operand& condition, const Operand& a, const Operand& b) {
  return at(condition.where(), [&] {
    Expr c = condition.alone();
    if (c.dtype() != Bool())
      throw TypeError("the condition of if_then_else must be a scalar bool, got " +
                      c.dtype().str() + ": " + print_expr(c));
    Promoted p = promote(a, b);
    if (is_true(c)) return p.a;
    if (is_false(c)) return p.b;
    DataType type = p.a.dtype();
    return make_call(type, Intrin::if_then_else, {c, p.a, p.b});
  });
}

Expr select(const Operand& condition, const Operand& a, const Operand& b) {
  return at(condition.where(), [&] {
    Promoted p = promote(a, b);
    return make_select(condition.alone(), p.a, p.b);
  });
}

Expr likely(const Operand& condition) {
  Expr c = condition.alone();
  DataType type = c.dtype();
  if (!type.is_bool())
    throw TypeError("likely is on bool, got " + type.str() + ": " + print_expr(c),
                    condition.where());
  if (is_constant(c)) return c;
  return make_call(type, Intrin::likely, {c});
}

Expr conjunction(std::initializer_list<Operand> conditions) {
  Expr result = make_true();
  for (const Operand& c : conditions) result = Operand(result, c.where()) && c;
  return result;
}

Expr disjunction(std::initializer_list<Operand> conditions) {
  Expr result = make_false();
  for (const Operand& c : conditions) result = Operand(result, c.where()) || c;
  return result;
}

Expr cast(DataType type, const Operand& operand) {
  Expr e = operand.alone();
  const DataType from = e.dtype();
  if (from == type) return e;
  if (from.is_scalar() && type.is_vector())
    return make_broadcast(cast(type.element(), e), type.lanes);
  if (type.is_handle() || from.is_handle())
    throw TypeError("cannot cast " + from.str() + " to " + type.str() + "; use reinterpret",
                    operand.where());
  if (type.is_vector() || from.is_vector())
    return at(operand.where(), [&] { return make_cast(type, e); });
  if (const IntImm* n = e.as<IntImm>()) {
    const bool big_unsigned = from.is_uint() && from.bits == 64 && n->value < 0;
    const double value = big_unsigned ? static_cast<double>(static_cast<std::uint64_t>(n->value))
                                      : static_cast<double>(n->value);
    if (type.is_floating())
      return make_float(type,
                        type == Float(32) ? static_cast<double>(static_cast<float>(value)) : value);
    return make_int(type, type.is_bool() ? n->value != 0 : wrap(n->value, type));
  }
  if (const FloatImm* n = e.as<FloatImm>()) {
    if (type == Float(32))
      return make_float(type, static_cast<double>(static_cast<float>(n->value)));
    if (type.is_floating()) return make_float(type, n->value);
    // A value that the type cannot hold is left to run time, where it is what the target makes of
    // it.
    const double whole = std::trunc(n->value);
    if (std::fabs(whole) < 9e18 && fits(static_cast<std::int64_t>(whole), type) && !type.is_bool())
      return make_int(type, static_cast<std::int64_t>(whole));
  }
  return make_cast(type, e);
}

Expr reinterpret(DataType type, const Operand& operand) {
  Expr e = operand.alone();
  if (e.dtype() == type) return e;
  if (e.dtype().bits * e.dtype().lanes != type.bits * type.lanes)
    throw TypeError(
        "reinterpret needs types of one width, got " + e.dtype().str() + " and " + type.str(),
        operand.where());
  return make_call(type, Intrin::reinterpret, {e});
}

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
  throw TypeError("there is no least value of " + type.str(), where);
}

Expr max_value(DataType type, SourceLocation where) {
  if (type.is_floating()) return make_float(type, greatest(type));
  // The greatest uint64 is the bit pattern of -1.
  if (type.is_integral()) return make_int(type, integer_max(type).value_or(-1));
  throw TypeError("there is no greatest value of " + type.str(), where);
}

Expr infinity(DataType type, SourceLocation where) {
  if (!type.is_floating()) throw TypeError("there is no infinity of " + type.str(), where);
  return make_float(type, std::numeric_limits<double>::infinity());
}

// ---- mathematics --------------------------------------------------------------------------------

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
    throw TypeError("nextafter is on float32 and float64, got " + result.dtype().str(), x.where());
  return result;
}

Expr fmod(const Operand& x, const Operand& y) { return float_call(Intrin::fmod, {x, y}); }
Expr fma(const Operand& x, const Operand& y, const Operand& z) {
  return float_call(Intrin::fma, {x, y, z});
}

Expr ldexp(const Operand& x, const Operand& exponent) {
  Expr e = x.alone();
  if (!e.dtype().is_floating())
    throw TypeError("ldexp is on floats, got " + e.dtype().str(), x.where());
  const DataType count = exponent.alone().dtype();
  if (!count.is_integral())
    throw TypeError("the exponent of ldexp is an integer, got " + count.str() + ": " +
                        print_expr(exponent.alone()),
                    exponent.where());
  return make_call(e.dtype(), Intrin::ldexp, {e, cast(Int(32, e.dtype().lanes), exponent)});
}

Expr floor(const Operand& x) { return rounding(Intrin::floor, x, std::floor); }
Expr ceil(const Operand& x) { return rounding(Intrin::ceil, x, std::ceil); }
Expr round(const Operand& x) { return rounding(Intrin::round, x, std::nearbyint); }
Expr trunc(const Operand& x) { return rounding(Intrin::trunc, x, std::trunc); }
Expr nearbyint(const Operand& x) { return rounding(Intrin::nearbyint, x, std::nearbyint); }

Expr abs(const Operand& x) {
  Expr e = x.alone();
  if (e.dtype().is_uint()) return e;
  if (const IntImm* n = e.as<IntImm>())
    return make_int(
        e.dtype(),
        n->value < 0
            ? wrap(static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(n->value)), e.dtype())
            : n->value);
  if (const FloatImm* n = e.as<FloatImm>()) return make_float(e.dtype(), std::fabs(n->value));
  if (e.dtype().is_int()) return select(e >= 0, e, 0 - e);
  return float_call(Intrin::fabs, {x});
}

Expr isnan(const Operand& x) { return float_test(Intrin::isnan, x, false); }
Expr isinf(const Operand& x) { return float_test(Intrin::isinf, x, false); }
Expr isfinite(const Operand& x) { return float_test(Intrin::isfinite, x, true); }

Expr popcount(const Operand& x) {
  Expr e = x.alone();
  if (!e.dtype().is_integral() || e.dtype().is_bool())
    throw TypeError("popcount is on integers, got " + e.dtype().str(), x.where());
  return make_call(e.dtype(), Intrin::popcount, {e});
}

Expr clz(const Operand& x) {
  Expr e = x.alone();
  if (!e.dtype().is_integral() || e.dtype().is_bool())
    throw TypeError("clz is on integers, got " + e.dtype().str(), x.where());
  return make_call(Int(32, e.dtype().lanes), Intrin::clz, {e});
}

// ---- calls --------------------------------------------------------------------------------------

namespace {
std::vector<Expr> to_exprs(std::initializer_list<Argument> args) {
  std::vector<Expr> list;
  list.reserve(args.size());
  for (const Argument& a : args) list.push_back(a.expr());
  return list;
}
}  // namespace

Expr call_extern_list(const CallType& type, std::string name, std::initializer_list<Argument> args,
                      bool pure) {
  if (name.empty()) throw TypeError("call_extern: the function has no name", type.where);
  return make_extern_call(type.type, std::move(name), to_exprs(args), pure);
}

Expr call_intrin_list(const CallType& type, Intrin intrin, std::initializer_list<Argument> args) {
  std::vector<Expr> list = to_exprs(args);
  check_intrinsic_call(type.type, intrin, list, type.where);
  return make_call(type.type, intrin, std::move(list));
}

}  // namespace tenon::tir

#include "tenon/tir/ops.h"

#include "tenon/tir/print.h"
#include "tir/check_call.h"
#include "tir/operands.h"

namespace tenon::tir {

namespace {

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

/// Builds arithmetic; Bool operands are computed in int32.
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
      throw TypeError(std::string(to_string(op)) + " takes integers, got " + p.a.dtype().str() +
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
      throw TypeError(std::string(to_string(intrin)) + " takes integers, got " + type.str() + ": " +
                      print_expr(p.a));
    const bool is_shift = intrin == Intrin::shift_left || intrin == Intrin::shift_right;
    const auto amount = constant_int(p.b);
    // Checks only a user's literal, because amounts that result from folding count modulo the
    // width.
    if (is_shift && b.is_literal() && amount && (*amount < 0 || *amount >= type.bits))
      throw TypeError("a shift of " + type.str() + " must be by 0 to " +
                      std::to_string(type.bits - 1) + ", got " + std::to_string(*amount));
    if (const auto constant = fold_call(type, intrin, {p.a, p.b})) return *constant;
    if (is_shift && amount == 0) return p.a;
    return make_call(type, intrin, {p.a, p.b});
  });
}

}  // namespace

// ---- operators ----------------------------------------------------------------------------------

Expr operator+(const Operand& a, const Operand& b) { return arithmetic(BinaryOp::Add, a, b); }
Expr operator-(const Operand& a, const Operand& b) { return arithmetic(BinaryOp::Sub, a, b); }
Expr operator*(const Operand& a, const Operand& b) { return arithmetic(BinaryOp::Mul, a, b); }

Expr operator/(const Operand& a, const Operand& b) {
  return at(a.where(), [&] {
    Promoted p = promote(a, b);
    if (!p.a.dtype().is_floating())
      throw TypeError("`/` takes floats, got " + p.a.dtype().str() + ": " + print_expr(p.a) +
                      "; integers divide by floordiv or truncdiv (remainders: floormod, truncmod)");
    return fold(BinaryOp::Div, p.a, p.b);
  });
}

Expr operator%(const Operand& a, const Operand& b) {
  throw TypeError(
      "`%` is not defined: say how it rounds, floormod or truncmod (quotients: floordiv, "
      "truncdiv): " +
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
    throw TypeError("`~` takes integers, got " + e.dtype().str(), a.where());
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
    throw TypeError("ceildiv takes integers, got " + p.a.dtype().str(), a.where());
  if (is_zero(p.b)) throw TypeError("ceildiv by the constant zero: " + print_expr(p.a), a.where());
  const IntImm* x = p.a.as<IntImm>();
  const IntImm* y = p.b.as<IntImm>();
  // Avoids the sum, which could overflow although the quotient does not.
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
    throw TypeError("likely takes bool, got " + type.str() + ": " + print_expr(c),
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
  if (const auto constant = fold_conversion(type, e)) return *constant;
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

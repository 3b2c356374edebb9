#include "tenon/tir/ops.h"

#include <algorithm>
#include <tuple>

#include "tenon/tir/launch.h"
#include "tenon/tir/print.h"
#include "tir/name_table.h"
#include "tir/operands.h"

namespace tenon::tir {

namespace {

// ---- checks of calls ----------------------------------------------------------------------------

/// Rules for the types of a call's arguments and result.
enum class Typing : std::uint8_t {
  Floats,         // all of one floating type
  FloatAndCount,  // a float and then an integer
  FloatTest,      // a float argument and a bool result
  Integers,       // all of one integer type
  BitCount,       // an integer argument and an integer result
  Choice,         // bool (scalar or per lane), and two values of one type
  Truth,          // all bool
  SameWidth,      // another type of the same width
  DotProducts,    // two vectors of 8-bit integers or bfloat16, and 32-bit accumulators
  Status,         // a scalar integer
  Launch,         // a string, seven integers, and any further arguments
  Element,        // an element of a buffer or tensor, and a pointer to it as the result
  Sizes,          // scalar integers, and a pointer as the result
  Array,          // two pointers and a constant rank, and a pointer as the result
  Offset,         // a pointer and an integer, and a pointer as the result
  Access,         // an element type, a pointer and three integers, and a pointer as the result
  Pointer,        // a pointer
  Any
};

/// The minimum and maximum number of arguments, and the rule for their types.
using Signature = std::tuple<std::size_t, std::optional<std::size_t>, Typing>;

constexpr Signature exactly(std::size_t count, Typing typing = Typing::Any) {
  return {count, count, typing};
}
constexpr Signature at_least(std::size_t count, Typing typing = Typing::Any) {
  return {count, std::nullopt, typing};
}

Signature signature_of(Intrin intrin) {
  using I = Intrin;
  auto among = [&](std::initializer_list<Intrin> list) {
    return std::find(list.begin(), list.end(), intrin) != list.end();
  };
  if (among({I::pow, I::atan2, I::fmod, I::hypot, I::copysign, I::nextafter}))
    return exactly(2, Typing::Floats);
  if (among({I::fma})) return exactly(3, Typing::Floats);
  if (among({I::ldexp})) return exactly(2, Typing::FloatAndCount);
  if (among({I::isnan, I::isinf, I::isfinite})) return exactly(1, Typing::FloatTest);
  if (among({I::popcount, I::clz})) return exactly(1, Typing::BitCount);
  if (among({I::shift_left, I::shift_right, I::bitwise_and, I::bitwise_or, I::bitwise_xor}))
    return exactly(2, Typing::Integers);
  if (among({I::bitwise_not})) return exactly(1, Typing::Integers);
  if (among({I::q_multiply_shift})) return exactly(4, Typing::Integers);
  if (among({I::dp4a})) return exactly(3, Typing::DotProducts);
  if (among({I::if_then_else})) return exactly(3, Typing::Choice);
  if (among({I::likely})) return exactly(1, Typing::Truth);
  if (among({I::reinterpret})) return exactly(1, Typing::SameWidth);
  if (among({I::type_annotation, I::tvm_warp_activemask, I::thread_return, I::ptx_commit_group}))
    return exactly(0);
  if (among({I::address_of})) return exactly(1, Typing::Element);
  if (among({I::isnullptr})) return exactly(1, Typing::Pointer);
  if (among({I::ptx_wait_group})) return exactly(1);
  if (among({I::handle_add_byte_offset})) return exactly(2, Typing::Offset);
  if (among({I::ptx_cp_async})) return exactly(3);
  if (among({I::tvm_fill_fragment})) return exactly(6);
  if (among({I::tvm_load_matrix_sync, I::tvm_store_matrix_sync, I::tvm_mma_sync}))
    return exactly(8);
  if (among({I::prefetch})) return exactly(4, Typing::Pointer);
  if (among({I::tvm_access_ptr})) return exactly(5, Typing::Access);
  if (among({I::tvm_warp_shuffle, I::tvm_warp_shuffle_up, I::tvm_warp_shuffle_down}))
    return exactly(5);
  if (among({I::tvm_stack_make_array})) return exactly(6, Typing::Array);
  if (among({I::tvm_stack_make_shape})) return at_least(0, Typing::Sizes);
  if (among({I::tvm_tuple})) return at_least(0);
  if (among({I::tvm_call_packed, I::tvm_storage_sync})) return at_least(1);
  if (among({I::call_llvm_intrin, I::call_llvm_pure_intrin})) return at_least(2);
  if (among({I::tvm_thread_allreduce})) return at_least(4);
  if (among({I::launch_kernel})) return at_least(kLaunchArguments, Typing::Launch);
  if (among({I::ret})) return exactly(1, Typing::Status);
  return exactly(1, Typing::Floats);  // all other intrinsics are math functions of one argument
}

bool fits(Typing typing, DataType type, const std::vector<Expr>& args) {
  const DataType first = args.empty() ? type : args.front().dtype();
  auto all_are = [&](DataType wanted) {
    return std::ranges::all_of(args, [&](const Expr& e) { return e.dtype() == wanted; });
  };
  const auto is_scalar_integer = [](const Expr& e) {
    return e.dtype().is_integral() && e.dtype().is_scalar();
  };
  switch (typing) {
    case Typing::Floats:
      return type.is_floating() && all_are(type);
    case Typing::FloatAndCount:
      return type.is_floating() && first == type && args[1].dtype().is_integral() &&
             args[1].dtype().lanes == type.lanes;
    case Typing::FloatTest:
      return first.is_floating() && type == Bool(first.lanes);
    case Typing::Integers:
      return type.is_integral() && all_are(type);
    case Typing::BitCount:
      return first.is_integral() && !first.is_bool() && type.is_integral() &&
             type.lanes == first.lanes;
    case Typing::Choice:
      return (first == Bool() || first == Bool(type.lanes)) && args[1].dtype() == type &&
             args[2].dtype() == type;
    case Typing::Truth:
      return type.is_bool() && all_are(type);
    case Typing::SameWidth:
      return type.bits * type.lanes == first.bits * first.lanes;
    case Typing::DotProducts: {
      const DataType second = args[1].dtype(), element = first.element();
      if (args[2].dtype() != type || first.bits * first.lanes != type.bits * type.lanes)
        return false;
      // A bfloat16 element may be passed as its bits, in a uint16.
      if (type.is_float())
        return type.bits == 32 && second == first && (element == BFloat(16) || element == UInt(16));
      const auto is_byte = [](DataType t) { return t.is_integral() && t.bits == 8; };
      return type.is_integral() && type.bits == 32 && is_byte(first) && is_byte(second) &&
             second.lanes == first.lanes;
    }
    case Typing::Status:
      return is_scalar_integer(args[0]);
    case Typing::Launch:
      return args[kLaunchName].as<StringImm>() &&
             std::all_of(args.begin() + kLaunchExtents, args.begin() + kLaunchArguments,
                         is_scalar_integer);
    case Typing::Element:
      return type.is_handle() && (args[0].as<Load>() || args[0].as<ProducerLoad>());
    case Typing::Sizes:
      return type.is_handle() && std::ranges::all_of(args, is_scalar_integer);
    case Typing::Array:
      return type.is_handle() && first.is_handle() && args[1].dtype().is_handle() &&
             constant_int(args[3]);
    case Typing::Offset:
      return type.is_handle() && first.is_handle() && is_scalar_integer(args[1]);
    case Typing::Access:
      return type.is_handle() && as_call(args[0], Intrin::type_annotation) &&
             args[1].dtype().is_handle() &&
             std::all_of(args.begin() + 2, args.end(), is_scalar_integer);
    case Typing::Pointer:
      return first.is_handle();
    case Typing::Any:
      return true;
  }
  internal_error("a typing of no known meaning");
}

/// The rules as texts in messages.
constexpr NameTable<Typing, 18> kTypingTexts = {{
    {Typing::Floats, "takes floats of its result type"},
    {Typing::FloatAndCount, "takes a float of its result type and an integer"},
    {Typing::FloatTest, "takes floats and returns bool"},
    {Typing::Integers, "takes integers of its result type"},
    {Typing::BitCount, "takes integers and returns an integer"},
    {Typing::Choice, "takes a scalar bool and two values of its result type"},
    {Typing::Truth, "takes bool and returns bool"},
    {Typing::SameWidth, "returns a type of the same width"},
    {Typing::DotProducts,
     "takes two vectors, of 8-bit integers (four for each sum) or of bfloat16 (two for each sum), "
     "and 32-bit sums of its result type"},
    {Typing::Status, "takes a scalar integer"},
    {Typing::Launch,
     "takes the kernel's name, six extents, a number of bytes, and the kernel's arguments"},
    {Typing::Element, "takes an element of a buffer and returns a handle"},
    {Typing::Sizes, "takes scalar integers and returns a handle"},
    {Typing::Array,
     "takes the handles of the data and of the shape, the strides, a constant rank, a value of the "
     "element type and an offset, and returns a handle"},
    {Typing::Offset, "takes a handle and an integer, and returns a handle"},
    {Typing::Access,
     "takes a type annotation, the handle of the data, and scalar integers as offset, extent and "
     "mask, and returns a handle"},
    {Typing::Pointer, "takes a handle"},
    {Typing::Any, "takes any arguments"},
}};

}  // namespace

std::string misuse_of_call(DataType type, Intrin intrin, const std::vector<Expr>& args) {
  const auto [least, most, typing] = signature_of(intrin);
  const bool has_count = args.size() >= least && args.size() <= most.value_or(args.size());
  if (has_count && fits(typing, type, args)) return "";
  const std::string name = "call_intrin of `" + std::string(to_string(intrin)) + "`";
  if (!has_count)
    return name + ": expected " + (most ? "" : "at least ") + std::to_string(least) +
           " arguments, got " + std::to_string(args.size());
  std::string list;
  for (const Expr& e : args)
    list += (list.empty() ? "" : ", ") + print_expr(e) + " of type " + e.dtype().str();
  return name + " with a value of type " + type.str() + ": it " +
         std::string(name_in(kTypingTexts, typing, "a typing without a text")) + ", got " + list;
}

bool has_one_type(Intrin intrin) {
  const Typing typing = std::get<Typing>(signature_of(intrin));
  return typing == Typing::Floats || typing == Typing::Integers;
}

bool returns_bool(Intrin intrin) {
  return std::get<Typing>(signature_of(intrin)) == Typing::FloatTest || intrin == Intrin::isnullptr;
}

namespace {

// ---- types of operands --------------------------------------------------------------------------

void refuse_pointer(BinaryOp op, const Expr& e) {
  if (e.dtype().is_handle())
    throw TypeError("`" + std::string(to_string(op)) +
                    "` is not defined on values of type handle: " + print_expr(e));
}

Expr comparison(BinaryOp op, const Operand& a, const Operand& b) {
  return at(a.where(), [&] {
    const auto [x, y] = promote(a, b);
    if (op != BinaryOp::Eq && op != BinaryOp::Ne) refuse_pointer(op, x);
    return fold(op, x, y);
  });
}

/// Builds arithmetic; Bool operands are computed in int32.
Expr arithmetic(BinaryOp op, const Operand& a, const Operand& b) {
  return at(a.where(), [&] {
    const auto [x, y] = promote(a, b);
    refuse_pointer(op, x);
    return fold(op, as_number(x), as_number(y));
  });
}

Expr integer_binary(BinaryOp op, const Operand& a, const Operand& b) {
  return at(a.where(), [&] {
    const auto [x, y] = promote(a, b);
    if (!x.dtype().is_integral())
      throw TypeError(std::string(to_string(op)) + " takes integers, got " + x.dtype().str() +
                      "; for floats use `/`, fmod");
    if (is_zero(y))
      throw TypeError(std::string(to_string(op)) + " by the constant zero: " + print_expr(x));
    return fold(op, as_number(x), as_number(y));
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
    const auto [x, y] = promote(a, b);
    const DataType type = x.dtype();
    if (!type.is_integral())
      throw TypeError(std::string(to_string(intrin)) + " takes integers, got " + type.str() + ": " +
                      print_expr(x));
    const bool is_shift = intrin == Intrin::shift_left || intrin == Intrin::shift_right;
    const auto amount = constant_int(y);
    // Checks the shift amount only if it is a literal of the user. Amounts that result from folding
    // count modulo the width.
    if (is_shift && b.is_literal() && amount && (*amount < 0 || *amount >= type.bits))
      throw TypeError("a shift of " + type.str() + " must be by 0 to " +
                      std::to_string(type.bits - 1) + ", got " + std::to_string(*amount));
    if (const auto constant = fold_call(type, intrin, {x, y})) return *constant;
    if (is_shift && amount == 0) return x;
    return make_call(type, intrin, {x, y});
  });
}

}  // namespace

// ---- operators ----------------------------------------------------------------------------------

Expr operator+(const Operand& a, const Operand& b) { return arithmetic(BinaryOp::Add, a, b); }
Expr operator-(const Operand& a, const Operand& b) { return arithmetic(BinaryOp::Sub, a, b); }
Expr operator*(const Operand& a, const Operand& b) { return arithmetic(BinaryOp::Mul, a, b); }

Expr operator/(const Operand& a, const Operand& b) {
  return at(a.where(), [&] {
    const auto [x, y] = promote(a, b);
    if (!x.dtype().is_floating())
      throw TypeError("`/` takes floats, got " + x.dtype().str() + ": " + print_expr(x) +
                      "; integers divide by floordiv or truncdiv (remainders: floormod, truncmod)");
    return fold(BinaryOp::Div, x, y);
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
  const auto [dividend, divisor] = at(a.where(), [&] { return promote(a, b); });
  const DataType type = dividend.dtype();
  if (!type.is_integral()) throw TypeError("ceildiv takes integers, got " + type.str(), a.where());
  if (is_zero(divisor))
    throw TypeError("ceildiv by the constant zero: " + print_expr(dividend), a.where());
  const IntImm *x = dividend.as<IntImm>(), *y = divisor.as<IntImm>();
  // Computes the rounded-up quotient without the sum a + b - 1, which could overflow although the
  // quotient does not.
  if (x && y && type.is_int() && y->value > 0)
    return make_int(type, x->value / y->value + (x->value % y->value > 0 ? 1 : 0));
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
    const auto [x, y] = promote(a, b);
    if (is_true(c)) return x;
    if (is_false(c)) return y;
    return make_call(x.dtype(), Intrin::if_then_else, {c, x, y});
  });
}

Expr select(const Operand& condition, const Operand& a, const Operand& b) {
  return at(condition.where(), [&] {
    const auto [x, y] = promote(a, b);
    return make_select(condition.alone(), x, y);
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
  // A float literal is converted to float64 directly. Without a type, it would first be rounded to
  // float32.
  const bool is_exact = operand.is_literal() && type.element() == Float(64);
  Expr e = is_exact ? operand.beside(type.element()) : operand.alone();
  const DataType from = e.dtype();
  if (from == type) return e;
  if (from.is_scalar() && type.is_vector())
    return make_broadcast(cast(type.element(), e), type.lanes);
  if (type.is_vector() || from.is_vector() || type.is_handle() || from.is_handle())
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
  const std::string misuse = misuse_of_call(type.type, intrin, list);
  if (!misuse.empty()) throw TypeError(misuse, type.where);
  return make_call(type.type, intrin, std::move(list));
}

}  // namespace tenon::tir

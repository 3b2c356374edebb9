#include "codegen/c_like/function_emitter.h"
#include "tenon/codegen/statements.h"
#include "tenon/support/error.h"

namespace tenon::codegen {

using namespace tir;

Text CFunctionEmitter::math_call(const std::string& function, const std::vector<Text>& args,
                                 DataType t) {
  const bool is_single = t.bits != 64;
  return call(function + (is_single && module_.dialect().names_math_by_type ? "f" : ""), args);
}

Text CFunctionEmitter::math(Intrin intrin, const Call& n, DataType type, const Lane& lane) {
  std::vector<Text> args;
  for (const Expr& arg : n.args) args.push_back(widened(expr(arg, lane), arg.dtype().element()));
  const DataType t = n.args[0].dtype().element();
  if (intrin == Intrin::isnan || intrin == Intrin::isfinite)
    return comparison(BinaryOp::Ne, call(intrin == Intrin::isnan ? "isnan" : "isfinite", args),
                      {"0"});
  if (intrin == Intrin::isinf)
    return comparison(BinaryOp::Eq, math_call("fabs", args, t), {"INFINITY"});
  if (type.is_integral()) {
    // Rounding an integer returns the integer.
    if (intrin != Intrin::fabs || type.is_uint()) return args[0];
    return call(module_.use_helper(Helper::Abs, type), args);
  }
  // nextafter in float16: the neighbor of a float16 is not the rounded neighbor of a float32.
  if (intrin == Intrin::nextafter && type.bits == 16)
    throw LowerError("nextafter is supported for float32 and float64, not for " + type.str());
  // A square is emitted as a product, which is correctly rounded.
  const auto is_two = [](const Expr& e) {
    const FloatImm* n = e.as<FloatImm>();
    return n && n->value == 2;
  };
  if (intrin == Intrin::pow && is_two(n.args[1]))
    return rounded(
        call(module_.use_helper(Helper::Square, t.bits == 64 ? t : Float(32)), {args[0]}), type);
  const Text one{type.bits == 64 ? "1.0" : "1.0f"};
  if (intrin == Intrin::rsqrt)
    return rounded(infix(one, "/", math_call("sqrt", args, t), Level::Product), type);
  if (is_kernel() && intrin == Intrin::exp10) return rounded(math_call("exp10", args, t), type);
  if (is_kernel() && (intrin == Intrin::round || intrin == Intrin::nearbyint))
    return rounded(math_call("rint", args, t), type);
  if (intrin == Intrin::exp10) {
    const Text power = call("pow", {{"10.0"}, args[0]});
    return rounded(type.bits == 64 ? power : cast_to("float", power), type);
  }
  // pow and hypot ignore a quiet NaN if the other argument is 0, 1 or infinity, but not a
  // signalling NaN. Quieting the arguments makes both behave alike.
  if (!is_kernel() && (intrin == Intrin::pow || intrin == Intrin::hypot)) {
    const DataType computed = t.bits == 64 ? t : Float(32);
    for (Text& arg : args) arg = call(module_.use_helper(Helper::Quiet, computed), {arg});
  }
  if (intrin == Intrin::ldexp) args[1] = cast_to("int", args[1]);
  const auto name = libm_name(intrin);
  internal_check(name.has_value(), "a function of mathematics without a name");
  return rounded(math_call(*name, args, t), type);
}

Text CFunctionEmitter::bits_intrin(Intrin intrin, const Call& n, DataType type, const Lane& lane) {
  const DataType t = n.args[0].dtype().element();
  const Text x = expr(n.args[0], lane);
  if (intrin == Intrin::bitwise_not) {
    if (t.is_bool()) return {"!" + x.within(Level::Unary), Level::Unary};
    return cast_to(type_of(t), {"~" + x.within(Level::Unary), Level::Unary});
  }
  // Bit operations use the unsigned type of the same width, where the sign bit is an ordinary bit.
  const std::string as_unsigned = t.is_bool() ? "" : type_of(UInt(t.bits));
  const auto low_bits = [&](const Text& value) {
    return t.is_int() ? cast_to(as_unsigned, value) : value;
  };
  if (intrin == Intrin::popcount)
    return cast_to(type_of(type), call(module_.use_helper(Helper::Popcount), {low_bits(x)}));
  if (intrin == Intrin::clz) {
    Text count = call(module_.use_helper(Helper::Clz), {low_bits(x)});
    if (t.bits < 64) count = infix(count, "-", {std::to_string(64 - t.bits)}, Level::Sum);
    return cast_to(type_of(type), count);
  }
  const Text y = expr(n.args[1], lane);
  // Reduces the amount modulo the width: larger shifts are undefined in C.
  const auto amount = [&] {
    const auto constant = constant_int(n.args[1]);
    if (constant && *constant >= 0 && *constant < t.bits) return y;
    return infix_bits(y, "&", {std::to_string(t.bits - 1)}, Level::BitAnd);
  };
  switch (intrin) {
    case Intrin::bitwise_and:
      return infix_bits(x, "&", y, Level::BitAnd);
    case Intrin::bitwise_or:
      return infix_bits(x, "|", y, Level::BitOr);
    case Intrin::bitwise_xor:
      return infix_bits(x, "^", y, Level::BitXor);
    case Intrin::shift_left: {
      const Text shifted = infix_bits(t.bits < 32 ? cast_to(type_of(UInt(32)), x) : low_bits(x),
                                      "<<", amount(), Level::Shift);
      return t.is_uint() && t.bits >= 32 ? shifted : cast_to(type_of(t), shifted);
    }
    case Intrin::shift_right:
      return infix_bits(x, ">>", amount(), Level::Shift);
    default:
      internal_error("an operation on bits without a meaning");
  }
}

Text CFunctionEmitter::reinterpret(const Text& value, DataType from, DataType to) {
  if (from == to) return value;
  if (from.is_handle()) return cast_to(type_of(to), cast_to("intptr_t", value));
  if (to.is_handle()) return cast_to("void*", cast_to("intptr_t", value));
  Text bits = value;
  DataType bits_type = from;
  if (from.is_floating()) {
    bits_type = from.bits == 16 ? UInt(16) : Int(from.bits);
    bits = is_native_half(from)
               ? call("as_ushort", {value})
               : call(module_.use_helper(
                          from.bits == 16 ? Helper::BitsOfValue : Helper::BitsOfFloat, from),
                      {value});
  }
  if (!to.is_floating()) return bits_type == to ? bits : cast_to(type_of(to), bits);
  if (to.bits == 16) {
    if (bits_type != UInt(16)) bits = cast_to(type_of(UInt(16)), bits);
    if (is_native_half(to)) return call("as_half", {bits});
    return call(module_.use_helper(Helper::ValueOfBits, to), {bits});
  }
  if (bits_type != Int(to.bits)) bits = cast_to(type_of(Int(to.bits)), bits);
  return call(module_.use_helper(Helper::FloatOfBits, to), {bits});
}

}  // namespace tenon::codegen

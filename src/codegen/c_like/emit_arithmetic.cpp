#include <charconv>
#include <cmath>

#include "codegen/c_like/function_emitter.h"
#include "tenon/support/error.h"
#include "tenon/support/float16.h"
#include "tenon/tir/compare.h"

namespace tenon::codegen {

using namespace tir;

namespace {

bool is_wrapping(BinaryOp op) {
  return op == BinaryOp::Add || op == BinaryOp::Sub || op == BinaryOp::Mul;
}

const char* sign_of(BinaryOp op) {
  return op == BinaryOp::Add ? "+" : op == BinaryOp::Sub ? "-" : "*";
}

Level level_of(BinaryOp op) { return op == BinaryOp::Mul ? Level::Product : Level::Sum; }

/// Whether the expression is a constant other than NaN, or a broadcast of one.
bool is_constant_number(const Expr& e) {
  if (const Broadcast* n = e.as<Broadcast>()) return is_constant_number(n->value);
  const FloatImm* n = e.as<FloatImm>();
  return n && !std::isnan(n->value);
}

template <class T>
std::string shortest(T value) {
  char digits[40];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  std::string text(digits, end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

// ---- constants ----

Text CFunctionEmitter::integer(std::int64_t value, DataType t) const {
  if (t.is_bool()) return {value != 0 ? "true" : "false"};
  // Without a suffix, C would compute `1006 >> n` in 32 bits.
  const std::string suffix = std::string(t.is_uint() && t.bits >= 32 ? "u" : "") +
                             std::string(t.bits == 64 ? module_.dialect().of_int64 : "");
  if (t.is_uint()) return {std::to_string(static_cast<std::uint64_t>(value)) + suffix};
  // C has no negative literals, and the magnitude of the minimum is not representable as a literal.
  const bool is_least = value == integer_min(t) && t.bits >= 32;
  if (is_least && is_kernel()) return {"(" + std::to_string(value + 1) + suffix + " - 1)"};
  if (is_least) return {t.bits == 64 ? "INT64_MIN" : "INT32_MIN"};
  return {std::to_string(value) + suffix, value < 0 ? Level::Unary : Level::Primary};
}

Text CFunctionEmitter::floating(double value, DataType t) const {
  if (t.bits == 16)
    value =
        t.is_bfloat() ? static_cast<double>(BFloat16(value)) : static_cast<double>(Float16(value));
  if (std::isnan(value) && is_native_half(t)) return cast_to("half", {"NAN"});
  if (std::isnan(value)) return {t.bits == 64 ? "(double)NAN" : "NAN", Level::Unary};
  const bool is_minus = std::signbit(value);
  const bool is_single = t.bits != 64;
  const double magnitude = std::fabs(value);
  std::string text = std::isinf(is_single ? static_cast<float>(magnitude) : magnitude)
                         ? (is_single ? "INFINITY" : "(double)INFINITY")
                     : is_single ? shortest(static_cast<float>(magnitude)) + "f"
                                 : shortest(magnitude);
  if (is_native_half(t)) return cast_to("half", {(is_minus ? "-" : "") + text, Level::Unary});
  const Level level = is_minus || text[0] == '(' ? Level::Unary : Level::Primary;
  return {(is_minus ? "-" : "") + text, level};
}

// ---- operations ----

Text CFunctionEmitter::rounded(const Text& value, DataType t) {
  if (t.bits != 16) return value;
  if (is_native_half(t)) return cast_to("half", value);
  return call(module_.use_helper(Helper::Round, t), {value});
}

Text CFunctionEmitter::comparison(BinaryOp op, const Text& a, const Text& b) {
  const char* sign = op == BinaryOp::Eq   ? "=="
                     : op == BinaryOp::Ne ? "!="
                     : op == BinaryOp::Lt ? "<"
                     : op == BinaryOp::Le ? "<="
                     : op == BinaryOp::Gt ? ">"
                                          : ">=";
  const bool is_equality = op == BinaryOp::Eq || op == BinaryOp::Ne;
  return {a.within(Level::Sum) + " " + sign + " " + b.within(Level::Sum),
          is_equality ? Level::Equality : Level::Order};
}

Text CFunctionEmitter::arithmetic(BinaryOp op, const Binary& n, const Lane& lane) {
  const DataType t = n.a.dtype().element();
  if (is_comparison(op)) return comparison(op, expr(n.a, lane), expr(n.b, lane));
  if (t.is_floating()) {
    const bool is_extremum = op == BinaryOp::Min || op == BinaryOp::Max;
    // The helpers test their second operand for NaN. Passing a constant there lets the C compiler
    // remove the test.
    const bool swaps = is_extremum && is_constant_number(n.a);
    const Expr &first = swaps ? n.b : n.a, &second = swaps ? n.a : n.b;
    if (is_native_half(t) && (is_wrapping(op) || op == BinaryOp::Div || is_extremum))
      return float_arithmetic(op, expr(first, lane), expr(second, lane), t);
    const Text a = widened(expr(first, lane), t), b = widened(expr(second, lane), t);
    return rounded(float_arithmetic(op, a, b, t), t);
  }
  if (op == BinaryOp::Min || op == BinaryOp::Max)
    return integer_extremum(op == BinaryOp::Min, n.a, n.b, lane);
  if (!is_wrapping(op)) return integer_division(op, n, lane);
  const bool is_index = index_mode_ && this->is_index(n.a) && this->is_index(n.b);
  const bool is_native = t.bits >= 32 && (t.is_uint() || is_index);
  if (is_native) return infix(expr(n.a, lane), sign_of(op), expr(n.b, lane), level_of(op));
  if (t.bits < 32) {
    Text a = expr(n.a, lane);
    // The product of two uint16 may overflow int.
    if (op == BinaryOp::Mul && t.is_uint()) a = cast_to(type_of(UInt(32)), a);
    return cast_to(type_of(t), infix(a, sign_of(op), expr(n.b, lane), level_of(op)));
  }
  return cast_to(type_of(t), wrapping(make_binary(op, n.a, n.b), lane));
}

Text CFunctionEmitter::integer_extremum(bool is_min, const Expr& a, const Expr& b,
                                        const Lane& lane) {
  const DataType t = a.dtype().element();
  const auto is_constant = [](const Expr& e) {
    const Broadcast* n = e.as<Broadcast>();
    return constant_int(n ? n->value : e).has_value();
  };
  const bool merges = may_merge_extrema(t) && !is_constant(a) && !is_constant(b);
  const Helper helper = merges ? (is_min ? Helper::MinOfVariables : Helper::MaxOfVariables)
                               : (is_min ? Helper::Min : Helper::Max);
  return call(module_.use_helper(helper, t), {expr(a, lane), expr(b, lane)});
}

/// Whether the device compiler may have instructions for the minimum or maximum of three values of
/// this type.
bool CFunctionEmitter::may_merge_extrema(DataType t) const {
  return module_.dialect().device && t.is_int() && t.bits <= 32;
}

/// Returns the extremum that the choice computes: it compares its two values and selects one of
/// them. The device compiler would recognize the extremum anyway. Returns nullopt for other
/// choices.
std::optional<Text> CFunctionEmitter::choice_as_extremum(const Expr& condition, const Expr& a,
                                                         const Expr& b, const Lane& lane) {
  const Binary* order = condition.as<Binary>();
  if (!order || !may_merge_extrema(a.dtype().element())) return std::nullopt;
  const bool is_less = order->op == BinaryOp::Lt || order->op == BinaryOp::Le;
  if (!is_less && order->op != BinaryOp::Gt && order->op != BinaryOp::Ge) return std::nullopt;
  const bool keeps = structural_equal(order->a, a) && structural_equal(order->b, b);
  const bool swaps = structural_equal(order->a, b) && structural_equal(order->b, a);
  if (!keeps && !swaps) return std::nullopt;
  return integer_extremum(is_less == keeps, a, b, lane);
}

/// Emits a signed sum or product as unsigned arithmetic of the same width, because only unsigned
/// arithmetic wraps in C.
Text CFunctionEmitter::wrapping(const Expr& e, const Lane& lane) {
  const Binary& n = *e.as<Binary>();
  return infix(wrapping_operand(n.a, lane), sign_of(n.op), wrapping_operand(n.b, lane),
               level_of(n.op));
}

Text CFunctionEmitter::wrapping_operand(const Expr& e, const Lane& lane) {
  const Binary* n = e.as<Binary>();
  if (n && is_wrapping(n->op)) return wrapping(e, lane);
  const DataType unsigned_type = UInt(e.dtype().bits);
  const auto value = constant_int(e);
  if (value && *value >= 0) return integer(*value, unsigned_type);
  return cast_to(type_of(unsigned_type), expr(e, lane));
}

bool CFunctionEmitter::is_index(const Expr& e) const {
  const DataType t = e.dtype();
  if (!t.is_int() || t.bits < 32) return false;
  if (e.as<IntImm>()) return true;
  if (e.as<VarNode>()) {
    const auto found = variables_.find(&e.node());
    return found != variables_.end() && found->second.is_index;
  }
  if (const Cast* n = e.as<Cast>()) return is_index(n->value);
  if (const Broadcast* n = e.as<Broadcast>()) return is_index(n->value);
  if (const Ramp* n = e.as<Ramp>()) return is_index(n->base) && is_index(n->stride);
  const Binary* n = e.as<Binary>();
  return n && is_index(n->a) && is_index(n->b);
}

Text CFunctionEmitter::float_arithmetic(BinaryOp op, const Text& a, const Text& b, DataType t) {
  const DataType wide = t.bits == 16 ? Float(32) : t;
  const DataType own = is_native_half(t) ? t : wide;
  switch (op) {
    case BinaryOp::Add:
    case BinaryOp::Sub:
    case BinaryOp::Mul:
      return infix(a, sign_of(op), b, level_of(op));
    case BinaryOp::Div:
      return infix(a, "/", b, Level::Product);
    case BinaryOp::TruncDiv:
    case BinaryOp::FloorDiv: {
      const Text quotient = widened(rounded(infix(a, "/", b, Level::Product), t), t);
      return math_call(op == BinaryOp::FloorDiv ? "floor" : "trunc", {quotient}, t);
    }
    case BinaryOp::TruncMod:
      return math_call("fmod", {a, b}, t);
    case BinaryOp::FloorMod:
      return call(module_.use_helper(Helper::FloorMod, wide), {a, b});
    case BinaryOp::Min:
      return call(module_.use_helper(Helper::Min, own), {a, b});
    case BinaryOp::Max:
      return call(module_.use_helper(Helper::Max, own), {a, b});
    default:
      internal_error("logic on floats");
  }
}

Text CFunctionEmitter::integer_division(BinaryOp op, const Binary& n, const Lane& lane) {
  const DataType t = n.a.dtype().element();
  const bool wants_remainder = op == BinaryOp::TruncMod || op == BinaryOp::FloorMod;
  const bool floors = (op == BinaryOp::FloorDiv || op == BinaryOp::FloorMod) && t.is_int();
  const auto divisor = constant_int(n.b);
  const Text a = expr(n.a, lane);
  const bool is_power = divisor && *divisor > 0 && (*divisor & (*divisor - 1)) == 0;
  if (floors && is_power && wants_remainder)
    return infix_bits(a, "&", integer(*divisor - 1, t), Level::BitAnd);
  if (floors && is_power) {
    const int shift = std::countr_zero(static_cast<std::uint64_t>(*divisor));
    return infix_bits(a, ">>", {std::to_string(shift)}, Level::Shift);
  }
  const Text b = expr(n.b, lane);
  const bool is_safe = divisor && *divisor != 0 && (t.is_uint() || *divisor > 0);
  if (!floors && is_safe) return infix(a, wants_remainder ? "%" : "/", b, Level::Product);
  const Helper helper = floors ? (wants_remainder ? Helper::FloorMod : Helper::FloorDiv)
                               : (wants_remainder ? Helper::TruncMod : Helper::TruncDiv);
  return call(module_.use_helper(helper, t), {a, b});
}

// ---- conversions ----

Text CFunctionEmitter::cast(const Text& value, DataType from, DataType to) {
  if (from == to) return value;
  const std::string type = type_of(to);
  if (from.is_handle() || to.is_handle()) return cast_to(type, cast_to("intptr_t", value));
  if (from.is_floating()) {
    if (to.is_bool()) return comparison(BinaryOp::Ne, value, {from.bits == 64 ? "0.0" : "0.0f"});
    if (to.is_floating()) {
      if (to.bits == 16)
        return rounded(from.bits == 64 ? call(module_.use_helper(Helper::ToOdd), {value}) : value,
                       to);
      // The C type of a 16-bit float in computations is float.
      return type_of(from) == type ? value : cast_to(type, value);
    }
    const Helper helper = from.bits == 64 ? Helper::OfFloat64 : Helper::OfFloat32;
    return call(module_.use_helper(helper, to), {widened(value, from)});
  }
  if (to.is_bool()) return comparison(BinaryOp::Ne, value, {"0"});
  if (!to.is_floating() || to.bits != 16) return cast_to(type, value);
  // Integers that do not overflow float16 are exact in float32, so converting through float32
  // rounds once. bfloat16 has a larger range.
  if (to.is_float() || from.bits <= 16) return rounded(cast_to("float", value), to);
  if (from.bits == 32)
    return rounded(call(module_.use_helper(Helper::ToOdd), {cast_to("double", value)}), to);
  return call(module_.use_helper(from.is_int() ? Helper::SixteenOfInt64 : Helper::SixteenOfUInt64),
              {value});
}

}  // namespace tenon::codegen

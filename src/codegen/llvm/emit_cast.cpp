#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/types.h"
#include "tenon/support/error.h"
#include "tenon/tir/walk.h"

namespace tenon::codegen {

using namespace tir;

namespace {

llvm::Type* lanes_like(llvm::Type* element, llvm::Value* value) {
  return with_lanes(element, lane_count(value));
}

llvm::Constant* same_shape(llvm::Value* like, std::uint64_t value) {
  return llvm::ConstantInt::get(like->getType(), value);
}

}  // namespace

llvm::Value* FunctionEmitter::cast(llvm::Value* value, DataType from, DataType to) {
  if (from == to) return value;
  llvm::Type* target = type(to);
  if (from.is_handle() || to.is_handle()) {
    if (to.is_integral()) return builder_.CreatePtrToInt(value, target);
    if (from.is_integral()) return builder_.CreateIntToPtr(value, target);
    internal_error("a cast from " + from.str() + " to " + to.str());
  }
  if (from.is_floating()) {
    if (to.is_floating()) return float_to_float(value, from, to);
    if (to.is_bool()) {
      llvm::Value* wide = is_computed_in_float32(from) ? to_float32(value, from) : value;
      return builder_.CreateFCmpUNE(wide, llvm::Constant::getNullValue(wide->getType()));
    }
    return float_to_integer(value, from, to);
  }
  if (to.is_floating()) return integer_to_float(value, from, to);
  if (to.is_bool())
    return builder_.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()));
  llvm::Value* result = from.is_int() ? builder_.CreateSExtOrTrunc(value, target)
                                      : builder_.CreateZExtOrTrunc(value, target);
  if (!index_values_.contains(value)) return result;
  // Only signed integers of at least 32 bits are indices. Other types are data, whose sums wrap. If
  // the cast does not change the value, freeze makes a new value that is not an index.
  const auto is_index = [](DataType type) { return type.is_int() && type.bits >= 32; };
  if (!is_index(from) || !is_index(to))
    return result == value ? builder_.CreateFreeze(value) : result;
  index_values_.insert(result);
  return result;
}

llvm::Value* FunctionEmitter::float_to_float(llvm::Value* value, DataType from, DataType to) {
  const bool is_wide = from.bits == 64;
  if (to.bits == 16) {
    if (is_wide) value = round_to_odd(value);
    return round_float32(is_wide ? value : to_float32(value, from), to);
  }
  if (from.bits == 16) value = to_float32(value, from);
  return builder_.CreateFPCast(value, type(to));
}

namespace {

/// Returns the lower and upper bound of the value, assuming it is not NaN. The bounds come from the
/// minima, maxima and roundings that compute it.
std::pair<double, double> bounds_of(llvm::Value* value) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr std::pair kUnbounded(-kInfinity, kInfinity);
  const llvm::APFloat* number = nullptr;
  if (llvm::PatternMatch::match(value, llvm::PatternMatch::m_APFloat(number))) {
    const double x = number->convertToDouble();
    return {x, x};
  }
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(value);
  if (!call) return kUnbounded;
  switch (call->getIntrinsicID()) {
    case llvm::Intrinsic::minimum:
    case llvm::Intrinsic::maximum: {
      const auto [least_a, greatest_a] = bounds_of(call->getArgOperand(0));
      const auto [least_b, greatest_b] = bounds_of(call->getArgOperand(1));
      if (call->getIntrinsicID() == llvm::Intrinsic::minimum)
        return {std::min(least_a, least_b), std::min(greatest_a, greatest_b)};
      return {std::max(least_a, least_b), std::max(greatest_a, greatest_b)};
    }
    case llvm::Intrinsic::floor:
    case llvm::Intrinsic::ceil:
    case llvm::Intrinsic::trunc:
    case llvm::Intrinsic::nearbyint: {
      const auto [least, greatest] = bounds_of(call->getArgOperand(0));
      return {std::floor(least), std::ceil(greatest)};
    }
    default:
      return kUnbounded;
  }
}

}  // namespace

/// Saturates and converts NaN to 0. LLVM's saturating conversions are not vectorized on x86.
llvm::Value* FunctionEmitter::float_to_integer(llvm::Value* value, DataType from, DataType to) {
  if (from.bits == 16) value = to_float32(value, from);
  const double greatest_plus_one = std::ldexp(1.0, to.is_int() ? to.bits - 1 : to.bits);
  const double least = to.is_int() ? -greatest_plus_one : 0;
  auto number = [&](double x) { return llvm::ConstantFP::get(value->getType(), x); };
  const auto [lower, upper] = bounds_of(value);
  const bool is_narrow = to.bits <= 16;
  const bool may_be_below = lower < least;
  const bool may_be_above = upper >= greatest_plus_one;
  llvm::Value* bounded = value;
  // NaN becomes the minimum, like the result of the x86 instruction.
  if (may_be_below)
    bounded =
        builder_.CreateSelect(builder_.CreateFCmpOGT(value, number(least)), value, number(least));
  if (may_be_above && is_narrow) {
    llvm::Value* greatest = number(greatest_plus_one - 1);
    bounded = builder_.CreateSelect(builder_.CreateFCmpOLT(bounded, greatest), bounded, greatest);
  }
  // Converting NaN or an out-of-range number gives poison; freeze gives every use the same value.
  const DataType wide = is_narrow ? Int(32, to.lanes) : to;
  llvm::Value* result =
      builder_.CreateFreeze(wide.is_int() ? builder_.CreateFPToSI(bounded, type(wide))
                                          : builder_.CreateFPToUI(bounded, type(wide)));
  result = builder_.CreateTrunc(result, type(to));
  // The maximum of a wide integer type may not be representable as a float.
  if (may_be_above && !is_narrow) {
    const auto greatest = static_cast<std::uint64_t>(integer_max(to.element()).value_or(-1));
    result = builder_.CreateSelect(builder_.CreateFCmpOGE(value, number(greatest_plus_one)),
                                   same_shape(result, greatest), result);
  }
  if (to.is_uint() && may_be_below) return result;
  return builder_.CreateSelect(builder_.CreateFCmpORD(value, value), result, same_shape(result, 0));
}

bool has_half_operand(const Stmt& body) {
  const auto is_half = [](const Expr& e) { return e.dtype().is_float() && e.dtype().bits == 16; };
  return any_node(
      body, [&](const Cast& n) { return is_half(n.value); },
      [&](const Binary& n) { return is_half(n.a); },
      [&](const Call& n) { return std::ranges::any_of(n.args, is_half); });
}

llvm::Value* FunctionEmitter::integer_to_float(llvm::Value* value, DataType from, DataType to) {
  const auto convert = [&](DataType target) {
    llvm::Value* result = from.is_int() ? builder_.CreateSIToFP(value, type(target))
                                        : builder_.CreateUIToFP(value, type(target));
    // InstCombine assumes that float16 represents integers with few significant bits exactly, but
    // large ones become infinity (llvm_faults.md). It does not look through a fence.
    const bool may_be_infinite = computation_.reads_half && from.bits > 16;
    if (!may_be_infinite || llvm::isa<llvm::Constant>(result)) return result;
    return static_cast<llvm::Value*>(
        builder_.CreateUnaryIntrinsic(llvm::Intrinsic::arithmetic_fence, result));
  };
  if (to.bits >= 32) return convert(to);
  // Integers that do not overflow float16 are exact in float32. bfloat16 has a larger range, so the
  // first of the two roundings must record whether it lost bits.
  const int lanes = to.lanes;
  if (to.is_float() || from.bits <= 16) return round_float32(convert(Float(32, lanes)), to);
  if (from.bits == 64) {
    // A double has 53 significant bits. All bits below the upper 52 are combined into one sticky
    // bit. Numbers that fit are unchanged.
    llvm::Value* low = builder_.CreateAnd(value, same_shape(value, 0xfff));
    llvm::Value* rest = builder_.CreateSub(value, low);
    llvm::Value* sticky =
        builder_.CreateZExt(builder_.CreateICmpNE(low, same_shape(low, 0)), low->getType());
    llvm::Value* rounded = builder_.CreateOr(rest, builder_.CreateShl(sticky, 11));
    llvm::Value* top = builder_.CreateAShr(value, 53);
    llvm::Value* is_small = builder_.CreateICmpEQ(top, same_shape(top, 0));
    if (from.is_int())
      is_small = builder_.CreateOr(
          is_small, builder_.CreateICmpEQ(top, llvm::Constant::getAllOnesValue(top->getType())));
    value = builder_.CreateSelect(is_small, value, rounded);
  }
  return round_float32(round_to_odd(convert(Float(64, lanes))), to);
}

llvm::Value* FunctionEmitter::reinterpret(llvm::Value* value, DataType from, DataType to) {
  if (from.is_handle()) value = builder_.CreatePtrToInt(value, builder_.getInt64Ty());
  if (to.is_handle()) return builder_.CreateIntToPtr(value, type(to));
  // freeze returns a new value with the same bits. It is not an index, so its arithmetic wraps.
  if (from == to) return builder_.CreateFreeze(value);
  return builder_.CreateBitCast(value, type(to));
}

// ---- sixteen bits ----

bool FunctionEmitter::is_computed_in_float32(DataType t) const {
  return t.is_bfloat() || (t.is_float() && t.bits == 16 && !module_.traits().half_arithmetic);
}

llvm::Value* FunctionEmitter::to_float32(llvm::Value* value, DataType from) {
  llvm::Type* target = lanes_like(builder_.getFloatTy(), value);
  if (from.is_bfloat()) {
    llvm::Value* bits = builder_.CreateZExt(value, lanes_like(builder_.getInt32Ty(), value));
    return builder_.CreateBitCast(builder_.CreateShl(bits, 16), target);
  }
  if (from.bits != 16) return builder_.CreateFPCast(value, target);
  if (module_.traits().half_conversion || llvm::isa<llvm::Constant>(value))
    return builder_.CreateFPExt(value, target);
  return half_to_float32_on_bits(value);
}

llvm::Value* FunctionEmitter::round_float32(llvm::Value* value, DataType to) {
  if (to.is_float()) {
    if (module_.traits().half_conversion || llvm::isa<llvm::Constant>(value))
      return builder_.CreateFPTrunc(value, lanes_like(builder_.getHalfTy(), value));
    return float32_to_half_on_bits(value);
  }
  // Rounds to nearest even: adds just less than half a unit in the last place, plus one if the last
  // bit is odd. The sum carries into the last place exactly if rounding up is required. The carry
  // could turn a NaN into infinity, so a NaN is made quiet instead.
  llvm::Value* bits = builder_.CreateBitCast(value, lanes_like(builder_.getInt32Ty(), value));
  llvm::Value* odd = builder_.CreateAnd(builder_.CreateLShr(bits, 16), same_shape(bits, 1));
  llvm::Value* rounded =
      builder_.CreateAdd(bits, builder_.CreateAdd(odd, same_shape(bits, 0x7fff)));
  llvm::Value* quiet = builder_.CreateOr(bits, same_shape(bits, 0x400000));
  llvm::Value* result = builder_.CreateSelect(builder_.CreateFCmpUNO(value, value), quiet, rounded);
  return builder_.CreateTrunc(builder_.CreateLShr(result, 16),
                              lanes_like(builder_.getInt16Ty(), value));
}

llvm::Value* FunctionEmitter::half_to_float32_on_bits(llvm::Value* half) {
  // Moves exponent and mantissa to their positions in float32. The result is too small by a factor
  // of 2^112, also for subnormals. Infinity and NaN need the maximum exponent.
  llvm::Value* narrow = builder_.CreateBitCast(half, lanes_like(builder_.getInt16Ty(), half));
  llvm::Value* bits = builder_.CreateZExt(narrow, lanes_like(builder_.getInt32Ty(), half));
  llvm::Value* sign = builder_.CreateShl(builder_.CreateAnd(bits, same_shape(bits, 0x8000)), 16);
  llvm::Value* rest = builder_.CreateShl(builder_.CreateAnd(bits, same_shape(bits, 0x7fff)), 13);
  llvm::Type* target = lanes_like(builder_.getFloatTy(), half);
  llvm::Value* scaled = builder_.CreateFMul(builder_.CreateBitCast(rest, target),
                                            llvm::ConstantFP::get(target, 0x1p112));
  llvm::Value* finite = builder_.CreateBitCast(scaled, bits->getType());
  llvm::Value* special = builder_.CreateOr(rest, same_shape(bits, 0x7f800000));
  llvm::Value* is_special = builder_.CreateICmpUGE(rest, same_shape(bits, 0x7c00U << 13));
  return builder_.CreateBitCast(
      builder_.CreateOr(sign, builder_.CreateSelect(is_special, special, finite)), target);
}

llvm::Value* FunctionEmitter::float32_to_half_on_bits(llvm::Value* value) {
  llvm::Type* word = lanes_like(builder_.getInt32Ty(), value);
  llvm::Value* bits = builder_.CreateBitCast(value, word);
  llvm::Value* sign = builder_.CreateAnd(builder_.CreateLShr(bits, 16), same_shape(bits, 0x8000));
  llvm::Value* magnitude = builder_.CreateAnd(bits, same_shape(bits, 0x7fffffff));
  // Normal results: the exponent's bias is reduced by 112. Rounding carries as for bfloat16.
  llvm::Value* odd = builder_.CreateAnd(builder_.CreateLShr(magnitude, 13), same_shape(bits, 1));
  llvm::Value* rounded =
      builder_.CreateAdd(magnitude, builder_.CreateAdd(odd, same_shape(bits, 0xfff)));
  llvm::Value* normal =
      builder_.CreateLShr(builder_.CreateSub(rounded, same_shape(bits, 112U << 23)), 13);
  // Results below 2^-14 have units of 2^-24. float32 numbers near 1/2 have the same unit in the
  // last place, so adding 1/2 rounds to it.
  llvm::Value* shifted = builder_.CreateBitCast(magnitude, value->getType());
  {
    const llvm::IRBuilder<>::FastMathFlagGuard guard(builder_);
    builder_.clearFastMathFlags();
    shifted = builder_.CreateFAdd(shifted, llvm::ConstantFP::get(value->getType(), 0.5));
  }
  llvm::Value* subnormal =
      builder_.CreateSub(builder_.CreateBitCast(shifted, word), same_shape(bits, 0x3f000000));
  llvm::Value* result = builder_.CreateSelect(
      builder_.CreateICmpULT(magnitude, same_shape(bits, 113U << 23)), subnormal, normal);
  // Values from 65520 on become infinity, because 65520 is half-way between the maximum, 65504, and
  // 2^16.
  result = builder_.CreateSelect(builder_.CreateICmpUGE(magnitude, same_shape(bits, 0x477ff000)),
                                 same_shape(bits, 0x7c00), result);
  result = builder_.CreateSelect(builder_.CreateICmpUGT(magnitude, same_shape(bits, 0x7f800000)),
                                 same_shape(bits, 0x7e00), result);
  llvm::Value* narrow = builder_.CreateTrunc(builder_.CreateOr(sign, result),
                                             lanes_like(builder_.getInt16Ty(), value));
  return builder_.CreateBitCast(narrow, lanes_like(builder_.getHalfTy(), value));
}

llvm::Value* FunctionEmitter::round_to_odd(llvm::Value* value) {
  // Truncates, and sets the last bit if any bits were lost, so that a second rounding takes them
  // into account.
  llvm::Type* narrow = lanes_like(builder_.getFloatTy(), value);
  llvm::Type* word = lanes_like(builder_.getInt32Ty(), value);
  llvm::Value* nearest = builder_.CreateFPTrunc(value, narrow);
  llvm::Value* back = builder_.CreateFPExt(nearest, value->getType());
  llvm::Value* bits = builder_.CreateBitCast(nearest, word);
  auto magnitude = [&](llvm::Value* x) {
    return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  };
  llvm::Value* went_up = builder_.CreateFCmpOGT(magnitude(back), magnitude(value));
  llvm::Value* truncated = builder_.CreateSub(bits, builder_.CreateZExt(went_up, word));
  llvm::Value* inexact = builder_.CreateFCmpONE(back, value);
  llvm::Value* odd = builder_.CreateOr(truncated, builder_.CreateZExt(inexact, word));
  return builder_.CreateBitCast(odd, narrow);
}

}  // namespace tenon::codegen

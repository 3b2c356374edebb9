// Range reduction for the polynomials of float32 and float64: numbers are decomposed and
// recombined, so that a polynomial has to be accurate only on a short interval. Constants of the
// format are derived from the type.
#pragma once

#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "codegen/llvm/lane_maths.h"

namespace tenon::codegen {

class RangeReduction : protected LaneMaths {
 public:
  /// `floats` is float or double, or a vector of them. `has_scaling`: the processor has AVX-512's
  /// product with a power of two (vscalef), for vectors of all widths.
  RangeReduction(llvm::IRBuilderBase& builder, llvm::Type* floats, bool has_scaling = false)
      : LaneMaths(builder, floats),
        scaling_(has_scaling ? scaling_of(floats) : llvm::Intrinsic::not_intrinsic),
        mantissa_bits_(floats->getScalarType()->getFPMantissaWidth() - 1),
        bias_((std::int64_t{1} << (floats->getScalarSizeInBits() - mantissa_bits_ - 2)) - 1) {}

 protected:
  struct Reduced {
    llvm::Value* exponent;  // integers
    llvm::Value* whole;     // the same as floats
    llvm::Value* rest;
  };
  struct Parts {
    llvm::Value* f;  // x = 2^exponent * (1 + f), sqrt(1/2) <= 1 + f < sqrt(2)
    llvm::Value* exponent;
  };

  bool has_scaling() const { return scaling_ != llvm::Intrinsic::not_intrinsic; }

  llvm::Value* signed_as(llvm::Value* x, llvm::Value* magnitude) {
    return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, magnitude, x);
  }

  // ---- integers ---------------------------------------------------------------------------------

  /// Returns the rounding constant. If it is added to a number of less than half its magnitude, the
  /// last bits of the sum are the nearest integer.
  llvm::Constant* rounder() const { return number(std::ldexp(1.5, mantissa_bits_)); }
  /// Returns the integer in the last bits of a sum with the rounder; an unspecified integer for
  /// NaN, for which a conversion would be undefined.
  llvm::Value* rounded_integer(llvm::Value* shifted) {
    return builder_.CreateSub(bits(shifted), bits(rounder()));
  }
  /// Converts a small integer by a bit operation, because few processors convert 64-bit integers.
  llvm::Value* to_number(llvm::Value* small) {
    llvm::Value* shifted = from_bits(builder_.CreateAdd(small, bits(rounder())));
    return builder_.CreateFSub(shifted, rounder());
  }

  // ---- powers -----------------------------------------------------------------------------------

  /// x = exponent / per_unit + rest, where |rest| is at most half of 1 / per_unit, which is high +
  /// low.
  Reduced reduce(llvm::Value* x, double per_unit, double high, double low) {
    llvm::Value* shifted = multiply_add(x, number(per_unit), rounder());
    llvm::Value* whole = builder_.CreateFSub(shifted, rounder());
    llvm::Value* rest = multiply_add(whole, number(-high), x);
    return {rounded_integer(shifted), whole, multiply_add(whole, number(-low), rest)};
  }
  /// x = exponent + rest.
  Reduced reduce(llvm::Value* x) {
    llvm::Value* shifted = builder_.CreateFAdd(x, rounder());
    llvm::Value* whole = builder_.CreateFSub(shifted, rounder());
    return {rounded_integer(shifted), whole, builder_.CreateFSub(x, whole)};
  }
  /// 2^exponent (1 + rest P(rest)).
  llvm::Value* power(const Reduced& reduced, std::initializer_list<double> coefficients) {
    llvm::Value* p = horner(reduced.rest, coefficients);
    return scaled(multiply_add(p, reduced.rest, number(1)), reduced);
  }
  /// Returns p * 2^exponent, rounded once, for exponents up to half beyond the range of the format:
  /// by an instruction, or else by two factors, both of which are normal.
  llvm::Value* scaled(llvm::Value* p, const Reduced& power) {
    if (has_scaling()) return scaled_by_instruction(p, power.whole);
    // A logical shift, because few processors have an arithmetic shift of 64 bits.
    llvm::Value* both = builder_.CreateAdd(power.exponent, integer(2 * bias_));
    llvm::Value* half = builder_.CreateLShr(both, integer(1));
    llvm::Value* other = builder_.CreateSub(both, half);
    return builder_.CreateFMul(builder_.CreateFMul(p, power_of_two(half)), power_of_two(other));
  }

  // ---- logarithms -------------------------------------------------------------------------------

  /// The result is unspecified unless x is positive and finite.
  Parts split(llvm::Value* x) {
    llvm::Value* is_denormal =
        builder_.CreateFCmpOLT(x, number(std::ldexp(1, static_cast<int>(1 - bias_))));
    llvm::Value* normal = builder_.CreateSelect(
        is_denormal, builder_.CreateFMul(x, number(std::ldexp(1, mantissa_bits_))), x);
    llvm::Value* offset = builder_.CreateSelect(is_denormal, number(-mantissa_bits_), number(0));
    // Mantissas from sqrt(1/2) on get the exponent of 1.
    llvm::Value* to_one = builder_.CreateSub(bits(number(1)), bits(number(std::sqrt(0.5))));
    llvm::Value* shifted = builder_.CreateAdd(bits(normal), to_one);
    llvm::Value* biased =
        builder_.CreateLShr(builder_.CreateAnd(shifted, bits(infinity())), integer(mantissa_bits_));
    llvm::Value* exponent = builder_.CreateSub(biased, integer(bias_));
    llvm::Value* mantissa = from_bits(
        builder_.CreateSub(bits(normal), builder_.CreateShl(exponent, integer(mantissa_bits_))));
    return {builder_.CreateFSub(mantissa, number(1)),
            builder_.CreateFAdd(to_number(exponent), offset)};
  }
  /// Returns the logarithm of zero, negative numbers, infinity and NaN; `y` for other x.
  llvm::Value* at_the_ends(llvm::Value* x, llvm::Value* y) {
    llvm::Constant* zero = number(0);
    y = builder_.CreateSelect(builder_.CreateFCmpOEQ(x, zero), infinity(true), y);
    y = builder_.CreateSelect(builder_.CreateFCmpULT(x, zero), not_a_number(), y);
    return builder_.CreateSelect(builder_.CreateFCmpOEQ(x, infinity()), infinity(), y);
  }

  // ---- functions of a sign ----------------------------------------------------------------------

  /// x + x^3 P(x^2) near zero, otherwise 1 - 2 / (exp(2 |x|) + 1); exp(y) is `exp`.
  template <class Exp>
  llvm::Value* tanh_of(llvm::Value* x, std::initializer_list<double> coefficients, Exp exp) {
    llvm::Value* magnitude = fabs(x);
    llvm::Value* square = builder_.CreateFMul(x, x);
    llvm::Value* p = builder_.CreateFMul(horner(square, coefficients), square);
    llvm::Value* power = exp(builder_.CreateFAdd(magnitude, magnitude));
    llvm::Value* elsewhere = builder_.CreateFSub(
        number(1), builder_.CreateFDiv(number(2), builder_.CreateFAdd(power, number(1))));
    return signed_as(x, choose_below(magnitude, 0.625, multiply_add(p, x, x), elsewhere));
  }

 private:
  static llvm::Intrinsic::ID scaling_of(llvm::Type* floats) {
    if (!floats->isVectorTy()) return llvm::Intrinsic::not_intrinsic;
    const bool is_single = floats->getScalarType()->isFloatTy();
    switch (floats->getPrimitiveSizeInBits().getFixedValue()) {
      case 128:
        return is_single ? llvm::Intrinsic::x86_avx512_mask_scalef_ps_128
                         : llvm::Intrinsic::x86_avx512_mask_scalef_pd_128;
      case 256:
        return is_single ? llvm::Intrinsic::x86_avx512_mask_scalef_ps_256
                         : llvm::Intrinsic::x86_avx512_mask_scalef_pd_256;
      case 512:
        return is_single ? llvm::Intrinsic::x86_avx512_mask_scalef_ps_512
                         : llvm::Intrinsic::x86_avx512_mask_scalef_pd_512;
      default:
        return llvm::Intrinsic::not_intrinsic;
    }
  }
  llvm::Value* scaled_by_instruction(llvm::Value* p, llvm::Value* exponent) {
    constexpr int kRoundingOfTheThread = 4;
    const bool is_widest = floats_->getPrimitiveSizeInBits().getFixedValue() == 512;
    const unsigned lanes = llvm::cast<llvm::FixedVectorType>(floats_)->getNumElements();
    llvm::Value* all_lanes =
        llvm::ConstantInt::getAllOnesValue(builder_.getIntNTy(std::max(lanes, 8U)));
    std::vector<llvm::Value*> args{p, exponent, llvm::Constant::getNullValue(floats_), all_lanes};
    if (is_widest) args.push_back(builder_.getInt32(kRoundingOfTheThread));
    return builder_.CreateIntrinsic(scaling_, {}, args);
  }

  llvm::Value* power_of_two(llvm::Value* biased) {
    return from_bits(builder_.CreateShl(biased, integer(mantissa_bits_)));
  }

  llvm::Intrinsic::ID scaling_;
  int mantissa_bits_;
  std::int64_t bias_;
};

}  // namespace tenon::codegen

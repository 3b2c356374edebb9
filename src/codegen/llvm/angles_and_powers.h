// The parts of sin, cos, tan and pow that are common to both formats: quadrants and special values.
// float32 results are computed in doubles, float64 results in pairs of doubles.
#pragma once

#include "codegen/llvm/range_reduction.h"

namespace tenon::codegen {

/// `Precise` is the type of reduced angles and logarithms, with more digits than a result: doubles,
/// or pairs of them. The derived class implements its operations.
template <class Precise>
class AnglesAndPowers : protected RangeReduction {
 public:
  /// `format` is the type of arguments and results: float or double, or a vector of them.
  /// `has_scaling`: see RangeReduction.
  AnglesAndPowers(llvm::IRBuilderBase& builder, llvm::Type* format, bool has_scaling = false)
      : RangeReduction(builder, format->getWithNewType(builder.getDoubleTy()), has_scaling),
        format_(format) {}

  llvm::Value* sine(llvm::Value* x) {
    const Angle angle = reduced(x);
    llvm::Value* value =
        builder_.CreateSelect(is_set(angle.quarter, 1), cosine_of(angle.rest), sine_of(angle.rest));
    return zero_or(x, negated_where(is_set(angle.quarter, 2), value));
  }

  llvm::Value* cosine(llvm::Value* x) {
    const Angle angle = reduced(x);
    llvm::Value* value =
        builder_.CreateSelect(is_set(angle.quarter, 1), sine_of(angle.rest), cosine_of(angle.rest));
    llvm::Value* next = builder_.CreateAdd(angle.quarter, integer(1));
    return in_format(negated_where(is_set(next, 2), value));
  }

  llvm::Value* tangent(llvm::Value* x) {
    const Angle angle = reduced(x);
    llvm::Value* sine = sine_of(angle.rest);
    llvm::Value* cosine = cosine_of(angle.rest);
    llvm::Value* odd = is_set(angle.quarter, 1);
    llvm::Value* above = builder_.CreateSelect(odd, negated(cosine), sine);
    return zero_or(x, builder_.CreateFDiv(above, builder_.CreateSelect(odd, sine, cosine)));
  }

  /// Returns 2^(y log2 |x|), with the sign of odd powers.
  llvm::Value* power(llvm::Value* x, llvm::Value* y) {
    llvm::Value* base = in_doubles(x);
    llvm::Value* exponent = in_doubles(y);
    // Clamping the exponent does not change results: for |exponent| = 2^66, any base other than 1
    // already gives 0 or infinity, and 1, whose logarithm is 0, gives 1.
    llvm::Value* value = exp2(times(clamped(exponent, -0x1p66, 0x1p66), log2(fabs(base))));
    value = of_signed_base(base, exponent, value);
    llvm::Value* is_certain = builder_.CreateOr(builder_.CreateFCmpOEQ(exponent, number(0)),
                                                builder_.CreateFCmpOEQ(base, number(1)));
    return in_format(builder_.CreateSelect(is_certain, number(1), value));
  }

 protected:
  ~AnglesAndPowers() = default;

  /// Returns the logarithm of a magnitude that may be zero, infinity or NaN; `of_finite` is the
  /// result for other values.
  llvm::Value* logarithm_at_the_ends(llvm::Value* magnitude, llvm::Value* of_finite) {
    llvm::Value* value = builder_.CreateSelect(builder_.CreateFCmpOEQ(magnitude, number(0)),
                                               infinity(true), of_finite);
    // The logarithms of infinity and NaN are infinity and NaN.
    return builder_.CreateSelect(builder_.CreateFCmpOLT(magnitude, infinity()), value, magnitude);
  }

 private:
  /// x = quarter * pi / 2 + rest.
  struct Angle {
    llvm::Value* quarter;  // in the last two bits
    Precise rest;
  };
  struct Parity {
    llvm::Value *is_integer, *is_odd;
  };

  // ---- operations of the derived class  ---------------------------------------------------------

  /// Returns x - quarters * pi / 2, whose magnitude is at most pi / 4.
  virtual Precise rest_of(llvm::Value* x, llvm::Value* quarters) = 0;
  virtual llvm::Value* sine_of(Precise rest) = 0;
  virtual llvm::Value* cosine_of(Precise rest) = 0;

  /// Returns the logarithm as a pair; exactly 0 for x = 1. Special values follow
  /// logarithm_at_the_ends.
  virtual Precise log2(llvm::Value* magnitude) = 0;
  virtual Precise times(llvm::Value* a, Precise b) = 0;
  /// Accepts any number. Results beyond the range of the format become 0 or infinity when they are
  /// converted to it.
  virtual llvm::Value* exp2(Precise x) = 0;

  // ---- formats ----------------------------------------------------------------------------------

  llvm::Value* in_doubles(llvm::Value* x) { return builder_.CreateFPExt(x, floats_); }
  llvm::Value* in_format(llvm::Value* x) { return builder_.CreateFPTrunc(x, format_); }

  // ---- angles -----------------------------------------------------------------------------------

  Angle reduced(llvm::Value* x) {
    constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
    llvm::Value* angle = in_doubles(x);
    llvm::Value* shifted = multiply_add(angle, number(kTwoOverPi), rounder());
    llvm::Value* quarters = builder_.CreateFSub(shifted, rounder());
    return {bits(shifted), rest_of(angle, quarters)};
  }
  /// Returns x if it is a zero of either sign, otherwise `value`. The reduced angle of -0 would be
  /// +0.
  llvm::Value* zero_or(llvm::Value* x, llvm::Value* value) {
    llvm::Value* is_zero = builder_.CreateFCmpOEQ(x, llvm::ConstantFP::get(format_, 0.0));
    return builder_.CreateSelect(is_zero, x, in_format(value));
  }
  llvm::Value* is_set(llvm::Value* bits, std::int64_t bit) {
    return builder_.CreateICmpNE(builder_.CreateAnd(bits, integer(bit)), integer(0));
  }
  llvm::Value* negated_where(llvm::Value* condition, llvm::Value* x) {
    return builder_.CreateSelect(condition, negated(x), x);
  }

  // ---- powers -----------------------------------------------------------------------------------

  /// Returns `of_magnitude` with the sign of odd powers; NaN for a negative base and a fractional
  /// exponent.
  llvm::Value* of_signed_base(llvm::Value* base, llvm::Value* exponent, llvm::Value* of_magnitude) {
    const Parity parity = parity_of(exponent);
    llvm::Value* is_minus = builder_.CreateICmpSLT(bits(base), integer(0));
    llvm::Value* value = negated_where(builder_.CreateAnd(is_minus, parity.is_odd), of_magnitude);
    llvm::Value* is_finite_negative = builder_.CreateAnd(
        builder_.CreateFCmpOLT(base, number(0)), builder_.CreateFCmpOGT(base, infinity(true)));
    llvm::Value* has_none =
        builder_.CreateAnd(is_finite_negative, builder_.CreateNot(parity.is_integer));
    return builder_.CreateSelect(has_none, not_a_number(), value);
  }
  /// Returns whether x is an integer, and whether it is odd. From 2^53 on all numbers are even.
  /// Adding 2^53 to smaller numbers rounds them to the nearest even integer.
  Parity parity_of(llvm::Value* x) {
    llvm::Value* all_even = number(0x1p53);
    llvm::Value* magnitude = fabs(x);
    magnitude = choose_below(magnitude, 0x1p53, magnitude, all_even);
    llvm::Value* even = builder_.CreateFSub(builder_.CreateFAdd(magnitude, all_even), all_even);
    llvm::Value* distance = fabs(builder_.CreateFSub(magnitude, even));
    llvm::Value* is_odd = builder_.CreateFCmpOEQ(distance, number(1));
    return {builder_.CreateOr(is_odd, builder_.CreateFCmpOEQ(distance, number(0))), is_odd};
  }

  llvm::Type* format_;
};

}  // namespace tenon::codegen

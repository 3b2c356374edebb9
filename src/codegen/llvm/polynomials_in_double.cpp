#include "codegen/llvm/polynomials_in_double.h"

#include "codegen/llvm/range_reduction.h"
#include "tenon/tir/expr.h"

namespace tenon::codegen {

namespace {

/// Parts of pi / 2: times an integer of up to 24 bits, the first has no rounding error.
constexpr double kHalfPiHigh = 0x1.921fb54p0, kHalfPiLow = 0x1.10b4611a62633p-30;

/// Functions of floats, computed in doubles.
class DoublePolynomials : RangeReduction {
 public:
  DoublePolynomials(llvm::IRBuilderBase& builder, llvm::Value* x)
      : RangeReduction(builder, x->getType()->getWithNewType(builder.getDoubleTy())),
        float_(x->getType()) {}

  llvm::Value* sine(llvm::Value* x) {
    const Angle angle = reduce(x);
    llvm::Value* value =
        builder_.CreateSelect(is_set(angle.quarter, 1), cosine_of(angle.rest), sine_of(angle.rest));
    value = negated_where(is_set(angle.quarter, 2), value);
    // A rest of zero is positive, whatever sign the zero had.
    return builder_.CreateSelect(builder_.CreateFCmpOEQ(x, zero_float()), x, to_float(value));
  }

  llvm::Value* cosine(llvm::Value* x) {
    const Angle angle = reduce(x);
    llvm::Value* value =
        builder_.CreateSelect(is_set(angle.quarter, 1), sine_of(angle.rest), cosine_of(angle.rest));
    llvm::Value* next = builder_.CreateAdd(angle.quarter, integer(1));
    return to_float(negated_where(is_set(next, 2), value));
  }

  llvm::Value* tangent(llvm::Value* x) {
    const Angle angle = reduce(x);
    llvm::Value* sine = sine_of(angle.rest);
    llvm::Value* cosine = cosine_of(angle.rest);
    llvm::Value* odd = is_set(angle.quarter, 1);
    llvm::Value* above = builder_.CreateSelect(odd, builder_.CreateFNeg(cosine), sine);
    llvm::Value* value = builder_.CreateFDiv(above, builder_.CreateSelect(odd, sine, cosine));
    return builder_.CreateSelect(builder_.CreateFCmpOEQ(x, zero_float()), x, to_float(value));
  }

  /// 2^(y log2 |x|), with the sign of odd powers.
  llvm::Value* power(llvm::Value* x, llvm::Value* y) {
    llvm::Value* wide_x = to_double(x);
    llvm::Value* wide_y = to_double(y);
    llvm::Value* one = number(1);
    llvm::Value* magnitude = fabs(wide_x);
    // No magnitude of 1 meets an infinite exponent, and no zero exponent an infinite logarithm.
    llvm::Value* is_one = builder_.CreateFCmpOEQ(magnitude, one);
    llvm::Value* is_to_zero = builder_.CreateFCmpOEQ(wide_y, number(0));
    llvm::Value* exponent = builder_.CreateFMul(wide_y, log2(magnitude));
    llvm::Value* value = exp2(clamped(exponent, -160, 140));
    value = builder_.CreateSelect(
        builder_.CreateAnd(is_one, builder_.CreateFCmpORD(wide_y, wide_y)), one, value);

    // From 2^24 on every float is an even integer.
    llvm::Value* shifted = builder_.CreateFAdd(wide_y, rounder());
    llvm::Value* rounded = builder_.CreateFSub(shifted, rounder());
    llvm::Value* is_large = builder_.CreateFCmpOGE(fabs(wide_y), number(0x1p24));
    llvm::Value* is_integer = builder_.CreateOr(is_large, builder_.CreateFCmpOEQ(rounded, wide_y));
    llvm::Value* is_odd = builder_.CreateAnd(
        builder_.CreateAnd(is_integer, builder_.CreateNot(is_large)), is_set(bits(shifted), 1));
    llvm::Value* is_minus = builder_.CreateICmpSLT(bits(wide_x), integer(0));
    value = negated_where(builder_.CreateAnd(is_minus, is_odd), value);
    llvm::Value* is_finite_negative = builder_.CreateAnd(
        builder_.CreateFCmpOLT(wide_x, number(0)), builder_.CreateFCmpOGT(wide_x, infinity(true)));
    value = builder_.CreateSelect(
        builder_.CreateAnd(is_finite_negative, builder_.CreateNot(is_integer)), not_a_number(),
        value);

    llvm::Value* is_certain = builder_.CreateOr(is_to_zero, builder_.CreateFCmpOEQ(wide_x, one));
    return to_float(builder_.CreateSelect(is_certain, one, value));
  }

 private:
  /// x = quarter * pi / 2 + rest.
  struct Angle {
    llvm::Value* quarter;  // in the last two bits
    llvm::Value* rest;
  };

  llvm::Constant* zero_float() { return llvm::ConstantFP::get(float_, 0.0); }
  llvm::Value* to_double(llvm::Value* x) { return builder_.CreateFPExt(x, floats_); }
  llvm::Value* to_float(llvm::Value* x) { return builder_.CreateFPTrunc(x, float_); }
  llvm::Value* is_set(llvm::Value* bits, std::int64_t bit) {
    return builder_.CreateICmpNE(builder_.CreateAnd(bits, integer(bit)), integer(0));
  }
  llvm::Value* negated_where(llvm::Value* condition, llvm::Value* x) {
    return builder_.CreateSelect(condition, builder_.CreateFNeg(x), x);
  }
  Angle reduce(llvm::Value* x) {
    llvm::Value* wide = to_double(x);
    llvm::Value* shifted = multiply_add(wide, number(0x1.45f306dc9c883p-1), rounder());
    llvm::Value* quarters = builder_.CreateFSub(shifted, rounder());
    llvm::Value* rest = multiply_add(quarters, number(-kHalfPiHigh), wide);
    return {bits(shifted), multiply_add(quarters, number(-kHalfPiLow), rest)};
  }
  /// r + r^3 P(r^2) for |r| <= pi / 4.
  llvm::Value* sine_of(llvm::Value* r) {
    llvm::Value* square = builder_.CreateFMul(r, r);
    llvm::Value* p = horner(square, {0x1.6cd1b09a57f22p-19, -0x1.a00f7e14c944fp-13,
                                     0x1.111108690beb1p-7, -0x1.5555554c6ffc8p-3});
    return multiply_add(builder_.CreateFMul(p, square), r, r);
  }
  /// 1 - r^2 / 2 + r^4 P(r^2) for |r| <= pi / 4.
  llvm::Value* cosine_of(llvm::Value* r) {
    llvm::Value* square = builder_.CreateFMul(r, r);
    return horner(square, {-0x1.242abe617f926p-22, 0x1.a0111fb68037p-16, -0x1.6c16b8982326dp-10,
                           0x1.5555554f4dac4p-5, -0.5, 1});
  }

  /// For zero, infinity, NaN, and what a float becomes as a double, which is normal.
  llvm::Value* log2(llvm::Value* x) {
    constexpr std::int64_t kBitsOfSqrtHalf = 0x3fe6a09e667f3bcd;
    llvm::Value* pattern = bits(x);
    llvm::Value* shifted = builder_.CreateSub(pattern, integer(kBitsOfSqrtHalf));
    llvm::Value* exponent = builder_.CreateAShr(shifted, integer(52));
    llvm::Value* mantissa =
        from_bits(builder_.CreateSub(pattern, builder_.CreateShl(exponent, integer(52))));
    // log2((1 + s) / (1 - s)) = s P(s^2).
    llvm::Value* s = builder_.CreateFDiv(builder_.CreateFSub(mantissa, number(1)),
                                         builder_.CreateFAdd(mantissa, number(1)));
    llvm::Value* p = horner(builder_.CreateFMul(s, s),
                            {0x1.21b2ade44ef54p-2, 0x1.479533ea02b99p-2, 0x1.a61a2fb30094ap-2,
                             0x1.2776c291fb208p-1, 0x1.ec709dc53da0dp-1, 0x1.71547652b825p+1});
    llvm::Value* value = multiply_add(s, p, to_number(exponent));
    value = builder_.CreateSelect(builder_.CreateFCmpOEQ(x, number(0)), infinity(true), value);
    // Infinity and NaN are their own logarithms.
    return builder_.CreateSelect(builder_.CreateFCmpOLT(x, infinity()), value, x);
  }
  /// 2^r = 1 + r P(r) for |r| <= 1 / 2; of x between -1022 and 1023, and of NaN.
  llvm::Value* exp2(llvm::Value* x) {
    llvm::Value* shifted = builder_.CreateFAdd(x, rounder());
    llvm::Value* r = builder_.CreateFSub(x, builder_.CreateFSub(shifted, rounder()));
    llvm::Value* p = horner(r, {0x1.61c4f0f8fd29fp-20, 0x1.00d85339d4379p-16, 0x1.430aa88295d71p-13,
                                0x1.5d874d070c8dep-10, 0x1.3b2ab5ed6fe54p-7, 0x1.c6b08dced3477p-5,
                                0x1.ebfbdff8ede83p-3, 0x1.62e42fef89d1fp-1, 1});
    llvm::Value* exponent = builder_.CreateShl(bits(shifted), integer(52));
    llvm::Value* scale = from_bits(builder_.CreateAdd(exponent, integer(std::int64_t{1023} << 52)));
    return builder_.CreateFMul(p, scale);
  }

  llvm::Type* float_;
};

}  // namespace

llvm::Value* sine_in_double(llvm::IRBuilderBase& builder, llvm::Value* x) {
  return DoublePolynomials(builder, x).sine(x);
}
llvm::Value* cosine_in_double(llvm::IRBuilderBase& builder, llvm::Value* x) {
  return DoublePolynomials(builder, x).cosine(x);
}
llvm::Value* tangent_in_double(llvm::IRBuilderBase& builder, llvm::Value* x) {
  return DoublePolynomials(builder, x).tangent(x);
}
llvm::Value* power_in_double(llvm::IRBuilderBase& builder, llvm::Value* x, llvm::Value* y) {
  return DoublePolynomials(builder, x).power(x, y);
}

}  // namespace tenon::codegen

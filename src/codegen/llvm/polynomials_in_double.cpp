#include "codegen/llvm/polynomials_in_double.h"

#include <initializer_list>

namespace tenon::codegen {

namespace {

/// The bits of 2^52 + 2^51: added to a number of less than 2^51, it leaves the nearest integer in the last
/// bits.
constexpr double kRounder = 0x1.8p52;
/// Parts of pi / 2: times an integer of up to 24 bits, the first has no rounding error.
constexpr double kHalfPiHigh = 0x1.921fb54p0, kHalfPiLow = 0x1.10b4611a62633p-30;

/// Emits operations on doubles, or on vectors of as many doubles as x has floats.
class DoublePolynomials {
 public:
  DoublePolynomials(llvm::IRBuilderBase& builder, llvm::Value* x)
      : builder_(builder), guard_(builder), float_(x->getType()) {
    double_ = builder.getDoubleTy();
    int_ = builder.getInt64Ty();
    if (const auto* vector = llvm::dyn_cast<llvm::VectorType>(float_)) {
      double_ = llvm::VectorType::get(double_, vector->getElementCount());
      int_ = llvm::VectorType::get(int_, vector->getElementCount());
    }
    // Reassociation would take the rounding by kRounder apart.
    builder_.setFastMathFlags({});
  }

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
    value =
        builder_.CreateSelect(builder_.CreateAnd(is_one, builder_.CreateFCmpORD(wide_y, wide_y)), one, value);

    // From 2^24 on every float is an even integer.
    llvm::Value* shifted = builder_.CreateFAdd(wide_y, number(kRounder));
    llvm::Value* rounded = builder_.CreateFSub(shifted, number(kRounder));
    llvm::Value* is_large = builder_.CreateFCmpOGE(fabs(wide_y), number(0x1p24));
    llvm::Value* is_integer = builder_.CreateOr(is_large, builder_.CreateFCmpOEQ(rounded, wide_y));
    llvm::Value* is_odd = builder_.CreateAnd(builder_.CreateAnd(is_integer, builder_.CreateNot(is_large)),
                                             is_set(builder_.CreateBitCast(shifted, int_), 1));
    llvm::Value* is_minus = builder_.CreateICmpSLT(builder_.CreateBitCast(wide_x, int_), integer(0));
    value = negated_where(builder_.CreateAnd(is_minus, is_odd), value);
    llvm::Value* is_finite_negative =
        builder_.CreateAnd(builder_.CreateFCmpOLT(wide_x, number(0)),
                           builder_.CreateFCmpOGT(wide_x, llvm::ConstantFP::getInfinity(double_, true)));
    value = builder_.CreateSelect(builder_.CreateAnd(is_finite_negative, builder_.CreateNot(is_integer)),
                                  llvm::ConstantFP::getNaN(double_), value);

    llvm::Value* is_certain = builder_.CreateOr(is_to_zero, builder_.CreateFCmpOEQ(wide_x, one));
    return to_float(builder_.CreateSelect(is_certain, one, value));
  }

 private:
  /// x = quarter * pi / 2 + rest.
  struct Angle {
    llvm::Value* quarter;  // in the last two bits
    llvm::Value* rest;
  };

  llvm::Constant* number(double value) { return llvm::ConstantFP::get(double_, value); }
  llvm::Constant* zero_float() { return llvm::ConstantFP::get(float_, 0.0); }
  llvm::Constant* integer(std::int64_t value) {
    return llvm::ConstantInt::get(int_, static_cast<std::uint64_t>(value));
  }
  llvm::Value* to_double(llvm::Value* x) { return builder_.CreateFPExt(x, double_); }
  llvm::Value* to_float(llvm::Value* x) { return builder_.CreateFPTrunc(x, float_); }
  llvm::Value* fabs(llvm::Value* x) { return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }
  llvm::Value* is_set(llvm::Value* bits, std::int64_t bit) {
    return builder_.CreateICmpNE(builder_.CreateAnd(bits, integer(bit)), integer(0));
  }
  llvm::Value* negated_where(llvm::Value* condition, llvm::Value* x) {
    return builder_.CreateSelect(condition, builder_.CreateFNeg(x), x);
  }
  /// Fused where the processor can, which then holds for one value and for vectors alike.
  llvm::Value* multiply_add(llvm::Value* a, llvm::Value* b, llvm::Value* c) {
    return builder_.CreateIntrinsic(llvm::Intrinsic::fmuladd, {double_}, {a, b, c});
  }
  /// Coefficients from the highest power on.
  llvm::Value* horner(llvm::Value* x, std::initializer_list<double> coefficients) {
    llvm::Value* sum = nullptr;
    for (double c : coefficients) sum = sum ? multiply_add(sum, x, number(c)) : number(c);
    return sum;
  }
  /// NaN stays.
  llvm::Value* clamped(llvm::Value* x, double low, double high) {
    x = builder_.CreateSelect(builder_.CreateFCmpOLT(x, number(low)), number(low), x);
    return builder_.CreateSelect(builder_.CreateFCmpOGT(x, number(high)), number(high), x);
  }

  Angle reduce(llvm::Value* x) {
    llvm::Value* wide = to_double(x);
    llvm::Value* shifted = multiply_add(wide, number(0x1.45f306dc9c883p-1), number(kRounder));
    llvm::Value* quarters = builder_.CreateFSub(shifted, number(kRounder));
    llvm::Value* rest = multiply_add(quarters, number(-kHalfPiHigh), wide);
    return {builder_.CreateBitCast(shifted, int_), multiply_add(quarters, number(-kHalfPiLow), rest)};
  }
  /// r + r^3 P(r^2) for |r| <= pi / 4.
  llvm::Value* sine_of(llvm::Value* r) {
    llvm::Value* square = builder_.CreateFMul(r, r);
    llvm::Value* p = horner(
        square, {0x1.6cd1b09a57f22p-19, -0x1.a00f7e14c944fp-13, 0x1.111108690beb1p-7, -0x1.5555554c6ffc8p-3});
    return multiply_add(builder_.CreateFMul(p, square), r, r);
  }
  /// 1 - r^2 / 2 + r^4 P(r^2) for |r| <= pi / 4.
  llvm::Value* cosine_of(llvm::Value* r) {
    llvm::Value* square = builder_.CreateFMul(r, r);
    return horner(square, {-0x1.242abe617f926p-22, 0x1.a0111fb68037p-16, -0x1.6c16b8982326dp-10,
                           0x1.5555554f4dac4p-5, -0.5, 1});
  }

  /// Of zero, infinity, NaN, and what a float becomes as a double, which is normal.
  llvm::Value* log2(llvm::Value* x) {
    constexpr std::int64_t kBitsOfSqrtHalf = 0x3fe6a09e667f3bcd;
    llvm::Value* bits = builder_.CreateBitCast(x, int_);
    llvm::Value* shifted = builder_.CreateSub(bits, integer(kBitsOfSqrtHalf));
    llvm::Value* exponent = builder_.CreateAShr(shifted, integer(52));
    llvm::Value* mantissa =
        builder_.CreateBitCast(builder_.CreateSub(bits, builder_.CreateShl(exponent, integer(52))), double_);
    // log2((1 + s) / (1 - s)) = s P(s^2).
    llvm::Value* s = builder_.CreateFDiv(builder_.CreateFSub(mantissa, number(1)),
                                         builder_.CreateFAdd(mantissa, number(1)));
    llvm::Value* p =
        horner(builder_.CreateFMul(s, s), {0x1.21b2ade44ef54p-2, 0x1.479533ea02b99p-2, 0x1.a61a2fb30094ap-2,
                                           0x1.2776c291fb208p-1, 0x1.ec709dc53da0dp-1, 0x1.71547652b825p+1});
    llvm::Value* value = multiply_add(s, p, to_number(exponent));
    value = builder_.CreateSelect(builder_.CreateFCmpOEQ(x, number(0)),
                                  llvm::ConstantFP::getInfinity(double_, true), value);
    // Infinity and NaN are their own logarithms.
    return builder_.CreateSelect(builder_.CreateFCmpOLT(x, llvm::ConstantFP::getInfinity(double_)), value, x);
  }
  /// A small integer: its bits under those of kRounder. Few processors convert 64 bits.
  llvm::Value* to_number(llvm::Value* small) {
    constexpr std::int64_t kBits = 0x4338000000000000;
    llvm::Value* shifted = builder_.CreateBitCast(builder_.CreateAdd(small, integer(kBits)), double_);
    return builder_.CreateFSub(shifted, number(kRounder));
  }
  /// 2^r = 1 + r P(r) for |r| <= 1 / 2; of x between -1022 and 1023, and of NaN.
  llvm::Value* exp2(llvm::Value* x) {
    llvm::Value* shifted = builder_.CreateFAdd(x, number(kRounder));
    llvm::Value* r = builder_.CreateFSub(x, builder_.CreateFSub(shifted, number(kRounder)));
    llvm::Value* p = horner(
        r, {0x1.61c4f0f8fd29fp-20, 0x1.00d85339d4379p-16, 0x1.430aa88295d71p-13, 0x1.5d874d070c8dep-10,
            0x1.3b2ab5ed6fe54p-7, 0x1.c6b08dced3477p-5, 0x1.ebfbdff8ede83p-3, 0x1.62e42fef89d1fp-1, 1});
    llvm::Value* exponent = builder_.CreateShl(builder_.CreateBitCast(shifted, int_), integer(52));
    llvm::Value* scale =
        builder_.CreateBitCast(builder_.CreateAdd(exponent, integer(std::int64_t{1023} << 52)), double_);
    return builder_.CreateFMul(p, scale);
  }

  llvm::IRBuilderBase& builder_;
  llvm::IRBuilderBase::FastMathFlagGuard guard_;
  llvm::Type* float_;
  llvm::Type* double_;
  llvm::Type* int_;
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

#include "codegen/llvm/polynomials_in_double.h"

#include "codegen/llvm/angles_and_powers.h"

namespace tenon::codegen {

namespace {

/// pi / 2 in two parts. The product of an integer of up to 24 bits with the first part is exact.
constexpr double kHalfPiHigh = 0x1.921fb54p0, kHalfPiLow = 0x1.10b4611a62633p-30;

/// Functions of floats, computed in doubles.
class DoublePolynomials final : public AnglesAndPowers<llvm::Value*> {
 public:
  using AnglesAndPowers::AnglesAndPowers;

 private:
  // ---- angles -----------------------------------------------------------------------------------

  llvm::Value* rest_of(llvm::Value* x, llvm::Value* quarters) override {
    llvm::Value* rest = multiply_add(quarters, number(-kHalfPiHigh), x);
    return multiply_add(quarters, number(-kHalfPiLow), rest);
  }
  /// r + r^3 P(r^2) for |r| <= pi / 4.
  llvm::Value* sine_of(llvm::Value* r) override {
    llvm::Value* square = builder_.CreateFMul(r, r);
    llvm::Value* p = horner(square, {0x1.6cd1b09a57f22p-19, -0x1.a00f7e14c944fp-13,
                                     0x1.111108690beb1p-7, -0x1.5555554c6ffc8p-3});
    return multiply_add(builder_.CreateFMul(p, square), r, r);
  }
  /// 1 - r^2 / 2 + r^4 P(r^2) for |r| <= pi / 4.
  llvm::Value* cosine_of(llvm::Value* r) override {
    llvm::Value* square = builder_.CreateFMul(r, r);
    return horner(square, {-0x1.242abe617f926p-22, 0x1.a0111fb68037p-16, -0x1.6c16b8982326dp-10,
                           0x1.5555554f4dac4p-5, -0.5, 1});
  }

  // ---- powers -----------------------------------------------------------------------------------

  /// A float converted to double is normal, zero, infinity or NaN.
  llvm::Value* log2(llvm::Value* x) override {
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
    return logarithm_at_the_ends(x, multiply_add(s, p, to_number(exponent)));
  }
  llvm::Value* times(llvm::Value* a, llvm::Value* b) override { return builder_.CreateFMul(a, b); }
  /// 2^r = 1 + r P(r) for |r| <= 1 / 2; no result is denormal or infinite before it is converted to
  /// float.
  llvm::Value* exp2(llvm::Value* x) override {
    x = clamped(x, -160, 140);
    llvm::Value* shifted = builder_.CreateFAdd(x, rounder());
    llvm::Value* r = builder_.CreateFSub(x, builder_.CreateFSub(shifted, rounder()));
    llvm::Value* p = horner(r, {0x1.61c4f0f8fd29fp-20, 0x1.00d85339d4379p-16, 0x1.430aa88295d71p-13,
                                0x1.5d874d070c8dep-10, 0x1.3b2ab5ed6fe54p-7, 0x1.c6b08dced3477p-5,
                                0x1.ebfbdff8ede83p-3, 0x1.62e42fef89d1fp-1, 1});
    llvm::Value* exponent = builder_.CreateShl(bits(shifted), integer(52));
    llvm::Value* scale = from_bits(builder_.CreateAdd(exponent, integer(std::int64_t{1023} << 52)));
    return builder_.CreateFMul(p, scale);
  }
};

}  // namespace

llvm::Value* sine_in_double(llvm::IRBuilderBase& builder, llvm::Value* x) {
  return DoublePolynomials(builder, x->getType()).sine(x);
}
llvm::Value* cosine_in_double(llvm::IRBuilderBase& builder, llvm::Value* x) {
  return DoublePolynomials(builder, x->getType()).cosine(x);
}
llvm::Value* tangent_in_double(llvm::IRBuilderBase& builder, llvm::Value* x) {
  return DoublePolynomials(builder, x->getType()).tangent(x);
}
llvm::Value* power_in_double(llvm::IRBuilderBase& builder, llvm::Value* x, llvm::Value* y) {
  return DoublePolynomials(builder, x->getType()).power(x, y);
}

}  // namespace tenon::codegen

#include "codegen/llvm/polynomials.h"

#include "codegen/llvm/lane_maths.h"
#include "codegen/llvm/polynomials_in_double.h"

namespace tenon::codegen {

using tir::Intrin;

namespace {

/// The bits of 2^23 + 2^22: added to a number of less than 2^22, it leaves the nearest integer in
/// the last bits.
constexpr float kRounder = 0x1.8p23f;
/// Parts of log(2) and log10(2): times an exponent, the first has no rounding error.
constexpr float kLog2High = 0.693359375f, kLog2Low = -0x1.bd0106p-13f;
constexpr float kLog10Of2High = 0.30078125f, kLog10Of2Low = 0x1.04d428p-12f;
constexpr float kLeastNormal = 0x1p-126f;

class Polynomials : LaneMaths {
 public:
  Polynomials(llvm::IRBuilderBase& builder, llvm::Value* x) : LaneMaths(builder, x->getType()) {}

  /// exp(r) = 1 + r + r^2 P(r) for |r| <= log(2) / 2.
  llvm::Value* exp(llvm::Value* x) {
    const Reduced power = reduce(clamped(x, -104, 89), 0x1.715476p0f, -kLog2High, -kLog2Low);
    llvm::Value* r = power.rest;
    llvm::Value* p =
        horner(r, {0x1.6a2352p-10f, 0x1.123a6cp-7f, 0x1.5558f4p-5f, 0x1.55549p-3f, 0x1.fffffcp-2f});
    p = builder_.CreateFAdd(multiply_add(p, builder_.CreateFMul(r, r), r), number(1));
    return scaled(p, power.exponent);
  }

  /// 2^r = 1 + r P(r) for |r| <= 1 / 2.
  llvm::Value* exp2(llvm::Value* x) {
    x = clamped(x, -151, 129);
    llvm::Value* shifted = builder_.CreateFAdd(x, number(kRounder));
    llvm::Value* r = builder_.CreateFSub(x, builder_.CreateFSub(shifted, number(kRounder)));
    llvm::Value* p = horner(r, {0x1.446d34p-13f, 0x1.5f8a06p-10f, 0x1.3b29e2p-7f, 0x1.c6ae2ap-5f,
                                0x1.ebfbep-3f, 0x1.62e432p-1f});
    return scaled(multiply_add(p, r, number(1)), rounded_integer(shifted));
  }

  /// 10^r = 1 + r P(r) for |r| <= log10(2) / 2.
  llvm::Value* exp10(llvm::Value* x) {
    const Reduced power = reduce(clamped(x, -46, 39), 0x1.a934fp1f, -kLog10Of2High, -kLog10Of2Low);
    llvm::Value* p = horner(power.rest, {0x1.a9c0c4p-3f, 0x1.15c01ap-1f, 0x1.2bd696p0f,
                                         0x1.046efap1f, 0x1.53524cp1f, 0x1.26bb1cp1f});
    return scaled(multiply_add(p, power.rest, number(1)), power.exponent);
  }

  llvm::Value* log(llvm::Value* x) {
    const Parts parts = split(x);
    llvm::Value* square = builder_.CreateFMul(parts.f, parts.f);
    llvm::Value* y = cubic_part(parts.f, square);
    y = multiply_add(parts.exponent, number(kLog2Low), y);
    y = multiply_add(number(-0.5f), square, y);
    y = builder_.CreateFAdd(parts.f, y);
    return at_the_ends(x, multiply_add(parts.exponent, number(kLog2High), y));
  }

  /// log(1 + f) * log2(e), with 1 and the rest of log2(e) multiplied apart.
  llvm::Value* log2(llvm::Value* x) {
    const Parts parts = split(x);
    llvm::Value* square = builder_.CreateFMul(parts.f, parts.f);
    llvm::Value* y = multiply_add(number(-0.5f), square, cubic_part(parts.f, square));
    llvm::Value* factor = number(0x1.c551dap-2f);
    llvm::Value* sum = multiply_add(parts.f, factor, builder_.CreateFMul(y, factor));
    sum = builder_.CreateFAdd(builder_.CreateFAdd(sum, y), parts.f);
    return at_the_ends(x, builder_.CreateFAdd(sum, parts.exponent));
  }

  /// log(1 + f) * log10(e), with two parts of log10(e).
  llvm::Value* log10(llvm::Value* x) {
    const Parts parts = split(x);
    llvm::Value* square = builder_.CreateFMul(parts.f, parts.f);
    llvm::Value* y = multiply_add(number(-0.5f), square, cubic_part(parts.f, square));
    llvm::Value* high = number(0.43359375f);
    llvm::Value* sum =
        builder_.CreateFMul(builder_.CreateFAdd(parts.f, y), number(0x1.6f62a4p-11f));
    sum = multiply_add(parts.exponent, number(kLog10Of2Low), sum);
    sum = multiply_add(parts.f, high, multiply_add(y, high, sum));
    return at_the_ends(x, multiply_add(parts.exponent, number(kLog10Of2High), sum));
  }

  /// x + x^3 P(x^2) near zero, 1 - 2 / (exp(2 x) + 1) elsewhere.
  llvm::Value* tanh(llvm::Value* x) {
    llvm::Value* magnitude = fabs(x);
    llvm::Value* square = builder_.CreateFMul(x, x);
    llvm::Value* p = horner(square, {-0x1.75da26p-8f, 0x1.5224f6p-6f, -0x1.b83c1cp-5f,
                                     0x1.110726p-3f, -0x1.555532p-2f});
    llvm::Value* near_zero = multiply_add(builder_.CreateFMul(p, square), x, x);
    llvm::Value* power = exp(builder_.CreateFAdd(magnitude, magnitude));
    llvm::Value* elsewhere = builder_.CreateFSub(
        number(1), builder_.CreateFDiv(number(2), builder_.CreateFAdd(power, number(1))));
    return signed_as(x, choose_below(magnitude, 0.625f, near_zero, elsewhere));
  }

  /// x + x P(x^2) near zero; elsewhere 1 - exp(Q(x)), Q being the logarithm of 1 - erf. Beyond 3.95
  /// the result is 1.
  llvm::Value* erf(llvm::Value* x) {
    llvm::Value* magnitude = fabs(x);
    llvm::Value* p =
        horner(builder_.CreateFMul(x, x), {-0x1.3a431cp-11f, 0x1.4748a8p-8f, -0x1.b68e2cp-6f,
                                           0x1.ce1abp-4f, -0x1.8126e8p-2f, 0x1.06eba6p-3f});
    llvm::Value* near_zero = multiply_add(p, x, x);
    llvm::Value* t = clamped(magnitude, 0, 3.95f);
    llvm::Value* q = horner(t, {0x1.c209c6p-13f, -0x1.a60c6cp-9f, 0x1.774adap-6f, -0x1.af4144p-4f,
                                -0x1.457a64p-1f, -0x1.20e6aep0f});
    llvm::Value* elsewhere = builder_.CreateFSub(number(1), exp(builder_.CreateFMul(q, t)));
    return signed_as(x, choose_below(magnitude, 0.921875f, near_zero, elsewhere));
  }

 private:
  struct Reduced {
    llvm::Value* exponent;  // integers
    llvm::Value* rest;
  };
  struct Parts {
    llvm::Value* f;  // of 2^exponent * (1 + f), sqrt(1/2) <= 1 + f < sqrt(2)
    llvm::Value* exponent;
  };

  llvm::Value* signed_as(llvm::Value* x, llvm::Value* magnitude) {
    return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, magnitude, x);
  }
  /// What the last bits hold after kRounder was added; some integer for NaN, where a conversion
  /// would be undefined.
  llvm::Value* rounded_integer(llvm::Value* shifted) {
    constexpr std::int32_t kBits = 0x4b400000;
    return builder_.CreateSub(bits(shifted), integer(kBits));
  }
  /// x = exponent / per_unit + rest, |rest| being at most half of 1 / per_unit, which is -(high +
  /// low).
  Reduced reduce(llvm::Value* x, float per_unit, float high, float low) {
    llvm::Value* shifted = multiply_add(x, number(per_unit), number(kRounder));
    llvm::Value* whole = builder_.CreateFSub(shifted, number(kRounder));
    llvm::Value* rest = multiply_add(whole, number(low), multiply_add(whole, number(high), x));
    return {rounded_integer(shifted), rest};
  }
  /// p * 2^exponent, for exponents from -151 to 129: in two factors, which are both normal.
  llvm::Value* scaled(llvm::Value* p, llvm::Value* exponent) {
    llvm::Value* half = builder_.CreateAShr(exponent, integer(1));
    llvm::Value* other = builder_.CreateSub(exponent, half);
    return builder_.CreateFMul(builder_.CreateFMul(p, power_of_two(half)), power_of_two(other));
  }
  llvm::Value* power_of_two(llvm::Value* exponent) {
    return from_bits(builder_.CreateShl(builder_.CreateAdd(exponent, integer(127)), integer(23)));
  }

  Parts split(llvm::Value* x) {
    llvm::Value* is_denormal = builder_.CreateFCmpOLT(x, number(kLeastNormal));
    llvm::Value* normal =
        builder_.CreateSelect(is_denormal, builder_.CreateFMul(x, number(0x1p23f)), x);
    llvm::Value* offset = builder_.CreateSelect(is_denormal, number(-23), number(0));
    constexpr std::int32_t kBitsOfSqrtHalf = 0x3f3504f3;
    llvm::Value* exponent = builder_.CreateAShr(
        builder_.CreateSub(bits(normal), integer(kBitsOfSqrtHalf)), integer(23));
    llvm::Value* mantissa =
        from_bits(builder_.CreateSub(bits(normal), builder_.CreateShl(exponent, integer(23))));
    return {builder_.CreateFSub(mantissa, number(1)),
            builder_.CreateFAdd(builder_.CreateSIToFP(exponent, floats_), offset)};
  }
  /// log(1 + f) = f - f^2 / 2 + f^3 P(f): the last term.
  llvm::Value* cubic_part(llvm::Value* f, llvm::Value* square) {
    llvm::Value* p =
        horner(f, {0x1.1457aap-4f, -0x1.de3c16p-4f, 0x1.e6f06ap-4f, -0x1.fc2208p-4f, 0x1.233768p-3f,
                   -0x1.555c4ep-3f, 0x1.99a4b6p-3f, -0x1.000006p-2f, 0x1.555548p-2f});
    return builder_.CreateFMul(builder_.CreateFMul(p, f), square);
  }
  /// A logarithm of zero, negative numbers, infinity and NaN.
  llvm::Value* at_the_ends(llvm::Value* x, llvm::Value* y) {
    llvm::Constant* zero = number(0);
    y = builder_.CreateSelect(builder_.CreateFCmpOEQ(x, zero), infinity(true), y);
    y = builder_.CreateSelect(builder_.CreateFCmpULT(x, zero), not_a_number(), y);
    return builder_.CreateSelect(builder_.CreateFCmpOEQ(x, infinity()), infinity(), y);
  }
};

}  // namespace

std::optional<llvm::Value*> float32_polynomial(llvm::IRBuilderBase& builder, Intrin function,
                                               std::span<llvm::Value* const> args) {
  llvm::Value* x = args[0];
  if (!x->getType()->getScalarType()->isFloatTy()) return std::nullopt;
  switch (function) {
    case Intrin::exp:
      return Polynomials(builder, x).exp(x);
    case Intrin::exp2:
      return Polynomials(builder, x).exp2(x);
    case Intrin::exp10:
      return Polynomials(builder, x).exp10(x);
    case Intrin::log:
      return Polynomials(builder, x).log(x);
    case Intrin::log2:
      return Polynomials(builder, x).log2(x);
    case Intrin::log10:
      return Polynomials(builder, x).log10(x);
    case Intrin::tanh:
      return Polynomials(builder, x).tanh(x);
    case Intrin::erf:
      return Polynomials(builder, x).erf(x);
    case Intrin::sin:
      return sine_in_double(builder, x);
    case Intrin::cos:
      return cosine_in_double(builder, x);
    case Intrin::tan:
      return tangent_in_double(builder, x);
    case Intrin::pow:
      return power_in_double(builder, x, args[1]);
    default:
      return std::nullopt;
  }
}

}  // namespace tenon::codegen

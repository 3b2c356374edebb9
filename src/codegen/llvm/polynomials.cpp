#include "codegen/llvm/polynomials.h"

#include "codegen/llvm/polynomial_table.h"
#include "codegen/llvm/polynomials_in_double.h"
#include "codegen/llvm/range_reduction.h"

namespace tenon::codegen {

namespace {

/// log(2) and log10(2) in two parts. The product of an exponent with the first part is exact.
constexpr float kLog2HighF32 = 0.693359375f, kLog2LowF32 = -0x1.bd0106p-13f;
constexpr float kLog10Of2HighF32 = 0.30078125f, kLog10Of2LowF32 = 0x1.04d428p-12f;

class Float32 : RangeReduction {
 public:
  using RangeReduction::RangeReduction;

  /// exp(r) = 1 + r + r^2 P(r) for |r| <= log(2) / 2.
  llvm::Value* exp(llvm::Value* x) {
    const Reduced power = reduce(clamped(x, -104, 89), 0x1.715476p0f, kLog2HighF32, kLog2LowF32);
    llvm::Value* r = power.rest;
    llvm::Value* p =
        horner(r, {0x1.6a2352p-10f, 0x1.123a6cp-7f, 0x1.5558f4p-5f, 0x1.55549p-3f, 0x1.fffffcp-2f});
    p = builder_.CreateFAdd(multiply_add(p, builder_.CreateFMul(r, r), r), number(1));
    return scaled(p, power);
  }

  /// 2^r = 1 + r P(r) for |r| <= 1 / 2.
  llvm::Value* exp2(llvm::Value* x) {
    return power(reduce(clamped(x, -151, 129)), {0x1.446d34p-13f, 0x1.5f8a06p-10f, 0x1.3b29e2p-7f,
                                                 0x1.c6ae2ap-5f, 0x1.ebfbep-3f, 0x1.62e432p-1f});
  }

  /// 10^r = 1 + r P(r) for |r| <= log10(2) / 2.
  llvm::Value* exp10(llvm::Value* x) {
    return power(reduce(clamped(x, -46, 39), 0x1.a934fp1f, kLog10Of2HighF32, kLog10Of2LowF32),
                 {0x1.a9c0c4p-3f, 0x1.15c01ap-1f, 0x1.2bd696p0f, 0x1.046efap1f, 0x1.53524cp1f,
                  0x1.26bb1cp1f});
  }

  llvm::Value* log(llvm::Value* x) {
    const Parts parts = split(x);
    llvm::Value* square = builder_.CreateFMul(parts.f, parts.f);
    llvm::Value* y = cubic_part(parts.f, square);
    y = multiply_add(parts.exponent, number(kLog2LowF32), y);
    y = multiply_add(number(-0.5f), square, y);
    y = builder_.CreateFAdd(parts.f, y);
    return at_the_ends(x, multiply_add(parts.exponent, number(kLog2HighF32), y));
  }

  /// log(1 + f) * log2(e), with 1 and the remainder of log2(e) multiplied separately.
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
    sum = multiply_add(parts.exponent, number(kLog10Of2LowF32), sum);
    sum = multiply_add(parts.f, high, multiply_add(y, high, sum));
    return at_the_ends(x, multiply_add(parts.exponent, number(kLog10Of2HighF32), sum));
  }

  llvm::Value* tanh(llvm::Value* x) {
    return tanh_of(
        x, {-0x1.75da26p-8f, 0x1.5224f6p-6f, -0x1.b83c1cp-5f, 0x1.110726p-3f, -0x1.555532p-2f},
        [&](llvm::Value* y) { return exp(y); });
  }

  /// x + x P(x^2) near zero, otherwise 1 - exp(Q(x)), where Q is the logarithm of 1 - erf. Beyond
  /// 3.95 the result is 1.
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

  llvm::Value* sin(llvm::Value* x) { return sine_in_double(builder_, x); }
  llvm::Value* cos(llvm::Value* x) { return cosine_in_double(builder_, x); }
  llvm::Value* tan(llvm::Value* x) { return tangent_in_double(builder_, x); }
  llvm::Value* pow(llvm::Value* x, llvm::Value* y) { return power_in_double(builder_, x, y); }

 private:
  /// The last term of log(1 + f) = f - f^2 / 2 + f^3 P(f).
  llvm::Value* cubic_part(llvm::Value* f, llvm::Value* square) {
    llvm::Value* p =
        horner(f, {0x1.1457aap-4f, -0x1.de3c16p-4f, 0x1.e6f06ap-4f, -0x1.fc2208p-4f, 0x1.233768p-3f,
                   -0x1.555c4ep-3f, 0x1.99a4b6p-3f, -0x1.000006p-2f, 0x1.555548p-2f});
    return builder_.CreateFMul(builder_.CreateFMul(p, f), square);
  }
};

}  // namespace

std::optional<llvm::Value*> float32_polynomial(llvm::IRBuilderBase& builder, tir::Intrin function,
                                               std::span<llvm::Value* const> args,
                                               bool has_scaling) {
  if (!args[0]->getType()->getScalarType()->isFloatTy()) return std::nullopt;
  return function_of<Float32>(builder, function, args, has_scaling);
}

}  // namespace tenon::codegen

#include "codegen/llvm/float64_polynomials.h"

#include "codegen/llvm/float64_pairs.h"
#include "codegen/llvm/polynomial_table.h"
#include "codegen/llvm/range_reduction.h"

namespace tenon::codegen {

namespace {

/// log(2) and log10(2) in two parts. The product of an exponent with the first part is exact.
constexpr double kLog2HighF64 = 0x1.62e42feep-1, kLog2LowF64 = 0x1.a39ef35793c76p-33;
constexpr double kLog10Of2HighF64 = 0x1.34413508p-2, kLog10Of2LowF64 = 0x1.f79fef311f12bp-34;

class Float64 : RangeReduction {
 public:
  using RangeReduction::RangeReduction;

  /// exp(r) = 1 + r + r^2 P(r) for |r| <= log(2) / 2.
  llvm::Value* exp(llvm::Value* x) {
    const Reduced power =
        reduce(clamped(x, -746, 710), 0x1.71547652b82fep0, kLog2HighF64, kLog2LowF64);
    llvm::Value* r = power.rest;
    llvm::Value* p = horner(r, {0x1.1f8b4c02227f2p-29, 0x1.af4dea4da910fp-26, 0x1.27e4cccde5934p-22,
                                0x1.71de02312ca88p-19, 0x1.a01a01acfaed1p-16, 0x1.a01a01abe8205p-13,
                                0x1.6c16c16c151fcp-10, 0x1.11111111100dbp-7, 0x1.5555555555558p-5,
                                0x1.5555555555557p-3, 0.5});
    p = builder_.CreateFAdd(multiply_add(p, builder_.CreateFMul(r, r), r), number(1));
    return scaled(p, power);
  }

  llvm::Value* exp2(llvm::Value* x) { return power(reduce(clamped(x, -1077, 1025)), kFloat64Exp2); }

  /// 10^r = 1 + r P(r) for |r| <= log10(2) / 2.
  llvm::Value* exp10(llvm::Value* x) {
    return power(
        reduce(clamped(x, -324, 309), 0x1.a934f0979a371p1, kLog10Of2HighF64, kLog10Of2LowF64),
        {0x1.85e471503a3p-15, 0x1.fbfbe9a1b5e3dp-13, 0x1.2ea4f27770d7ap-10, 0x1.48978725c2b1cp-8,
         0x1.4116b06d6309ap-6, 0x1.16e4dfceb64dap-4, 0x1.a7ed7084795dcp-3, 0x1.1429ffd1d2e29p-1,
         0x1.2bd7609fd98c9p0, 0x1.0470591de2ca8p1, 0x1.53524c73cea69p1, 0x1.26bb1bbb55516p1});
  }

  llvm::Value* log(llvm::Value* x) {
    const Parts parts = split(x);
    const Logarithm of = logarithm_of(parts.f);
    llvm::Value* rest = multiply_add(parts.exponent, number(kLog2LowF64), of.rest);
    rest = builder_.CreateFSub(builder_.CreateFSub(of.half_square, rest), parts.f);
    return at_the_ends(x, multiply_add(parts.exponent, number(kLog2HighF64), negated(rest)));
  }
  llvm::Value* log2(llvm::Value* x) {
    return scaled_logarithm(x, 0x1.71547652p0, 0x1.705fc2eefa2p-33, 1, 0);
  }
  llvm::Value* log10(llvm::Value* x) {
    return scaled_logarithm(x, 0x1.bcb7b152p-2, 0x1.b9438ca9aadd5p-36, kLog10Of2HighF64,
                            kLog10Of2LowF64);
  }

  llvm::Value* tanh(llvm::Value* x) {
    return tanh_of(
        x,
        {-0x1.0e3d63b0746d6p-16, 0x1.43e1762bd7b74p-14, -0x1.df7a88c5cd3ddp-13,
         0x1.336ae5c9b09b6p-11, -0x1.7d696a6839d5cp-10, 0x1.d6cf3ca46ba49p-9, -0x1.226e16d9fdac3p-7,
         0x1.664f4781f6b42p-6, -0x1.ba1ba1b53103fp-5, 0x1.111111110b0c7p-3, -0x1.5555555555503p-2},
        [&](llvm::Value* y) { return exp(y); });
  }

  /// x + x P(x^2) below 1, otherwise 1 - exp(-x^2) Q((x - 2) / (x + 2)). Beyond 5.95 the result is
  /// 1.
  llvm::Value* erf(llvm::Value* x) {
    llvm::Value* magnitude = fabs(x);
    llvm::Value* p = horner(builder_.CreateFMul(x, x),
                            {-0x1.acdfed2080ca8p-31, 0x1.d7848cee06e21p-27, -0x1.5c16e1b721c38p-23,
                             0x1.b9827acc9794bp-20, -0x1.f4ca948f14ae9p-17, 0x1.f9a2bf731fd4ap-14,
                             -0x1.c02db072e943bp-11, 0x1.565bccfa9a2c5p-8, -0x1.b82ce3120628bp-6,
                             0x1.ce2f21a041017p-4, -0x1.812746b0379c2p-2, 0x1.06eba8214db68p-3});
    llvm::Value* near_zero = multiply_add(p, x, x);
    llvm::Value* t = clamped(magnitude, 0, 5.95);
    llvm::Value* v =
        builder_.CreateFDiv(builder_.CreateFSub(t, number(2)), builder_.CreateFAdd(t, number(2)));
    llvm::Value* q = horner(v, {-0x1.a8441245a3527p-17, -0x1.be778358788ep-16,
                                0x1.cf70a7c43b8ffp-16, 0x1.6d82691523be7p-13, 0x1.6d3531955b5f1p-15,
                                -0x1.016b537487093p-10, -0x1.bc258dc52e45dp-11,
                                0x1.ca95ed863f242p-8, 0x1.e947158adc39cp-9, -0x1.437f0b68ccc3bp-4,
                                0x1.eeea7dc8a790cp-3, -0x1.b57034efd3f56p-2, 0x1.058671b52c776p-2});
    llvm::Value* power = exp(negated(builder_.CreateFMul(t, t)));
    llvm::Value* elsewhere = builder_.CreateFSub(number(1), builder_.CreateFMul(power, q));
    return signed_as(x, choose_below(magnitude, 1, near_zero, elsewhere));
  }

  llvm::Value* sin(llvm::Value* x) { return sine_in_pairs(builder_, x); }
  llvm::Value* cos(llvm::Value* x) { return cosine_in_pairs(builder_, x); }
  llvm::Value* tan(llvm::Value* x) { return tangent_in_pairs(builder_, x); }
  llvm::Value* pow(llvm::Value* x, llvm::Value* y) {
    return power_in_pairs(builder_, x, y, has_scaling());
  }

 private:
  /// log(1 + f) = f - half_square + rest.
  struct Logarithm {
    llvm::Value *half_square, *rest;
  };

  /// log((1 + s) / (1 - s)) = 2 s + s R(s^2), with s = f / (2 + f), so that 2 s = f - f^2 / 2 + s
  /// f^2 / 2.
  Logarithm logarithm_of(llvm::Value* f) {
    llvm::Value* s = builder_.CreateFDiv(f, builder_.CreateFAdd(f, number(2)));
    llvm::Value* z = builder_.CreateFMul(s, s);
    llvm::Value* r = horner(
        z, {0x1.2b5fbdd99534cp-3, 0x1.39fdb96126351p-3, 0x1.7462ba271bdcdp-3, 0x1.c71c62d041875p-3,
            0x1.2492492e03e15p-2, 0x1.9999999995223p-2, 0x1.5555555555558p-1});
    llvm::Value* half_square = builder_.CreateFMul(builder_.CreateFMul(number(0.5), f), f);
    llvm::Value* rest =
        builder_.CreateFMul(s, builder_.CreateFAdd(half_square, builder_.CreateFMul(r, z)));
    return {half_square, rest};
  }
  /// Returns the logarithm to a base for which 1 / log(base) is high + low, and log(2) in that base
  /// is unit_high + unit_low.
  llvm::Value* scaled_logarithm(llvm::Value* x, double high, double low, double unit_high,
                                double unit_low) {
    const Parts parts = split(x);
    const Logarithm of = logarithm_of(parts.f);
    // The upper half of the bits: its products with `high` and with an exponent are exact.
    llvm::Value* whole = builder_.CreateFSub(parts.f, of.half_square);
    llvm::Value* upper =
        from_bits(builder_.CreateAnd(bits(whole), integer(std::int64_t(0xffffffff00000000))));
    llvm::Value* lower = builder_.CreateFAdd(
        builder_.CreateFSub(builder_.CreateFSub(parts.f, upper), of.half_square), of.rest);
    llvm::Value* product = builder_.CreateFMul(upper, number(high));
    llvm::Value* unit = builder_.CreateFMul(parts.exponent, number(unit_high));
    llvm::Value* sum = builder_.CreateFAdd(unit, product);
    llvm::Value* rest = builder_.CreateFMul(parts.exponent, number(unit_low));
    rest = multiply_add(builder_.CreateFAdd(lower, upper), number(low), rest);
    rest = multiply_add(lower, number(high), rest);
    // The rounding error of the sum. The unit has the larger magnitude, unless it is zero.
    rest = builder_.CreateFAdd(rest, builder_.CreateFAdd(builder_.CreateFSub(unit, sum), product));
    return at_the_ends(x, builder_.CreateFAdd(rest, sum));
  }
};

}  // namespace

std::optional<llvm::Value*> float64_polynomial(llvm::IRBuilderBase& builder, tir::Intrin function,
                                               std::span<llvm::Value* const> args,
                                               bool has_scaling) {
  if (!args[0]->getType()->getScalarType()->isDoubleTy()) return std::nullopt;
  return function_of<Float64>(builder, function, args, has_scaling);
}

}  // namespace tenon::codegen

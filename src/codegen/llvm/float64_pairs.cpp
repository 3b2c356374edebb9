#include "codegen/llvm/float64_pairs.h"

#include "codegen/llvm/angles_and_powers.h"

namespace tenon::codegen {

namespace {

/// pi / 2 in four parts. The product of an integer of up to 20 bits with each of the first three is
/// exact. No double below 2^20 is so close to a multiple of pi / 2 that the error of the fourth
/// matters.
constexpr double kHalfPi[] = {0x1.921fb544p0, 0x1.0b4611a6p-34, 0x1.3198a2ep-69,
                              0x1.b839a252049c1p-104};
/// 2 / log(2), a third, and log(2).
constexpr double kTwoOverLog2 = 0x1.71547652b82fep1, kTwoOverLog2Low = 0x1.777d0ffda0d24p-55;
constexpr double kThird = 0x1.5555555555555p-2, kThirdLow = 0x1.5555555555555p-56;
constexpr double kLog2 = 0x1.62e42fefa39efp-1;

/// high + low, with low less than half a unit in the last place of high.
struct Pair {
  llvm::Value *high, *low;
};

class Float64Pairs final : public AnglesAndPowers<Pair> {
 public:
  using AnglesAndPowers::AnglesAndPowers;

 private:
  // ---- pairs ------------------------------------------------------------------------------------

  /// Returns a + b. Precondition: |a| >= |b|, or a is 0.
  Pair ordered_sum(llvm::Value* a, llvm::Value* b) {
    llvm::Value* sum = builder_.CreateFAdd(a, b);
    return {sum, builder_.CreateFAdd(builder_.CreateFSub(a, sum), b)};
  }
  /// Returns a + b for any magnitudes.
  Pair sum(llvm::Value* a, llvm::Value* b) {
    llvm::Value* sum = builder_.CreateFAdd(a, b);
    llvm::Value* of_b = builder_.CreateFSub(sum, a);
    llvm::Value* of_a = builder_.CreateFSub(sum, of_b);
    return {sum, builder_.CreateFAdd(builder_.CreateFSub(a, of_a), builder_.CreateFSub(b, of_b))};
  }
  /// Returns a * b exactly. The products of the operands' halves are exact, with or without fusion.
  Pair product(llvm::Value* a, llvm::Value* b) {
    llvm::Value* high = builder_.CreateFMul(a, b);
    const auto upper = [&](llvm::Value* x) {
      return from_bits(builder_.CreateAnd(bits(x), integer(std::int64_t(0xfffffffff8000000))));
    };
    llvm::Value *upper_a = upper(a), *upper_b = upper(b);
    llvm::Value* lower_a = builder_.CreateFSub(a, upper_a);
    llvm::Value* lower_b = builder_.CreateFSub(b, upper_b);
    llvm::Value* low = multiply_add(upper_a, upper_b, negated(high));
    low = multiply_add(lower_a, upper_b, low);
    low = multiply_add(upper_a, lower_b, low);
    return {high, multiply_add(lower_a, lower_b, low)};
  }
  /// Returns a * b to twice the digits.
  Pair times(llvm::Value* a, Pair b) override {
    const Pair all = product(a, b.high);
    return {all.high, multiply_add(a, b.low, all.low)};
  }
  Pair times(Pair a, Pair b) {
    const Pair all = times(a.high, b);
    return {all.high, multiply_add(a.low, b.high, all.low)};
  }

  // ---- angles -----------------------------------------------------------------------------------

  Pair rest_of(llvm::Value* x, llvm::Value* quarters) override {
    const auto part = [&](int k) { return builder_.CreateFMul(quarters, number(-kHalfPi[k])); };
    const Pair first = sum(multiply_add(quarters, number(-kHalfPi[0]), x), part(1));
    const Pair second = sum(first.high, builder_.CreateFAdd(first.low, part(2)));
    return ordered_sum(second.high, multiply_add(quarters, number(-kHalfPi[3]), second.low));
  }
  /// r + r^3 P(r^2) for |r| <= pi / 4, and the derivative times the low part.
  llvm::Value* sine_of(Pair rest) override {
    llvm::Value *r = rest.high, *square = builder_.CreateFMul(r, r);
    llvm::Value* p =
        horner(square, {0x1.5d8fa328f22a7p-33, -0x1.ae5e59f5ba81ep-26, 0x1.71de35671290dp-19,
                        -0x1.a01a019bfd185p-13, 0x1.111111110f7cap-7, -0x1.5555555555548p-3});
    llvm::Value* low = multiply_add(builder_.CreateFMul(number(-0.5), rest.low), square, rest.low);
    return builder_.CreateFAdd(r, multiply_add(p, builder_.CreateFMul(square, r), low));
  }
  /// 1 - r^2 / 2 + r^4 P(r^2) for |r| <= pi / 4, and the derivative times the low part.
  llvm::Value* cosine_of(Pair rest) override {
    llvm::Value *r = rest.high, *square = builder_.CreateFMul(r, r);
    llvm::Value* p =
        horner(square, {-0x1.8fa465f93d9f5p-37, 0x1.1ee9d752a9dcep-29, -0x1.27e4f7ea37c11p-22,
                        0x1.a01a019c83914p-16, -0x1.6c16c16c14f8ap-10, 0x1.555555555554bp-5});
    const Pair start = ordered_sum(number(1), builder_.CreateFMul(number(-0.5), square));
    llvm::Value* low = builder_.CreateFMul(r, negated(rest.low));
    low = multiply_add(p, builder_.CreateFMul(square, square), low);
    return builder_.CreateFAdd(start.high, builder_.CreateFAdd(start.low, low));
  }

  // ---- powers -----------------------------------------------------------------------------------

  /// The exponent and log2(1 + f) = 2 / log(2) atanh(s), with s = f / (2 + f) and atanh(s) = s (1 +
  /// s^2 / 3 + s^4 P(s^2)).
  Pair log2(llvm::Value* x) override {
    const Parts parts = split(x);
    const Pair below = ordered_sum(number(2), parts.f);
    Pair s{builder_.CreateFDiv(parts.f, below.high), nullptr};
    const Pair whole = product(s.high, below.high);
    llvm::Value* left = builder_.CreateFSub(builder_.CreateFSub(parts.f, whole.high), whole.low);
    left = multiply_add(negated(s.high), below.low, left);
    s.low = builder_.CreateFDiv(left, below.high);

    Pair square = product(s.high, s.high);
    square.low = multiply_add(builder_.CreateFAdd(s.high, s.high), s.low, square.low);
    llvm::Value* p =
        horner(square.high, {0x1.0e43c94838e0fp-4, 0x1.0f7fcbefc1b2fp-4, 0x1.3b1eed4574ceap-4,
                             0x1.745ce9dcc9629p-4, 0x1.c71c722d78e14p-4, 0x1.2492492457c8fp-3,
                             0x1.9999999999b30p-3});
    p = builder_.CreateFMul(builder_.CreateFMul(square.high, square.high), p);
    const Pair third = times(square, {number(kThird), number(kThirdLow)});
    Pair terms = ordered_sum(third.high, p);
    terms.low = builder_.CreateFAdd(terms.low, third.low);
    Pair series = ordered_sum(number(1), terms.high);
    series.low = builder_.CreateFAdd(series.low, terms.low);

    const Pair logarithm = times(times(s, series), {number(kTwoOverLog2), number(kTwoOverLog2Low)});
    const Pair result = ordered_sum(parts.exponent, logarithm.high);
    return {logarithm_at_the_ends(x, result.high), builder_.CreateFAdd(result.low, logarithm.low)};
  }
  /// 2^(n + r) = 2^n (1 + r P(r)), and the derivative at 0 times the low part.
  llvm::Value* exp2(Pair x) override {
    llvm::Value* high = clamped(x.high, -1080, 1030);
    llvm::Value* low =
        builder_.CreateSelect(builder_.CreateFCmpOEQ(high, x.high), x.low, number(0));
    const Reduced power = reduce(high);
    const Pair rest = ordered_sum(power.rest, low);
    llvm::Value* p = horner(rest.high, kFloat64Exp2);
    p = multiply_add(p, rest.high, builder_.CreateFMul(rest.low, number(kLog2)));
    return scaled(builder_.CreateFAdd(number(1), p), power);
  }
};

}  // namespace

llvm::Value* sine_in_pairs(llvm::IRBuilderBase& builder, llvm::Value* x) {
  return Float64Pairs(builder, x->getType()).sine(x);
}
llvm::Value* cosine_in_pairs(llvm::IRBuilderBase& builder, llvm::Value* x) {
  return Float64Pairs(builder, x->getType()).cosine(x);
}
llvm::Value* tangent_in_pairs(llvm::IRBuilderBase& builder, llvm::Value* x) {
  return Float64Pairs(builder, x->getType()).tangent(x);
}
llvm::Value* power_in_pairs(llvm::IRBuilderBase& builder, llvm::Value* x, llvm::Value* y,
                            bool has_scaling) {
  return Float64Pairs(builder, x->getType(), has_scaling).power(x, y);
}

}  // namespace tenon::codegen

#include "tenon/codegen/lowering/expand_math.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <numbers>
#include <string>

#include "tenon/tir/ops.h"

namespace tenon::codegen {

using namespace tir;

namespace {

/// The versions of a constant or a polynomial for float32 and for float64.
template <class T>
struct Versions {
  T single, wide;
};
using Constant = Versions<double>;
/// The coefficients, starting with the highest power.
using Polynomial = Versions<std::initializer_list<double>>;

/// log(2) and log10(2), each split into two parts. The product of an exponent and the first part is
/// exact.
constexpr Constant kLog2High{0.693359375f, 0x1.62e42feep-1};
constexpr Constant kLog2Low{-0x1.bd0106p-13f, 0x1.a39ef35793c76p-33};
constexpr Constant kLog10Of2High{0.30078125f, 0x1.34413508p-2};
constexpr Constant kLog10Of2Low{0x1.04d428p-12f, 0x1.f79fef311f12bp-34};

/// exp(r) = 1 + r + r^2 P(r) for |r| <= log(2) / 2.
constexpr Polynomial kExp{
    {0x1.6a2352p-10f, 0x1.123a6cp-7f, 0x1.5558f4p-5f, 0x1.55549p-3f, 0x1.fffffcp-2f},
    {0x1.1f8b4c02227f2p-29, 0x1.af4dea4da910fp-26, 0x1.27e4cccde5934p-22, 0x1.71de02312ca88p-19,
     0x1.a01a01acfaed1p-16, 0x1.a01a01abe8205p-13, 0x1.6c16c16c151fcp-10, 0x1.11111111100dbp-7,
     0x1.5555555555558p-5, 0x1.5555555555557p-3, 0.5}};
/// 2^r = 1 + r P(r) for |r| <= 1 / 2.
constexpr Polynomial kExp2{
    {0x1.446d34p-13f, 0x1.5f8a06p-10f, 0x1.3b29e2p-7f, 0x1.c6ae2ap-5f, 0x1.ebfbep-3f,
     0x1.62e432p-1f},
    {0x1.ea045c39bbed1p-32, 0x1.e6066090a1846p-28, 0x1.b524dcabd8dafp-24, 0x1.62bfd466d9b7p-20,
     0x1.ffcbfc74470c6p-17, 0x1.43091309754f2p-13, 0x1.5d87fe78a2cafp-10, 0x1.3b2ab6fba1dc5p-7,
     0x1.c6b08d704a0cbp-5, 0x1.ebfbdff82c598p-3, 0x1.62e42fefa39efp-1}};
/// 10^r = 1 + r P(r) for |r| <= log10(2) / 2.
constexpr Polynomial kExp10{
    {0x1.a9c0c4p-3f, 0x1.15c01ap-1f, 0x1.2bd696p0f, 0x1.046efap1f, 0x1.53524cp1f, 0x1.26bb1cp1f},
    {0x1.85e471503a3p-15, 0x1.fbfbe9a1b5e3dp-13, 0x1.2ea4f27770d7ap-10, 0x1.48978725c2b1cp-8,
     0x1.4116b06d6309ap-6, 0x1.16e4dfceb64dap-4, 0x1.a7ed7084795dcp-3, 0x1.1429ffd1d2e29p-1,
     0x1.2bd7609fd98c9p0, 0x1.0470591de2ca8p1, 0x1.53524c73cea69p1, 0x1.26bb1bbb55516p1}};
/// tanh(x) = x + x^3 P(x^2) for |x| < 0.625.
constexpr Polynomial kTanh{
    {-0x1.75da26p-8f, 0x1.5224f6p-6f, -0x1.b83c1cp-5f, 0x1.110726p-3f, -0x1.555532p-2f},
    {-0x1.0e3d63b0746d6p-16, 0x1.43e1762bd7b74p-14, -0x1.df7a88c5cd3ddp-13, 0x1.336ae5c9b09b6p-11,
     -0x1.7d696a6839d5cp-10, 0x1.d6cf3ca46ba49p-9, -0x1.226e16d9fdac3p-7, 0x1.664f4781f6b42p-6,
     -0x1.ba1ba1b53103fp-5, 0x1.111111110b0c7p-3, -0x1.5555555555503p-2}};
/// erf(x) = 1 - exp(-x - x P(x)). The formula keeps full precision near zero.
constexpr std::initializer_list<double> kLogOfComplementOfErf{
    -0x1.36ad1ap-17f, 0x1.ed866ap-14f, -0x1.4bd618p-11f, 0x1.b50c0ep-10f, -0x1.50c42ep-13f,
    -0x1.39cd5p-6f,   0x1.a4fa54p-4f,  0x1.45f2fap-1f,   0x1.06ebaap-3f};
/// erf(x) = x + x P(x^2) near zero.
constexpr std::initializer_list<double> kErf{
    -0x1.acdfed2080ca8p-31, 0x1.d7848cee06e21p-27, -0x1.5c16e1b721c38p-23, 0x1.b9827acc9794bp-20,
    -0x1.f4ca948f14ae9p-17, 0x1.f9a2bf731fd4ap-14, -0x1.c02db072e943bp-11, 0x1.565bccfa9a2c5p-8,
    -0x1.b82ce3120628bp-6,  0x1.ce2f21a041017p-4,  -0x1.812746b0379c2p-2,  0x1.06eba8214db68p-3};
/// erf(x) = 1 - exp(-x^2) P((x - 2) / (x + 2)) (Shepherd and Laframboise, "Chebyshev approximation
/// of (1 + 2x) exp(x^2) erfc(x)", 1981).
constexpr std::initializer_list<double> kComplementOfErf{
    -0x1.a8441245a3527p-17, -0x1.be778358788ep-16,  0x1.cf70a7c43b8ffp-16,  0x1.6d82691523be7p-13,
    0x1.6d3531955b5f1p-15,  -0x1.016b537487093p-10, -0x1.bc258dc52e45dp-11, 0x1.ca95ed863f242p-8,
    0x1.e947158adc39cp-9,   -0x1.437f0b68ccc3bp-4,  0x1.eeea7dc8a790cp-3,   -0x1.b57034efd3f56p-2,
    0x1.058671b52c776p-2};
/// log(1 + f) = f - f^2 / 2 + f^3 P(f), and log((1 + s) / (1 - s)) = 2 s + s^3 P(s^2), as in
/// FreeBSD's msun.
constexpr Polynomial kLog{
    {0x1.1457aap-4f, -0x1.de3c16p-4f, 0x1.e6f06ap-4f, -0x1.fc2208p-4f, 0x1.233768p-3f,
     -0x1.555c4ep-3f, 0x1.99a4b6p-3f, -0x1.000006p-2f, 0x1.555548p-2f},
    {0x1.2b5fbdd99534cp-3, 0x1.39fdb96126351p-3, 0x1.7462ba271bdcdp-3, 0x1.c71c62d041875p-3,
     0x1.2492492e03e15p-2, 0x1.9999999995223p-2, 0x1.5555555555558p-1}};

/// Functions that reduce their arguments in the arguments' own format.
class Functions {
 public:
  Functions(DataType floats, const MathInstructions& instructions)
      : floats_(floats),
        ints_(UInt(floats.bits, floats.lanes)),
        instructions_(instructions),
        mantissa_bits_(is_single() ? 23 : 52),
        bias_(is_single() ? 127 : 1023) {}

  /// Returns `value` enclosed by the lets that `let` has created.
  Expr with_definitions(Expr value) const {
    for (auto each = definitions_.rbegin(); each != definitions_.rend(); ++each)
      value = make_let(each->first, each->second, std::move(value));
    return value;
  }

  Expr exp(const Expr& x) {
    const Reduced n = is_single()
                          ? reduce(clamped(x, -104, 89), 0x1.715476p0f, kLog2High, kLog2Low)
                          : reduce(clamped(x, -746, 710), 0x1.71547652b82fep0, kLog2High, kLog2Low);
    const Expr& r = n.rest;
    return scaled(multiply_add(horner(r, kExp), r * r, r) + number(1), n);
  }
  Expr exp2(const Expr& x) {
    return power(reduce(is_single() ? clamped(x, -151, 129) : clamped(x, -1077, 1025)), kExp2);
  }
  Expr exp10(const Expr& x) {
    return power(
        is_single()
            ? reduce(clamped(x, -46, 39), 0x1.a934fp1f, kLog10Of2High, kLog10Of2Low)
            : reduce(clamped(x, -324, 309), 0x1.a934f0979a371p1, kLog10Of2High, kLog10Of2Low),
        kExp10);
  }

  Expr log(const Expr& x) {
    const auto [f, exponent] = split(x);
    Expr rest = number(0);
    if (is_single()) {
      const Expr square = let(f * f);
      rest = multiply_add(exponent, number(kLog2Low), cubic_part(f, square));
      rest = f + multiply_add(number(-0.5), square, rest);
    } else {
      const auto [half_square, last] = logarithm_of(f);
      rest = multiply_add(exponent, number(kLog2Low), last);
      rest = -(half_square - rest - f);
    }
    return at_the_ends(x, multiply_add(exponent, number(kLog2High), rest));
  }
  Expr log2(const Expr& x) {
    if (!is_single()) return scaled_logarithm(x, 0x1.71547652p0, 0x1.705fc2eefa2p-33, 1, 0);
    // log2(1 + f) = log(1 + f) * log2(e). The factor log2(e) is split into 1 and a remainder, which
    // are multiplied separately.
    const auto [f, exponent] = split(x);
    const Expr factor = number(0x1.c551dap-2f), y = higher_part(f);
    return at_the_ends(x, multiply_add(f, factor, y * factor) + y + f + exponent);
  }
  Expr log10(const Expr& x) {
    if (!is_single())
      return scaled_logarithm(x, 0x1.bcb7b152p-2, 0x1.b9438ca9aadd5p-36, kLog10Of2High.wide,
                              kLog10Of2Low.wide);
    // log10(1 + f) = log(1 + f) * log10(e), with log10(e) in two parts.
    const auto [f, exponent] = split(x);
    const Expr high = number(0.43359375), y = higher_part(f);
    Expr sum = (f + y) * number(0x1.6f62a4p-11f);
    sum = multiply_add(exponent, number(kLog10Of2Low), sum);
    sum = multiply_add(f, high, multiply_add(y, high, sum));
    return at_the_ends(x, multiply_add(exponent, number(kLog10Of2High), sum));
  }

  /// tanh: the polynomial near zero, and 1 - 2 / (exp(2 |x|) + 1) elsewhere.
  Expr tanh(const Expr& x) {
    const Expr magnitude = let(fabs(x));
    const Expr square = let(x * x);
    const Expr p = let(horner(square, kTanh) * square);
    const Expr elsewhere = number(1) - number(2) / (exp(magnitude + magnitude) + number(1));
    return copysign(choose(magnitude < number(0.625), multiply_add(p, x, x), elsewhere), x);
  }

  Expr erf(const Expr& x) {
    const Expr magnitude = let(fabs(x));
    // For x beyond the limit, the result rounds to 1.
    const Expr limit = number(is_single() ? 3.95f : 5.95);
    const Expr t = let(select(magnitude > limit, limit, magnitude));
    if (is_single())
      return copysign(
          one_minus_exp_of_negative(let(multiply_add(horner(t, kLogOfComplementOfErf), t, t))), x);
    const Expr near_zero = let(multiply_add(horner(let(x * x), kErf), x, x));
    const Expr v = let((t - number(2)) / (t + number(2)));
    const Expr q = horner(v, kComplementOfErf);
    const Expr elsewhere = number(1) - exp(-(t * t)) * q;
    return copysign(choose(magnitude < number(1), near_zero, elsewhere), x);
  }

 protected:
  /// x = exponent / per_unit + rest.
  struct Reduced {
    Expr exponent;  // an integer
    Expr whole;     // the exponent as a float
    Expr rest;
  };

  // ---- operations -------------------------------------------------------------------------------

  bool is_single() const { return floats_.bits == 32; }
  Expr number(double value) const { return make_float(floats_, value); }
  template <class T>
  T version(const Versions<T>& of) const {
    return is_single() ? of.single : of.wide;
  }
  Expr number(Constant c) const { return number(version(c)); }
  Expr negative_infinity() const { return number(-std::numeric_limits<double>::infinity()); }
  Expr not_a_number() const { return number(std::numeric_limits<double>::quiet_NaN()); }
  Expr integer(std::int64_t value) const { return make_int(ints_, value); }
  Expr bits(const Expr& x) const { return reinterpret(ints_, x); }
  Expr from_bits(const Expr& x) const { return reinterpret(floats_, x); }
  Expr fabs(const Expr& x) const { return make_call(floats_, Intrin::fabs, {x}); }

  /// Binds a value to a variable. Needed if the value has several uses or must be computed before
  /// the values that follow.
  Expr let(const Expr& value) {
    if (value.as<VarNode>() || is_constant(value)) return value;
    definitions_.emplace_back(Var("v" + std::to_string(definitions_.size()), value.dtype()), value);
    return definitions_.back().first;
  }
  /// Returns a select that follows the computation of both values. If the condition were computed
  /// earlier, it would occupy a register in the meantime.
  Expr choose(const Expr& condition, const Expr& if_true, const Expr& if_false) {
    const Expr b = let(if_false), a = let(if_true);
    return select(condition, a, b);
  }
  /// Returns a * b + c, fused if the processor supports it.
  Expr multiply_add(const Expr& a, const Expr& b, const Expr& c) const {
    if (!instructions_.fused_multiply_add) return a * b + c;
    return make_call(floats_, Intrin::fma, {a, b, c});
  }
  Expr horner(const Expr& x, std::initializer_list<double> coefficients) {
    Expr sum = number(*coefficients.begin());
    for (const double* c = coefficients.begin() + 1; c != coefficients.end(); ++c)
      sum = multiply_add(sum, x, number(*c));
    return let(sum);
  }
  Expr horner(const Expr& x, const Polynomial& p) { return horner(x, version(p)); }
  /// Returns x limited to [low, high]; NaN remains NaN.
  Expr clamped(const Expr& x, double low, double high) {
    const Expr above = let(select(x < number(low), number(low), x));
    return select(above > number(high), number(high), above);
  }

  // ---- integers ---------------------------------------------------------------------------------

  /// Returns the constant that rounds by addition. If a number of less than half its magnitude is
  /// added, the last bits of the sum are the nearest integer. For NaN, they are an unspecified
  /// integer, whereas a conversion would be undefined.
  Expr rounder() const { return number(std::ldexp(1.5, mantissa_bits_)); }
  /// Converts a small integer to a float by a bit operation, because few processors can convert
  /// 64-bit integers.
  Expr to_number(const Expr& small) const { return from_bits(small + bits(rounder())) - rounder(); }

  // ---- powers -----------------------------------------------------------------------------------

  /// Returns x = exponent / per_unit + rest with |rest| <= 1 / (2 per_unit). high + low is 1 /
  /// per_unit.
  Reduced reduce(const Expr& argument, double per_unit, Constant high, Constant low) {
    const Expr x = let(argument);
    const Expr shifted = let(multiply_add(x, number(per_unit), rounder()));
    const Expr whole = let(shifted - rounder());
    const Expr exponent = let(bits(shifted) - bits(rounder()));
    const Expr rest = multiply_add(whole, number(-version(high)), x);
    return {exponent, whole, let(multiply_add(whole, number(-version(low)), rest))};
  }
  /// Returns x = exponent + rest.
  Reduced reduce(const Expr& argument) {
    const Expr x = let(argument);
    const Expr shifted = let(x + rounder());
    const Expr whole = let(shifted - rounder());
    return {let(bits(shifted) - bits(rounder())), whole, let(x - whole)};
  }
  /// Returns 2^exponent * (1 + rest * P(rest)).
  Expr power(const Reduced& reduced, const Polynomial& p) {
    return scaled(multiply_add(horner(reduced.rest, p), reduced.rest, number(1)), reduced);
  }
  /// Returns 1 - exp(-x) for float32 with full precision near zero. Precondition: 0 <= x <= 87, so
  /// that the power of two is normal.
  Expr one_minus_exp_of_negative(const Expr& x) {
    // The last bits of the sum are the biased exponent.
    const Expr to_exponent = number(std::ldexp(1.5, mantissa_bits_) + bias_);
    const Expr shifted = let(multiply_add(x, number(-std::numbers::log2e), to_exponent));
    const Expr rest = let(multiply_add(shifted - to_exponent, number(-std::numbers::ln2), -x));
    const Expr p = let(multiply_add(let(rest * rest), horner(rest, kExp), rest));
    const Expr power = let(power_of_two(bits(shifted)));
    return multiply_add(-power, p, number(1) - power);
  }
  /// Returns p * 2^exponent, rounded once. The magnitude of the exponent may be up to twice the
  /// maximum exponent of the format. Uses an instruction if available, and otherwise two factors
  /// that are both normal.
  Expr scaled(const Expr& value, const Reduced& power) {
    const Expr p = let(value);
    const int vector_bits = floats_.bits * floats_.lanes;
    const bool is_vector = vector_bits == 128 || vector_bits == 256 || vector_bits == 512;
    if (instructions_.scaling && is_vector && floats_.is_vector())
      return scaled_by_instruction(p, power.whole);
    // A logical shift, because few processors have an arithmetic shift of 64 bits.
    const Expr both = let(power.exponent + integer(2 * bias_));
    const Expr half = let(both >> integer(1));
    const Expr second = let(power_of_two(both - half)), first = let(power_of_two(half));
    return p * first * second;
  }
  Expr power_of_two(const Expr& biased) const {
    return from_bits(biased << integer(mantissa_bits_));
  }
  Expr scaled_by_instruction(const Expr& p, const Expr& exponent) const {
    constexpr int kRoundingOfTheThread = 4;
    const int vector_bits = floats_.bits * floats_.lanes;
    const int mask_bits = std::max<int>(floats_.lanes, 8);
    std::vector<Expr> args{
        make_string("llvm.x86.avx512.mask.scalef." + std::string(is_single() ? "ps." : "pd.") +
                    std::to_string(vector_bits)),
        make_int(Int(32), 0),
        p,
        exponent,
        number(0),
        make_int(UInt(mask_bits), (1 << mask_bits) - 1)};
    if (vector_bits == 512) args.push_back(make_int(Int(32), kRoundingOfTheThread));
    return make_call(floats_, Intrin::call_llvm_pure_intrin, std::move(args));
  }

  // ---- logarithms -------------------------------------------------------------------------------

  /// Returns f and the exponent, where x = 2^exponent * (1 + f) and sqrt(1/2) <= 1 + f < sqrt(2).
  /// The result is unspecified unless x is positive and finite.
  std::pair<Expr, Expr> split(const Expr& x) {
    const Expr is_denormal = let(x < number(std::ldexp(1, 1 - bias_)));
    const Expr normal = let(select(is_denormal, x * number(std::ldexp(1, mantissa_bits_)), x));
    const Expr offset = let(select(is_denormal, number(-mantissa_bits_), number(0)));
    // A mantissa of sqrt(1/2) or more gets the same exponent as 1.
    const Expr shifted = bits(normal) + (bits(number(1)) - bits(number(std::sqrt(0.5))));
    const Expr biased = (shifted & bits(infinity(floats_))) >> integer(mantissa_bits_);
    const Expr exponent = let(biased - integer(bias_));
    const Expr mantissa = from_bits(bits(normal) - (exponent << integer(mantissa_bits_)));
    return {let(mantissa - number(1)), let(to_number(exponent) + offset)};
  }
  /// Returns the logarithm: special results for zero, negative numbers, infinity and NaN, and `y`
  /// for any other x.
  Expr at_the_ends(const Expr& x, const Expr& y) {
    const Expr of_finite = choose(x == number(0), negative_infinity(), y);
    const Expr of_number = choose(make_not(x >= number(0)), not_a_number(), of_finite);
    return choose(x == infinity(floats_), infinity(floats_), of_number);
  }

  DataType floats_, ints_;
  MathInstructions instructions_;

 private:
  /// float32: log(1 + f) = f - f^2 / 2 + f^3 P(f). cubic_part returns the last term, higher_part
  /// the sum of the last two.
  Expr cubic_part(const Expr& f, const Expr& square) { return horner(f, kLog) * f * square; }
  Expr higher_part(const Expr& f) {
    const Expr square = let(f * f);
    return let(multiply_add(number(-0.5), square, cubic_part(f, square)));
  }
  /// float64: returns half_square and rest, where log(1 + f) = f - half_square + rest. Uses s = f /
  /// (2 + f) and 2 s = f - f^2 / 2 + s f^2 / 2.
  std::pair<Expr, Expr> logarithm_of(const Expr& f) {
    const Expr s = let(f / (f + number(2)));
    const Expr z = let(s * s);
    const Expr r = horner(z, kLog);
    const Expr half_square = let(number(0.5) * f * f);
    return {half_square, let(s * (half_square + r * z))};
  }
  /// Returns the logarithm to some base, where high + low is 1 / log(base), and unit_high +
  /// unit_low is the logarithm of 2 to that base.
  Expr scaled_logarithm(const Expr& x, double high, double low, double unit_high, double unit_low) {
    const auto [f, exponent] = split(x);
    const auto [half_square, last] = logarithm_of(f);
    // Keeps the upper half of the bits, so that the product with `high` is exact.
    const Expr upper =
        let(from_bits(bits(f - half_square) & integer(std::int64_t(0xffffffff00000000))));
    const Expr lower = let(f - upper - half_square + last);
    const Expr product = let(upper * number(high));
    const Expr unit = let(exponent * number(unit_high));
    const Expr sum = let(unit + product);
    Expr rest = let(exponent * number(unit_low));
    rest = multiply_add(lower + upper, number(low), rest);
    rest = multiply_add(lower, number(high), rest);
    // Adds the rounding error of `sum` (Fast2Sum). The error is computed exactly because |unit| >=
    // |product| or `unit` is zero.
    rest = rest + (unit - sum + product);
    return at_the_ends(x, rest + sum);
  }

  int mantissa_bits_, bias_;
  std::vector<std::pair<Var, Expr>> definitions_;
};

// ---- angles and powers --------------------------------------------------------------------------

/// sin, cos, tan and pow. Their arguments cannot be reduced in the format of the arguments without
/// losing digits. `Precise` is the type of reduced angles and logarithms, which have more digits
/// than the result: float64 for float32, and pairs of float64 for float64. The derived class
/// implements the operations of `Precise`.
template <class Precise>
class AnglesAndPowers : protected Functions {
 public:
  /// `format` is the type of arguments and results.
  AnglesAndPowers(DataType format, const MathInstructions& instructions)
      : Functions(format.with_bits(64), instructions), format_(format) {}

  using Functions::with_definitions;

  Expr sin(const Expr& x) {
    const auto [quarter, rest] = reduced(x);
    const Expr sine = let(sine_of(rest)), cosine = let(cosine_of(rest));
    const Expr value = select(is_set(quarter, 1), cosine, sine);
    return zero_or(x, negated_where(is_set(quarter, 2), value));
  }
  Expr cos(const Expr& x) {
    const auto [quarter, rest] = reduced(x);
    const Expr cosine = let(cosine_of(rest)), sine = let(sine_of(rest));
    const Expr value = select(is_set(quarter, 1), sine, cosine);
    return in_format(negated_where(is_set(quarter + integer(1), 2), value));
  }
  Expr tan(const Expr& x) {
    const auto [quarter, rest] = reduced(x);
    const Expr sine = let(sine_of(rest)), cosine = let(cosine_of(rest));
    const Expr odd = let(is_set(quarter, 1));
    return zero_or(x, select(odd, -cosine, sine) / select(odd, sine, cosine));
  }
  /// Returns 2^(y log2 |x|), negated for negative x and odd y. Special values are those of C's pow.
  Expr pow(const Expr& x, const Expr& y) {
    const Expr base = let(in_doubles(x));
    const Expr exponent = let(in_doubles(y));
    // Clamping the exponent to 2^66 does not change results. With that exponent, any base other
    // than 1 already gives 0 or infinity. The logarithm of 1 is 0, so base 1 gives 1.
    const Precise logarithm = log2(let(fabs(base)));
    const Precise product = times(let(clamped(exponent, -0x1p66, 0x1p66)), logarithm);
    const Expr value = of_signed_base(base, exponent, let(exp2(product)));
    const Expr is_certain = exponent == number(0) || base == number(1);
    return in_format(choose(is_certain, number(1), value));
  }

 protected:
  ~AnglesAndPowers() = default;

  /// Returns the logarithm of a magnitude: -infinity for zero, the magnitude itself for infinity
  /// and NaN, and `of_finite` otherwise.
  Expr logarithm_at_the_ends(const Expr& magnitude, const Expr& of_finite) {
    const Expr value = choose(magnitude == number(0), negative_infinity(), of_finite);
    return choose(magnitude < infinity(floats_), value, magnitude);
  }

 private:
  // ---- operations of the derived class ----------------------------------------------------------

  /// Returns x - quarters * pi / 2, whose magnitude is at most pi / 4.
  virtual Precise rest_of(const Expr& x, const Expr& quarters) = 0;
  virtual Expr sine_of(const Precise& rest) = 0;
  virtual Expr cosine_of(const Precise& rest) = 0;

  /// Returns the logarithm to base 2. It is exactly 0 for 1. Special values follow
  /// logarithm_at_the_ends.
  virtual Precise log2(const Expr& magnitude) = 0;
  virtual Precise times(const Expr& a, const Precise& b) = 0;
  /// Returns 2^x for any x. Results beyond the range of the format become 0 or infinity when they
  /// are converted to the format.
  virtual Expr exp2(const Precise& x) = 0;

  // ---- formats, angles --------------------------------------------------------------------------

  Expr in_doubles(const Expr& x) const { return cast(floats_, x); }
  Expr in_format(const Expr& x) const { return cast(format_, x); }

  /// Returns quarter and rest, where x = quarter * pi / 2 + rest. `quarter` holds the last two bits
  /// of this integer in its own last two bits.
  std::pair<Expr, Precise> reduced(const Expr& x) {
    constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
    const Expr angle = let(in_doubles(x));
    const Expr shifted = let(multiply_add(angle, number(kTwoOverPi), rounder()));
    const Expr quarters = let(shifted - rounder());
    return {let(bits(shifted)), rest_of(angle, quarters)};
  }
  /// Returns x if x is +0 or -0, otherwise `value`. The reduced angle of -0 would be +0.
  Expr zero_or(const Expr& x, const Expr& value) {
    return choose(x == make_float(format_, 0), x, in_format(value));
  }
  Expr is_set(const Expr& bits, std::int64_t bit) const {
    return (bits & integer(bit)) != integer(0);
  }
  Expr negated_where(const Expr& condition, const Expr& value) {
    const Expr x = let(value);
    return select(condition, -x, x);
  }

  // ---- powers -----------------------------------------------------------------------------------

  /// Returns `of_magnitude`, negated if the base is negative and the exponent is odd; NaN for a
  /// negative base and a fractional exponent.
  Expr of_signed_base(const Expr& base, const Expr& exponent, const Expr& of_magnitude) {
    // Numbers from 2^53 on are even. Adding 2^53 to a smaller number rounds it to the nearest even
    // integer.
    const Expr all_even = number(0x1p53);
    Expr magnitude = let(fabs(exponent));
    magnitude = let(select(magnitude < all_even, magnitude, all_even));
    const Expr distance = let(fabs(magnitude - (magnitude + all_even - all_even)));
    const Expr is_odd = let(distance == number(1));
    const Expr is_integer = let(is_odd || distance == number(0));
    const Expr is_minus = let(bits(base) >= integer(std::numeric_limits<std::int64_t>::min()));
    const Expr value = negated_where(is_minus && is_odd, of_magnitude);
    const Expr has_none = base < number(0) && base > negative_infinity() && !is_integer;
    return choose(has_none, not_a_number(), value);
  }

  DataType format_;
};

/// Functions of float32, computed in float64 and rounded once.
class Float32InDouble final : public AnglesAndPowers<Expr> {
 public:
  using AnglesAndPowers::AnglesAndPowers;

 private:
  Expr rest_of(const Expr& x, const Expr& quarters) override {
    // pi / 2 in two parts. The product of the first part and an integer of up to 24 bits is exact.
    const Expr rest = multiply_add(quarters, number(-0x1.921fb54p0), x);
    return let(multiply_add(quarters, number(-0x1.10b4611a62633p-30), rest));
  }
  /// sin(r) = r + r^3 P(r^2) for |r| <= pi / 4.
  Expr sine_of(const Expr& r) override {
    const Expr square = let(r * r);
    const Expr p = horner(square, {0x1.6cd1b09a57f22p-19, -0x1.a00f7e14c944fp-13,
                                   0x1.111108690beb1p-7, -0x1.5555554c6ffc8p-3});
    return multiply_add(p * square, r, r);
  }
  /// cos(r) = 1 - r^2 / 2 + r^4 P(r^2) for |r| <= pi / 4.
  Expr cosine_of(const Expr& r) override {
    return horner(let(r * r), {-0x1.242abe617f926p-22, 0x1.a0111fb68037p-16, -0x1.6c16b8982326dp-10,
                               0x1.5555554f4dac4p-5, -0.5, 1});
  }

  /// A float64 that was converted from float32 is normal, zero, infinity or NaN.
  Expr log2(const Expr& x) override {
    constexpr std::int64_t kBitsOfSqrtHalf = 0x3fe6a09e667f3bcd;
    const DataType integers = Int(64, floats_.lanes);
    const Expr pattern = let(reinterpret(integers, x));
    const Expr exponent = let((pattern - make_int(integers, kBitsOfSqrtHalf)) >> 52);
    const Expr mantissa = let(from_bits(pattern - (exponent << 52)));
    // log2((1 + s) / (1 - s)) = s P(s^2).
    const Expr s = let((mantissa - number(1)) / (mantissa + number(1)));
    const Expr p =
        horner(let(s * s), {0x1.21b2ade44ef54p-2, 0x1.479533ea02b99p-2, 0x1.a61a2fb30094ap-2,
                            0x1.2776c291fb208p-1, 0x1.ec709dc53da0dp-1, 0x1.71547652b825p+1});
    return logarithm_at_the_ends(x, multiply_add(s, p, to_number(reinterpret(ints_, exponent))));
  }
  Expr times(const Expr& a, const Expr& b) override { return a * b; }
  /// 2^r = 1 + r P(r) for |r| <= 1 / 2; no result is denormal or infinite before it is converted to
  /// float32.
  Expr exp2(const Expr& argument) override {
    const Expr x = let(clamped(let(argument), -160, 140));
    const Expr shifted = let(x + rounder());
    const Expr r = let(x - (shifted - rounder()));
    const Expr p = horner(r, {0x1.61c4f0f8fd29fp-20, 0x1.00d85339d4379p-16, 0x1.430aa88295d71p-13,
                              0x1.5d874d070c8dep-10, 0x1.3b2ab5ed6fe54p-7, 0x1.c6b08dced3477p-5,
                              0x1.ebfbdff8ede83p-3, 0x1.62e42fef89d1fp-1, 1});
    return p * from_bits((bits(shifted) << integer(52)) + integer(std::int64_t{1023} << 52));
  }
};

/// The sum high + low, where |low| is less than half a unit in the last place of high.
struct Pair {
  Expr high, low;
};

/// Functions of float64. Values are sums of two float64 (Dekker, "A floating-point technique for
/// extending the available precision", 1971).
class Float64InPairs final : public AnglesAndPowers<Pair> {
 public:
  using AnglesAndPowers::AnglesAndPowers;

 private:
  // ---- pairs ------------------------------------------------------------------------------------

  /// Returns a + b. Precondition: |a| >= |b|, or a is 0.
  Pair ordered_sum(const Expr& first, const Expr& second) {
    const Expr a = let(first), b = let(second), sum = let(a + b);
    return {sum, let(a - sum + b)};
  }
  /// Returns a + b for any magnitudes.
  Pair sum(const Expr& first, const Expr& second) {
    const Expr a = let(first), b = let(second), sum = let(a + b);
    const Expr of_b = let(sum - a);
    return {sum, let(a - (sum - of_b) + (b - of_b))};
  }
  /// Returns a * b exactly. The operands are split into halves whose products are exact, with or
  /// without fused operations.
  Pair product(const Expr& a, const Expr& b) {
    const Expr high = let(a * b);
    const auto upper = [&](const Expr& x) {
      return let(from_bits(bits(x) & integer(std::int64_t(0xfffffffff8000000))));
    };
    const Expr upper_a = upper(a), upper_b = upper(b);
    const Expr lower_a = let(a - upper_a), lower_b = let(b - upper_b);
    Expr low = multiply_add(upper_a, upper_b, -high);
    low = multiply_add(lower_a, upper_b, low);
    low = multiply_add(upper_a, lower_b, low);
    return {high, let(multiply_add(lower_a, lower_b, low))};
  }
  /// Returns a * b with twice the digits of float64.
  Pair times(const Expr& a, const Pair& b) override {
    const Pair all = product(a, b.high);
    return {all.high, let(multiply_add(a, b.low, all.low))};
  }
  Pair times(const Pair& a, const Pair& b) {
    const Pair all = times(a.high, b);
    return {all.high, let(multiply_add(a.low, b.high, all.low))};
  }

  // ---- angles -----------------------------------------------------------------------------------

  Pair rest_of(const Expr& x, const Expr& quarters) override {
    // pi / 2 in four parts. The product of an integer of up to 20 bits with each of the first three
    // is exact. No double below 2^20 is so close to a multiple of pi / 2 that the error of the
    // fourth matters.
    const auto part = [&](double value) { return number(-value); };
    const Pair first =
        sum(multiply_add(quarters, part(0x1.921fb544p0), x), quarters * part(0x1.0b4611a6p-34));
    const Pair second = sum(first.high, first.low + quarters * part(0x1.3198a2ep-69));
    return ordered_sum(second.high,
                       multiply_add(quarters, part(0x1.b839a252049c1p-104), second.low));
  }
  /// sin(r) = r + r^3 P(r^2) for |r| <= pi / 4, plus the derivative times the low part of r.
  Expr sine_of(const Pair& rest) override {
    const Expr &r = rest.high, square = let(r * r);
    const Expr p =
        horner(square, {0x1.5d8fa328f22a7p-33, -0x1.ae5e59f5ba81ep-26, 0x1.71de35671290dp-19,
                        -0x1.a01a019bfd185p-13, 0x1.111111110f7cap-7, -0x1.5555555555548p-3});
    const Expr low = let(multiply_add(number(-0.5) * rest.low, square, rest.low));
    return r + multiply_add(p, square * r, low);
  }
  /// cos(r) = 1 - r^2 / 2 + r^4 P(r^2) for |r| <= pi / 4, plus the derivative times the low part of
  /// r.
  Expr cosine_of(const Pair& rest) override {
    const Expr &r = rest.high, square = let(r * r);
    const Expr p =
        horner(square, {-0x1.8fa465f93d9f5p-37, 0x1.1ee9d752a9dcep-29, -0x1.27e4f7ea37c11p-22,
                        0x1.a01a019c83914p-16, -0x1.6c16c16c14f8ap-10, 0x1.555555555554bp-5});
    const Pair start = ordered_sum(number(1), number(-0.5) * square);
    return start.high + (start.low + multiply_add(p, square * square, r * -rest.low));
  }

  // ---- powers -----------------------------------------------------------------------------------

  /// log2(2^e (1 + f)) = e + 2 / log(2) atanh(s), with s = f / (2 + f) and atanh(s) = s (1 + s^2 /
  /// 3 + s^4 P(s^2)).
  Pair log2(const Expr& x) override {
    const Pair third{number(0x1.5555555555555p-2), number(0x1.5555555555555p-56)};
    const Pair two_over_log2{number(0x1.71547652b82fep1), number(0x1.777d0ffda0d24p-55)};
    const auto [f, exponent] = split(x);
    const Pair below = ordered_sum(number(2), f);
    const Expr quotient = let(f / below.high);
    const Pair whole = product(quotient, below.high);
    const Expr left = multiply_add(-quotient, below.low, f - whole.high - whole.low);
    const Pair s{quotient, let(left / below.high)};

    Pair square = product(s.high, s.high);
    square.low = let(multiply_add(s.high + s.high, s.low, square.low));
    const Expr p =
        horner(square.high, {0x1.0e43c94838e0fp-4, 0x1.0f7fcbefc1b2fp-4, 0x1.3b1eed4574ceap-4,
                             0x1.745ce9dcc9629p-4, 0x1.c71c722d78e14p-4, 0x1.2492492457c8fp-3,
                             0x1.9999999999b30p-3});
    const Pair second = times(square, third);
    Pair terms = ordered_sum(second.high, square.high * square.high * p);
    terms.low = terms.low + second.low;
    Pair series = ordered_sum(number(1), terms.high);
    series.low = let(series.low + terms.low);

    const Pair logarithm = times(times(s, series), two_over_log2);
    const Pair result = ordered_sum(exponent, logarithm.high);
    return {let(logarithm_at_the_ends(x, result.high)), let(result.low + logarithm.low)};
  }
  /// 2^(n + r) = 2^n (1 + r P(r)), plus the derivative at 0 times the low part of r.
  Expr exp2(const Pair& x) override {
    constexpr double kLog2 = 0x1.62e42fefa39efp-1;
    const Expr high = let(clamped(x.high, -1080, 1030));
    const Expr low = let(select(high == x.high, x.low, number(0)));
    const Reduced power = reduce(high);
    const Pair rest = ordered_sum(power.rest, low);
    const Expr p = multiply_add(horner(rest.high, kExp2), rest.high, rest.low * number(kLog2));
    return scaled(number(1) + p, power);
  }
};

}  // namespace

std::optional<Expr> expand_math(Intrin function, const std::vector<Var>& params,
                                const MathInstructions& instructions) {
  using Function = Expr (Functions::*)(const Expr&);
  constexpr std::pair<Intrin, Function> kFunctions[] = {
      {Intrin::exp, &Functions::exp},     {Intrin::exp2, &Functions::exp2},
      {Intrin::exp10, &Functions::exp10}, {Intrin::log, &Functions::log},
      {Intrin::log2, &Functions::log2},   {Intrin::log10, &Functions::log10},
      {Intrin::tanh, &Functions::tanh},   {Intrin::erf, &Functions::erf}};
  const Var& x = params[0];
  const DataType type = x.dtype();
  for (const auto& [intrin, value_of] : kFunctions) {
    if (intrin != function) continue;
    Functions functions(type, instructions);
    return functions.with_definitions((functions.*value_of)(x));
  }
  const auto in_more_digits = [&](auto functions) -> std::optional<Expr> {
    const auto result = [&](const Expr& value) { return functions.with_definitions(value); };
    if (function == Intrin::sin) return result(functions.sin(x));
    if (function == Intrin::cos) return result(functions.cos(x));
    if (function == Intrin::tan) return result(functions.tan(x));
    if (function == Intrin::pow) return result(functions.pow(x, params[1]));
    return std::nullopt;
  };
  return type.bits == 32 ? in_more_digits(Float32InDouble(type, instructions))
                         : in_more_digits(Float64InPairs(type, instructions));
}

}  // namespace tenon::codegen

// Expanded mathematical functions: their values, and their errors in units in the last place.
#include "tenon/codegen/lowering/expand_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <random>

#include "kernel.h"
#include "tenon/interp/evaluate.h"
#include "tenon/tir/ops.h"
#include "units_in_last_place.h"

namespace tenon::codegen {
namespace {

// ---- expansions ---------------------------------------------------------------------------------

// The expansions of mathematical functions: the interpreter evaluates the expression, the compiled
// kernel calls the function.

using namespace tir;
using namespace testing;
using runtime::NDArray;

constexpr Intrin kExpanded[] = {Intrin::exp,  Intrin::exp2,  Intrin::exp10, Intrin::log,
                                Intrin::log2, Intrin::log10, Intrin::tanh,  Intrin::erf,
                                Intrin::sin,  Intrin::cos,   Intrin::tan,   Intrin::pow};

template <class T>
NDArray numbers(unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> magnitude(-40, 10);
  std::vector<T> values{T(0),     -T(0),       T(1),         T(-1),
                        T(0.625), T(88.72),    T(-104),      T(709.78),
                        T(-746),  T(INFINITY), -T(INFINITY), std::numeric_limits<T>::denorm_min()};
  while (values.size() < 256) {
    const auto value = static_cast<T>(std::exp2(magnitude(random)));
    values.push_back(values.size() % 3 == 0 ? -value : value);
  }
  return array_of(values);
}

template <class T>
T interpret(Expr body, const std::vector<Var>& params, std::vector<T> args) {
  for (std::size_t k = 0; k < params.size(); ++k)
    body = make_let(params[k], make_float(params[k].dtype(), args[k]), body);
  return static_cast<T>(std::get<double>(evaluate(body)));
}

template <class T>
void expect_interpreter_agrees(const TargetFacts& target) {
  const DataType type = Float(8 * sizeof(T));
  const std::vector<std::string> features = enabled_features(target);
  const NDArray x = numbers<T>(1), y = numbers<T>(2);
  for (const Intrin intrin : kExpanded) {
    const std::vector<Var> params{Var("x", type), Var("y", type)};
    const auto function = expand_math(
        intrin, params, {.fused_multiply_add = std::ranges::count(features, "fma") > 0});
    const bool has_two = intrin == Intrin::pow;
    const auto call = [&](const std::vector<Expr>& args) {
      return make_call(type, intrin, has_two ? args : std::vector<Expr>{args[0]});
    };
    const NDArray compiled = map_all({x, y}, type, call, 1, target);
    for (std::int64_t n = 0; n < x.num_elements(); ++n) {
      const T expected = interpret<T>(*function, params, {x.data<T>()[n], y.data<T>()[n]});
      const T got = compiled.data<T>()[n];
      if (std::isnan(expected) && std::isnan(got)) continue;
      ASSERT_TRUE(expected == got && std::signbit(expected) == std::signbit(got))
          << to_string(intrin) << "(" << x.data<T>()[n] << ", " << y.data<T>()[n] << ") is " << got
          << ", interpreted " << expected;
    }
  }
}

TEST(ExpandedMath, InterpreterComputesTheBitsOfCompiledFloat32Code) {
  for (const TargetFacts& target : {host_target(), plain_target()})
    expect_interpreter_agrees<float>(target);
}

TEST(ExpandedMath, InterpreterComputesTheBitsOfCompiledFloat64Code) {
  for (const TargetFacts& target : {host_target(), plain_target()})
    expect_interpreter_agrees<double>(target);
}

TEST(ExpandedMath, OtherFunctionsHaveNoExpansion) {
  EXPECT_FALSE(expand_math(Intrin::sinh, {Var("x", Float(32))}, {}));
  EXPECT_FALSE(expand_math(Intrin::sqrt, {Var("x", Float(64))}, {}));
}

// ---- float32 ------------------------------------------------------------------------------------

const KnownFunction<double> kFunctions[] = {
    {"exp", tir::exp, [](double x) { return std::exp(x); }, 1.01},
    {"exp2", tir::exp2, [](double x) { return std::exp2(x); }, 1.25},
    {"exp10", tir::exp10, [](double x) { return std::pow(10.0, x); }, 1.45},
    {"log", tir::log, [](double x) { return std::log(x); }, 0.85},
    {"log2", tir::log2, [](double x) { return std::log2(x); }, 1.55},
    {"log10", tir::log10, [](double x) { return std::log10(x); }, 1.8},
    {"tanh", tir::tanh, [](double x) { return std::tanh(x); }, 1.35},
    {"erf", tir::erf, [](double x) { return std::erf(x); }, 1.7},
    // The library's where angles are large.
    {"sin", tir::sin, [](double x) { return std::sin(x); }, 0.57},
    {"cos", tir::cos, [](double x) { return std::cos(x); }, 0.57},
    {"tan", tir::tan, [](double x) { return std::tan(x); }, 1.1},
};

/// Floats all over their range, denormals, infinities and NaN among them.
NDArray many_floats() {
  constexpr int kCount = 1 << 18;
  std::vector<float> values(kCount);
  for (std::uint32_t n = 0; n < kCount; ++n) {
    const std::uint32_t bits = n * 16411U;  // a prime more than 2^32 / 2^18
    std::memcpy(&values[n], &bits, sizeof bits);
  }
  const float ends[] = {0.0F,    -0.0F,   INFINITY, -INFINITY, NAN,      1e-45F,
                        -1e-45F, 1.0F,    -1.0F,    88.7228F,  88.7229F, -87.3366F,
                        -103.9F, -104.0F, 128.0F,   -149.0F,   3.4e38F,  -3.4e38F};
  std::copy(std::begin(ends), std::end(ends), values.begin());
  return array_of(values);
}

class Polynomial : public ::testing::TestWithParam<KnownFunction<double>> {
 protected:
  NDArray run(int lanes, const TargetFacts& target) {
    return map(
        input_, Float(32), [&](const Expr& x) { return GetParam().here(x); }, lanes, target);
  }
  NDArray input_ = many_floats();
};

TEST_P(Polynomial, IsAsNearAsItsHeaderSays) {
  for (const TargetFacts& target : {host_target(), plain_target()}) {
    SCOPED_TRACE(target.cpu);
    expect_near<float>(GetParam(), input_, run(8, target), GetParam().error);
  }
}

TEST_P(Polynomial, GivesTheSameBitsForEveryNumberOfLanes) {
  for (const TargetFacts& target : {host_target(), plain_target()}) {
    const NDArray one = run(1, target);
    for (int lanes : {2, 8, 16})
      expect_same_bits<float>(one, run(lanes, target), input_, GetParam().name);
  }
}

TEST_P(Polynomial, IsNotTakenApartByFastMath) {
  Kernel k;
  const Buffer a = k.array({16}, Float(32)), b = k.array({16}, Float(32));
  const Expr at = make_ramp(make_int(Int(32), 0), 1, 16);
  const Stmt body = make_store(b, GetParam().here(make_load(a, {at})), {at});
  std::vector<float> values;
  for (int n = 0; n < 16; ++n) values.push_back(0.37F * static_cast<float>(n) + 0.05F);
  TargetFacts facts = host_target();
  facts.fast_math = true;
  const NDArray input = array_of(values), output = NDArray::zeros({16}, Float(32));
  k.compile(body, facts)(input, output);
  expect_near<float>(GetParam(), input, output, GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(Float32, Polynomial, ::testing::ValuesIn(kFunctions),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Polynomials, VectorsNeedNoCallsOfLibraries) {
  for (const KnownFunction<double>& f : kFunctions) {
    // Large angles are the library's.
    if (f.here == tir::sin || f.here == tir::cos || f.here == tir::tan) continue;
    Kernel k;
    const Buffer a = k.array({16}, Float(32)), b = k.array({16}, Float(32));
    const Expr at = make_ramp(make_int(Int(32), 0), 1, 16);
    const std::string code = k.source(make_store(b, f.here(make_load(a, {at})), {at}), "asm");
    EXPECT_EQ(code.find(std::string(f.name).append("f@")), std::string::npos) << f.name;
    EXPECT_EQ(code.find(std::string(f.name).append("f\n")), std::string::npos) << f.name;
  }
}

TEST(Polynomials, AnglesThatAreReducedAreRoundedOnce) {
  std::vector<float> values;
  for (int n = 0; n < 1 << 16; ++n) {
    const float magnitude = std::ldexp(1.0F + static_cast<float>(n) * 0x1p-16F, n % 40 - 20);
    values.push_back(n % 3 == 0 ? -magnitude : magnitude);
  }
  const NDArray input = array_of(values);
  for (const KnownFunction<double>& f : kFunctions) {
    if (f.here != tir::sin && f.here != tir::cos && f.here != tir::tan) continue;
    expect_near<float>(f, input, map(input, Float(32), f.here, 8), 0.51);
  }
}

TEST(Polynomials, PowersAreRoundedOnceAndHaveTheSpecialValuesOfC) {
  const float special[] = {0.0F,        -0.0F,        1.0F,    -1.0F,   INFINITY,    -INFINITY,
                           NAN,         2.0F,         -2.0F,   3.0F,    -3.0F,       0.5F,
                           -0.5F,       1e-45F,       -1e-45F, 3.4e38F, -3.4e38F,    16777215.0F,
                           16777216.0F, -16777217.0F, 1.5F,    -1.5F,   0.99999994F, 1.0000001F};
  std::vector<float> xs, ys;
  for (float x : special)
    for (float y : special) xs.push_back(x), ys.push_back(y);
  // Powers that a float can hold, of many bases.
  for (std::uint32_t n = 0; n < 1 << 18; ++n) {
    const std::uint32_t bits = n * 16411U;
    float x = 0;
    std::memcpy(&x, &bits, sizeof x);
    const double logarithm = std::log2(std::abs(static_cast<double>(x)));
    const double exponent = (static_cast<double>(n % 977) / 977 - 0.5) * 290;
    xs.push_back(std::abs(x)), ys.push_back(static_cast<float>(exponent / logarithm));
  }
  const auto powers = [&](int lanes) {
    return map(array_of(xs), array_of(ys), Float(32), tir::pow, lanes);
  };
  const NDArray one = powers(1), eight = powers(8);
  for (std::size_t n = 0; n < xs.size(); ++n) {
    const float here = eight.data<float>()[n], alone = one.data<float>()[n];
    ASSERT_LE(error_of(here, std::pow(static_cast<double>(xs[n]), static_cast<double>(ys[n]))),
              0.51)
        << "pow(" << xs[n] << ", " << ys[n] << ") = " << here;
    ASSERT_TRUE(here == alone || (std::isnan(here) && std::isnan(alone))) << xs[n] << " " << ys[n];
  }
}

// ---- float64 ------------------------------------------------------------------------------------

// Functions of float64 beside those of x86's long double, whose errors are a thousandth of theirs.

const KnownFunction<long double> kFunctions64[] = {
    {"exp", tir::exp, std::exp, 1.0, -746, 710},
    {"exp2", tir::exp2, std::exp2, 1.2, -1076, 1025},
    {"exp10", tir::exp10, [](long double x) { return std::pow(10.0L, x); }, 1.4, -325, 309},
    {"log", tir::log, std::log, 0.9, 0.25, 4},
    {"log2", tir::log2, std::log2, 0.8, 0.25, 4},
    {"log10", tir::log10, std::log10, 0.8, 0.25, 4},
    {"tanh", tir::tanh, std::tanh, 1.4, -2, 2},
    {"erf", tir::erf, std::erf, 1.4, -6.5, 6.5},
};

constexpr int kCount = 1 << 18;

/// Doubles all over their range and where the function is neither 0 nor 1; denormals, the ends of
/// ranges, infinities and NaN among them.
NDArray inputs_of(const KnownFunction<long double>& f) {
  std::mt19937_64 random(7);
  std::vector<double> values(kCount);
  std::uniform_real_distribution<double> near(f.least, f.greatest);
  for (int n = 0; n < kCount; ++n) {
    const std::uint64_t bits = random();
    if (n % 2 == 0)
      values[n] = near(random);
    else
      std::memcpy(&values[n], &bits, sizeof bits);
  }
  const double ends[] = {0.0,
                         -0.0,
                         INFINITY,
                         -INFINITY,
                         NAN,
                         5e-324,
                         -5e-324,
                         1.0,
                         -1.0,
                         709.7827,
                         709.7828,
                         -708.3965,
                         -745.13,
                         -745.14,
                         1024.0,
                         -1074.0,
                         -1075.0,
                         1023.999,
                         308.2547,
                         308.2548,
                         -323.3,
                         -323.7,
                         DBL_MAX,
                         -DBL_MAX,
                         DBL_MIN,
                         0.625,
                         -0.625,
                         5.95,
                         1e-300,
                         -1e-300,
                         0.7071067811865475,
                         1.414213562373095};
  std::copy(std::begin(ends), std::end(ends), values.begin());
  return array_of(values);
}

class Float64Polynomial : public ::testing::TestWithParam<KnownFunction<long double>> {
 protected:
  NDArray run(int lanes, const TargetFacts& target) {
    return map(
        input_, Float(64), [&](const Expr& x) { return GetParam().here(x); }, lanes, target);
  }
  NDArray input_ = inputs_of(GetParam());
};

TEST_P(Float64Polynomial, IsAsNearAsItsHeaderSays) {
  for (const TargetFacts& target : {host_target(), plain_target()}) {
    SCOPED_TRACE(target.cpu);
    expect_near<double>(GetParam(), input_, run(8, target), GetParam().error);
  }
}

TEST_P(Float64Polynomial, GivesTheSameBitsForEveryNumberOfLanes) {
  for (const TargetFacts& target : {host_target(), plain_target()}) {
    expect_same_bits<double>(run(1, target), run(8, target), input_, GetParam().name);
  }
}

TEST_P(Float64Polynomial, VectorsNeedNoCallsOfLibraries) {
  Kernel k;
  const Buffer a = k.array({8}, Float(64)), b = k.array({8}, Float(64));
  const Expr at = make_ramp(make_int(Int(32), 0), 1, 8);
  const std::string code =
      k.source(make_store(b, GetParam().here(make_load(a, {at})), {at}), "asm");
  EXPECT_EQ(code.find(std::string(GetParam().name).append("@")), std::string::npos);
  EXPECT_EQ(code.find(std::string(GetParam().name).append("\n")), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Float64, Float64Polynomial, ::testing::ValuesIn(kFunctions64),
                         [](const auto& info) { return std::string(info.param.name); });

// ---- angles and powers of float64 ---------------------------------------------------------------

// Angles and powers of float64 beside those of x86's long double, whose errors are a thousandth of
// theirs.

const KnownFunction<long double> kAngles[] = {{"sin", tir::sin, std::sin, 0.8},
                                              {"cos", tir::cos, std::cos, 0.8},
                                              {"tan", tir::tan, std::tan, 2.2}};

/// Around a turn, all over what is reduced, and beside multiples of pi / 2, where digits vanish.
NDArray angles() {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> turn(-8, 8), all(-0x1p20, 0x1p20);
  std::vector<double> values(kCount);
  for (int n = 0; n < kCount; ++n) {
    const auto quarters = static_cast<long double>(random() % 1300000) - 650000;
    const auto multiple = static_cast<double>(quarters * std::numbers::pi_v<long double> / 2);
    const double scale = std::ldexp(1.0, -static_cast<int>(random() % 60));
    values[n] = n % 4 == 0   ? turn(random)
                : n % 4 == 1 ? all(random)
                : n % 4 == 2 ? std::nextafter(multiple, n % 8 < 4 ? INFINITY : -INFINITY)
                             : turn(random) * scale;
  }
  const double ends[] = {0.0, -0.0, 5e-324, -5e-324, DBL_MIN, INFINITY, -INFINITY, NAN};
  std::copy(std::begin(ends), std::end(ends), values.begin());
  return array_of(values);
}

TEST(Float64Pairs, AnglesAreAsNearAsTheHeaderSays) {
  const NDArray input = angles();
  for (const KnownFunction<long double>& f : kAngles)
    for (const TargetFacts& target : {host_target(), plain_target()}) {
      SCOPED_TRACE(target.cpu);
      expect_near<double>(f, input, map(input, Float(64), f.here, 8, target), f.error);
    }
}

TEST(Float64Pairs, AnglesGiveTheSameBitsForEveryNumberOfLanes) {
  const NDArray input = angles();
  for (const KnownFunction<long double>& f : kAngles)
    expect_same_bits<double>(map(input, Float(64), f.here, 1), map(input, Float(64), f.here, 8),
                             input, f.name);
}

TEST(Float64Pairs, GreatAnglesAreThoseOfTheLibrary) {
  std::vector<double> values;
  for (int n = 0; n < 1024; ++n) values.push_back(std::ldexp(1.0 + n / 1024.0, 20 + n));
  values.resize(1000);
  const NDArray input = array_of(values);
  for (const KnownFunction<long double>& f : kAngles)
    expect_near<double>(f, input, map(input, Float(64), f.here, 8), 1);
}

TEST(Float64Pairs, PowersAreAsNearAsTheHeaderSaysAndHaveTheSpecialValuesOfC) {
  const double special[] = {
      0.0,      -0.0,   1.0,        -1.0,        INFINITY, -INFINITY,    NAN,         2.0,
      -2.0,     3.0,    -3.0,       0.5,         -0.5,     5e-324,       -5e-324,     DBL_MAX,
      -DBL_MAX, 0x1p52, 0x1p52 + 1, -0x1p53 + 1, 0x1p53,   0x1p51 + 0.5, 1 - 0x1p-53, 1 + 0x1p-52};
  std::vector<double> xs, ys;
  for (double x : special)
    for (double y : special) xs.push_back(x), ys.push_back(y);
  // Powers that a double can hold, of bases all over the range and beside 1.
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> exponents(-1080, 1030), beside(0.999, 1.001);
  while (xs.size() < 1 << 18) {
    const std::uint64_t bits = random() & 0x7fffffffffffffff;
    double x = beside(random);
    if (xs.size() % 2 == 0) std::memcpy(&x, &bits, sizeof x);
    xs.push_back(x);
    ys.push_back(exponents(random) / static_cast<double>(std::log2(static_cast<long double>(x))));
  }
  for (const TargetFacts& target : {host_target(), plain_target()}) {
    const auto powers = [&](int lanes) {
      return map(array_of(xs), array_of(ys), Float(64), tir::pow, lanes, target);
    };
    const NDArray one = powers(1), eight = powers(8);
    for (std::size_t n = 0; n < xs.size(); ++n) {
      const double here = eight.data<double>()[n], alone = one.data<double>()[n];
      ASSERT_LE(error_of(here, std::pow(static_cast<long double>(xs[n]),
                                        static_cast<long double>(ys[n]))),
                1.3)
          << "pow(" << xs[n] << ", " << ys[n] << ") = " << here << " on " << target.cpu;
      ASSERT_TRUE(here == alone || (std::isnan(here) && std::isnan(alone)))
          << xs[n] << " " << ys[n];
    }
  }
}

}  // namespace
}  // namespace tenon::codegen

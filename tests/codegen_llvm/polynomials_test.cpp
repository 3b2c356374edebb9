#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "kernel.h"
#include "tenon/tir/ops.h"
#include "units_in_last_place.h"

namespace tenon::codegen {
namespace {

using namespace tir;
using namespace testing;
using runtime::NDArray;

const KnownFunction<double> kFunctions[] = {
    {"exp", tir::exp, [](double x) { return std::exp(x); }, 1.01},
    {"exp2", tir::exp2, [](double x) { return std::exp2(x); }, 1.25},
    {"exp10", tir::exp10, [](double x) { return std::pow(10.0, x); }, 1.45},
    {"log", tir::log, [](double x) { return std::log(x); }, 0.85},
    {"log2", tir::log2, [](double x) { return std::log2(x); }, 1.55},
    {"log10", tir::log10, [](double x) { return std::log10(x); }, 1.8},
    {"tanh", tir::tanh, [](double x) { return std::tanh(x); }, 1.35},
    {"erf", tir::erf, [](double x) { return std::erf(x); }, 1.3},
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

}  // namespace
}  // namespace tenon::codegen

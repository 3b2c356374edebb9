// Functions of float64 beside those of x86's long double, whose errors are a thousandth of theirs.
#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <cstring>
#include <random>

#include "kernel.h"
#include "tenon/tir/ops.h"
#include "units_in_last_place.h"

namespace tenon::codegen {
namespace {

using namespace tir;
using namespace testing;
using runtime::NDArray;

const KnownFunction<long double> kFunctions[] = {
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

INSTANTIATE_TEST_SUITE_P(Float64, Float64Polynomial, ::testing::ValuesIn(kFunctions),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tenon::codegen

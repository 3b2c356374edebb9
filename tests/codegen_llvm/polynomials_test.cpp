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

struct Function {
  const char* name;
  Expr (*here)(const Operand&);
  double (*exact)(double);
  /// In units in the last place of the result; what the header says.
  double error;
};

std::ostream& operator<<(std::ostream& out, const Function& f) { return out << f.name; }

const Function kFunctions[] = {
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

class Polynomial : public ::testing::TestWithParam<Function> {
 protected:
  NDArray run(int lanes, const TargetFacts& target) {
    return map(
        input_, Float(32), [&](const Expr& x) { return GetParam().here(x); }, lanes, target);
  }
  NDArray input_ = many_floats();
};

TEST_P(Polynomial, IsAsNearAsItsHeaderSays) {
  for (const TargetFacts& target : {host_target(), plain_target()}) {
    const NDArray output = run(8, target);
    for (std::int64_t n = 0; n < input_.num_elements(); ++n) {
      const float x = input_.data<float>()[n], y = output.data<float>()[n];
      ASSERT_LE(error_of(y, GetParam().exact(x)), GetParam().error)
          << GetParam().name << "(" << x << ") = " << y << " on " << target.cpu;
    }
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
  const NDArray output = NDArray::zeros({16}, Float(32));
  k.compile(body, facts)(array_of(values), output);
  for (std::size_t n = 0; n < values.size(); ++n)
    EXPECT_LE(error_of(output.data<float>()[n], GetParam().exact(values[n])), GetParam().error)
        << GetParam().name << "(" << values[n] << ")";
}

INSTANTIATE_TEST_SUITE_P(Float32, Polynomial, ::testing::ValuesIn(kFunctions),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Polynomials, VectorsNeedNoCallsOfLibraries) {
  for (const Function& f : kFunctions) {
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
  for (const Function& f : kFunctions) {
    if (f.here != tir::sin && f.here != tir::cos && f.here != tir::tan) continue;
    const NDArray output = map(input, Float(32), f.here, 8);
    for (std::size_t n = 0; n < values.size(); ++n)
      ASSERT_LE(error_of(output.data<float>()[n], f.exact(values[n])), 0.51)
          << f.name << "(" << values[n] << ")";
  }
}

/// x to the power of y, for pairs from two lists, eight at a time or one.
NDArray powers(const std::vector<float>& xs, const std::vector<float>& ys, int lanes) {
  const Expr count = make_int(Int(32), static_cast<std::int64_t>(xs.size()));
  Kernel k;
  const Buffer x = k.array({count}, Float(32)), y = k.array({count}, Float(32)),
               z = k.array({count}, Float(32));
  IRBuilder ib;
  ib.for_range(0, make_int(Int(32), static_cast<std::int64_t>(xs.size()) / lanes), "i", [&](Var i) {
    const Expr at = lanes == 1 ? Expr(i) : make_ramp(i * lanes, 1, lanes);
    ib.emit(make_store(z, pow(make_load(x, {at}), make_load(y, {at})), {at}));
  });
  const NDArray output = NDArray::zeros({static_cast<std::int64_t>(xs.size())}, Float(32));
  k.compile(ib.get())(array_of(xs), array_of(ys), output);
  return output;
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
  const NDArray one = powers(xs, ys, 1), eight = powers(xs, ys, 8);
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

// Angles and powers of float64 beside those of x86's long double, whose errors are a thousandth of
// theirs.
#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <cstring>
#include <numbers>
#include <random>

#include "kernel.h"
#include "tenon/tir/ops.h"
#include "units_in_last_place.h"

namespace tenon::codegen {
namespace {

using namespace tir;
using namespace testing;
using runtime::NDArray;

const KnownFunction<long double> kAngles[] = {{"sin", tir::sin, std::sin, 0.8},
                                              {"cos", tir::cos, std::cos, 0.8},
                                              {"tan", tir::tan, std::tan, 2.2}};

constexpr int kCount = 1 << 18;

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

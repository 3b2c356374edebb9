#include "tenon/runtime/float16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tenon::runtime {
namespace {

// Every pattern of 16 bits is a number that both conversions must leave alone.
template <class Half>
void expect_round_trips() {
  for (int bits = 0; bits <= 0xffff; ++bits) {
    const Half half = Half::from_bits(static_cast<std::uint16_t>(bits));
    const auto value = static_cast<float>(half);
    if (std::isnan(value))
      ASSERT_TRUE(std::isnan(static_cast<float>(Half(value)))) << bits;
    else
      ASSERT_EQ(Half(value).bits, bits);
  }
}
TEST(Float16, EveryValueSurvivesARoundTrip) { expect_round_trips<Float16>(); }
TEST(BFloat16, EveryValueSurvivesARoundTrip) { expect_round_trips<BFloat16>(); }

// Between two neighbours, the nearer one wins, and of two equally near ones the even one.
template <class Half>
void expect_rounds_to_nearest_even(int largest_finite) {
  for (int bits = 0; bits < largest_finite; ++bits) {
    const double low = static_cast<double>(Half::from_bits(static_cast<std::uint16_t>(bits)));
    const double high = static_cast<double>(Half::from_bits(static_cast<std::uint16_t>(bits + 1)));
    const double middle = (low + high) / 2;
    ASSERT_EQ(Half(middle).bits, bits % 2 == 0 ? bits : bits + 1);
    ASSERT_EQ(Half(std::nextafter(middle, low)).bits, bits);
    ASSERT_EQ(Half(std::nextafter(middle, high)).bits, bits + 1);
    ASSERT_EQ(Half(-middle).bits, Half(middle).bits | 0x8000);
  }
}
TEST(Float16, RoundsToNearestEven) { expect_rounds_to_nearest_even<Float16>(0x7bff); }
TEST(BFloat16, RoundsToNearestEven) { expect_rounds_to_nearest_even<BFloat16>(0x7f7f); }

TEST(Float16, KnownValues) {
  EXPECT_EQ(Float16(1.0).bits, 0x3c00);
  EXPECT_EQ(Float16(-2.0).bits, 0xc000);
  EXPECT_EQ(Float16(65504.0).bits, 0x7bff);
  EXPECT_EQ(Float16(65519.0).bits, 0x7bff);
  EXPECT_EQ(Float16(65520.0).bits, 0x7c00);
  EXPECT_EQ(Float16(0x1p-24).bits, 0x0001);
  EXPECT_EQ(Float16(0x1p-26).bits, 0x0000);
  EXPECT_EQ(Float16(-0.0).bits, 0x8000);
  EXPECT_EQ(Float16(1e300).bits, 0x7c00);
  EXPECT_EQ(Float16(1e-300).bits, 0x0000);
}

TEST(BFloat16, KnownValues) {
  EXPECT_EQ(BFloat16(1.0).bits, 0x3f80);
  EXPECT_EQ(BFloat16(std::numeric_limits<float>::infinity()).bits, 0x7f80);
  EXPECT_EQ(BFloat16(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_EQ(BFloat16(1.0 + 0x1p-8).bits, 0x3f80);
  EXPECT_EQ(BFloat16(1.0 + 3 * 0x1p-8).bits, 0x3f82);
}

}  // namespace
}  // namespace tenon::runtime

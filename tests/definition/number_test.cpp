// The scalar semantics that the definitions state, on special values.
#include "tests/definition/number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tenon::testing {
namespace {

using tir::BinaryOp;
using tir::Intrin;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kGreatest = std::numeric_limits<std::int64_t>::max();

std::int64_t converted_to(DataType to, double value) {
  return static_cast<std::int64_t>(converted({0, value}, Float(64), to).whole);
}

TEST(Number, ConversionsToIntegersSaturate) {
  EXPECT_EQ(converted_to(Int(8), 300), 127);
  EXPECT_EQ(converted_to(Int(8), -300), -128);
  EXPECT_EQ(converted_to(UInt(8), -1), 0);
  EXPECT_EQ(converted_to(Int(32), kInfinity), 2147483647);
  EXPECT_EQ(converted_to(Int(64), 0x1p63), kGreatest);
  EXPECT_EQ(converted_to(Int(64), -0x1p70), kMin);
  EXPECT_EQ(converted({0, 0x1p64}, Float(64), UInt(64)).whole,
            Whole{std::numeric_limits<std::uint64_t>::max()});
  EXPECT_EQ(converted_to(Int(32), kNan), 0);
}

TEST(Number, ConversionsToIntegersTruncate) {
  EXPECT_EQ(converted_to(Int(8), -2.75), -2);
  EXPECT_EQ(converted_to(UInt(8), -0.75), 0);
}

TEST(Number, NanAndHalvesAreTrue) {
  EXPECT_EQ(converted_to(Bool(), kNan), 1);
  EXPECT_EQ(converted_to(Bool(), 0.5), 1);
  EXPECT_EQ(converted_to(Bool(), -0.0), 0);
}

/// 2^53 + 2^29 + 1 lies above the middle of two float32, and rounds to it in double.
TEST(Number, ConversionsOfIntegersRoundOnce) {
  const std::int64_t value = (std::int64_t{1} << 54) + (std::int64_t{1} << 30) + 1;
  EXPECT_EQ(converted(Number::of(value), Int(64), Float(32)).real,
            static_cast<double>(static_cast<float>(value)));
  EXPECT_EQ(converted(Number::of(-65520), Int(32), Float(16)).real, -kInfinity);
  EXPECT_EQ(converted(Number::of(65519), Int(32), Float(16)).real, 65504);
  EXPECT_EQ(converted(Number::of(257), Int(32), BFloat(16)).real, 256);
}

TEST(Number, FunctionsOfHalvesAreRoundedToFloat32First) {
  // 1 / (1 + exp(0.00732421875)) = 0.49816895350 in double lies above the middle of two halves,
  // 0.4981689453125, and its nearest float32 is that middle, of which the even half is 2040 / 2^12.
  const Number x = Number{0, -0.00732421875};
  const Number found = applied(tir::Intrin::sigmoid, {x}, Float(16), Float(16));
  EXPECT_EQ(found.real, 2040.0 / 4096);
}

TEST(Number, ExtremesPropagateNan) {
  for (const BinaryOp op : {BinaryOp::Max, BinaryOp::Min}) {
    EXPECT_TRUE(std::isnan(combined(op, {0, kNan}, {0, 1}, Float(32)).real));
    EXPECT_TRUE(std::isnan(combined(op, {0, kInfinity}, {0, kNan}, Float(32)).real));
  }
}

TEST(Number, ShiftAmountsAreTakenModuloTheWidth) {
  const auto shifted = [](Intrin intrin, std::int64_t value, std::int64_t amount, DataType type) {
    return static_cast<std::int64_t>(
        applied(intrin, {Number::of(value), Number::of(amount)}, type, type).whole);
  };
  EXPECT_EQ(shifted(Intrin::shift_left, 1, 9, Int(8)), 2);
  EXPECT_EQ(shifted(Intrin::shift_left, 1, 7, Int(8)), -128);
  EXPECT_EQ(shifted(Intrin::shift_right, -128, 10, Int(8)), -32);
  EXPECT_EQ(shifted(Intrin::shift_right, kMin, -1, Int(64)), -1);
}

TEST(Number, DivisionOfTheLeastIntegerByMinusOneWraps) {
  const Number least = Number::of(-128), minus_one = Number::of(-1);
  for (const BinaryOp op : {BinaryOp::FloorDiv, BinaryOp::TruncDiv})
    EXPECT_EQ(combined(op, least, minus_one, Int(8)).whole, -128);
  for (const BinaryOp op : {BinaryOp::FloorMod, BinaryOp::TruncMod})
    EXPECT_EQ(combined(op, least, minus_one, Int(8)).whole, 0);
}

TEST(Number, BitsOfEveryHalfGiveTheHalf) {
  for (const DataType type : {Float(16), BFloat(16)})
    for (std::uint64_t bits = 0; bits < 1 << 16; ++bits) {
      const Number number = number_of(bits, type);
      if (std::isnan(number.real)) continue;
      ASSERT_EQ(bits_of(number, type), bits) << type.str();
    }
}

TEST(Number, SignsOfZerosDifferOnlyIfAsked) {
  EXPECT_TRUE(same({0, 0.0}, {0, -0.0}, Float(32)));
  EXPECT_FALSE(same({0, 0.0}, {0, -0.0}, Float(32), Zeros::Signed));
}

}  // namespace
}  // namespace tenon::testing

// The texts of the schedules of the reference's operator library, to the character; blank lines and
// trailing spaces aside.
#include <gtest/gtest.h>

#include <array>

#include "departure.h"
#include "known_programs.h"

namespace tenon::known_programs {
namespace {

/// Positions that are read from memory and rounded.
constexpr std::array<Departure, 2> kDeformable = {
    {{R"(\(-1 <= (cast\(int32, @tir\.floor\((?:(?!cast\(int32).)*?, dtype=float32\)\))\))",
      "(0 <= ($1 + 1))", kDataMayOverflow},
     {R"(\((cast\(int32, @tir\.floor\((?:(?!cast\(int32).)*?, dtype=float32\)\)) <= 6\))",
      "(($1 + 1) <= 7)", kDataMayOverflow}}};

class TopiProgram : public testing::TestWithParam<Program> {};

TEST_P(TopiProgram, PrintsItsText) {
  const Program& program = GetParam();
  std::string expected = text_of("topi", program);
  if (program.name == "0147_cuda_deformable_conv2d")
    for (const Departure& departure : kDeformable) {
      const std::optional<std::string> own = departed(expected, departure);
      ASSERT_TRUE(own) << "the text has no such place: " << departure.reason;
      expected = *own;
    }
  EXPECT_EQ(printed_by(program), expected);
}

INSTANTIATE_TEST_SUITE_P(All, TopiProgram, testing::ValuesIn(topi_programs()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tenon::known_programs

// The texts of the known programs, to the character; blank lines and trailing spaces aside.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <optional>
#include <regex>
#include <string>

#include "known_programs.h"

namespace tenon::known_programs {
namespace {

// Places where our text is right and the reference's is not.

/// Every match of `theirs`, a regular expression, is `ours` here.
struct Departure {
  const char* theirs;
  const char* ours;
  const char* reason;
};

constexpr const char* kDataMayOverflow =
    "integers read from memory may overflow: a comparison or a maximum keeps their sums and products";

/// The text with the departure in it; nullopt if it has no such place.
inline std::optional<std::string> departed(const std::string& text, const Departure& departure) {
  const std::regex theirs(departure.theirs);
  if (!std::regex_search(text, theirs)) return std::nullopt;
  return std::regex_replace(text, theirs, departure.ours);
}

// ---- random programs ----------------------------------------------------------------------------

// The texts of the random programs, to the character; blank lines and trailing spaces aside.

constexpr const char* kSizes =
    "the size inside Buffer(...) is that of the allocation after double buffering";
const std::map<std::string_view, Departure> kDepartures = {
    {"0019", {"T0, float32, \\[36864\\]", "T0, float32, [384]", kSizes}},
    {"0026", {"T0\\.rf, int32, \\[64\\]", "T0.rf, int32, [16]", kSizes}},
    {"0032",
     {R"(0 < \(min\((T0_1\[\w+\]), 5\) \+ (B\[\w+\])\))", "0 < ((min($1, 5)*5) + ($2*5))",
      kDataMayOverflow}},
    {"0048", {R"(= \(max\((\(max\(.*\)), 0\)\*5\)(?=\n))", "= max(($1*5), 0)", kDataMayOverflow}},
};

class RandomProgram : public testing::TestWithParam<Program> {};

TEST_P(RandomProgram, PrintsItsText) {
  const Program& program = GetParam();
  std::string expected = text_of("random", program);
  const std::string actual = printed_by(program);
  if (auto departure = kDepartures.find(program.name); departure != kDepartures.end()) {
    const std::optional<std::string> own = departed(expected, departure->second);
    ASSERT_TRUE(own) << "the text has no such place: " << departure->second.reason;
    expected = *own;
  }
  EXPECT_EQ(actual, expected);
}

INSTANTIATE_TEST_SUITE_P(All, RandomProgram, testing::ValuesIn(random_programs()),
                         [](const auto& info) { return std::string(info.param.name); });

// ---- schedules of the operator library ----------------------------------------------------------

// The texts of the schedules of the reference's operator library, to the character; blank lines and
// trailing spaces aside.

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

// The texts of the random programs, to the character; blank lines and trailing spaces aside.
#include <gtest/gtest.h>

#include <map>

#include "departure.h"
#include "known_programs.h"

namespace tenon::known_programs {
namespace {

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

}  // namespace
}  // namespace tenon::known_programs

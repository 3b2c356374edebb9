// Random programs with random schedules compute the results of their default schedules. A slice of
// what `scripts/fuzz.sh` runs.
#include <gtest/gtest.h>

#include "tests/fuzz/random_case.h"

namespace tenon::fuzz {
namespace {

std::string smallest(const Case& failing, Programs programs, const CheckOptions& options) {
  const std::vector<bool> keep =
      shrink(failing.parts, std::chrono::seconds(60), [&](const std::vector<bool>& kept) {
        return !check(make_case(failing.seed, kept, false, programs), options).wrong.empty();
      });
  return make_case(failing.seed, keep, false, programs).describe();
}

void expect_right(unsigned first, unsigned last, const CheckOptions& options,
                  Programs programs = Programs::Small) {
  int refused = 0;
  for (unsigned seed = first; seed < last; ++seed) {
    const Case c = make_case(seed, {}, false, programs);
    const Verdict verdict = check(c, options);
    EXPECT_EQ(verdict.wrong, "") << smallest(c, programs, options);
    refused += !verdict.refused.empty();
  }
  // Refused cases test nothing.
  EXPECT_LT(refused, static_cast<int>(last - first) / 3);
}

TEST(RandomSchedulesTest, InterpretedLoopsComputeTheRightNumbers) { expect_right(0, 300, {}); }

TEST(RandomSchedulesTest, CompiledCodeComputesTheRightNumbers) {
  expect_right(300, 360, {.compile = true});
}

TEST(RandomSchedulesTest, CodeAsCComputesTheRightNumbers) {
  expect_right(300, 400, {.compile = true, .interpret = false, .target = Target("c")});
}

TEST(RandomSchedulesTest, ProgramsOverSpecialDataComputeTheirDefinition) {
  expect_right(1, 400, {}, Programs::Special);
  expect_right(400, 500, {.compile = true}, Programs::Special);
}

TEST(RandomSchedulesTest, ProgramsOverDataThatOverflowsComputeTheirDefinition) {
  expect_right(0, 60, {}, Programs::Overflowing);
  expect_right(60, 100, {.compile = true}, Programs::Overflowing);
}

TEST(RandomSchedulesTest, ASeedGivesTheSameCase) {
  EXPECT_EQ(make_case(11).describe(), make_case(11).describe());
}

}  // namespace
}  // namespace tenon::fuzz

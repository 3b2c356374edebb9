// Some of the random programs of the IR builder; `scripts/fuzz.sh --kind builder` runs any number.
#include "tests/fuzz/builder_case.h"

#include <gtest/gtest.h>

namespace tenon::fuzz {
namespace {

TEST(RandomBuilderPrograms, ComputeTheResultOfTheirLoopsInOrderOrAreRefused) {
  int refused = 0;
  constexpr int kCases = 200;
  for (unsigned seed = 1; seed <= kCases; ++seed) {
    const BuilderCase c = make_builder_case(seed);
    const Verdict verdict = check(c, {.compile = true});
    EXPECT_EQ(verdict.wrong, "") << c.describe();
    refused += !verdict.refused.empty();
  }
  EXPECT_LT(refused, kCases / 3);
}

TEST(RandomBuilderPrograms, LoopsThatRaceAreAmongThem) {
  int racing = 0;
  for (unsigned seed = 1; seed <= 50; ++seed) racing += is_racing(make_builder_case(seed));
  EXPECT_GT(racing, 5);
}

}  // namespace
}  // namespace tenon::fuzz

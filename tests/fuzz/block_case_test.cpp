// Some of the random block programs; scripts/fuzz.sh --blocks runs any number.
#include "tests/fuzz/block_case.h"

#include <gtest/gtest.h>

namespace tenon::fuzz {
namespace {

TEST(RandomBlockPrograms, ComputeTheSameAfterARandomTrace) {
  int steps = 0;
  for (unsigned seed = 1; seed <= 200; ++seed) {
    const BlockCase c = make_block_case(seed);
    EXPECT_EQ(check_block_case(c, false), "") << c.describe();
    for (const auto& [name, count] : c.attempts) steps += count.second;
  }
  EXPECT_GT(steps, 400);
}

}  // namespace
}  // namespace tenon::fuzz

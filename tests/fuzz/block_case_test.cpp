// Some of the random block programs; scripts/fuzz.sh --blocks runs any number.
#include "tests/fuzz/block_case.h"

#include <gtest/gtest.h>

#include <set>

namespace tenon::fuzz {
namespace {

TEST(RandomBlockPrograms, ComputeTheSameAfterARandomTrace) {
  std::set<std::string> primitives;
  int steps = 0;
  for (unsigned seed = 1; seed <= 1000; ++seed) {
    const BlockCase c = make_block_case(seed);
    EXPECT_EQ(check_block_case(c, false), "") << c.describe();
    for (const Attempt& attempt : c.attempts) {
      if (!attempt.accepted) continue;
      primitives.insert(attempt.primitive);
      ++steps;
    }
  }
  EXPECT_GT(steps, 400);
  for (const char* name : {"add_unit_loop",
                           "annotate",
                           "bind",
                           "blockize",
                           "cache_read",
                           "cache_write",
                           "compute_at",
                           "compute_inline",
                           "decompose_reduction",
                           "fuse",
                           "merge_reduction",
                           "parallel",
                           "reindex",
                           "reorder",
                           "reverse_compute_at",
                           "reverse_compute_inline",
                           "rfactor",
                           "sample_categorical",
                           "sample_compute_location",
                           "sample_perfect_tile",
                           "set_scope",
                           "split",
                           "storage_align",
                           "tensorize",
                           "transform_block_layout",
                           "transform_layout",
                           "unroll",
                           "vectorize"})
    EXPECT_TRUE(primitives.contains(name)) << name << " was never possible";
}

TEST(RandomBlockPrograms, ThatOverwriteWhatTheyReadComputeTheirDefinitionAfterARandomTrace) {
  int accepted = 0;
  for (unsigned seed = 1; seed <= 400; ++seed) {
    const BlockCase c = make_block_case(seed, {}, false, BlockPrograms::Nests);
    EXPECT_EQ(check_block_case(c, seed % 4 == 0), "") << c.describe();
    for (const Attempt& attempt : c.attempts) accepted += attempt.accepted;
  }
  EXPECT_GT(accepted, 400);
}

}  // namespace
}  // namespace tenon::fuzz

// A slice of the random programs that the fuzzer runs: all compute their definition.
#include <gtest/gtest.h>

#include <set>

#include "tests/fuzz/block_case.h"
#include "tests/fuzz/builder_case.h"
#include "tests/fuzz/random_case.h"
#include "tests/fuzz/thread_reductions.h"

namespace tenon::fuzz {
namespace {

// ---- random schedules ---------------------------------------------------------------------------

// Random programs with random schedules compute the results of their default schedules;
// `scripts/fuzz.sh` runs any number.

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

// ---- block programs -----------------------------------------------------------------------------

// `scripts/fuzz.sh --blocks` runs any number.

TEST(ThreadReductions, AreBuiltForADevice) {
  std::vector<ThreadReduction> cases;
  for (const int extent : {1, 2, 32})
    for (const int groups : {1, 16})
      for (const int axes : {1, 2, 3})
        cases.push_back({.extent = extent, .groups = groups, .axes = axes});
  const ThreadReductionProgram program = thread_reduction_program(cases);
  EXPECT_NO_THROW(compile(program.schedule, program.args, Target("opencl")));
}

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

// ---- programs of the IR builder -----------------------------------------------------------------

// `scripts/fuzz.sh --kind builder` runs any number.

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

// ---- reductions that threads share --------------------------------------------------------------

// `fuzz --thread-reductions` runs all of them.

TEST(ThreadReductionsTest, KernelsOfADeviceReduceRight) {
  if (!opencl(0).exists()) GTEST_SKIP() << opencl(0).why_missing();
  // Around powers of two and warps. A driver takes seconds for a kernel of many steps.
  const std::vector<ThreadReduction> cases = {
      {.extent = 1, .groups = 3, .axes = 1},  {.extent = 5, .groups = 16, .axes = 1},
      {.extent = 33, .groups = 1, .axes = 1}, {.extent = 65, .groups = 3, .axes = 1},
      {.extent = 2, .groups = 1, .axes = 2},  {.extent = 31, .groups = 3, .axes = 2},
      {.extent = 1, .groups = 16, .axes = 3}, {.extent = 11, .groups = 3, .axes = 3}};
  EXPECT_EQ(check_thread_reductions(cases, Target("opencl -max-threads=4096"), false), "");
}

}  // namespace
}  // namespace tenon::fuzz

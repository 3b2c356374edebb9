// Programs that are commonly shown with a mistake: they print TVM 0.9 text, build refuses them with
// the reason, and a corrected schedule of each computes the right numbers.
#include <gtest/gtest.h>

#include "run_tutorial.h"

namespace {

struct Mistake {
  const char* program;
  /// Words of the line that says why build refuses the schedule.
  std::vector<std::string> refused;
  /// How the corrected schedule's line begins.
  const char* corrected;
};

void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.program; }

/// The line of a text that has this beginning; empty if there is no such line.
std::string line_of(const std::string& text, const std::string& beginning) {
  const std::size_t at = ("\n" + text).find("\n" + beginning);
  return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
}

class KnownMistake : public testing::TestWithParam<Mistake> {};

TEST_P(KnownMistake, IsRefusedWithTheReasonAndTheCorrectedProgramIsRight) {
  const Outcome run = run_tutorial(GetParam().program, "--check");
  EXPECT_EQ(run.status, 0) << run.err;
  const std::string refused = line_of(run.out, "check after: refused; ");
  for (const std::string& words : GetParam().refused)
    EXPECT_NE(refused.find(words), std::string::npos) << refused << " has no " << words;
  EXPECT_NE(line_of(run.out, GetParam().corrected), "") << run.out;
}

TEST_P(KnownMistake, HasNoCode) {
  const Outcome run = run_tutorial(GetParam().program, "--emit=asm");
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.err.find("after: "), std::string::npos) << run.err;
}

INSTANTIATE_TEST_SUITE_P(
    Tutorials, KnownMistake,
    testing::Values(
        Mistake{"14_bind",
                {"axis `k.outer` of stage `B`", "bound to blockIdx.x", "rfactor", "14_bind.cpp:"},
                "check threads of one block: right; 1 element of S"},
        Mistake{"15_parallel",
                {"axis `l` of stage `B`", "race for the result", "rfactor", "15_parallel.cpp:"},
                "check rows in parallel: right; 64 elements of B"},
        Mistake{"17_prefetch",
                {"legacy_prefetch_index", "rows and columns exchanged", "17_prefetch.cpp:"},
                "check the address that is meant: right; 64 elements of B"},
        Mistake{"20_set_store_predicate",
                {"variable `threadIdx.x`", "no loop is bound", "20_set_store_predicate.cpp:"},
                "check thread 0 stores: right; 1 element of B"},
        Mistake{"21_create_group",
                {"`F` is an output of the schedule", "would be lost", "21_create_group.cpp:"},
                "check with F as the result: right; 64 elements of F"}),
    [](const auto& info) { return std::string(info.param.program); });

// Both schedules compute the right number on a GPU; they are not valid host code.
TEST(KnownMistakes, ComputeAtBindsThreadsThatACpuDoesNotHave) {
  const Outcome code = run_tutorial("05_compute_at", "--emit=asm");
  EXPECT_EQ(code.status, 1);
  EXPECT_NE(code.err.find("of stage `B` is bound to `threadIdx.x`, which a CPU does not have"),
            std::string::npos)
      << code.err;
  const Outcome run = run_tutorial("05_compute_at", "--check");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(line_of(run.out, "check one thread stores: right; 1 element of B"), "") << run.out;
}

// Nothing in the known program starts the sums: it is right on zeros, and the one beside it on
// NaNs.
TEST(KnownMistakes, TensorizeNeedsAResetToBeRightOnAnyContents) {
  const Outcome run = run_tutorial("18_tensorize", "--check");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(line_of(run.out, "check after: right; "), "") << run.out;
  EXPECT_NE(line_of(run.out, "check with reset and update: right; "), "") << run.out;
}

}  // namespace

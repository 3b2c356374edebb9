// The command line that all tutorials share.
#include <gtest/gtest.h>

#include "run_tutorial.h"

namespace {

// ---- what cannot be understood ----------------------------------------------------------------------------

struct Misuse {
  const char* name;
  const char* options;
  /// Words of the sentence that is due.
  const char* says;
};

class CommandLineMisuse : public testing::TestWithParam<Misuse> {};

TEST_P(CommandLineMisuse, ExitsWithTwoAndSaysWhatIsKnown) {
  const Outcome run = run_tutorial("09_split", GetParam().options);
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_NE(run.err.find(GetParam().says), std::string::npos) << run.err;
  EXPECT_EQ(run.err.find('\n'), run.err.size() - 1) << run.err;
}

INSTANTIATE_TEST_SUITE_P(
    Tutorials, CommandLineMisuse,
    testing::Values(Misuse{"UnknownOption", "--emits=asm",
                           "unknown option '--emits=asm'. Known: --help, --emit="},
                    Misuse{"AbbreviatedOption", "--emi=asm", "unknown option '--emi=asm'"},
                    Misuse{"Word", "fast", "unknown option 'fast'"},
                    Misuse{"UnknownEmit", "--emit=llvm", "Known: simple, loops, ll, asm."},
                    Misuse{"UnknownTarget", "--target=quantum", "the kinds are llvm"},
                    Misuse{"UnknownTargetKey", "'--target=llvm -march=x'", "the keys are -mcpu"},
                    Misuse{"UnknownProcessor", "'--target=llvm -mcpu=znver99'", "znver"},
                    Misuse{"SizeOfZero", "--size=0", "a number from 1 to"},
                    Misuse{"SizeInWords", "--size=12k", "not '12k'"},
                    Misuse{"SizeTwice", "--size=1 --size=2", "more than once"},
                    Misuse{"NoValue", "--size", "required argument for option '--size' is missing"},
                    Misuse{"ValueOfASwitch", "--check=yes", "does not take any arguments"},
                    Misuse{"NegativeThreads", "--threads=-1", "a number from 1 to"},
                    Misuse{"UnknownPass", "--dump-after=flatten", "flatten-storage"}),
    [](const auto& info) { return std::string(info.param.name); });

// ---- what it does -----------------------------------------------------------------------------------------

TEST(CommandLine, HelpNamesOptionsAndPasses) {
  const Outcome run = run_tutorial("09_split", "--help");
  EXPECT_EQ(run.status, 0);
  for (const char* word : {"--emit", "--target", "--size", "--threads", "--check", "--time", "--dump-after",
                           "--time-passes", "--help", "flatten-storage"})
    EXPECT_NE(run.out.find(word), std::string::npos) << word;
}

TEST(CommandLine, SizeChangesTheLoops) {
  EXPECT_NE(run_tutorial("09_split", "--size=100").out.find("for (k: int32, 0, 100)"), std::string::npos);
}

TEST(CommandLine, LoopsAreMultiDimensional) {
  const Outcome run = run_tutorial("10_reorder", "--emit=loops");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("A: Buffer(A_2: Pointer(float32), float32, [1024, 1024], [])"), std::string::npos);
}

TEST(CommandLine, LlIsLlvmsTextAndAsmIsAssembler) {
  EXPECT_NE(run_tutorial("09_split", "--emit=ll").out.find("define "), std::string::npos);
  EXPECT_NE(run_tutorial("09_split", "--emit=asm").out.find(".text"), std::string::npos);
}

TEST(CommandLine, TheTargetDecidesOnTheInstructions) {
  const Outcome wide =
      run_tutorial("13_vectorize", "--emit=asm '--target=llvm -mtriple=x86_64-linux-gnu -mcpu=znver4'");
  const Outcome narrow =
      run_tutorial("13_vectorize", "--emit=asm '--target=llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64'");
  EXPECT_NE(wide.out.find("zmm"), std::string::npos) << wide.err;
  EXPECT_EQ(narrow.out.find("zmm"), std::string::npos) << narrow.err;
}

TEST(CommandLine, DumpsGoToTheStandardError) {
  const Outcome plain = run_tutorial("09_split");
  const Outcome dumped =
      run_tutorial("09_split", "--dump-after=flatten-storage --dump-after=flatten-storage");
  EXPECT_EQ(dumped.out, plain.out);
  EXPECT_EQ(dumped.err.find("=== before after flatten-storage ==="), 0u) << dumped.err;
  EXPECT_NE(dumped.err.find("=== after after flatten-storage ==="), std::string::npos) << dumped.err;
}

TEST(CommandLine, ADumpAfterAPassThatDidNotRunIsSaidSo) {
  const Outcome run = run_tutorial("09_split", "--dump-after=partition-loops");
  EXPECT_NE(run.err.find("did not run"), std::string::npos) << run.err;
}

TEST(CommandLine, TimesOfPassesGoToTheStandardError) {
  const Outcome run = run_tutorial("09_split", "--time-passes");
  EXPECT_EQ(run.out, run_tutorial("09_split").out);
  EXPECT_NE(run.err.find("lower before: "), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("infer-bound"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("all passes"), std::string::npos) << run.err;
}

TEST(CommandLine, TimeRunsBothSchedulesAndPrintsNoText) {
  const Outcome run = run_tutorial("09_split", "--time --threads=1");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out.find("time before: "), 0u) << run.out;
  EXPECT_NE(run.out.find("time after: "), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("1 thread, "), std::string::npos) << run.out;
}

TEST(CommandLine, AWarningIsPrintedOnce) {
  const std::string err = run_tutorial("15_parallel").err;
  const std::size_t first = err.find("carries a reduction");
  ASSERT_NE(first, std::string::npos) << err;
  EXPECT_EQ(err.find("carries a reduction", first + 1), std::string::npos) << err;
}

TEST(CommandLine, CodeForARefusedScheduleIsAnError) {
  const Outcome run = run_tutorial("15_parallel", "--emit=ll");
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.err.find("rfactor"), std::string::npos) << run.err;
}

// ---- --check ----------------------------------------------------------------------------------------------

class Check : public testing::TestWithParam<const char*> {};

TEST_P(Check, FindsEveryScheduleRight) {
  const Outcome run = run_tutorial(GetParam(), "--check");
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_NE(run.out.find("right"), std::string::npos) << run.out;
  EXPECT_EQ(run.out.find("wrong"), std::string::npos) << run.out;
}

INSTANTIATE_TEST_SUITE_P(Tutorials, Check,
                         testing::Values("01_cache_read", "02_cache_write", "03_set_scope",
                                         "04_storage_align", "05_compute_at", "06_compute_inline",
                                         "07_compute_root", "08_fuse", "09_split", "10_reorder", "11_tile",
                                         "12_unroll", "13_vectorize", "14_bind", "15_parallel", "16_pragma",
                                         "17_prefetch", "19_rfactor", "20_set_store_predicate",
                                         "21_create_group", "conv2d", "add_relu", "loop_structures"),
                         [](const auto& info) { return std::string(info.param); });

TEST(LadderCheck, FindsEveryStepRightAtSizesThatTilesDoNotDivide) {
  for (const char* size : {"1", "33", "100", "250"}) {
    const Outcome run = run_tutorial("matmul_ladder", std::string("--check --size=") + size);
    EXPECT_EQ(run.status, 0) << run.out << run.err;
    EXPECT_NE(run.out.find("check register tile: right"), std::string::npos) << run.out;
  }
}

TEST(LadderCheck, TableNamesProcessorWidthAndThreads) {
  const Outcome run = run_tutorial("matmul_ladder", "--time --size=64 --threads=2");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("-bit vectors, 2 threads"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("share of peak"), std::string::npos) << run.out;
}

}  // namespace

// The command line that all tutorials share.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "run_tutorial.h"
#include "tenon/runtime/device.h"
#include "tenon_test_paths.h"

namespace {

// ---- what cannot be understood ------------------------------------------------------------------

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
    testing::Values(
        Misuse{"UnknownOption", "--emits=asm",
               "unknown option '--emits=asm'. Known: --help, --emit="},
        Misuse{"AbbreviatedOption", "--emi=asm", "unknown option '--emi=asm'"},
        Misuse{"ShortOption", "-x", "unknown option '-x'"},
        Misuse{"Word", "fast", "unknown option 'fast'"},
        Misuse{"WordAfterDashes", "-- fast", "unknown option 'fast'"},
        Misuse{"EmptyWord", "''", "unknown option ''"},
        Misuse{"UnknownEmit", "--emit=llvm",
               "Known: simple, loops, final, outline, dot, ll, asm, source, svg, html."},
        Misuse{"EmptyEmit", "--emit=", "--emit"},
        Misuse{"EmitTwice", "--emit=ll --emit=asm", "more than once"},
        Misuse{"UnknownTarget", "--target=quantum", "the kinds are llvm"},
        Misuse{"EmptyTarget", "--target=''", "--target"},
        Misuse{"UnknownTargetKey", "'--target=llvm -march=x'", "the keys are -mcpu"},
        Misuse{"UnknownProcessor", "'--target=llvm -mcpu=znver99'", "znver"},
        Misuse{"SizeOfZero", "--size=0", "a number from 1 to"},
        Misuse{"NegativeSize", "--size=-1", "a number from 1 to"},
        Misuse{"SizeOfABillion", "--size=1000000000", "a number from 1 to"},
        Misuse{"SizeBeyondAllIntegers", "--size=99999999999999999999", "a number from 1 to"},
        Misuse{"SizeAsAFloat", "--size=1e9", "not '1e9'"},
        Misuse{"SizeInWords", "--size=12k", "not '12k'"}, Misuse{"EmptySize", "--size=", "--size"},
        Misuse{"SizeTwice", "--size=1 --size=2", "more than once"},
        Misuse{"NoValue", "--size", "required argument for option '--size' is missing"},
        Misuse{"ValueOfASwitch", "--check=yes", "does not take any arguments"},
        Misuse{"NoThreads", "--threads=0", "a number from 1 to"},
        Misuse{"NegativeThreads", "--threads=-1", "a number from 1 to"},
        Misuse{"ThreadsInWords", "--threads=all", "not 'all'"},
        Misuse{"ThreadsBeyondAllMachines", "--threads=1000000", "a number from 1 to"},
        Misuse{"UnknownPass", "--dump-after=flatten", "Known: all, "},
        Misuse{"EmptyPass", "--dump-after=", "--dump-after"},
        Misuse{"OneUnknownPassOfTwo", "--dump-after=flatten-storage --dump-after=x",
               "--dump-after='x'"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(CommandLine, EveryOptionSaysWhatItKnows) {
  const std::string passes = run_tutorial("09_split", "--dump-after=x").err;
  for (const char* pass : {"flatten-storage", "unroll-loops", "lower-intrinsics"})
    EXPECT_NE(passes.find(pass), std::string::npos) << passes;
  const std::string options = run_tutorial("09_split", "--x").err;
  for (const char* option : {"--emit=simple|loops|final|outline|dot|ll|asm",
                             "--target=", "--size=", "--threads=", "--check", "--time",
                             "--dump-after=", "--time-passes", "--help"})
    EXPECT_NE(options.find(option), std::string::npos) << options;
}

// ---- what it does -------------------------------------------------------------------------------

TEST(CommandLine, HelpNamesOptionsAndPasses) {
  const Outcome run = run_tutorial("09_split", "--help");
  EXPECT_EQ(run.status, 0);
  for (const char* word : {"--emit", "--target", "--size", "--threads", "--check", "--time",
                           "--dump-after", "--time-passes", "--help", "flatten-storage"})
    EXPECT_NE(run.out.find(word), std::string::npos) << word;
}

TEST(CommandLine, SizeChangesTheLoops) {
  EXPECT_NE(run_tutorial("09_split", "--size=100").out.find("for (k: int32, 0, 100)"),
            std::string::npos);
}

TEST(CommandLine, LoopsAreMultiDimensional) {
  const Outcome run = run_tutorial("10_reorder", "--emit=loops");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("A: Buffer(A_2: Pointer(float32), float32, [1024, 1024], [])"),
            std::string::npos);
}

TEST(CommandLine, AnOutlineHasALineForEachLoop) {
  const Outcome run = run_tutorial("10_reorder", "--emit=outline");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("produce C:\n  for i.outer in 0.."), std::string::npos) << run.out;
}

TEST(CommandLine, DotIsOneGraphOfAllSchedules) {
  const std::string text = run_tutorial("matmul_ladder", "--emit=dot --size=64").out;
  EXPECT_EQ(text.find("digraph {"), 0u) << text.substr(0, 200);
  EXPECT_EQ(text.rfind("digraph {"), 0u);
  EXPECT_NE(text.find("label=\"vectorised: the axes of C\""), std::string::npos);
}

TEST(CommandLine, FinalLoopsShowWhatTheCompilerDecides) {
  const std::string target = " --emit=final '--target=llvm -mtriple=x86_64-linux-gnu -mcpu=znver4'";
  const Outcome decided = run_tutorial("06_compute_inline", "--autotune-loops=yes" + target),
                as_said = run_tutorial("06_compute_inline", "--autotune-loops=no" + target);
  EXPECT_NE(decided.out.find("ramp("), std::string::npos) << decided.out << decided.err;
  EXPECT_EQ(as_said.out.find("ramp("), std::string::npos) << as_said.out;
}

TEST(CommandLine, LlIsLlvmsTextAndAsmIsAssembler) {
  EXPECT_NE(run_tutorial("09_split", "--emit=ll").out.find("define "), std::string::npos);
  EXPECT_NE(run_tutorial("09_split", "--emit=asm").out.find(".text"), std::string::npos);
}

TEST(CommandLine, PrintsTheSourceInTheLanguageOfTheTarget) {
  EXPECT_NE(run_tutorial("09_split", "--emit=source --target=c").out.find("int32_t main_compute("),
            std::string::npos);
  EXPECT_NE(run_tutorial("09_split", "--emit=source").out.find("define "), std::string::npos);
}

TEST(CommandLine, ChecksAndTimesCToo) {
  const Outcome run = run_tutorial("add_relu", "--check --time --target=c --size=1000");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("(compiled for c, "), std::string::npos) << run.out;
}

TEST(CommandLine, TheSumForEveryTargetIsRight) {
  const Outcome run = run_tutorial("targets", "--check");
  EXPECT_EQ(run.status, 0) << run.err;
  std::vector<std::string> targets{"llvm", "c"};
  if (tenon::opencl(0).exists()) targets.emplace_back("opencl");
  if (tenon::cuda(0).exists()) targets.emplace_back("cuda");
  for (const std::string& target : targets)
    EXPECT_NE(run.out.find("check " + target + ": right"), std::string::npos) << run.out;
}

/// The programs that are shown beside those for which no device has a kernel.
TEST(CommandLine, TheMendedProgramsRunOnADevice) {
  const std::pair<const char*, const char*> programs[] = {
      {"05_compute_at", "one thread stores"},
      {"14_bind", "threads of one block"},
      {"20_set_store_predicate", "thread 0 stores"}};
  if (!tenon::opencl(0).exists()) GTEST_SKIP() << tenon::opencl(0).why_missing();
  for (const auto& [name, version] : programs)
    EXPECT_NE(run_tutorial(name, "--check --target=opencl")
                  .out.find("check " + std::string(version) + ": right"),
              std::string::npos)
        << name;
}

TEST(CommandLine, TheTargetDecidesOnTheInstructions) {
  const Outcome wide = run_tutorial(
      "13_vectorize", "--emit=asm '--target=llvm -mtriple=x86_64-linux-gnu -mcpu=znver4'");
  const Outcome narrow = run_tutorial(
      "13_vectorize", "--emit=asm '--target=llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64'");
  EXPECT_NE(wide.out.find("zmm"), std::string::npos) << wide.err;
  EXPECT_EQ(narrow.out.find("zmm"), std::string::npos) << narrow.err;
}

TEST(CommandLine, DumpsGoToTheStandardError) {
  const Outcome plain = run_tutorial("09_split");
  const Outcome dumped =
      run_tutorial("09_split", "--dump-after=flatten-storage --dump-after=flatten-storage");
  EXPECT_EQ(dumped.out, plain.out);
  EXPECT_EQ(dumped.err.find("=== before after flatten-storage ==="), 0u) << dumped.err;
  EXPECT_NE(dumped.err.find("=== after after flatten-storage ==="), std::string::npos)
      << dumped.err;
}

TEST(CommandLine, PassesForDevicesCanBeDumped) {
  const Outcome run = run_tutorial("14_bind", "--check --dump-after=synchronize-threads");
  EXPECT_NE(run.err.find("after synchronize-threads ==="), std::string::npos) << run.err;
}

TEST(CommandLine, ADumpAfterAPassThatDidNotRunIsSaidSo) {
  const Outcome run = run_tutorial("09_split", "--dump-after=partition-loops");
  EXPECT_NE(run.err.find("did not run"), std::string::npos) << run.err;
}

TEST(CommandLine, TimesOfStepsGoToTheStandardError) {
  const Outcome run = run_tutorial("09_split", "--time-passes");
  EXPECT_EQ(run.out, run_tutorial("09_split").out);
  EXPECT_NE(run.err.find("lower before: "), std::string::npos) << run.err;
}

/// The table of --time-passes: milliseconds and share by step.
std::map<std::string, std::pair<double, double>> times_of_steps(const std::string& err) {
  std::map<std::string, std::pair<double, double>> rows;
  std::istringstream in(err);
  const std::regex row(R"((\S+(?: \S+)*) +([0-9.]+) ms +([0-9.]+) %)");
  for (std::string line; std::getline(in, line);) {
    std::smatch parts;
    if (std::regex_match(line, parts, row))
      rows[parts[1]] = {std::stod(parts[2]), std::stod(parts[3])};
  }
  return rows;
}

TEST(CommandLine, TimesOfStepsCoverThePathToMachineCode) {
  const auto rows = times_of_steps(run_tutorial("09_split", "--emit=asm --time-passes").err);
  for (const char* step :
       {"freeze", "infer-bound", "schedule-ops", "flatten-storage", "partition-loops",
        "lower-intrinsics", "emit-llvm", "optimize-llvm", "generate-code", "all steps"})
    EXPECT_TRUE(rows.contains(step)) << step;
  EXPECT_FALSE(rows.contains("load"));
  EXPECT_TRUE(
      times_of_steps(run_tutorial("09_split", "--check --time-passes").err).contains("load"));
}

TEST(CommandLine, SharesOfStepsAddUpToTheWhole) {
  const auto rows = times_of_steps(run_tutorial("09_split", "--emit=asm --time-passes").err);
  ASSERT_TRUE(rows.contains("all steps"));
  double milliseconds = 0, share = 0;
  for (const auto& [step, row] : rows)
    if (step != "all steps") milliseconds += row.first, share += row.second;
  EXPECT_NEAR(milliseconds, rows.at("all steps").first, 0.001 * static_cast<double>(rows.size()));
  EXPECT_NEAR(share, 100, 0.1 * static_cast<double>(rows.size()));
  EXPECT_EQ(rows.at("all steps").second, 100);
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

// ---- --check ------------------------------------------------------------------------------------

class Check : public testing::TestWithParam<std::string> {};

TEST_P(Check, FindsEveryScheduleRight) {
  const Outcome run = run_tutorial(GetParam(), "--check");
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_NE(run.out.find("right"), std::string::npos) << run.out;
  EXPECT_EQ(run.out.find("wrong"), std::string::npos) << run.out;
}

/// Some programs make no sense of a size so small, and say so.
TEST_P(Check, FindsThemRightAtSizesThatNoFactorDivides) {
  for (const char* size : {"1", "3"}) {
    const Outcome run = run_tutorial(GetParam(), std::string("--check --size=") + size);
    if (run.status == 2) {
      EXPECT_NE(run.err.find("--size needs a number from"), std::string::npos) << run.err;
    } else {
      EXPECT_EQ(run.status, 0) << run.out << run.err;
      EXPECT_EQ(run.out.find("wrong"), std::string::npos) << run.out;
    }
  }
}

/// All programs except the ladder, which has its own tests below.
const std::vector<std::string> kTutorials = {"01_cache_read",   "02_cache_write",
                                             "03_set_scope",    "04_storage_align",
                                             "05_compute_at",   "06_compute_inline",
                                             "07_compute_root", "08_fuse",
                                             "09_split",        "10_reorder",
                                             "11_tile",         "12_unroll",
                                             "13_vectorize",    "14_bind",
                                             "15_parallel",     "16_pragma",
                                             "17_prefetch",     "18_tensorize",
                                             "19_rfactor",      "20_set_store_predicate",
                                             "21_create_group", "conv2d",
                                             "loop_structures", "tile_sizes",
                                             "add_relu",        "argmax",
                                             "attention",       "blur",
                                             "caches",          "convolution",
                                             "device_kernel",   "extern_call",
                                             "first_program",   "fully_connected",
                                             "gpu_conv2d",      "gpu_matmul",
                                             "gpu_reduction",   "imported_kernel",
                                             "loop_kinds",      "maths",
                                             "micro_kernel",    "parallel_reduction",
                                             "reductions",      "scan",
                                             "softmax",         "split_and_reorder",
                                             "symbolic_shapes", "targets",
                                             "whole_tensors",   "why_is_it_slow"};

INSTANTIATE_TEST_SUITE_P(Tutorials, Check, testing::ValuesIn(kTutorials),
                         [](const auto& info) { return info.param; });

/// Programs with command lines of their own (block_programs_test.cpp).
const std::vector<std::string> kBlockPrograms = {
    "mm_relu",     "stochastic_mm", "replay_trace", "create_prim_func",
    "conv_blocks", "tune_mm",       "tune_te",      "tune_network"};

TEST(Tutorials, AreAllChecked) {
  for (const char* folder : {"tutorials", "tests/seed_programs"})
    for (const std::string& name : programs_in(folder))
      EXPECT_TRUE(name == "matmul_ladder" ||
                  std::find(kBlockPrograms.begin(), kBlockPrograms.end(), name) !=
                      kBlockPrograms.end() ||
                  std::find(kTutorials.begin(), kTutorials.end(), name) != kTutorials.end())
          << name;
}

TEST(Tutorials, AreAllInTheReadme) {
  std::ostringstream readme;
  readme << std::ifstream(TENON_SOURCE_DIR "/tutorials/README.md").rdbuf();
  for (const std::string& name : programs_in("tutorials"))
    EXPECT_NE(readme.str().find("`" + name + "`"), std::string::npos) << name;
}

/// The lessons are rows of the README's table: | 3 | `loop_kinds` | ... |
TEST(Tutorials, HaveTheLessonNumberOfTheReadme) {
  std::ifstream readme(TENON_SOURCE_DIR "/tutorials/README.md");
  const std::regex row(R"(\| (\d+) \| `(\w+)` \|.*)");
  int lessons = 0;
  for (std::string line; std::getline(readme, line);) {
    std::smatch parts;
    if (!std::regex_match(line, parts, row)) continue;
    EXPECT_EQ(parts[1], std::to_string(++lessons));
    std::ifstream source(TENON_SOURCE_DIR "/tutorials/" + parts[2].str() + ".cpp");
    std::string first;
    std::getline(source, first);
    EXPECT_TRUE(first.starts_with("// Lesson " + parts[1].str() + ". ")) << parts[2] << first;
  }
  EXPECT_GT(lessons, 10);
}

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

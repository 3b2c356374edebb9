// Candidates that are right, and planted ones that are not: each gets a result with its reason, and
// the one after it is measured as if nothing had been.
#include "tenon/tune/measure.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "tenon/s_tir/schedule.h"
#include "tenon/s_tir/script.h"
#include "tests/tune/programs.h"

namespace tenon::tune {
namespace {

const Target kOneCore("llvm -num-cores=1");
const MeasureOptions kQuick = {.number = 1, .repeat = 3, .min_repeat_ms = 1, .run_timeout_s = 20};

/// Measures the candidate and, after it, the unscheduled program; returns the candidate's
/// measurement.
Measurement measured(const tir::IRModule& unscheduled, const tir::IRModule& candidate,
                     const MeasureOptions& options = kQuick) {
  Measurer measurer(unscheduled, kOneCore, options);
  const auto results = measurer.run(measurer.build({candidate, unscheduled}));
  EXPECT_EQ(results.size(), 2u);
  EXPECT_EQ(results[1].outcome, Outcome::Measured) << results[1].reason;
  return results[0];
}

TEST(Measurer, TimesARightCandidate) {
  s_tir::Schedule sch(product(64));
  const auto loops = sch.get_loops(sch.get_block("C"));
  sch.reorder({loops[2], loops[1]});
  const Measurement result = measured(product(64), sch.mod());
  ASSERT_EQ(result.outcome, Outcome::Measured) << result.reason;
  EXPECT_EQ(result.seconds.size(), 3u);
  EXPECT_GT(result.median(), 0);
}

TEST(Measurer, AWrongNumberDoesNotCount) {
  const Measurement result = measured(sum_with(1), sum_with(2));
  EXPECT_EQ(result.outcome, Outcome::Wrong);
  EXPECT_NE(result.reason.find("argument 1 is wrong at element 0"), std::string::npos)
      << result.reason;
}

TEST(Measurer, ElementsThatAreNotWrittenAreWrong) {
  const tir::IRModule half = s_tir::parse_script(R"(
@T.prim_func
def main(A: T.Buffer[64, "float32"], B: T.Buffer[64, "float32"]) -> None:
    T.func_attr({"global_symbol": "main", "tir.noalias": True})
    for i in T.serial(32):
        with T.block("B"):
            vi = T.axis.spatial(64, i)
            B[vi] = A[vi] + T.float32(1)
)");
  const Measurement result = measured(sum_with(1), half);
  EXPECT_EQ(result.outcome, Outcome::Wrong);
  EXPECT_NE(result.reason.find("element 32: nan instead of"), std::string::npos) << result.reason;
}

TEST(Measurer, WritingIntoAnInputIsWrong) {
  const Measurement result =
      measured(sum_with(1), calling("T.call_extern(\"memset\", A.data, 0, 4, dtype=\"handle\")"));
  EXPECT_EQ(result.outcome, Outcome::Wrong) << result.reason;
}

/// 64 floats are 256 bytes: the array ends at a fence.
TEST(Measurer, WritingBehindAnArrayEndsTheCandidate) {
  const Measurement result =
      measured(sum_with(1), calling("T.call_extern(\"memset\", B.data, 0, 257, dtype=\"handle\")"));
  EXPECT_EQ(result.outcome, Outcome::Crashed);
  EXPECT_TRUE(kIsSanitized || result.reason.find("signal 11") != std::string::npos)
      << result.reason;
}

/// 60 floats are 240 bytes, the fence is at the next multiple of 128.
TEST(Measurer, WritingCloseBehindAnArrayIsWrong) {
  const Measurement result = measured(
      sum_with(1, 60), calling("T.call_extern(\"memset\", B.data, 0, 241, dtype=\"handle\")", 60));
  EXPECT_EQ(result.outcome, Outcome::Wrong);
  EXPECT_EQ(result.reason, "memory next to argument 1 was written");
}

TEST(Measurer, ACandidateThatHangsIsEnded) {
  MeasureOptions options = kQuick;
  options.run_timeout_s = 3;
  const Measurement result =
      measured(sum_with(1), calling("T.call_extern(\"pause\", dtype=\"int32\")"), options);
  EXPECT_EQ(result.outcome, Outcome::TimedOut);
  EXPECT_EQ(result.reason, "it was still running after 3 s");
}

TEST(Measurer, ACandidateThatCrashesHarmsNothing) {
  const Measurement result =
      measured(sum_with(1), calling("T.call_extern(\"abort\", dtype=\"int32\")"));
  EXPECT_EQ(result.outcome, Outcome::Crashed);
  EXPECT_TRUE(kIsSanitized || result.reason.find("signal 6") != std::string::npos) << result.reason;
}

TEST(Measurer, ACandidateThatCannotBeBuiltSaysWhy) {
  const Measurement result =
      measured(sum_with(1), calling("T.call_extern(\"no such name\", dtype=\"int32\")"));
  EXPECT_FALSE(result.is_valid());
  EXPECT_FALSE(result.reason.empty());
}

/// 2 GiB that the program before scheduling does not need.
TEST(Measurer, ACandidateThatTakesTooMuchMemoryIsEnded) {
  if (kIsSanitized) GTEST_SKIP() << "a sanitizer needs more memory than the limit";
  const tir::IRModule greedy = s_tir::parse_script(R"(
@T.prim_func
def main(A: T.Buffer[64, "float32"], B: T.Buffer[64, "float32"]) -> None:
    T.func_attr({"global_symbol": "main", "tir.noalias": True})
    W = T.alloc_buffer([536870912], dtype="float32")
    for i in T.serial(536870912):
        with T.block("W"):
            vi = T.axis.spatial(536870912, i)
            W[vi] = T.float32(1)
    for i in T.serial(64):
        with T.block("B"):
            vi = T.axis.spatial(64, i)
            B[vi] = A[vi] + W[vi * 1000]
)");
  MeasureOptions options = kQuick;
  options.memory_limit_bytes = std::int64_t{1} << 30;
  const Measurement result = measured(sum_with(1), greedy, options);
  EXPECT_EQ(result.outcome, Outcome::Crashed) << result.reason;
}

/// It goes over 512 times as many elements.
TEST(Measurer, AVerySlowCandidateIsCalledOnce) {
  MeasureOptions options = kQuick;
  options.slow_factor = 2;
  Measurer measurer(sum_with(1, 4096), kOneCore, options);
  const tir::IRModule slow = s_tir::parse_script(R"(
@T.prim_func
def main(A: T.Buffer[4096, "float32"], B: T.Buffer[4096, "float32"]) -> None:
    T.func_attr({"global_symbol": "main", "tir.noalias": True})
    W = T.alloc_buffer([4096, 512], dtype="float32")
    for i, k in T.grid(4096, 512):
        with T.block("W"):
            vi, vk = T.axis.remap("SS", [i, k])
            W[vi, vk] = A[vi] + T.float32(1)
    for i, k in T.grid(4096, 512):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = W[vi, 0]
            B[vi] = T.max(B[vi], W[vi, vk])
)");
  const auto results = measurer.run(measurer.build({sum_with(1, 4096), slow}));
  ASSERT_EQ(results[1].outcome, Outcome::Measured) << results[1].reason;
  EXPECT_EQ(results[0].seconds.size(), 3u);
  EXPECT_EQ(results[1].seconds.size(), 1u);
}

TEST(Measurer, ResultsOfFloatsMayDifferAsReorderedSumsDo) {
  s_tir::Schedule sch(product(64));
  const auto loops = sch.get_loops(sch.get_block("C"));
  const auto parts = sch.split(loops[2], {8, std::nullopt});
  sch.rfactor(parts[0], 0);
  EXPECT_EQ(measured(product(64), sch.mod()).outcome, Outcome::Measured);
}

TEST(Measurer, ProgramsOfNoConstantShapeAreRefused) {
  const tir::IRModule mod = s_tir::parse_script(R"(
@T.prim_func
def main(a: T.handle, n: T.int32) -> None:
    A = T.match_buffer(a, [n], dtype="float32")
    for i in T.serial(n):
        with T.block("A"):
            vi = T.axis.spatial(n, i)
            A[vi] = T.float32(1)
)");
  EXPECT_THROW(Measurer(mod, kOneCore, kQuick), TypeError);
}

TEST(Measurer, OptionsThatMeasureNothingAreRefused) {
  const tir::IRModule mod = product(16);
  MeasureOptions none = kQuick, endless = kQuick;
  none.repeat = 0;
  endless.min_repeat_ms = NAN;
  EXPECT_THROW(Measurer(mod, kOneCore, none), TypeError);
  EXPECT_THROW(Measurer(mod, kOneCore, endless), TypeError);
}

TEST(Measurer, CandidatesAreLinkedWithoutACompiler) {
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);
  const Measurement result = measured(sum_with(1), sum_with(1));
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(result.outcome, Outcome::Measured) << result.reason;
}

TEST(Measurer, AWorkerProgramThatIsNotThereIsNamed) {
  MeasureOptions options = kQuick;
  options.worker = "/nowhere/tenon_measure";
  try {
    const Measurer measurer(sum_with(1), kOneCore, options);
    FAIL() << "accepted";
  } catch (const RuntimeError& error) {
    EXPECT_NE(error.sentence().find("/nowhere/tenon_measure"), std::string::npos);
  }
}

}  // namespace
}  // namespace tenon::tune

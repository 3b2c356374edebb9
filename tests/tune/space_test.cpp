// Design spaces: their designs, and that the programs drawn from them are right.
#include "tenon/tune/space.h"

#include <gtest/gtest.h>

#include <regex>

#include "tenon/runtime/device.h"
#include "tenon/s_tir/script.h"
#include "tenon/s_tir/tensor_intrin.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"
#include "tenon/tune/measure.h"
#include "tenon/tune/postprocessors.h"
#include "tenon/tune/tune.h"
#include "tests/tune/programs.h"
#include "tune/search/candidate.h"

namespace tenon::tune {
namespace {

// ---- default rules ------------------------------------------------------------------------------

// Design spaces of the default rules beside the reference's, and what post-processors make of them.

const Target kOneCore("llvm -num-cores=1");

/// `text` without the drawn decisions: the random numbers are not the reference's.
std::string without_decisions(const std::string& text) {
  return std::regex_replace(text, std::regex(R"re(, decision=(\[[^\]]*\]|-?\d+))re"), "");
}

std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t from = text.find(begin);
  EXPECT_NE(from, std::string::npos) << begin;
  const std::size_t start = from + begin.size();
  return text.substr(start, text.find(end, start) - start);
}

TEST(DefaultRules, GiveTheThreeKnownDesignsOfTheProduct) {
  const std::string known = golden_tuning("space_llvm.txt");
  const std::vector<s_tir::Schedule> designs = post_order_apply().designs(product(), kOneCore);
  ASSERT_EQ(designs.size(), 3u);
  const std::string ends[] = {"--- space 1", "--- space 2", "threads 1"};
  for (int n = 0; n < 3; ++n)
    EXPECT_EQ(normalized(without_decisions(designs[n].trace().text())),
              normalized(without_decisions(
                  between(known, "--- space " + std::to_string(n) + "\n", ends[n]))));
}

TEST(DefaultRules, PutTheReluUnderTheProductInPlaceOfACache) {
  const auto designs = post_order_apply().designs(product_relu(), kOneCore);
  ASSERT_EQ(designs.size(), 3u);
  for (int n = 0; n < 2; ++n) {
    const std::string text = designs[n].trace().text();
    EXPECT_NE(text.find("reverse_compute_at"), std::string::npos) << text;
    EXPECT_EQ(text.find("cache_write"), std::string::npos) << text;
  }
}

TEST(DefaultRules, DoNotTileWhatHasNoSums) {
  const tir::IRModule mod = s_tir::parse_script(R"(
@T.prim_func
def main(A: T.Buffer[(64, 64), "float32"], b: T.Buffer[64, "float32"], C: T.Buffer[(64, 64), "float32"]) -> None:
    T.func_attr({"global_symbol": "main", "tir.noalias": True})
    for i, j in T.grid(64, 64):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] + b[vj]
)");
  const auto designs = post_order_apply().designs(mod, kOneCore);
  ASSERT_EQ(designs.size(), 1u);
  EXPECT_EQ(designs[0].trace().text().find("split"), std::string::npos);
}

/// 4 MiB each, which the cache of no core holds; B's rows are read across.
TEST(DefaultRules, CopyTilesOfALargeInput) {
  const Target target("llvm -num-cores=1 -l2-bytes=1048576");
  const auto designs = post_order_apply().designs(product(1024), target);
  ASSERT_EQ(designs.size(), 6u);
  for (int n = 0; n < 6; ++n) {
    const std::string text = designs[n].trace().text();
    EXPECT_EQ(text.find("cache_read(block=b0, read_buffer_index=1") != std::string::npos, n >= 3);
    EXPECT_EQ(text.find("read_buffer_index=0"), std::string::npos);
  }
}

TEST(DefaultRules, SplitALongSumOfFewElements) {
  const auto designs = post_order_apply().designs(row_sums(2, 4096), kOneCore);
  ASSERT_EQ(designs.size(), 3u);
  EXPECT_EQ(designs[0].trace().text().find("rfactor"), std::string::npos);
  EXPECT_NE(designs[1].trace().text().find("rfactor"), std::string::npos);
  EXPECT_NE(designs[2].trace().text().find("rfactor"), std::string::npos);
}

/// The best schedule that the reference found: its decisions, with our post-processors, must give
/// its script.
void expect_known_best(const std::string& file) {
  const std::string known = golden_tuning(file);
  const std::string best = between(known, "worst ", "# from tvm.script");
  const std::string trace = between(best, "\n", "sch.enter_postproc()");
  s_tir::Schedule sch(product());
  sch.apply_trace(s_tir::parse_trace(trace));
  sch.enter_postproc();
  for (const Postprocessor& post : default_postprocessors(kOneCore)) post.apply(sch, kOneCore);
  EXPECT_EQ(normalized(s_tir::print_script(sch.mod())),
            normalized(known.substr(known.find("# from tvm.script"))));
}

TEST(Postprocessors, MakeTheKnownScriptWithVectorsAndParallelLoops) {
  expect_known_best("space_avx512.txt");
}

TEST(Postprocessors, LeaveSharedLoopsOfOneIterationAsTheyAre) {
  expect_known_best("space_llvm.txt");
}

TEST(Postprocessors, DropProgramsOfDynamicLoops) {
  const tir::IRModule mod = s_tir::parse_script(R"(
@T.prim_func
def main(a: T.handle, n: T.int32) -> None:
    A = T.match_buffer(a, [n], dtype="float32")
    for i in T.serial(n):
        with T.block("A"):
            vi = T.axis.spatial(n, i)
            A[vi] = T.float32(1)
)");
  s_tir::Schedule sch(mod);
  EXPECT_THROW(disallow_dynamic_loops().apply(sch, kOneCore), ScheduleError);
}

// ---- intrinsics ---------------------------------------------------------------------------------

// Designs in which a registered intrinsic computes tiles. The products are of float64, so that no
// other test's space has these intrinsics.

tir::PrimFunc function(const std::string& text) {
  return s_tir::parse_script("@T.prim_func\n" + text).functions.begin()->second;
}

/// A product of 4 by 8 by 4: what it is, and rows of a whole vector.
void register_once() {
  [[maybe_unused]] static const bool is_done = [] {
    const std::string head = R"((a: T.handle, b: T.handle, c: T.handle) -> None:
    A = T.match_buffer(a, [4, 4], dtype="float64")
    B = T.match_buffer(b, [4, 8], dtype="float64")
    C = T.match_buffer(c, [4, 8], dtype="float64")
    with T.block("root"):
        T.reads(C[0 : 4, 0 : 8], A[0 : 4, 0 : 4], B[0 : 4, 0 : 8])
        T.writes(C[0 : 4, 0 : 8])
)";
    s_tir::register_tensor_intrin("tile_4x8x4", function("def description" + head + R"(
        for i, j, k in T.grid(4, 8, 4):
            with T.block("update"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)"),
                                  function("def implementation" + head + R"(
        for k, i in T.grid(4, 4):
            for j in T.vectorized(8):
                with T.block("lanes"):
                    vk, vi, vj = T.axis.remap("RSS", [k, i, j])
                    C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)"));
    return true;
  }();
}

tir::IRModule product_of(const std::string& n, const std::string& m, const std::string& k) {
  const auto matrix = [](const std::string& rows, const std::string& columns) {
    return "T.Buffer[(" + rows + ", " + columns + "), \"float64\"]";
  };
  return s_tir::parse_script("@T.prim_func\ndef main(A: " + matrix(n, k) + ", B: " + matrix(k, m) +
                             ", C: " + matrix(n, m) + R"() -> None:
    T.func_attr({"global_symbol": "main", "tir.noalias": True})
    for i, j, k in T.grid()" +
                             n + ", " + m + ", " + k + R"():
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float64(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)");
}

std::vector<s_tir::Schedule> designs_with_intrinsic(const tir::IRModule& mod) {
  register_once();
  std::vector<s_tir::Schedule> result;
  for (s_tir::Schedule& design : post_order_apply().designs(mod, kOneCore))
    if (design.trace().text().find("blockize") != std::string::npos)
      result.push_back(std::move(design));
  return result;
}

TEST(TilingWithIntrinsic, GivesOneDesignMore) {
  const tir::IRModule mod = product_of("32", "32", "32");
  EXPECT_EQ(designs_with_intrinsic(mod).size(), 1u);
  EXPECT_EQ(post_order_apply().designs(mod, kOneCore).size(), 4u);
}

TEST(TilingWithIntrinsic, NeedsMultiplesOfTheIntrinsicsTile) {
  EXPECT_TRUE(designs_with_intrinsic(product_of("32", "28", "32")).empty());
}

/// Whatever is drawn of the design with the intrinsic calls it, and is right.
void expect_right_with_intrinsic(const tir::IRModule& mod, int count) {
  const auto designs = designs_with_intrinsic(mod);
  ASSERT_EQ(designs.size(), 1u);
  const CandidateMaker maker(mod, kOneCore, default_postprocessors(kOneCore));
  std::vector<tir::IRModule> mods;
  for (int seed = 0; seed < count; ++seed) {
    const auto candidate = maker.drawn(designs.front().trace(), static_cast<std::uint64_t>(seed));
    ASSERT_TRUE(candidate) << seed;
    mods.push_back(candidate->schedule.mod());
    EXPECT_NE(s_tir::print_script(mods.back()).find("T.vectorized(8)"), std::string::npos);
  }
  Measurer measurer(mod, kOneCore, {.repeat = 1, .min_repeat_ms = 0});
  for (const Measurement& result : measurer.run(measurer.build(mods)))
    EXPECT_EQ(result.outcome, Outcome::Measured) << result.reason;
}

TEST(TilingWithIntrinsic, SampledTilingsComputeTheProduct) {
  expect_right_with_intrinsic(product_of("16", "32", "8"), 8);
}

/// All of the sum in one call: no loop of the reduction is left around it.
TEST(TilingWithIntrinsic, AProductOfJustTheTileIsRight) {
  expect_right_with_intrinsic(product_of("4", "8", "4"), 1);
}

// ---- devices ------------------------------------------------------------------------------------

// Default spaces of devices: what their designs hold, and that what is drawn from them is right
// when it runs, on OpenCL's device where there is one.

const Target kOpenCl("opencl"), kCuda("cuda -arch=sm_80");

std::vector<Candidate> drawn(const tir::IRModule& mod, const Target& target, int count) {
  const CandidateMaker maker(mod, target, default_postprocessors(target));
  const std::vector<s_tir::Schedule> designs = post_order_apply().designs(mod, target);
  std::vector<Candidate> result;
  for (std::uint64_t seed = 0; seed < 400 && static_cast<int>(result.size()) < count; ++seed)
    for (const s_tir::Schedule& design : designs)
      if (auto candidate = maker.drawn(design.trace(), seed))
        result.push_back(std::move(*candidate));
  return result;
}

std::vector<Measurement> measured(const tir::IRModule& mod,
                                  const std::vector<tir::IRModule>& candidates) {
  Measurer measurer(mod, kOpenCl, {.repeat = 1, .min_repeat_ms = 0});
  return measurer.run(measurer.build(candidates));
}

/// Checks that drawn programs compute the right results on the device: wrong ones are not measured.
void expect_right(const tir::IRModule& mod, int count) {
  const std::vector<Candidate> candidates = drawn(mod, kOpenCl, count);
  ASSERT_GE(static_cast<int>(candidates.size()), count);
  if (!opencl(0).exists()) GTEST_SKIP() << opencl(0).why_missing();
  std::vector<tir::IRModule> mods;
  for (const Candidate& candidate : candidates) mods.push_back(candidate.schedule.mod());
  const std::vector<Measurement> results = measured(mod, mods);
  for (std::size_t n = 0; n < results.size(); ++n)
    EXPECT_EQ(results[n].outcome, Outcome::Measured) << results[n].reason << '\n'
                                                     << candidates[n].schedule.trace().text();
}

TEST(DeviceRules, TileAProductForBlocksThreadsAndSharedMemory) {
  const auto designs = post_order_apply().designs(product(), kCuda);
  ASSERT_EQ(designs.size(), 1u);
  const std::string text = designs[0].trace().text();
  for (const char* part :
       {"n=5, max_innermost_factor=64", "n=3, max_innermost_factor=64",
        "thread_axis=\"blockIdx.x\"", "thread_axis=\"vthread.x\"", "thread_axis=\"threadIdx.x\"",
        "storage_scope=\"local\"", "read_buffer_index=0, storage_scope=\"shared\"",
        "read_buffer_index=1, storage_scope=\"shared\"", "candidates=[0, 16, 64, 512, 1024]"})
    EXPECT_NE(text.find(part), std::string::npos) << part << '\n' << text;
}

TEST(DeviceRules, ComputeTheReluWhereSumsAreWritten) {
  const auto designs = post_order_apply().designs(product_relu(), kCuda);
  ASSERT_EQ(designs.size(), 1u);
  EXPECT_NE(designs[0].trace().text().find("reverse_compute_inline"), std::string::npos)
      << designs[0].trace().text();
}

TEST(DeviceRules, ProductsThatAreDrawnAreRight) { expect_right(product(32), 6); }
TEST(DeviceRules, ProductsWithAReluAreRight) { expect_right(product_relu(32), 4); }
TEST(DeviceRules, DivideTheTermsOfALongSumAmongThreads) {
  const auto designs = post_order_apply().designs(row_sums(6, 200), kOpenCl);
  ASSERT_EQ(designs.size(), 2u);
  EXPECT_EQ(designs[0].trace().text().find("threadIdx.x"), std::string::npos);
  EXPECT_NE(designs[1].trace().text().find("threadIdx.x"), std::string::npos);
}

TEST(DeviceRules, LongSumsThatAreDrawnAreRight) { expect_right(row_sums(6, 200), 6); }

TEST(DeviceRules, CandidatesThatNoDeviceCanLaunchAreDropped) {
  const Target small("opencl -max-threads=32");
  const std::vector<Candidate> candidates = drawn(product(64), small, 8);
  EXPECT_GE(candidates.size(), 8u);
  for (const Candidate& candidate : candidates) {
    std::int64_t threads = 1;
    tir::walk(candidate.schedule.mod().functions.begin()->second.body, [&](const tir::For& loop) {
      const auto& thread = tir::traits_of(loop).thread;
      if (thread && thread->str() == "threadIdx.x")
        threads = std::max(threads, tir::constant_int(loop.extent).value());
    });
    EXPECT_LE(threads, 32);
  }
}

TEST(DeviceRules, CandidatesAreMeasuredOnTheDevice) {
  if (!opencl(0).exists()) GTEST_SKIP() << opencl(0).why_missing();
  const Candidate candidate = drawn(product(32), kOpenCl, 1).front();
  const auto results = measured(product(32), {candidate.schedule.mod(), product(32)});
  EXPECT_EQ(results[0].outcome, Outcome::Measured) << results[0].reason;
  EXPECT_GT(results[0].median(), 0);
  // The second has no threads.
  EXPECT_EQ(results[1].outcome, Outcome::BuildFailed);
}

TEST(DeviceRules, TuningFindsAKernel) {
  if (!opencl(0).exists()) GTEST_SKIP() << opencl(0).why_missing();
  const tir::IRModule mod = product_relu(16);
  const Database found = tune_tir({.mod = mod,
                                   .target = kOpenCl,
                                   .max_trials_global = 3,
                                   .num_trials_per_iter = 3,
                                   .measure = {.repeat = 1, .min_repeat_ms = 0},
                                   .cost_model = random_model(1),
                                   .log = [](LogLevel, const std::string&) {}});
  EXPECT_EQ(found.records(mod).size(), 3u);
  const std::optional<s_tir::Schedule> best = apply_best(mod, found, kOpenCl);
  ASSERT_TRUE(best);
  EXPECT_EQ(measured(mod, {best->mod()})[0].outcome, Outcome::Measured);
}

TEST(DeviceRules, MapsAreRight) { expect_right(sum_with(3, 100), 1); }

}  // namespace
}  // namespace tenon::tune

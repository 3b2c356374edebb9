// Default spaces of devices: what their designs hold, and that what is drawn from them is right
// when it runs, on OpenCL's device where there is one.
#include <gtest/gtest.h>

#include "tenon/runtime/device.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"
#include "tenon/tune/measure.h"
#include "tenon/tune/space.h"
#include "tenon/tune/tune.h"
#include "tests/tune/programs.h"
#include "tune/search/candidate.h"

namespace tenon::tune {
namespace {

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

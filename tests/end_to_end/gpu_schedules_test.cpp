// The library's schedules for devices: right by the interpreter and on OpenCL's device, and CUDA C
// that NVRTC takes.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <sstream>

#include "tenon/topi/broadcast.h"
#include "tenon/topi/convolution.h"
#include "tenon/topi/elementwise.h"
#include "tenon/topi/gpu.h"
#include "tenon/topi/nn.h"
#include "tenon/topi/reduction.h"
#include "tenon/topi/transform.h"
#include "tests/common/gpu_programs.h"
#include "tests/common/refusal.h"
#include "tests/common/run_on_device.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

/// Kernels that PoCL 3.1 compiles wrong (src/codegen/c_like/pocl_faults.md) where it makes loops of
/// threads, in which a condition on the block and the thread stands before and behind a barrier:
/// right with POCL_WORK_GROUP_METHOD=workitemrepl, and by the interpreter.
const std::set<std::string> kFaultsOfPocl = {"batch_matmul_16", "conv2d_9x5x2"};

TEST(GpuSchedules, ComputeWhatTheDefaultOnesDo) {
  const Target target("opencl");
  if (!opencl(0).exists()) GTEST_SKIP() << opencl(0).why_missing();
  WaysToRun ways{.compile = false, .interpret = false};
  ways.device_target = target;
  const char* method = std::getenv("POCL_WORK_GROUP_METHOD");
  const bool has_loops = method == nullptr || std::string_view(method) != "workitemrepl";
  for (const GpuProgram& program : gpu_programs(target.facts())) {
    if (has_loops && kFaultsOfPocl.contains(program.name)) continue;
    EXPECT_EQ(compare_with_default(program.schedule, program.args, ways), "") << program.name;
  }
}

TEST(GpuSchedules, AreRightAfterEachPassForDevices) {
  const Target target("cuda -arch=sm_80");
  const WaysToRun ways{.compile = false, .run_on_device = false};
  // The largest one is compared in threads_test.cpp.
  for (const GpuProgram& program : gpu_programs(target.facts()))
    if (program.name != "matmul_128x128x32") {
      EXPECT_EQ(compare_with_default(program.schedule, program.args, ways), "") << program.name;
    }
}

TEST(GpuSchedules, AreTakenByNvrtc) {
  const Target target("cuda -arch=sm_80");
  for (const GpuProgram& program : gpu_programs(target.facts()))
    EXPECT_EQ(refused_by_nvrtc(program.schedule, program.args), "") << program.name;
}

/// Every operator of something that is a map of elements: the threads compute it where they read.
TEST(GpuSchedules, InlineTheMapsThatTheyRead) {
  using namespace topi::gpu;
  const tir::TargetFacts& target = Target("opencl").facts();
  const te::Tensor A = te::placeholder({20, 12}, "A"), B = te::placeholder({12, 20}, "B");
  const te::Tensor I = te::placeholder({1, 3, 6, 6}, "I"), K = te::placeholder({4, 3, 3, 3}, "K");
  const auto check = [](const te::Schedule& s, const std::vector<LowerArgument>& args) {
    EXPECT_EQ(compare_with_default(s, args, {.compile = false}), "");
  };
  const te::Tensor product = topi::matmul(topi::relu(A), topi::transpose(topi::relu(A)));
  check(schedule_matmul(product, target), {A, product});
  const te::Tensor windows =
      topi::conv2d_nchw(topi::relu(I), topi::relu(K), {.padding = {1, 1, 1, 1}});
  check(schedule_conv2d(windows, target), {I, K, windows});
  const te::Tensor shares = topi::softmax(topi::relu(A));
  check(schedule_softmax(shares, target), {A, shares});
  const te::Tensor sums = topi::sum(topi::relu(B), {1});
  check(schedule_reduction(sums, target), {B, sums});
  const te::Tensor turned = topi::transpose(topi::relu(A));
  check(schedule_transpose(turned, target), {A, turned});
}

TEST(GpuSchedules, OfTensorCoresInlineTheMapsThatTheyRead) {
  const te::Tensor A = te::placeholder({64, 16}, "A", Float(16));
  const te::Tensor B = te::placeholder({64, 16}, "B", Float(16));
  const te::Tensor C = topi::matmul(topi::relu(A), topi::transpose(B), {.out_dtype = Float(32)});
  const te::Schedule s = topi::gpu::schedule_matmul(C, Target("cuda -arch=sm_80").facts());
  std::ostringstream text;
  text << lower(s, {A, B, C});
  EXPECT_NE(text.str().find("mma_sync"), std::string::npos);
  EXPECT_EQ(compare_with_default(s, {A, B, C}, {.compile = false, .run_on_device = false}), "");
}

TEST(GpuSchedules, RefuseToComputeMoreThanTheirOperator) {
  using namespace topi::gpu;
  const tir::TargetFacts& target = Target("opencl").facts();
  const te::Tensor A = te::placeholder({8, 8}, "A");
  const te::Tensor first = topi::matmul(A, topi::relu(A), {.name = "first"});
  const auto refused = [](const char* function, const std::function<void()>& schedule) {
    EXPECT_TRUE(refuses<ScheduleError>(
        schedule, {function, "stage `first`, which it reads, is not an elementwise map"}));
  };
  refused("schedule_matmul", [&] { schedule_matmul(topi::matmul(first, A), target); });
  refused("schedule_softmax", [&] { schedule_softmax(topi::softmax(first), target); });
  refused("schedule_reduction", [&] { schedule_reduction(topi::sum(first), target); });
  refused("schedule_transpose", [&] { schedule_transpose(topi::transpose(first), target); });
  refused("schedule_elementwise", [&] { schedule_elementwise(topi::relu(first), target); });
  EXPECT_TRUE(refuses<ScheduleError>([&] { schedule_matmul(topi::matmul(A, A), target); },
                                     {"schedule_matmul", "both factors are `A`"}));
}

TEST(GpuSchedules, RefuseMapsThatAreNotTranspositions) {
  const te::Tensor A = te::placeholder({8, 8}, "A"), V = te::placeholder({64}, "V");
  const te::Tensor S = te::placeholder({}, "S");
  const auto both = [&](const Var& i, const Var& j) { return A(i, j) + A(j, i); };
  for (const te::Tensor& x : {topi::reshape(V, {8, 8}), topi::expand_dims(V, 0),
                              topi::broadcast_to(S, {4, 4}), te::compute({8, 8}, both, "B")})
    EXPECT_TRUE(
        refuses<ScheduleError>([&] { topi::gpu::schedule_transpose(x, Target("opencl").facts()); },
                               {"schedule_transpose", "it is not a transposition"}));
}

TEST(GpuSchedules, RefuseMapsWithTheTagOfAnOperator) {
  using namespace topi::gpu;
  const tir::TargetFacts& target = Target("opencl").facts();
  const te::Tensor A = te::placeholder({8, 8}, "A"), V = te::placeholder({8}, "V");
  const auto copy = [&](const Var& i, const Var& j) { return A(i, j); };
  const auto total = [&](const Var& i, const Var& j) { return A(i, j) + V(j); };
  for (const te::Tensor& x : {te::compute({8, 8}, copy, "B", {.tag = topi::kSoftmaxOutput}),
                              te::compute({8, 8}, total, "B", {.tag = topi::kSoftmaxOutput})})
    EXPECT_TRUE(refuses<ScheduleError>([&] { schedule_softmax(x, target); },
                                       {"schedule_softmax", "it is not a softmax"}));
  const auto one = [](std::span<const Var>) { return tir::make_const(Float(32), 1); };
  for (const te::Tensor& x : {te::compute({8, 8, 8, 8}, one, "B", {.tag = topi::kConv2dNchw}),
                              te::compute({8, 8}, copy, "B", {.tag = topi::kConv2dNchw})})
    EXPECT_TRUE(refuses<ScheduleError>([&] { schedule_conv2d(x, target); },
                                       {"schedule_conv2d", "it is not a convolution"}));
}

TEST(GpuSchedules, RefuseASoftmaxAlongAnotherDimensionThanTheLast) {
  const te::Tensor A = te::placeholder({8, 8}, "A");
  EXPECT_TRUE(refuses<ScheduleError>(
      [&] { topi::gpu::schedule_softmax(topi::softmax(A, 0), Target("opencl").facts()); },
      {"schedule_softmax", "it is not along the last dimension"}));
}

TEST(GpuSchedules, FitTheWindowsOfAConvolutionInSharedMemory) {
  const Target cuda("cuda -arch=sm_80");
  const te::Tensor image = te::placeholder({1, 3, 224, 224}, "image");
  const te::Tensor kernel = te::placeholder({768, 3, 16, 16}, "kernel");
  const te::Tensor patches = topi::conv2d_nchw(image, kernel, {.stride = {16, 16}});
  const te::Schedule s = topi::gpu::schedule_conv2d(patches, cuda.facts());
  EXPECT_NO_THROW(static_cast<void>(compile(s, {image, kernel, patches}, cuda)));

  tir::TargetFacts small = Target("opencl").facts();
  const te::Tensor I = te::placeholder({1, 3, 20, 20}, "I"), K = te::placeholder({8, 3, 5, 5}, "K");
  const te::Tensor C = topi::conv2d_nchw(I, K, {.stride = {2, 2}, .dilation = {2, 1}});
  for (const int bytes : {8192, 3000, 1500, 100}) {
    small.max_shared_bytes = bytes;
    EXPECT_EQ(
        compare_with_default(topi::gpu::schedule_conv2d(C, small), {I, K, C}, {.compile = false}),
        "")
        << bytes;
  }
}

TEST(GpuSchedules, RefuseAConvolutionOfATensorByItself) {
  const te::Tensor A = te::placeholder({3, 3, 3, 3}, "A");
  EXPECT_TRUE(refuses<ScheduleError>(
      [&] { topi::gpu::schedule_conv2d(topi::conv2d_nchw(A, A), Target("opencl").facts()); },
      {"schedule_conv2d", "both factors are `A`"}));
}

}  // namespace
}  // namespace tenon::testing

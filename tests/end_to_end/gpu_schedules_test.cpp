// The library's schedules for devices: right by the interpreter and on OpenCL's device, and CUDA C
// that NVRTC takes.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "tests/common/gpu_programs.h"
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
  // The largest one is compared in bank_conflicts_test.cpp.
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

}  // namespace
}  // namespace tenon::testing

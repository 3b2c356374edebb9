// The library's schedules on CUDA's device, compared with the interpreter.
#include <gtest/gtest.h>

#include "tests/common/gpu_programs.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

void run(const std::vector<GpuProgram>& programs, const Target& target) {
  WaysToRun ways{.compile = false, .interpret = false};
  ways.device_target = target;
  for (const GpuProgram& program : programs)
    EXPECT_EQ(compare_with_default(program.schedule, program.args, ways), "") << program.name;
}

TEST(Gpu, TheLibrarysSchedulesComputeWhatTheDefaultOnesDo) {
  if (!cuda(0).exists()) GTEST_SKIP() << cuda(0).why_missing();
  const Target target("cuda -arch=sm_80");
  run(gpu_programs(target.facts()), target);
}

TEST(Gpu, TensorCoresMultiplyAsTheDefaultSchedulesDo) {
  if (!cuda(0).exists()) GTEST_SKIP() << cuda(0).why_missing();
  const Target target("cuda -arch=sm_80");
  run(tensor_core_programs(target.facts()), target);
}

}  // namespace
}  // namespace tenon::testing

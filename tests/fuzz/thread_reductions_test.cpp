// A selection of the reductions that threads share; `fuzz --thread-reductions` runs all of them.
#include "tests/fuzz/thread_reductions.h"

#include <gtest/gtest.h>

namespace tenon::fuzz {
namespace {

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

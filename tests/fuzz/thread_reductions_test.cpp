// A selection of the reductions that threads share; `fuzz --thread-reductions` runs all of them.
#include "tests/fuzz/thread_reductions.h"

#include <gtest/gtest.h>

namespace tenon::fuzz {
namespace {

TEST(ThreadReductionsTest, KernelsOfADeviceReduceRight) {
  if (!opencl(0).exists()) GTEST_SKIP() << opencl(0).why_missing();
  for (int axes = 1; axes <= 3; ++axes) {
    // Around powers of two and warps, each with another number of groups.
    std::vector<ThreadReduction> cases;
    int n = axes;
    for (const int extent : {1, 2, 3, 5, 16, 31, 33, 64, 65}) {
      static constexpr int kGroups[] = {1, 3, 16};
      cases.push_back({extent, kGroups[n++ % 3], axes});
    }
    EXPECT_EQ(check_thread_reductions(cases, Target("opencl -max-threads=4096"), false), "");
  }
}

}  // namespace
}  // namespace tenon::fuzz

#include "lower/shared_uses.h"

#include <gtest/gtest.h>

#include "lower/passes/synchronize_threads.h"
#include "pass_text.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {
namespace {

using namespace tir;

/// Barriers in a kernel of 32 threads `t`.
int barriers_in(const std::string& body) {
  const std::string text = test::function_text(
      "  attr [IterVar(t: int32, (nullptr), \"ThreadIndex\", \"threadIdx.x\")] \"thread_extent\" = 32 {\n" +
      body + "  }\n");
  const PrimFunc func = synchronize_threads(test::parse_function(text), {});
  int barriers = 0;
  walk(func.body, [&](const Call& call) { barriers += call.is(Intrin::tvm_storage_sync); });
  return barriers;
}

TEST(SharedUses, GlobalMemoryThatOtherThreadsHaveWrittenIsWaitedFor) {
  EXPECT_EQ(barriers_in("      B[t] = A[t]\n      B[(t + 32)] = B[(31 - t)]\n"), 1);
}

TEST(SharedUses, NobodyWaitsForItsOwnElementsOfGlobalMemory) {
  EXPECT_EQ(barriers_in("      B[t] = 0f32\n      for (k: int32, 0, 8) {\n"
                        "        B[t] = (B[t] + A[((t*8) + k)])\n      }\n"),
            0);
}

}  // namespace
}  // namespace tenon::lowering

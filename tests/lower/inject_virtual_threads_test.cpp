#include "lower/passes.h"

#include <gtest/gtest.h>

#include "pass_text.h"

namespace tenon::lowering {
namespace {

std::string injected(std::string_view body, int count = 2, std::string tag = "vthread") {
  return test::run(inject_virtual_threads,
                   test::function_text("  attr [IterVar(vx: int32, (nullptr), \"ThreadIndex\", \"" +
                                       tag + "\")] \"virtual_thread\" = " + std::to_string(count) +
                                       " {\n" + std::string(body) + "  }\n"));
}

TEST(InjectVirtualThreads, StatementsThatDependAreCopiedOthersAreDoneOnce) {
  EXPECT_EQ(injected(R"(
    A[0] = 1f32
    for (i: int32, 0, 8) {
      B[((vx*8) + i)] = A[((vx*8) + i)]
    }
)"),
            R"(A[0] = 1f32
for (i: int32, 0, 8) {
  B[((0*8) + i)] = A[((0*8) + i)]
  B[((1*8) + i)] = A[((1*8) + i)]
}
)");
}

TEST(InjectVirtualThreads, MemoryThatDependsGetsACopyForEach) {
  EXPECT_EQ(injected(R"(
    allocate(X: Pointer(local float32), float32, [4]), storage_scope = local;
    allocate(Y: Pointer(local float32), float32, [4]), storage_scope = local {
      Y_1: Buffer(Y, float32, [4], [], scope="local")[0] = A[0]
      X_1: Buffer(X, float32, [4], [], scope="local")[1] = A[vx]
      B[vx] = (X_1[1] + Y_1[0])
    }
)"),
            R"(allocate(X: Pointer(local float32), float32, [8]), storage_scope = local;
allocate(Y: Pointer(local float32), float32, [4]), storage_scope = local {
  Y_1: Buffer(Y, float32, [4], [], scope="local")[0] = A[0]
  X_1: Buffer(X, float32, [8], [], scope="local")[(1 + (0*4))] = A[0]
  X_1[(1 + (1*4))] = A[1]
  B[0] = (X_1[(1 + (0*4))] + Y_1[0])
  B[1] = (X_1[(1 + (1*4))] + Y_1[0])
}
)");
}

/// The text in which the second of two virtual threads passes a pointer to its copy of X.
std::string second_pointer(const std::string& memory, const std::string& pointer) {
  const std::string text =
      injected("    allocate(X: Pointer(local " + memory + "), " + memory +
               ", [8]), storage_scope = local {\n      @tir.call_extern(\"use\", "
               "@tir.tvm_access_ptr(@tir.type_annotation(, dtype=" +
               pointer + "), X, 0, 8, 3, dtype=handle), vx, dtype=int32)\n    }\n");
  return text.substr(text.rfind("call_extern"));
}

TEST(InjectVirtualThreads, PointersToCopiesCountInTheirOwnElements) {
  EXPECT_NE(second_pointer("float32", "float32").find("X, (1*8), 8"), std::string::npos);
  EXPECT_NE(second_pointer("float32", "float32x4").find("X, (1*2), 8"), std::string::npos);
  EXPECT_NE(second_pointer("float32x4", "float32x4").find("X, (1*8), 8"), std::string::npos);
}

TEST(InjectVirtualThreads, WhatIsWrittenUnderADependentConditionDepends) {
  const std::string text = injected(R"(
    allocate(X: Pointer(local float32), float32, [1]), storage_scope = local {
      X_1: Buffer(X, float32, [1], [], scope="local")[0] = 0f32
      if (vx < 1) {
        X_1[0] = 5f32
      }
      B[vx] = X_1[0]
    }
)");
  EXPECT_NE(text.find("allocate(X: Pointer(local float32), float32, [2])"), std::string::npos)
      << text;
}

TEST(InjectVirtualThreads, ALoopWhoseExtentDependsIsRepeatedAsAWhole) {
  EXPECT_EQ(injected(R"(
    for (i: int32, 0, (vx + 1)) {
      B[i] = A[i]
    }
)"),
            R"(for (vx.s: int32, 0, 2) {
  for (i: int32, 0, (vx.s + 1)) {
    B[i] = A[i]
  }
}
)");
}

TEST(InjectVirtualThreads, ManyThreadsBecomeALoop) {
  EXPECT_EQ(injected("    B[vx] = A[vx]\n", 16),
            "for (vx.s: int32, 0, 16) {\n  B[vx.s] = A[vx.s]\n}\n");
  EXPECT_EQ(injected("    B[vx] = A[vx]\n", 15).find("for"), std::string::npos);
}

TEST(InjectVirtualThreads, ACthreadRepeatsEverything) {
  EXPECT_EQ(injected("    B[0] = A[0]\n", 2, "cthread"), "B[0] = A[0]\nB[0] = A[0]\n");
}

/// Every cthread has memory of its own, also where all of them hold the same.
TEST(InjectVirtualThreads, ALetOfACthreadsMemoryIsInItsThread) {
  EXPECT_EQ(injected(R"(
    allocate(X: Pointer(local float32), float32, [4]), storage_scope = local;
    let x: float32 = X_1: Buffer(X, float32, [4], [], scope="local")[0]
    B[0] = x
)",
                     2, "cthread"),
            R"(allocate(X: Pointer(local float32), float32, [8]), storage_scope = local {
  let x: float32 = X_1: Buffer(X, float32, [8], [], scope="local")[(0*4)]
  B[0] = x
  let x_1: float32 = X_1[(1*4)]
  B[0] = x_1
}
)");
}

TEST(InjectVirtualThreads, CopiesOfLetsAreDefinedOnce) {
  EXPECT_EQ(injected(R"(
    let x: int32 = (vx*2)
    B[x] = A[x]
)"),
            "let x: int32 = (0*2)\nB[x] = A[x]\nlet x_1: int32 = (1*2)\nB[x_1] = A[x_1]\n");
}

}  // namespace
}  // namespace tenon::lowering

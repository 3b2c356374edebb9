#include "lower/passes.h"

#include <gtest/gtest.h>

#include "pass_text.h"
#include "tenon/tir/verify.h"

namespace tenon::lowering {
namespace {

using test::unchanged;

std::string privatized(std::string_view body) {
  return test::run(privatize_buffers, test::function_text(body), test::with_vectors(256));
}

/// `Y` of so many elements around a body.
std::string with_memory(int elements, const std::string& body) {
  const std::string size = std::to_string(elements);
  return "allocate(Y: Pointer(global float32), float32, [" + size +
         "]), storage_scope = global {\n" + body + "\n}";
}

const char* const kFilledByAVector = R"(
  for (i: int32, 0, 8) {
    for (j: int32, 0, 16) {
      Y_1: Buffer(Y, float32, [4], [])[ramp(0, 1, 4)] = broadcast(0f32, 4)
      for (k: int32, 0, 4) {
        Y_1[ramp(0, 1, 4)] = (Y_1[ramp(0, 1, 4)] + A[ramp((k*4), 1, 4)])
      }
      B[ramp(((i*64) + (j*4)), 1, 4)] = Y_1[ramp(0, 1, 4)]
    }
  })";

TEST(PrivatizeBuffers, MemoryGoesIntoTheInnermostLoopThatFillsIt) {
  EXPECT_EQ(privatized(with_memory(4, kFilledByAVector)),
            R"(for (i: int32, 0, 8) {
  for (j: int32, 0, 16) {
    allocate(Y: Pointer(global float32), float32, [4]), storage_scope = global {
      Y_1: Buffer(Y, float32, [4], [])[ramp(0, 1, 4)] = broadcast(0f32, 4)
      for (k: int32, 0, 4) {
        Y_1[ramp(0, 1, 4)] = (Y_1[ramp(0, 1, 4)] + A[ramp((k*4), 1, 4)])
      }
      B[ramp(((i*64) + (j*4)), 1, 4)] = Y_1[ramp(0, 1, 4)]
    }
  }
}
)");
}

TEST(PrivatizeBuffers, MemoryGoesToWhereOtherMemoryWas) {
  EXPECT_EQ(privatized(with_memory(4, R"(
  for (i: int32, 0, 8) {
    allocate(Z: Pointer(global float32), float32, [4]), storage_scope = global {
      Y_1: Buffer(Y, float32, [4], [])[ramp(0, 1, 4)] = A[ramp((i*4), 1, 4)]
      for (j: int32, 0, 16) {
        Z_1: Buffer(Z, float32, [4], [])[ramp(0, 1, 4)] = A[ramp((j*4), 1, 4)]
        B[ramp(((i*64) + (j*4)), 1, 4)] = (Y_1[ramp(0, 1, 4)] + Z_1[ramp(0, 1, 4)])
      }
    }
  })")),
            R"(for (i: int32, 0, 8) {
  allocate(Y: Pointer(global float32), float32, [4]), storage_scope = global {
    Y_1: Buffer(Y, float32, [4], [])[ramp(0, 1, 4)] = A[ramp((i*4), 1, 4)]
    for (j: int32, 0, 16) {
      allocate(Z: Pointer(global float32), float32, [4]), storage_scope = global {
        Z_1: Buffer(Z, float32, [4], [])[ramp(0, 1, 4)] = A[ramp((j*4), 1, 4)]
        B[ramp(((i*64) + (j*4)), 1, 4)] = (Y_1[ramp(0, 1, 4)] + Z_1[ramp(0, 1, 4)])
      }
    }
  }
}
)");
}

TEST(PrivatizeBuffers, ALoopMayFillIt) {
  const std::string text = privatized(with_memory(4, R"(
  for (i: int32, 0, 8) {
    for (j: int32, 0, 2) {
      Y_1: Buffer(Y, float32, [4], [])[j] = 0f32
      Y_1[(j + 2)] = 1f32
    }
    for (j_1: int32, 0, 4) {
      B[((i*4) + j_1)] = Y_1[j_1]
    }
  })"));
  EXPECT_TRUE(text.starts_with("for (i: int32, 0, 8) {\n  allocate(Y: ")) << text;
}

/// Iterations that ran at the same time would overwrite each other's.
TEST(PrivatizeBuffers, AParallelLoopGetsMemoryForEachIteration) {
  const std::string text = privatized(with_memory(1, R"(
  for (i: int32, 0, 8) "parallel" {
    Y_1: Buffer(Y, float32, [1], [])[0] = A[i]
    B[i] = (Y_1[0] + Y_1[0])
  })"));
  EXPECT_TRUE(text.starts_with("for (i: int32, 0, 8) \"parallel\" {\n  allocate(Y: ")) << text;
}

TEST(PrivatizeBuffers, WhatOneIterationLeavesToTheNextStays) {
  const std::string body = with_memory(1, R"(
  Y_1: Buffer(Y, float32, [1], [])[0] = 0f32
  for (i: int32, 0, 8) {
    Y_1[0] = (Y_1[0] + A[i])
    B[i] = Y_1[0]
  })");
  EXPECT_EQ(privatized(body), unchanged(body));
}

TEST(PrivatizeBuffers, AnElementThatIsNotFilledStays) {
  const std::string body = with_memory(4, R"(
  for (i: int32, 0, 8) {
    for (j: int32, 0, 3) {
      Y_1: Buffer(Y, float32, [4], [])[j] = A[(i + j)]
    }
    B[i] = Y_1[3]
  })");
  EXPECT_EQ(privatized(body), unchanged(body));
}

TEST(PrivatizeBuffers, AStoreThatMayNotRunFillsNothing) {
  const std::string body = with_memory(1, R"(
  for (i: int32, 0, 8) {
    if (i < 4) {
      Y_1: Buffer(Y, float32, [1], [])[0] = A[i]
    }
    B[i] = Y_1[0]
  })");
  EXPECT_EQ(privatized(body), unchanged(body));
}

TEST(PrivatizeBuffers, WhatIsReadBehindTheLoopStays) {
  const std::string body = with_memory(1, R"(
  for (i: int32, 0, 8) {
    Y_1: Buffer(Y, float32, [1], [])[0] = A[i]
  }
  B[0] = Y_1[0])");
  EXPECT_EQ(privatized(body), unchanged(body));
}

TEST(PrivatizeBuffers, MemoryThatIsLargeStays) {
  const std::string body = with_memory(1024, R"(
  for (i: int32, 0, 8) {
    for (j: int32, 0, 1024) {
      Y_1: Buffer(Y, float32, [1024], [])[j] = A[j]
    }
    B[i] = Y_1[i]
  })");
  EXPECT_EQ(privatized(body), unchanged(body));
}

}  // namespace
}  // namespace tenon::lowering

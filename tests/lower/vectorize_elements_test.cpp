#include "lower/passes.h"

#include <gtest/gtest.h>

#include "pass_text.h"

namespace tenon::lowering {
namespace {

std::string with_vector_elements(std::string_view body) {
  return test::run(vectorize_elements, test::function_text(body, 64, 64));
}

TEST(VectorizeElements, MemoryOfWholeAlignedVectorsHasVectorElements) {
  EXPECT_EQ(with_vector_elements(R"(
  allocate(X: Pointer(global float32), float32, [64]), storage_scope = global {
    for (i: int32, 0, 16) {
      X_1: Buffer(X, float32, [64], [])[ramp((i*4), 1, 4)] = A[ramp((i*4), 1, 4)]
    }
    for (j: int32, 0, 16) {
      B[ramp((j*4), 1, 4)] = X_1[ramp((60 - (j*4)), 1, 4)]
    }
  })"),
            R"(allocate(X: Pointer(global float32x4), float32x4, [16]), storage_scope = global {
  for (i: int32, 0, 16) {
    X_1: Buffer(X, float32x4, [16], [])[floordiv((i*4), 4)] = A[ramp((i*4), 1, 4)]
  }
  for (j: int32, 0, 16) {
    B[ramp((j*4), 1, 4)] = X_1[floordiv((60 - (j*4)), 4)]
  }
}
)");
}

TEST(VectorizeElements, MemoryOfUnalignedVectorsKeepsScalarElements) {
  for (const char* index : {"((j*4) + 2)", "(j*2)"}) {
    const std::string text = with_vector_elements(std::string(R"(
  allocate(X: Pointer(global float32), float32, [68]), storage_scope = global {
    for (i: int32, 0, 17) {
      X_1: Buffer(X, float32, [68], [])[ramp((i*4), 1, 4)] = broadcast(0f32, 4)
    }
    for (j: int32, 0, 16) {
      B[ramp((j*4), 1, 4)] = X_1[ramp()") + index +
                                                  R"(, 1, 4)]
    }
  })");
    EXPECT_NE(text.find("allocate(X: Pointer(global float32), float32, [68])"), std::string::npos)
        << text;
  }
}

}  // namespace
}  // namespace tenon::lowering

#include "lower/passes.h"

#include <gtest/gtest.h>

#include "pass_text.h"

namespace tenon::lowering {
namespace {

std::string scalarized(std::string_view body) {
  return test::run(scalarize_elements, test::function_text(body));
}

TEST(ScalarizeElements, VectorsAreAccessedByRamps) {
  EXPECT_EQ(scalarized(R"(
  allocate(T: Pointer(global float32x4), float32x4, [16]), storage_scope = global {
    for (i: int32, 0, 16) {
      T_1: Buffer(T, float32x4, [16], [])[i] = A[ramp((i*4), 1, 4)]
    }
    B[ramp(0, 1, 4)] = T_1[3]
  })"),
            R"(allocate(T: Pointer(global float32), float32, [64]), storage_scope = global {
  for (i: int32, 0, 16) {
    T_1: Buffer(T, float32, [64], [])[ramp((i*4), 1, 4)] = A[ramp((i*4), 1, 4)]
  }
  B[ramp(0, 1, 4)] = T_1[ramp(12, 1, 4)]
}
)");
}

TEST(ScalarizeElements, SeveralVectorsAtATimeStay) {
  const char* const body = R"(
  allocate(T: Pointer(global float32x4), float32x4, [16]), storage_scope = global {
    T_1: Buffer(T, float32x4, [16], [])[ramp(0, 1, 2)] = A[ramp(0, 1, 8)]
    B[ramp(0, 1, 4)] = T_1[1]
  })";
  EXPECT_EQ(scalarized(body), test::unchanged(body));
}

TEST(ScalarizeElements, MemoryWhoseAddressIsTakenStays) {
  const char* const body = R"(
  allocate(T: Pointer(global float32x4), float32x4, [16]), storage_scope = global {
    T_1: Buffer(T, float32x4, [16], [])[0] = A[ramp(0, 1, 4)]
    @tir.call_extern("read", T, dtype=int32)
  })";
  EXPECT_EQ(scalarized(body), test::unchanged(body));
}

TEST(ScalarizeElements, MemoryWhoseSizeIsNotKnownStays) {
  const char* const body = R"(
  let n: int32 = cast(int32, A[0])
  allocate(T: Pointer(global float32x4), float32x4, [n]), storage_scope = global {
    T_1: Buffer(T, float32x4, [n], [])[0] = A[ramp(0, 1, 4)]
    B[ramp(0, 1, 4)] = T_1[0]
  })";
  EXPECT_EQ(scalarized(body), test::unchanged(body));
}

}  // namespace
}  // namespace tenon::lowering

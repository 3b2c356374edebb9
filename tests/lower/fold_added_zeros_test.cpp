#include "lower/passes.h"

#include <gtest/gtest.h>

#include "pass_text.h"

namespace tenon::lowering {
namespace {

std::string folded(std::string_view body) {
  return test::run(fold_added_zeros, test::function_text(body));
}

TEST(FoldAddedZeros, TextHasNoAdditionsOfZero) {
  EXPECT_EQ(folded("B[0] = ((A[0]*2f32) + 0f32)"), "B[0] = (A[0]*2f32)\n");
  EXPECT_EQ(folded("B[0] = (0f32 + A[0])"), "B[0] = A[0]\n");
  EXPECT_EQ(folded("B[ramp(0, 1, 8)] = (A[ramp(0, 1, 8)] + broadcast(0f32, 8))"),
            "B[ramp(0, 1, 8)] = A[ramp(0, 1, 8)]\n");
}

TEST(FoldAddedZeros, ProductsWithZeroStay) {
  EXPECT_EQ(folded("B[0] = (A[0]*0f32)"), "B[0] = (A[0]*0f32)\n");
}

}  // namespace
}  // namespace tenon::lowering

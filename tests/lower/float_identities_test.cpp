// Passes that fold identities of float arithmetic.

#include "lower/passes.h"

#include <gtest/gtest.h>

#include "pass_text.h"
#include "tenon/lower/pipeline.h"

namespace tenon::lowering {
namespace {

// ---- products with zero -------------------------------------------------------------------------

std::string folded(std::string_view body) {
  return test::run(fold_float_identities, test::function_text(body));
}

TEST(FoldFloatIdentities, ProductsWithZeroAreZero) {
  EXPECT_EQ(folded("B[0] = (A[0]*0f32)"), "B[0] = 0f32\n");
  EXPECT_EQ(folded("B[0] = (0f32*A[0])"), "B[0] = 0f32\n");
}

TEST(FoldFloatIdentities, ZeroIsNotAdded) {
  EXPECT_EQ(folded("B[0] = (A[0] + 0f32)"), "B[0] = A[0]\n");
  EXPECT_EQ(folded("B[0] = (0f32 + A[0])"), "B[0] = A[0]\n");
  EXPECT_EQ(folded("B[0] = (A[0] - 0f32)"), "B[0] = A[0]\n");
}

TEST(FoldFloatIdentities, ADifferenceFromZeroStays) {
  EXPECT_EQ(folded("B[0] = (0f32 - A[0])"), "B[0] = (0f32 - A[0])\n");
}

TEST(FoldFloatIdentities, WhatFoldsInsideFoldsOutside) {
  EXPECT_EQ(folded("B[0] = (A[3] + (((A[0]*0f32) + (A[1]*0f32))*A[2]))"), "B[0] = A[3]\n");
}

TEST(FoldFloatIdentities, VectorsOfZerosFoldToo) {
  EXPECT_EQ(folded("B[ramp(0, 1, 8)] = (A[ramp(8, 1, 8)] + (A[ramp(0, 1, 8)]*broadcast(0f32, 8)))"),
            "B[ramp(0, 1, 8)] = A[ramp(8, 1, 8)]\n");
}

TEST(FoldFloatIdentities, ANameOfZeroGivesWayToIt) {
  EXPECT_EQ(folded(R"(
  let x: float32 = (A[0]*0f32)
  B[0] = (A[1] + (x*A[2])))"),
            "B[0] = A[1]\n");
}

TEST(FoldFloatIdentities, WhatAddsOnlyZeroIsNotStored) {
  EXPECT_EQ(folded(R"(
  B[0] = (B[0] + (A[0]*0f32))
  B[1] = (B[0] + (A[0]*0f32))
)"),
            "B[1] = B[0]\n");
}

TEST(FoldFloatIdentities, CallsThatDoSomethingStay) {
  const char* call = "B[0] = (@tir.call_extern(\"next\", dtype=float32)*0f32)\n";
  EXPECT_EQ(folded(call), call);
}

TEST(FoldFloatIdentities, AnInfinityThatIsWrittenStays) {
  EXPECT_EQ(folded("B[0] = (inff32*0f32)"), "B[0] = (inff32*0f32)\n");
}

TEST(FoldFloatIdentities, LoopsThatOnlyAddZeroGo) {
  const tir::PrimFunc func = test::parse_function(test::function_text(R"(
  B[1] = A[0]
  for (i: int32, 0, 8) {
    B[0] = (B[0] + (A[i]*0f32))
  }
)"));
  EXPECT_EQ(test::body_text(run_passes(fast_math_passes(), func, {})), "B[1] = A[0]\n");
}

// ---- added zeros --------------------------------------------------------------------------------

std::string without_added_zeros(std::string_view body) {
  return test::run(fold_added_zeros, test::function_text(body));
}

TEST(FoldAddedZeros, TextHasNoAdditionsOfZero) {
  EXPECT_EQ(without_added_zeros("B[0] = ((A[0]*2f32) + 0f32)"), "B[0] = (A[0]*2f32)\n");
  EXPECT_EQ(without_added_zeros("B[0] = (0f32 + A[0])"), "B[0] = A[0]\n");
  EXPECT_EQ(without_added_zeros("B[ramp(0, 1, 8)] = (A[ramp(0, 1, 8)] + broadcast(0f32, 8))"),
            "B[ramp(0, 1, 8)] = A[ramp(0, 1, 8)]\n");
}

TEST(FoldAddedZeros, ProductsWithZeroStay) {
  EXPECT_EQ(without_added_zeros("B[0] = (A[0]*0f32)"), "B[0] = (A[0]*0f32)\n");
}

}  // namespace
}  // namespace tenon::lowering

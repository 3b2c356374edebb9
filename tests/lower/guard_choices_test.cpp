#include "lower/passes.h"

#include <gtest/gtest.h>

#include "pass_text.h"

namespace tenon::lowering {
namespace {

using test::function_text;
using test::normalized;
using test::run;
using test::unchanged;

std::string guarded(std::string_view body) {
  return test::run(guard_choices, test::function_text(body, 64, 64));
}

TEST(GuardChoices, ALoadThatIsNotProvablyInBoundsIsGuarded) {
  EXPECT_EQ(guarded(R"(
  for (o: int32, 0, 8) {
    B[ramp((o*8), 1, 8)] = select((broadcast(1, 8) <= ramp((o*8), 1, 8)), A[ramp(((o*8) - 1), 1, 8)], broadcast(0f32, 8))
  })"),
            R"(for (o: int32, 0, 8) {
  B[ramp((o*8), 1, 8)] = @tir.if_then_else((broadcast(1, 8) <= ramp((o*8), 1, 8)), A[ramp(((o*8) - 1), 1, 8)], broadcast(0f32, 8), dtype=float32x8)
}
)");
}

TEST(GuardChoices, ALoadThatIsInBoundsIsNotGuarded) {
  const char* const body = R"(
  for (o: int32, 0, 7) {
    B[ramp((o*8), 1, 8)] = select((broadcast(1, 8) <= ramp((o*8), 1, 8)), A[ramp(((o*8) + 8), 1, 8)], broadcast(0f32, 8))
  })";
  EXPECT_EQ(guarded(body), unchanged(body));
}

TEST(GuardChoices, AClampedGatherIsNotGuarded) {
  const char* const body = R"(
  for (o: int32, 0, 8) {
    B[ramp((o*8), 1, 8)] = select((broadcast(1, 8) <= ramp((o*8), 1, 8)), A[max((ramp((o*8), 1, 8) - broadcast(1, 8)), broadcast(0, 8))], broadcast(0f32, 8))
  })";
  EXPECT_EQ(guarded(body), unchanged(body));
}

TEST(GuardChoices, AnElementThatTheConditionReadsIsNotGuarded) {
  const char* const body = R"(
  for (o: int32, 0, 80) {
    B[ramp((o*8), 1, 8)] = select((broadcast(0f32, 8) < A[ramp((o*8), 1, 8)]), A[ramp((o*8), 1, 8)], broadcast(0f32, 8))
  })";
  EXPECT_EQ(guarded(body), unchanged(body));
}

TEST(GuardChoices, TheRightSideOfALogicalOperatorIsGuarded) {
  EXPECT_EQ(guarded(R"(
  for (o: int32, 0, 8) {
    B[ramp((o*8), 1, 8)] = select(((broadcast(1, 8) <= ramp((o*8), 1, 8)) && (broadcast(0f32, 8) < A[ramp(((o*8) - 1), 1, 8)])), broadcast(1f32, 8), broadcast(0f32, 8))
  })"),
            R"(for (o: int32, 0, 8) {
  B[ramp((o*8), 1, 8)] = select(@tir.if_then_else((broadcast(1, 8) <= ramp((o*8), 1, 8)), (broadcast(0f32, 8) < A[ramp(((o*8) - 1), 1, 8)]), broadcast(False, 8), dtype=boolx8), broadcast(1f32, 8), broadcast(0f32, 8))
}
)");
}

TEST(GuardChoices, AScalarSelectAroundAChoiceIsGuarded) {
  EXPECT_EQ(guarded(R"(
  for (o: int32, 0, 64) {
    B[o] = select((1 <= o), @tir.if_then_else((A[0] < 1f32), A[(o - 1)], 0f32, dtype=float32), 0f32)
  })"),
            R"(for (o: int32, 0, 64) {
  B[o] = @tir.if_then_else((1 <= o), @tir.if_then_else((A[0] < 1f32), A[(o - 1)], 0f32, dtype=float32), 0f32, dtype=float32)
}
)");
}

TEST(GuardChoices, ABranchByLanesLeavesLoadsOutThatMayFault) {
  EXPECT_EQ(run(guard_choices, function_text(R"(
  for (o: int32, 0, 200) {
    if (ramp((o*8), 1, 8) < broadcast(1024, 8)) {
      B[ramp((o*8), 1, 8)] = (A[ramp((o*8), 1, 8)] + A[ramp(0, 1, 8)])
    }
  }
)")),
            normalized(R"(
for (o: int32, 0, 200) {
  let taken: boolx8 = (ramp((o*8), 1, 8) < broadcast(1024, 8))
  if taken {
    B[ramp((o*8), 1, 8)] = (@tir.if_then_else(taken, A[ramp((o*8), 1, 8)], broadcast(0f32, 8), dtype=float32x8) + A[ramp(0, 1, 8)])
  }
}
)"));
}

TEST(GuardChoices, WhatTheConditionOfABranchByLanesReadsCanBeReadInAllLanes) {
  EXPECT_EQ(run(guard_choices, function_text(R"(
  for (o: int32, 0, 200) {
    if (A[ramp((o*8), 1, 8)] < broadcast(0f32, 8)) {
      B[ramp((o*8), 1, 8)] = (A[ramp((o*8), 1, 8)]*B[ramp((o*8), 1, 8)])
    }
  }
)")),
            normalized(R"(
for (o: int32, 0, 200) {
  let taken: boolx8 = (A[ramp((o*8), 1, 8)] < broadcast(0f32, 8))
  if taken {
    B[ramp((o*8), 1, 8)] = (A[ramp((o*8), 1, 8)]*@tir.if_then_else(taken, B[ramp((o*8), 1, 8)], broadcast(0f32, 8), dtype=float32x8))
  }
}
)"));
}

}  // namespace
}  // namespace tenon::lowering

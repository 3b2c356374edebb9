// Passes that evaluate only the chosen side.
#include "lower/passes.h"

#include <gtest/gtest.h>

#include "pass_text.h"

namespace tenon::lowering {
namespace {

// ---- guard_choices ------------------------------------------------------------------------------

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

// ---- rewrite_unsafe_selects ---------------------------------------------------------------------

std::string rewritten(const std::string& value) {
  const std::string text =
      test::run(rewrite_unsafe_selects,
                test::function_text("  for (i: int32, 0, 16) {\n    B[i] = " + value + "\n  }\n"));
  const std::size_t begin = text.find(" = ", text.find("B[i]")) + 3;
  return text.substr(begin, text.find('\n', begin) - begin);
}

TEST(RewriteUnsafeSelects, ALoadIsEvaluatedOnlyIfChosen) {
  EXPECT_EQ(rewritten("select((1 <= i), A[(i - 1)], 0f32)"),
            "@tir.if_then_else((1 <= i), A[(i - 1)], 0f32, dtype=float32)");
  EXPECT_EQ(rewritten("select((1 <= i), 0f32, (A[i] + 1f32))"),
            "@tir.if_then_else((1 <= i), 0f32, (A[i] + 1f32), dtype=float32)");
}

TEST(RewriteUnsafeSelects, WhatCannotFaultStays) {
  EXPECT_EQ(rewritten("select((1 <= i), 1f32, cast(float32, floordiv(i, 2)))"),
            "select((1 <= i), 1f32, cast(float32, floordiv(i, 2)))");
  EXPECT_EQ(rewritten("select((A[i] < 0f32), @tir.exp(1f32, dtype=float32), 0f32)"),
            "select((A[i] < 0f32), @tir.exp(1f32, dtype=float32), 0f32)");
}

TEST(RewriteUnsafeSelects, ADivisionByZeroIsNotEvaluated) {
  EXPECT_EQ(rewritten("cast(float32, select((i != 0), floordiv(16, i), 0))"),
            "cast(float32, @tir.if_then_else((i != 0), floordiv(16, i), 0, dtype=int32))");
}

TEST(RewriteUnsafeSelects, AnInnerChoiceIsAsSafeAsItsCondition) {
  EXPECT_EQ(rewritten("select((i < 4), select((1 <= i), A[(i - 1)], 0f32), 1f32)"),
            "select((i < 4), @tir.if_then_else((1 <= i), A[(i - 1)], 0f32, dtype=float32), 1f32)");
}

TEST(RewriteUnsafeSelects, KnownTextsAreDone) {
  for (const test::KnownText& known : test::known_functions())
    EXPECT_EQ(test::text_of(rewrite_unsafe_selects(test::parse_function(known.text), {})),
              known.text)
        << known.name;
}

}  // namespace
}  // namespace tenon::lowering

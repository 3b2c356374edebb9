#include "lower/passes.h"

#include <gtest/gtest.h>

#include "pass_text.h"

namespace tenon::lowering {
namespace {

using test::normalized;

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

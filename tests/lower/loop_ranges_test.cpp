// Passes that change the ranges of loops.

#include "lower/passes.h"

#include <gtest/gtest.h>

#include "pass_text.h"
#include "tenon/interp/evaluate.h"
#include "tenon/tir/buffer.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/parse.h"
#include "tenon/tir/print.h"
#include "tenon/tir/stmt.h"

namespace tenon::lowering {
namespace {

// ---- bind_loop_ranges ---------------------------------------------------------------------------

std::string bound(std::string_view body) {
  return test::run(bind_loop_ranges, test::function_text(body));
}

TEST(BindLoopRanges, ARangeOfMemoryThatTheFunctionWritesIsEvaluatedOnce) {
  EXPECT_EQ(bound(R"(
  for (i: int32, 0, cast(int32, B[0])) {
    B[i] = A[i]
  })"),
            R"(let i_extent: int32 = cast(int32, B[0])
for (i: int32, 0, i_extent) {
  B[i] = A[i]
}
)");
}

TEST(BindLoopRanges, ARangeOfMemoryThatIsOnlyReadStays) {
  const std::string_view body = R"(
  for (i: int32, 0, cast(int32, A[0])) {
    B[i] = A[i]
  })";
  EXPECT_EQ(bound(body), test::unchanged(body));
}

// ---- rebase_loops -------------------------------------------------------------------------------

std::string rebased(std::string_view body) {
  return test::run(rebase_loops, test::function_text(body));
}

TEST(RebaseLoops, FarFromZeroTheyBeginThere) {
  EXPECT_EQ(rebased(R"(
  for (i: int32, 2147483636, 2147483638) {
    B[(i - 2147483636)] = A[(2147483643 - i)]
  })"),
            R"(for (i: int32, 0, 2) {
  B[i] = A[((0 - i) + 7)]
}
)");
}

/// 15 + 2147483637 is beyond int32.
TEST(RebaseLoops, TheirConstantsAreAddedUpAtOnce) {
  EXPECT_EQ(rebased(R"(
  for (i: int32, 2147483637, 2147483642) {
    B[(15 - (2147483641 - i))] = A[((i - 2147483637)*4)]
  })"),
            R"(for (i: int32, 0, 5) {
  B[((0 - (0 - i)) + 11)] = A[(i*4)]
}
)");
}

TEST(RebaseLoops, OthersStay) {
  const std::string_view body = R"(
  for (i: int32, 3, 9) {
    B[i] = A[i]
  })";
  EXPECT_EQ(rebased(body), test::unchanged(body));
}

// ---- tighten_loop_bounds ------------------------------------------------------------------------

std::string trimmed(std::string_view body) {
  return test::run(tighten_loop_bounds, test::function_text(body));
}

TEST(TrimLoops, AConditionAroundAllOfTheBodyEndsTheLoop) {
  EXPECT_EQ(trimmed(R"(
  for (i: int32, 0, 16) {
    if (i < 4) {
      B[i] = A[i]
    }
  })"),
            R"(for (i: int32, 0, 4) {
  B[i] = A[i]
}
)");
  EXPECT_EQ(trimmed(R"(
  for (i: int32, 2, 16) {
    if @tir.likely((i <= 4), dtype=bool) {
      B[i] = A[i]
    }
  })"),
            R"(for (i: int32, 2, 5) {
  B[i] = A[i]
}
)");
}

TEST(TrimLoops, OtherConditionsStay) {
  EXPECT_EQ(trimmed(R"(
  for (j: int32, 0, 9) {
    for (i: int32, 0, 16) {
      if ((j < i) && (i < 4)) {
        B[i] = A[j]
      }
    }
  })"),
            R"(for (j: int32, 0, 9) {
  for (i: int32, 0, 4) {
    if (j < i) {
      B[i] = A[j]
    }
  }
}
)");
}

TEST(TrimLoops, NoIterationMayBeLeft) {
  EXPECT_EQ(trimmed(R"(
  for (i: int32, 8, 16) {
    if (i < 4) {
      B[i] = A[i]
    }
  })"),
            R"(for (i: int32, 8, 8) {
  B[i] = A[i]
}
)");
}

TEST(TrimLoops, LoopsWithoutASerialIdleTailKeepTheirExtent) {
  for (
      const char* body :
      {"for (i: int32, 0, 16) {\n  if (i < 4) {\n    B[i] = A[i]\n  } else {\n    B[i] = 0f32\n  }\n}\n",
       "for (i: int32, 0, 16) {\n  B[i] = 0f32\n  if (i < 4) {\n    B[i] = A[i]\n  }\n}\n",
       "for (i: int32, 0, 16) {\n  if (3 < i) {\n    B[i] = A[i]\n  }\n}\n",
       "for (i: int32, 0, 16) {\n  if (i < 20) {\n    B[i] = A[i]\n  }\n}\n",
       "for (i: int32, 0, 16) \"parallel\" {\n  if (i < 4) {\n    B[i] = A[i]\n  }\n}\n"})
    EXPECT_EQ(trimmed(body), body);
}

// ---- renormalize_splits -------------------------------------------------------------------------

using namespace tir;

const Var x("x"), y("y"), z("z");

Expr renormalized(std::string_view text) {
  const std::vector<Var> vars{x, y, z};
  const PrimFunc func{{}, {}, make_evaluate(parse_expr(text, vars))};
  return renormalize_splits(func, {}).body.as<Evaluate>()->value;
}

struct Case {
  std::string_view from, to;
};

class Renormalize : public testing::TestWithParam<Case> {};

TEST_P(Renormalize, GivesTheForm) {
  EXPECT_EQ(print_expr(renormalized(GetParam().from)), GetParam().to);
}

TEST_P(Renormalize, KeepsTheValue) {
  const std::vector<Var> vars{x, y, z};
  const Expr before = parse_expr(GetParam().from, vars), after = renormalized(GetParam().from);
  for (std::int64_t a = -20; a <= 40; a += 3) {
    for (std::int64_t b = -9; b <= 9; ++b) {
      for (std::int64_t c = -3; c <= 3; ++c) {
        const auto value_of = [&](const Var& v) { return v.same_as(x) ? a : v.same_as(y) ? b : c; };
        EXPECT_EQ(evaluate_int(before, value_of), evaluate_int(after, value_of))
            << a << " " << b << " " << c;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Forms, Renormalize,
    testing::Values(Case{"floordiv(floormod(x, 64), 32)", "floormod(floordiv(x, 32), 2)"},
                    Case{"floordiv(floormod(x, 64), 24)", "floordiv(floormod(x, 64), 24)"},
                    Case{"floordiv(((x*8) + y), 12)", "floordiv(((x*2) + floordiv(y, 4)), 3)"},
                    Case{"floordiv(((x*4) + y), 6)", "floordiv(((x*2) + floordiv(y, 2)), 3)"},
                    Case{"floordiv(((x*8) + y), 8)", "(x + floordiv(y, 8))"},
                    Case{"floordiv(((x*7) + y), 12)", "floordiv(((x*7) + y), 12)"},
                    Case{"floordiv((((x*24) + (y*8)) + z), 90)",
                         "floordiv(((x*4) + floordiv(((y*4) + floordiv(z, 2)), 3)), 15)"},
                    Case{"(((x*8) + y) < 100)", "(floordiv(((x*2) + floordiv(y, 4)), 25) < 1)"},
                    Case{"(((x*8) + y) < z)", "(((x*8) + y) < z)"}, Case{"(x < 0)", "(x < 0)"},
                    Case{"(4 <= ((x*32) + y))", "(1 <= ((x*8) + floordiv(y, 4)))"},
                    Case{"(((x*8) + y) > 100)", "(100 < ((x*8) + y))"},
                    Case{"(((x*8) + y) <= 100)", "(((x*8) + y) <= 100)"},
                    Case{"!(x < y)", "(y <= x)"}));

/// Neither order holds of a NaN.
TEST(RenormalizeSplits, NegatedComparisonsOfFloatsStay) {
  const Var f("f", Float(32));
  for (const Expr& e : std::vector<Expr>{!(f < 1.0F), !(f >= 1.0F), f <= 1.0F}) {
    const PrimFunc func{{}, {}, make_evaluate(e)};
    EXPECT_EQ(print_expr(renormalize_splits(func, {}).body.as<Evaluate>()->value), print_expr(e));
  }
}

TEST(RenormalizeSplits, SumsOfElementsAreNotTakenApart) {
  const Buffer a = decl_buffer({8}, Int(32), {.name = "A"});
  const Var v("v");
  const Expr element = make_load(a, {Expr(0)});
  const Expr e = floordiv(element * 8 + 4, 8), of_let = floordiv(v * 8 + 4, 8);
  const PrimFunc func{{}, {}, make_evaluate(e)};
  EXPECT_EQ(print_expr(renormalize_splits(func, {}).body.as<Evaluate>()->value), print_expr(e));
  const PrimFunc with_let{{}, {}, make_stmt(Let{v, element, make_evaluate(of_let)})};
  EXPECT_EQ(print_expr(renormalize_splits(with_let, {}).body.as<Let>()->body.as<Evaluate>()->value),
            print_expr(of_let));
}

}  // namespace
}  // namespace tenon::lowering

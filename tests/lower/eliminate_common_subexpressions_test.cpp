#include "lower/passes.h"

#include <gtest/gtest.h>

#include "pass_text.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/parse.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"
#include "tests/common/processor_time.h"

namespace tenon::lowering {
namespace {

using namespace tir;
using test::function_text;
using test::run;

TEST(EliminateCommonSubexpressions, MakesTheLetsOfEveryKnownText) {
  int checked = 0;
  for (const test::KnownText& known : test::known_functions()) {
    if (known.name == "p9/2") continue;  // printed with the pass switched off
    SCOPED_TRACE(known.name);
    const PrimFunc func = test::without_lets(test::parse_function(known.text));
    EXPECT_EQ(test::text_of(eliminate_common_subexpressions_as_text(func, {})), known.text);
    ++checked;
  }
  EXPECT_GT(checked, 200);
}

std::string eliminated(std::string_view body) {
  return run(eliminate_common_subexpressions, function_text(body));
}

TEST(EliminateCommonSubexpressions, LargestComesFirstAndEachNewLetGoesOutside) {
  EXPECT_EQ(eliminated(R"(
  for (x: int32, 0, 8) {
    for (y: int32, 0, 8) {
      for (z: int32, 0, 8) {
        B[((x*y) + (z*y))] = A[((x*y) + (z*y))]
        B[(x*y)] = A[(z*y)]
        B[(x*y)] = 0f32
      }
    }
  })"),
            R"(for (x: int32, 0, 8) {
  for (y: int32, 0, 8) {
    for (z: int32, 0, 8) {
      let cse_var_3: int32 = (z*y)
      let cse_var_2: int32 = (x*y)
      let cse_var_1: int32 = (cse_var_2 + cse_var_3)
       {
        B[cse_var_1] = A[cse_var_1]
        B[cse_var_2] = A[cse_var_3]
        B[cse_var_2] = 0f32
      }
    }
  }
}
)");
}

TEST(EliminateCommonSubexpressions, EqualSizesGoByTheirText) {
  EXPECT_EQ(eliminated(R"(
  for (i: int32, 0, 8) {
    B[(i + 8)] = A[(i + 16)]
    B[(i + 16)] = A[(i + 8)]
  })"),
            R"(for (i: int32, 0, 8) {
  let cse_var_2: int32 = (i + 8)
  let cse_var_1: int32 = (i + 16)
   {
    B[cse_var_2] = A[cse_var_1]
    B[cse_var_1] = A[cse_var_2]
  }
}
)");
}

TEST(EliminateCommonSubexpressions, NothingRisesAboveALoopForItsBodyAlone) {
  EXPECT_EQ(eliminated(R"(
  for (i: int32, 0, 8) {
    for (j: int32, 0, 8) {
      B[(i*8)] = A[(i*8)]
    }
    for (k: int32, 0, 8) {
      B[(i*8)] = A[(i*8)]
    }
  })"),
            R"(for (i: int32, 0, 8) {
  for (j: int32, 0, 8) {
    let cse_var_1: int32 = (i*8)
    B[cse_var_1] = A[cse_var_1]
  }
  for (k: int32, 0, 8) {
    let cse_var_2: int32 = (i*8)
    B[cse_var_2] = A[cse_var_2]
  }
}
)");
}

TEST(EliminateCommonSubexpressions, WhatTwoPartsOfALoopShareGoesOutside) {
  EXPECT_EQ(eliminated(R"(
  for (i: int32, 0, 8) {
    for (j: int32, 0, (i*2)) {
      B[(i*2)] = 1f32
    }
  })"),
            R"(for (i: int32, 0, 8) {
  let cse_var_1: int32 = (i*2)
  for (j: int32, 0, cse_var_1) {
    B[cse_var_1] = 1f32
  }
}
)");
}

TEST(EliminateCommonSubexpressions, WhatRepeatsInOneExtentBecomesALetExpression) {
  EXPECT_EQ(eliminated(R"(
  for (i: int32, 0, 8) {
    for (j: int32, 0, (max(((i*8) - max(((i*8) - 1), 0)), 0) + 8)) {
      B[j] = 1f32
    }
  })"),
            R"(for (i: int32, 0, 8) {
  for (j: int32, 0, let cse_var_1: int32 = (i*8) in (max((cse_var_1 - max((cse_var_1 - 1), 0)), 0) + 8)) {
    B[j] = 1f32
  }
}
)");
}

TEST(EliminateCommonSubexpressions, ThreadVariablesAreOutOfScopeAndPartsCountOncePerParent) {
  const std::string thread =
      "  attr [IterVar(threadIdx.x: int32, (nullptr), \"ThreadIndex\", \"threadIdx.x\")] \"thread_extent\" = "
      "8;\n"
      "  for (i: int32, 0, 8) {\n";
  // Three copies of one computation are one parent of i*4.
  const std::string copies =
      "    B[((threadIdx.x*64) + (i*4))] = (A[((threadIdx.x*64) + (i*4))] + A[((threadIdx.x*64) + (i*4))])\n "
      " }\n";
  EXPECT_EQ(eliminated(thread + copies).find("let"), std::string::npos);
  const std::string two =
      "    B[((threadIdx.x*64) + (i*4))] = A[((threadIdx.x*32) + (i*4))]\n  }\n";
  EXPECT_NE(eliminated(thread + two).find("let cse_var_1: int32 = (i*4)"), std::string::npos);
}

TEST(EliminateCommonSubexpressions, LoadsAndCallsAreNeverShared) {
  const std::string body = "for (i: int32, 0, 8) {\n  B[i] = ((A[0] + 1f32)*(A[0] + 1f32))\n}\n";
  EXPECT_EQ(eliminated(body), body);
}

TEST(EliminateCommonSubexpressions, DivisionsByWhatMayBeZeroStayInTheirChoice) {
  for (const char* value :
       {"@tir.if_then_else((x != 0), (A[floordiv(8, x)]*A[floordiv(8, x)]), 0f32, dtype=float32)",
        "select(((x != 0) && ((A[0] < 0f32) || (floordiv(8, x) < floormod(floordiv(8, x), 3)))), "
        "A[1], A[2])"}) {
    const std::string body =
        std::string("\n  for (x: int32, 0, 8) {\n    B[x] = ") + value + "\n  }";
    EXPECT_EQ(eliminated(body), test::unchanged(body));
    EXPECT_NE(run(eliminate_common_subexpressions_as_text, function_text(body)),
              test::unchanged(body));
  }
}

TEST(EliminateCommonSubexpressions, DivisionsThatAreEvaluatedInAnyCaseAreShared) {
  EXPECT_EQ(eliminated(R"(
  for (x: int32, 0, 8) {
    B[x] = @tir.if_then_else((floordiv(8, x) < 3), A[floordiv(8, x)], 0f32, dtype=float32)
    B[x] = @tir.if_then_else((x < 3), (A[floordiv(x, 3)]*A[floordiv(x, 3)]), 0f32, dtype=float32)
  })"),
            R"(for (x: int32, 0, 8) {
  let cse_var_2: int32 = floordiv(x, 3)
  let cse_var_1: int32 = floordiv(8, x)
   {
    B[x] = @tir.if_then_else((cse_var_1 < 3), A[cse_var_1], 0f32, dtype=float32)
    B[x] = @tir.if_then_else((x < 3), (A[cse_var_2]*A[cse_var_2]), 0f32, dtype=float32)
  }
}
)");
}

TEST(EliminateCommonSubexpressions, AnEqualLetIsUsed) {
  EXPECT_EQ(eliminated(R"(
  for (i: int32, 0, 8) {
    let x: int32 = (i*8)
    B[(i*8)] = A[(i*8)]
  })"),
            "for (i: int32, 0, 8) {\n  let cse_var_1: int32 = (i*8)\n  let x: int32 = cse_var_1\n"
            "  B[cse_var_1] = A[cse_var_1]\n}\n");
  EXPECT_EQ(
      eliminated(R"(
  for (i: int32, 0, 8) {
    let x: int32 = (i*8)
    for (j: int32, 0, 8) {
      B[(i*8)] = A[(i*8)]
    }
  })"),
      "for (i: int32, 0, 8) {\n  let x: int32 = (i*8)\n  for (j: int32, 0, 8) {\n    B[x] = A[x]\n  }\n}\n");
}

TEST(EliminateCommonSubexpressions, ANameInUseIsSkipped) {
  EXPECT_EQ(eliminated(R"(
  for (cse_var_1: int32, 0, 8) {
    B[(cse_var_1*8)] = A[(cse_var_1*8)]
  })"),
            "for (cse_var_1: int32, 0, 8) {\n  let cse_var_2: int32 = (cse_var_1*8)\n"
            "  B[cse_var_2] = A[cse_var_2]\n}\n");
}

/// Time of the pass on `n` unrolled statements.
double seconds_of_unrolled(int n, double limit) {
  std::string body = "  for (i: int32, 0, 8) {\n    for (k: int32, 0, 8) {\n";
  for (int c = 0; c < n; ++c) {
    const std::string to = "(((i*65536) + (k*8)) + " + std::to_string(c % 64 + 1) + ")";
    const std::string from = "(((k*65536) + (i*8)) + " + std::to_string(c + 1) + ")";
    body += "      B[" + to + "] = (B[" + to + "] + A[" + from + "])\n";
  }
  const PrimFunc func = test::parse_function(function_text(body + "    }\n  }\n"));
  return testing::least_seconds(limit, [&] {
    const double start = testing::processor_seconds();
    const PrimFunc result = eliminate_common_subexpressions(func, {});
    return testing::processor_seconds() - start;
  });
}

TEST(EliminateCommonSubexpressions, CostGrowsWithTheProgram) {
  constexpr double kLimit = 1;
  const double small = seconds_of_unrolled(500, 0), large = seconds_of_unrolled(4000, kLimit);
  EXPECT_LT(large, 8 * small * 4 + 0.01);
  EXPECT_LT(large, kLimit);
}

TEST(EliminateCommonSubexpressions, SharedTreesAreWalkedOnce) {
  Var i("i");
  Expr e = i + 1;
  for (int n = 0; n < 100; ++n) e = make_binary(BinaryOp::Mul, e, e);
  const Buffer b = decl_buffer({Expr(8)}, Int(32), {.name = "B"});
  const Stmt store = make_store(b, e, {i});
  PrimFunc func{{}, {}, make_stmt(For{i, 0, 8, ForKind::Serial, store})};
  const PrimFunc result = eliminate_common_subexpressions(func, {});
  // One let for each square but the last.
  int lets = 0;
  for (Stmt s = result.body.as<For>()->body; s.as<Let>(); s = s.as<Let>()->body) ++lets;
  EXPECT_EQ(lets, 100);
}

}  // namespace
}  // namespace tenon::lowering

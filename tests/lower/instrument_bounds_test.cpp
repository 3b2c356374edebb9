#include "lower/passes.h"

#include <gtest/gtest.h>

#include "pass_text.h"

namespace tenon::lowering {
namespace {

using namespace tir;

/// With the sizes of A and B known around the body.
std::string instrumented(const std::string& body) {
  return test::run(
      instrument_bounds,
      test::function_text("  attr [B_2] \"buffer_bound\" = @tir.tvm_tuple(256, dtype=handle);\n"
                          "  attr [A_2] \"buffer_bound\" = @tir.tvm_tuple(256, dtype=handle) {\n" +
                              body + "  }\n",
                          256, 256));
}

TEST(InstrumentBounds, GivesTheKnownText) {
  const PrimFunc func = test::parse_function(test::function_text(R"(
  for (i: int32, 0, 16) {
    for (j: int32, 0, 16) {
      attr [B_2] "buffer_bound" = @tir.tvm_tuple(256, dtype=handle);
      attr [A_2] "buffer_bound" = @tir.tvm_tuple(256, dtype=handle);
      B[((i*16) + j)] = (A[((i*16) + j)] + 1f32)
    }
  })",
                                                                 256, 256));
  EXPECT_EQ(test::body_text(eliminate_common_subexpressions(instrument_bounds(func, {}), {})),
            R"(for (i: int32, 0, 16) {
  for (j: int32, 0, 16) {
    let cse_var_3: int64 = cast(int64, ((i*16) + j))
    let cse_var_2: bool = ((cse_var_3 >= 0i64) && (cse_var_3 < cast(int64, 256)))
    let cse_var_1: bool = (cse_var_2 && cse_var_2)
    attr [B_2] "buffer_bound" = @tir.tvm_tuple(256, dtype=handle);
    attr [A_2] "buffer_bound" = @tir.tvm_tuple(256, dtype=handle);
    if cse_var_1 {
      let cse_var_4: int32 = ((i*16) + j)
      B[cse_var_4] = (A[cse_var_4] + 1f32)
    } else {
      assert(cse_var_1, "OUT OF THE BOUNDS")
      1
    }
  }
}
)");
}

TEST(InstrumentBounds, AVectorIsCheckedAtBothEnds) {
  const std::string text = instrumented("    B[ramp(0, 1, 4)] = A[ramp(7, -2, 4)]\n");
  EXPECT_NE(text.find("if (((cast(int64, 1) >= 0i64) && (cast(int64, 7) < cast(int64, 256))) && "
                      "((cast(int64, 0) >= 0i64) && (cast(int64, 3) < cast(int64, 256)))) {"),
            std::string::npos)
      << text;
}

TEST(InstrumentBounds, ABranchIsCheckedOnlyWhereItIsTaken) {
  const std::string text = instrumented(
      "    for (i: int32, 0, 16) {\n"
      "      B[i] = @tir.if_then_else((1 <= i), A[(i - 1)], 0f32, dtype=float32)\n    }\n");
  EXPECT_NE(text.find("if (@tir.if_then_else((1 <= i), ((cast(int64, (i - 1)) >= 0i64) && "
                      "(cast(int64, (i - 1)) < cast(int64, 256))), True, dtype=bool) && "),
            std::string::npos)
      << text;
}

TEST(InstrumentBounds, TemporariesHaveTheSizeOfTheirBuffers) {
  const std::string text = instrumented(
      "    allocate(X: Pointer(global float32), float32, [64]), storage_scope = global {\n"
      "      X_1: Buffer(X, float32, [8], [])[3] = 0f32\n"
      "    }\n");
  EXPECT_NE(text.find("(cast(int64, 3) < cast(int64, 8))"), std::string::npos) << text;
}

TEST(InstrumentBounds, ElementsOfSeveralLanesCountAsScalars) {
  const std::string text = instrumented(
      "    allocate(X: Pointer(global float32x4), float32x4, [8]), storage_scope = global {\n"
      "      for (i: int32, 0, 8) {\n"
      "        X_1: Buffer(X, float32x4, [8], [])[i] = broadcast(0f32, 4)\n"
      "      }\n    }\n");
  EXPECT_NE(text.find("((cast(int64, i)*4i64) < cast(int64, 32))"), std::string::npos) << text;
}

}  // namespace
}  // namespace tenon::lowering

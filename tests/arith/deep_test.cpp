// Expressions that are nested deeper than the stack of a thread is.
#include <gtest/gtest.h>

#include <sstream>

#include "tenon/arith/simplify.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"

namespace tenon::arith {
namespace {

using namespace tir;

constexpr int kDepth = 200000;

TEST(DeepExpressions, ArePrintedSimplifiedAndFreed) {
  const Var x("x"), y("y");
  for (const bool is_left : {true, false}) {
    Expr sum = x;
    for (int n = 0; n < kDepth; ++n)
      sum = is_left ? make_binary(BinaryOp::Add, sum, y) : make_binary(BinaryOp::Add, y, sum);
    std::ostringstream text;
    text << sum;
    EXPECT_GT(text.str().size(), static_cast<std::size_t>(kDepth));
    EXPECT_TRUE(structural_equal(simplify(sum), simplify(x + y * kDepth)));
  }
}

}  // namespace
}  // namespace tenon::arith

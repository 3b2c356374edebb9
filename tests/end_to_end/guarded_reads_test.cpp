// Reads that conditions keep inside of a tensor: the ends of loops that code generators take apart.
#include <gtest/gtest.h>

#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

/// LLVM 22 crashed: it peeled a loop that it had peeled before (src/codegen/llvm/llvm_faults.md).
TEST(GuardedReads, OfARowAndItsPaddedMultiplesInALoopOfAnyLength) {
  const Var n = te::size_var("n");
  const te::Tensor A = te::placeholder({n, 9}, "A", Int(8));
  const te::Tensor B = te::compute(
      {n + 3}, {"i"},
      [&](Var i) {
        const Expr row = floormod(i, n), twice = i * 2;
        const Expr padded =
            if_then_else(twice >= 5 && twice < n + 5, cast(Int(32), A(twice - 5, min(i, 8))), 0);
        const Expr own = cast(Int(32), A(row, 5));
        const Expr start =
            if_then_else(Expr(1) <= twice && twice - 1 < 9, cast(Int(32), A(row, twice - 1)), 1);
        return select(A(row, 8) == A(row, floormod(i, 9)), select(padded < own, padded, own + 1),
                      start);
      },
      "B");
  EXPECT_EQ(compare_with_default(te::create_schedule(B), {n, A, B}, {.build = {.opt_level = 3}}),
            "");
}

}  // namespace
}  // namespace tenon::testing

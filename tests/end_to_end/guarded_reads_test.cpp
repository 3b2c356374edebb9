// Reads that conditions keep inside of a tensor: the ends of loops that code generators take apart.
#include <gtest/gtest.h>

#include "tests/common/processor_time.h"
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

/// LLVM's GVN takes nine seconds for it, and took half a minute for what the fuzzer found.
TEST(GuardedReads, InLoopsThatLLVMUnrollsAreCompiledInSeconds) {
  const te::Tensor A = te::placeholder({3, 17}, "A"), T = te::placeholder({4}, "T");
  const te::Tensor B = te::compute(
      {2, 17, 33}, {"h", "i", "j"},
      [&](Var h, Var i, Var j) {
        const Expr above = if_then_else(i >= 3, A(floormod(j, 3), i - 3), 0.0f);
        const Expr below = if_then_else(i + 5 < 17, A(floormod(j, 3), i + 5), 1.0f);
        const Expr turn = if_then_else(floormod(h, 2) == 0, i * 2 + 1, j * 3 + 2);
        return select(T(floordiv(h, 2)) < T(floormod(h + j, 4)),
                      T(floormod(turn, 4)) + above + below,
                      T(floormod(if_then_else(h < 1, j * 2, h), 2)));
      },
      "B");
  te::Schedule s = te::create_schedule(B);
  const auto [h, i, j] = std::tuple(B.op().axis(0), B.op().axis(1), B.op().axis(2));
  s[B].reorder({j, h, i}).unroll(i).unroll(j).pragma(j, "unroll_explicit", 0);
  constexpr double kLimit = 1;
  EXPECT_LT(least_seconds(
                kLimit,
                [&] {
                  const double start = processor_seconds();
                  build(s, {A, T, B}, Target("llvm"), {.instrument_bounds = true, .opt_level = 3});
                  return processor_seconds() - start;
                }),
            kLimit);
}

}  // namespace
}  // namespace tenon::testing

// Reads that conditions keep inside of a tensor: the ends of loops that code generators take apart.
#include <gtest/gtest.h>

#include <functional>

#include "tests/common/processor_time.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

/// Processor time of the fastest build, with checks, which make many blocks. Stops at a build that
/// takes less than `enough`.
double seconds_to_build(const te::Schedule& s, const std::vector<LowerArgument>& args,
                        double enough) {
  return least_seconds(enough, [&] {
    const double start = processor_seconds();
    build(s, args, Target("llvm"), {.instrument_bounds = true, .opt_level = 3});
    return processor_seconds() - start;
  });
}

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
  EXPECT_LT(seconds_to_build(s, {A, T, B}, kLimit), kLimit);
}

/// LLVM can examine all conditions on the way to a loop for every loop, which takes 20 seconds
/// here.
TEST(GuardedReads, InHundredsOfLoopsOneBehindTheOtherAreCompiledInSeconds) {
  const te::Tensor A = te::placeholder({6, 4, 7}, "A", UInt(64));
  const te::IterVar k = te::reduce_axis({0, 33}, "k");
  const te::Tensor B = te::compute(
      {2, 16, 10}, {"h", "i", "j"},
      [&](Var h, Var i, Var j) {
        const Expr row = floormod(if_then_else(floormod(i, 2) == 0, j * 4 + 1, i * 3 + 3), 4);
        const Expr column = floormod(select(floormod(k, 2) == 0, i * 4, j * 4), 7);
        return te::sum(A(row, 3 - h, column), {k}, {.where = k <= h + 2});
      },
      "B");
  te::Schedule s = te::create_schedule(B);
  const te::IterVar strand = s[B].split(k, 16).inner;
  const te::Tensor parts = s.rfactor(B, strand, -1);
  const te::Stage part = s[parts], sum = s[s.outputs()[0]];
  part.vectorize(parts.op().axis(3));
  part.reorder({part.axis(0), part.axis(1), part.axis(2), part.reduce_axis(0), parts.op().axis(3)});
  part.compute_at(sum, sum.reduce_axis(0)).rolling_buffer();
  sum.unroll(sum.axis(1)).unroll(sum.reduce_axis(0));
  constexpr double kLimit = 3;
  EXPECT_LT(seconds_to_build(s, {A, sum.op().output(0)}, kLimit), kLimit);
}

/// LLVM can compare every two of a condition's thousands of uses, which takes 15 seconds here. A
/// single statement is not divided.
TEST(GuardedReads, OfMoreThanCanBeOptimisedAreCompiledInSeconds) {
  constexpr int kReads = 128 * 40;
  const te::Tensor A = te::placeholder({4, kReads}, "A", Int(32));
  const te::Tensor B = te::compute(
      {4}, {"i"},
      [&](Var i) {
        Expr sum = 0;
        for (int d = 0; d < kReads; ++d) sum = sum + if_then_else(i >= 1, A(i - 1, d), d);
        return sum;
      },
      "B");
  const te::Schedule s = te::create_schedule(B);
  constexpr double kLimit = 5;
  EXPECT_LT(seconds_to_build(s, {A, B}, kLimit), kLimit);
  const runtime::Module module = build(s, {A, B}, Target("llvm"), {.instrument_bounds = true});
  EXPECT_NE(module.get_source("ll").find("not optimised"), std::string::npos);
  const Arguments right = make_arguments({A, B}), actual = make_arguments({A, B});
  tir::evaluate(lower_to_loops(te::create_schedule(B), {A, B}), right.values);
  run_compiled(module["main"], actual);
  EXPECT_EQ(first_difference(right, actual, 0), "");
}

te::Tensor stencil(const te::Tensor& A, int h, int w,
                   const std::function<Expr(Expr, int)>& position) {
  return te::compute(
      {h, w}, {"y", "x"},
      [&](Var y, Var x) {
        Expr sum = A(position(y, h), position(x, w)) * 2.0f;
        for (int d : {-2, 1, 3}) sum = sum + A(position(y + d, h), position(x - d, w));
        return sum;
      },
      "B");
}

/// Repeated edges, wrapped around, and each side alone.
TEST(GuardedReads, ClampedAndWrappedIndicesReadTheSameInEverySchedule) {
  const std::vector<std::function<Expr(Expr, int)>> positions = {
      [](const Expr& x, int n) { return max(min(x, n - 1), 0); },
      [](const Expr& x, int n) { return min(max(x, 0), n - 1); },
      [](const Expr& x, int n) { return floormod(x, n); },
      [](const Expr& x, int n) { return min(max(x, 2), n - 5); }};
  const te::Tensor A = te::placeholder({13, 70}, "A");
  for (const auto& position : positions) {
    const te::Tensor B = stencil(A, 13, 70, position);
    EXPECT_EQ(compare_with_default(te::create_schedule(B), {A, B}), "");
    te::Schedule s = te::create_schedule(B);
    auto [o, i] = s[B].split(s[B].axis(1), 8);
    s[B].vectorize(i).parallel(s[B].axis(0));
    EXPECT_EQ(compare_with_default(s, {A, B}), "");
    te::Schedule fused = te::create_schedule(B);
    auto [outer, inner] = fused[B].split(fused[B].fuse(fused[B].axis(0), fused[B].axis(1)), 10);
    fused[B].unroll(inner);
    EXPECT_EQ(compare_with_default(fused, {A, B}), "");
  }
}

TEST(GuardedReads, ClampedIndicesOfSymbolicSizesReadTheSameInEverySchedule) {
  const Var n = te::size_var("n"), m = te::size_var("m");
  const te::Tensor A = te::placeholder({n, m}, "A");
  const te::Tensor B = te::compute(
      {n, m}, {"y", "x"},
      [&](Var y, Var x) {
        return A(max(min(y + 2, n - 1), 0), x) + A(y, max(min(x - 3, m - 1), 0));
      },
      "B");
  te::Schedule s = te::create_schedule(B);
  auto [o, i] = s[B].split(s[B].axis(1), 4);
  s[B].vectorize(i);
  for (const te::Schedule& each : {te::create_schedule(B), s})
    EXPECT_EQ(compare_with_default(each, {n, m, A, B}, {.symbols = {1, 2, 3, 4, 5, 21}}), "");
}

/// A read where the condition does not hold would be uninitialized, or out of bounds.
TEST(GuardedReads, ReductionsWithAConditionReadWhereItHolds) {
  const te::Tensor A = te::placeholder({40}, "A"), P = te::placeholder({40}, "P", Int(32));
  te::IterVar k = te::reduce_axis({0, 9}, "k");
  const te::Tensor B = te::compute(
      {40}, {"i"},
      [&](Var i) { return te::sum(A(i + k - 4), {k}, {.where = i + k >= 4 && i + k - 4 < 40}); },
      "B");
  const te::Tensor C = te::compute(
      {40}, {"i"},
      [&](Var i) {
        return te::sum(select(P(i) >= 0 && P(i) + k < 40, A(P(i) + k), 1.0f), {k},
                       {.where = P(floormod(i + k, 40)) > 0});
      },
      "C");
  for (const te::Tensor& out : {B, C}) {
    const std::vector<LowerArgument> args =
        out.same_as(B) ? std::vector<LowerArgument>{A, B} : std::vector<LowerArgument>{A, P, C};
    EXPECT_EQ(compare_with_default(te::create_schedule(out), args), "");
    for (int factor : {8, 7}) {
      te::Schedule s = te::create_schedule(out);
      auto [o, i] = s[out].split(s[out].axis(0), factor);
      s[out].reorder({o, s[out].reduce_axis(0), i}).vectorize(i);
      EXPECT_EQ(compare_with_default(s, args), "") << factor;
      te::Schedule unrolled = te::create_schedule(out);
      auto [oo, ii] = unrolled[out].split(unrolled[out].axis(0), factor);
      unrolled[out].unroll(ii);
      EXPECT_EQ(compare_with_default(unrolled, args), "") << factor;
    }
  }
}

}  // namespace
}  // namespace tenon::testing

// Vectors as elements, lanes taken apart and put together.
#include <gtest/gtest.h>

#include <ctime>

#include "tenon/tir/stmt.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

struct VectorElementTest : ::testing::Test {
  Var n = te::size_var("n");
  te::Tensor A = te::placeholder({n}, "A", Float(32, 4)),
             B = te::placeholder({n}, "B", Float(32, 4));
};

TEST_F(VectorElementTest, AddedSplitVectorizedAndInParallel) {
  te::Tensor C = te::compute(
      {n}, {"i"}, [&](Var i) { return A(i) + B(i) * 2.0f; }, "C");
  for (bool is_vectorized : {false, true}) {
    te::Schedule s = te::create_schedule(C);
    const auto [outer, inner] = s[C].split_by_nparts(s[C].axis(0), 4);
    const te::IterVar lanes = s[C].split(inner, 4).inner;
    s[C].parallel(outer);
    if (is_vectorized) s[C].vectorize(lanes);
    EXPECT_EQ(compare_with_default(s, {A, B, C}, {.symbols = {0, 1, 3, 8, 17, 64}}), "")
        << is_vectorized;
  }
}

TEST_F(VectorElementTest, ChosenConvertedAndComputedWith) {
  const std::vector<std::function<Expr(Var)>> bodies = {
      [&](Var i) { return select(A(i) > B(i), A(i), B(i) * 0.5f); },
      [&](Var i) { return if_then_else(i >= 2, A(i - 2), B(i)); },
      [&](Var i) { return exp(A(i)) + max(A(i), B(i)); },
      [&](Var i) { return cast(Float(64, 4), A(i)); },
      [&](Var i) { return A(i) + tir::make_broadcast(cast(Float(32), i), 4); },
  };
  for (std::size_t body = 0; body < bodies.size(); ++body) {
    te::Tensor C = te::compute({n}, {"i"}, bodies[body], "C");
    te::Schedule s = te::create_schedule(C);
    te::Tensor cached = s.cache_read(A, "local", {C.op()});
    const auto [outer, inner] = s[C].split(s[C].axis(0), 4);
    s[C].vectorize(inner);
    s[cached].compute_at(s[C], outer);
    EXPECT_EQ(compare_with_default(s, {A, B, C}, {.symbols = {2, 9}}), "") << body;
  }
}

TEST_F(VectorElementTest, SummedAndFactored) {
  te::Tensor X = te::placeholder({10}, "X", Int(32, 4));
  te::IterVar k = te::reduce_axis({0, 10}, "k");
  te::Tensor S = te::compute(
      {1}, {"i"}, [&](Var) { return te::sum(X(k), {k}); }, "S");
  te::Schedule s = te::create_schedule(S);
  const auto [outer, inner] = s[S].split(k, 3);
  s.rfactor(S, inner);
  EXPECT_EQ(compare_with_default(s, {X, S}), "");
}

TEST(ShuffleTest, LanesInAnotherOrder) {
  te::Tensor A = te::placeholder({8}, "A", Int(32)), B = te::placeholder({8}, "B", Int(32));
  te::Tensor reversed = te::extern_op(
      {8}, {A, B},
      [](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) -> te::ExternResult {
        const Expr all = tir::make_ramp(0, 1, 8);
        const Expr lanes =
            tir::make_shuffle({tir::make_load(ins[1], {all})}, {7, 6, 5, 4, 3, 2, 1, 0});
        return tir::make_store(outs[0], tir::make_load(ins[0], {all}) + lanes, {all});
      },
      "C");
  EXPECT_EQ(compare_with_default(te::create_schedule(reversed), {A, B, reversed}), "");
  const Arguments a = make_arguments({A, B, reversed});
  run_compiled(build(te::create_schedule(reversed), {A, B, reversed})["main"], a);
  const auto element = [&](std::size_t array, int n) {
    return reinterpret_cast<const int*>(a.arrays[array]->data())[n];
  };
  for (int n = 0; n < 8; ++n) EXPECT_EQ(element(2, n), element(0, n) + element(1, 7 - n));
}

TEST(ShuffleTest, OneLaneByItsNumberAndByAnAxis) {
  te::Tensor A = te::placeholder({12}, "A", Float(32, 4));
  te::Tensor fixed = te::compute(
      {12}, {"i"},
      [&](Var i) {
        return tir::make_shuffle({A(i), A(11 - i)}, {6});
      },
      "fixed");
  te::Schedule s = te::create_schedule(fixed);
  s[fixed].vectorize(s[fixed].split(s[fixed].axis(0), 4).inner);
  EXPECT_EQ(compare_with_default(s, {A, fixed}), "");

  te::Tensor each = te::compute(
      {12, 4}, {"i", "lane"}, [&](Var i, Var lane) { return tir::make_shuffle({A(i)}, {lane}); },
      "each");
  for (int way = 0; way < 3; ++way) {
    te::Schedule t = te::create_schedule(each);
    if (way == 1) t[each].unroll(t[each].axis(1));
    if (way == 2) t[each].vectorize(t[each].axis(1));
    EXPECT_EQ(compare_with_default(t, {A, each}), "") << way;
  }
}

/// LLVM 22 leaves the division of four bytes out (src/codegen/llvm/llvm_faults.md).
TEST(VectorsTest, OfFourBytesAreDividedByAConstant) {
  using Division = Expr (*)(const Expr&, const Expr&);
  const Division divisions[] = {
      [](const Expr& a, const Expr& b) -> Expr { return floordiv(a, b); },
      [](const Expr& a, const Expr& b) -> Expr { return floormod(a, b); },
      [](const Expr& a, const Expr& b) -> Expr { return truncdiv(a, b); },
      [](const Expr& a, const Expr& b) -> Expr { return truncmod(a, b); }};
  for (const DataType type : {UInt(8), Int(8)})
    for (std::size_t n = 0; n < std::size(divisions); ++n) {
      const te::Tensor A = te::placeholder({12}, "A", type);
      const te::Tensor B = te::compute(
          {5}, {"i"},
          [&](Var i) {
            const Expr part = divisions[n](cast(Int(32), A(4 - i)), 5);
            return floormod(part + cast(Int(32), A(i * 2)) + 3, 8) * 65536;
          },
          "B");
      EXPECT_EQ(compare_with_default(te::create_schedule(B), {A, B}), "") << type.str() << " " << n;
    }
}

/// LLVM 22 takes a minute of processor time (src/codegen/llvm/llvm_faults.md).
TEST(VectorsTest, OfEqualLanesAreDividedWithoutOptimization) {
  const te::Tensor A = te::placeholder({8}, "A", Int(64));
  const te::Tensor B = te::compute(
      {8}, {"i"}, [&](Var i) { return A(i) + 1; }, "B");
  const te::Tensor C = te::compute(
      {8}, {"i"}, [&](Var i) { return floormod(B(floordiv(i, 3) * 2 + floordiv(i, 4)), 3); }, "C");
  te::Schedule s = te::create_schedule(C);
  s[C].vectorize(s[C].axis(0));
  const std::clock_t begin = std::clock();
  const runtime::Module module =
      build(s, {A, C}, "llvm -mcpu=x86-64-v3", {.opt_level = 0, .cache = false});
  EXPECT_LT(std::clock() - begin, 10 * CLOCKS_PER_SEC);
}

// The body of the parallel loop is a function of its own, which is given the vectors that it uses.
TEST(VectorsTest, AParallelLoopInsideOfAVectorisedOneUsesItsVectors) {
  const Var n = te::size_var("n");
  te::Tensor A = te::placeholder({n * 2, n + 2}, "A", Int(16));
  te::Tensor B = te::compute(
      {12, n * 2}, {"i", "j"},
      [&](Var i, Var j) { return A(j, floormod(i, n + 2)) + A(j, floormod(j, n + 2)); }, "B");
  te::Schedule s = te::create_schedule(B);
  const te::Tensor local = s.cache_read(A, "local", {B});
  auto [io, ii] = s[B].split(s[B].axis(0), 3);
  s[B].reorder({io, s[B].axis(1), ii});
  auto [rest, lanes] = s[B].split(s[B].fuse({io, s[B].axis(1)}), 4);
  s[B].reorder({rest, ii, lanes}).vectorize(lanes);
  s[local].compute_at(s[B], ii);
  s[local].reorder({s[local].axis(1), s[local].axis(0)}).parallel(s[local].axis(1));
  WaysToRun ways{.symbols = {1, 7, 17}, .build = {.opt_level = 3}};
  EXPECT_EQ(compare_with_default(s, {n, A, B}, ways), "");
}

}  // namespace
}  // namespace tenon::testing

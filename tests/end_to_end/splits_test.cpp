// Splits, fusions and partition of loops: every element is written exactly once, whatever the
// factors.
#include <gtest/gtest.h>

#include <ctime>

#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

/// "" if every element of the last argument is written once; else the first that is not.
std::string written_once(const tir::PrimFunc& func, const std::vector<LowerArgument>& args,
                         std::int64_t symbol = 7) {
  const Arguments a = make_arguments(args, {.symbol = symbol});
  const std::string& output = a.arrays.back()->name;
  std::vector<int> writes(static_cast<std::size_t>(a.arrays.back()->elements()), 0);
  tir::EvaluateOptions options;
  options.on_access = [&](const tir::Access& access) {
    if (access.is_write && access.buffer->name == output)
      ++writes[static_cast<std::size_t>(access.indices[0])];
  };
  tir::evaluate(func, a.values, options);
  for (std::size_t n = 0; n < writes.size(); ++n)
    if (writes[n] != 1)
      return "element " + std::to_string(n) + " is written " + std::to_string(writes[n]) + " times";
  return "";
}

TEST(SplitTest, TwiceByAnyFactorsCoversTheAxisOnce) {
  for (int extent = 1; extent <= 40; ++extent) {
    for (int factor : {1, 2, 3, 4, 7, 16, 31, 40}) {
      te::Tensor A = te::placeholder({extent}, "A", Int(32));
      te::Tensor B = te::compute(
          {extent}, {"i"}, [&](Var i) { return A(i) + 1; }, "B");
      te::Schedule s = te::create_schedule(B);
      const auto [outer, inner] = s[B].split(s[B].axis(0), factor);
      s[B].split_by_nparts(inner, 3);
      EXPECT_EQ(written_once(lower(s, {A, B}).functions.at("main"), {A, B}), "")
          << extent << " by " << factor;
    }
  }
}

TEST(SplitTest, OfASymbolicAxisCoversItOnce) {
  Var n = te::size_var("n");
  te::Tensor A = te::placeholder({n}, "A", Int(32));
  te::Tensor B = te::compute(
      {n}, {"i"}, [&](Var i) { return A(i) + 1; }, "B");
  for (int factor : {1, 3, 8}) {
    te::Schedule s = te::create_schedule(B);
    s[B].split(s[B].split(s[B].axis(0), factor).outer, 2);
    const tir::PrimFunc func = lower(s, {A, B}).functions.at("main");
    for (std::int64_t size = 0; size <= 20; ++size)
      EXPECT_EQ(written_once(func, {A, B}, size), "") << size << " by " << factor;
  }
}

TEST(SplitTest, FusedAndSplitUnevenly) {
  te::Tensor A = te::placeholder({12, 6}, "A");
  te::Tensor B = te::compute(
      {12, 6}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  te::Tensor C = te::compute(
      {12, 6}, {"i", "j"}, [&](Var i, Var j) { return B(i, j) * 2.0f; }, "C");
  for (int factor : {3, 5, 9, 10, 12, 100}) {
    te::Schedule s = te::create_schedule(C);
    const auto [outer, inner] = s[C].split(s[C].fuse(s[C].axis(0), s[C].axis(1)), factor);
    s[B].compute_at(s[C], outer);
    EXPECT_EQ(compare_with_default(s, {A, C}, {.compile = false}), "") << factor;
  }
}

TEST(SplitTest, TwoOfTheSameAxisInDifferentStages) {
  // The tail of one meets that of the other: partition must split both.
  for (int size : {1, 17, 48}) {
    te::Tensor A = te::placeholder({size}, "A", Int(32));
    te::Tensor C = te::compute(
        {size}, {"i"}, [&](Var i) { return A(i) + 1; }, "C");
    te::Tensor D = te::compute(
        {size}, {"i"}, [&](Var i) { return C(i) * 3; }, "D");
    te::Schedule s = te::create_schedule(D);
    s[C].split(s[C].axis(0), 10);
    const auto [outer, inner] = s[D].split(s[D].axis(0), 32);
    s[C].compute_at(s[D], outer);
    EXPECT_EQ(compare_with_default(s, {A, D}), "") << size;
  }
}

TEST(SplitTest, VectorizedTailOfEverySize) {
  Var n = te::size_var("n");
  te::Tensor A = te::placeholder({n}, "A");
  te::Tensor B = te::compute(
      {n}, {"i"}, [&](Var i) { return A(i) * 2.0f; }, "B");
  te::Schedule s = te::create_schedule(B);
  const auto [outer, inner] = s[B].split(s[B].axis(0), 8);
  s[B].vectorize(inner);
  EXPECT_EQ(compare_with_default(s, {A, B}, {.symbols = {0, 1, 7, 8, 9, 15, 16, 17, 40}}), "");
}

TEST(SplitTest, ExtentsOfOneAndZero) {
  for (int size : {0, 1}) {
    te::Tensor A = te::placeholder({size, 5}, "A");
    te::IterVar k = te::reduce_axis({0, size}, "k");
    te::Tensor B = te::compute(
        {size, 5}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
    te::Tensor C = te::compute(
        {5}, {"j"}, [&](Var j) { return te::sum(B(k, j), {k}); }, "C");
    te::Schedule s = te::create_schedule(std::vector<te::Tensor>{B, C});
    const auto tiles = s[B].tile(s[B].axis(0), s[B].axis(1), 2, 2);
    s[B].vectorize(tiles.y_inner).parallel(tiles.x_outer);
    s[C].split(k, 3);
    EXPECT_EQ(compare_with_default(s, {A, B, C}), "") << size;
  }
}

TEST(SplitTest, TwoSymbolicSizes) {
  Var n = te::size_var("n"), m = te::size_var("m");
  te::Tensor A = te::placeholder({n, m}, "A");
  te::Tensor B = te::compute(
      {n, m}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * 2.0f; }, "B");
  te::Tensor C = te::compute(
      {n, m}, {"i", "j"}, [&](Var i, Var j) { return B(i, j) + 1.0f; }, "C");
  te::Schedule s = te::create_schedule(C);
  const auto tiles = s[C].tile(s[C].axis(0), s[C].axis(1), 10, 5);
  s[B].compute_at(s[C], tiles.y_outer);
  EXPECT_EQ(compare_with_default(s, {A, C}, {.symbols = {0, 1, 5, 10, 23}}), "");
}

TEST(PartitionTest, ALowerAndAnUpperConditionNested) {
  te::Tensor A = te::placeholder({16}, "A", Int(32));
  te::Tensor B = te::compute(
      {16}, {"i"},
      [&](Var i) {
        return if_then_else(i > 4 && i < 20, A(i), if_then_else(i * 8 + 7 < 30, 1, 2));
      },
      "B");
  te::Schedule s = te::create_schedule(B);
  s[B].split(s[B].axis(0), 5);
  EXPECT_EQ(compare_with_default(s, {A, B}), "");
}

TEST(PartitionTest, AConcatenationWithAPointInIt) {
  te::Tensor A = te::placeholder({128}, "A", Int(32));
  te::Tensor B = te::compute(
      {128}, {"i"},
      [&](Var i) { return if_then_else(i < 64, A(i), if_then_else(i == 64, A(0), A(i - 1) * 2)); },
      "B");
  te::Schedule s = te::create_schedule(B);
  const auto [outer, inner] = s[B].split(s[B].axis(0), 24);
  s[B].vectorize(inner);
  EXPECT_EQ(compare_with_default(s, {A, B}), "");
}

// ---- producers at tiles -------------------------------------------------------------------------

TEST(ProducerAtTileTest, AStencilComputesItsHaloWithEachTile) {
  te::Tensor A = te::placeholder({66}, "A", Int(32));
  te::Tensor B = te::compute(
      {66}, {"i"}, [&](Var i) { return A(i) * A(i); }, "B");
  te::Tensor C = te::compute(
      {64}, {"i"}, [&](Var i) { return B(i) + B(i + 1) * 2 - B(i + 2); }, "C");
  for (int tile : {8, 10, 64}) {
    te::Schedule s = te::create_schedule(C);
    const auto [outer, inner] = s[C].split(s[C].axis(0), tile);
    s[B].compute_at(s[C], outer);
    EXPECT_TRUE(arith::can_prove_equal(te::infer_bound(s)[s[B].axis(0)].extent, tile + 2)) << tile;
    EXPECT_EQ(compare_with_default(s, {A, C}), "") << tile;
  }
}

TEST(ProducerAtTileTest, AMatrixTimesAVectorOfWhichEachTileComputesItsPart) {
  te::Tensor A = te::placeholder({30, 20}, "A", Int(32)), x = te::placeholder({20}, "x", Int(32));
  te::Tensor twice = te::compute(
      {20}, {"i"}, [&](Var i) { return x(i) * 2; }, "twice");
  te::IterVar k = te::reduce_axis({0, 20}, "k");
  te::Tensor y = te::compute(
      {30}, {"i"}, [&](Var i) { return te::sum(A(i, k) * twice(k), {k}); }, "y");
  te::Schedule s = te::create_schedule(y);
  const auto [io, ii] = s[y].split(s[y].axis(0), 7);
  const auto [ko, ki] = s[y].split(k, 6);
  s[y].reorder({io, ko, ki, ii});
  s[twice].compute_at(s[y], ko);
  s[y].parallel(io);
  EXPECT_EQ(compare_with_default(s, {A, x, y}), "");
}

/// LLVM makes one row of 1,122 stores of the nest that sets the least values so far.
TEST(SplitTest, ANestThatIsUnrolledIntoOneRowOfStoresIsBuiltInSeconds) {
  te::Tensor B = te::placeholder({10}, "B", UInt(64));
  te::IterVar k = te::reduce_axis(Range(2, 3), "k");
  te::Tensor T = te::compute(
      {6, 11, 17, 2}, {"x", "y", "z", "j"},
      [&](Var x, Var, Var, Var) {
        const Expr zero = make_const(UInt(64), 0), three = make_const(UInt(64), 3);
        return te::min(if_then_else(x >= 1, B(x - 1), zero) + three, {k});
      },
      "T");
  te::Schedule s = te::create_schedule(T);
  const te::IterVar x = s[T].axis(0), y = s[T].axis(1), z = s[T].axis(2);
  auto [outer, inner] = s[T].split(s[T].axis(3), 6);
  s[T].reorder({s[T].reduce_axis(0), y, inner, x, z, outer});
  auto [rows, pair] = s[T].split(s[T].fuse({z, outer}), 2);
  s[T].vectorize(pair);
  s[T].reorder({x, s[T].reduce_axis(0), inner, y, rows, pair});
  s[T].tile(inner, x, 5, 16);
  const std::clock_t start = std::clock();
  build(s, {B, T}, Target("llvm"), {.fast_math = true});
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 20);
}

/// Rounds of split, reorder and fuse of one axis, of a stage that may have another one inside.
struct Rounds {
  te::Tensor A, B, producer;
  te::Schedule s;

  Rounds(int count, bool has_producer)
      : A(te::placeholder({100}, "A")), B(A), producer(A), s(of(has_producer)) {
    te::IterVar axis = s[B].axis(0);
    for (int k = 0; k < count; ++k) {
      const auto [outer, inner] = s[B].split(axis, 2 + k % 5);
      s[B].reorder({inner, outer});
      axis = s[B].fuse(inner, outer);
    }
    if (has_producer) s[producer].compute_at(s[B], axis);
  }

 private:
  te::Schedule of(bool has_producer) {
    producer = te::compute(
        {100}, {"i"}, [&](Var i) { return A(i) * 2.0F; }, "P");
    const te::Tensor& read = has_producer ? producer : A;
    B = te::compute(
        {100}, {"i"}, [&](Var i) { return read(i) + 1.0F; }, "B");
    return te::create_schedule(B);
  }
};

TEST(SplitTest, RoundsOfSplitAndFuseDoNotDoubleWithEach) {
  for (const bool has_producer : {false, true}) {
    const auto size_of = [&](int count) {
      const Rounds rounds(count, has_producer);
      return tir::print_module(lower(rounds.s, {rounds.A, rounds.B})).size();
    };
    const std::clock_t start = std::clock();
    EXPECT_LT(size_of(20), 3 * size_of(10));
    EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 5);
  }
}

TEST(SplitTest, RoundsOfSplitAndFuseWriteEveryElementOnce) {
  for (const bool has_producer : {false, true})
    for (int count = 1; count <= 9; ++count) {
      const Rounds rounds(count, has_producer);
      EXPECT_EQ(written_once(lower(rounds.s, {rounds.A, rounds.B}).functions.at("main"),
                             {rounds.A, rounds.B}),
                "")
          << count << " rounds";
    }
}

}  // namespace
}  // namespace tenon::testing

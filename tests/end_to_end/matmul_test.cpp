// The matmul ladder, on sizes that no factor divides; stencils; caches.
#include <gtest/gtest.h>

#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

struct MatmulTest : ::testing::TestWithParam<int> {
  const int M = GetParam(), N = GetParam() + 3, K = GetParam() + 1;
  te::Tensor A = te::placeholder({M, K}, "A"), B = te::placeholder({K, N}, "B");
  te::IterVar k = te::reduce_axis({0, K}, "k");
  te::Tensor C = te::compute(
      {M, N}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, k) * B(k, j), {k}); }, "C");
  te::Schedule s = te::create_schedule(C);
  te::Stage::TileAxes tiles = s[C].tile(s[C].axis(0), s[C].axis(1), 8, 8);
  te::Stage::SplitAxes reduction = s[C].split(k, 4);

  void expect_right() { EXPECT_EQ(compare_with_default(s, {A, B, C}), ""); }
};

TEST_P(MatmulTest, Tiled) {
  s[C].reorder({tiles.x_outer, tiles.y_outer, reduction.outer, reduction.inner, tiles.x_inner,
                tiles.y_inner});
  expect_right();
}

TEST_P(MatmulTest, VectorizedUnrolledParallel) {
  s[C].reorder({tiles.x_outer, tiles.y_outer, reduction.outer, tiles.x_inner, reduction.inner,
                tiles.y_inner});
  s[C].vectorize(tiles.y_inner).unroll(reduction.inner).parallel(tiles.x_outer);
  expect_right();
}

TEST_P(MatmulTest, CachedWriteWithARegisterTile) {
  s = te::create_schedule(C);
  te::Tensor CC = s.cache_write(C, "global");
  tiles = s[C].tile(s[C].axis(0), s[C].axis(1), 8, 8);
  s[CC].compute_at(s[C], tiles.y_outer);
  reduction = s[CC].split(s[CC].reduce_axis(0), 4);
  s[CC].reorder({reduction.outer, s[CC].axis(0), reduction.inner, s[CC].axis(1)});
  s[CC].vectorize(s[CC].axis(1)).unroll(reduction.inner);
  s[C].vectorize(tiles.y_inner).parallel(tiles.x_outer);
  expect_right();
}

INSTANTIATE_TEST_SUITE_P(Sizes, MatmulTest, ::testing::Values(1, 8, 13, 32));

TEST(PackedMatmulTest, PackedOperandIsReadInPlaceOfTheOther) {
  const int size = 24, block = 8;
  te::Tensor A = te::placeholder({size, size}, "A"), B = te::placeholder({size, size}, "B");
  te::IterVar k = te::reduce_axis({0, size}, "k");
  te::Tensor P = te::compute(
      {size / block, size, block}, {"bigN", "k", "littleN"},
      [&](Var n, Var row, Var m) { return B(row, n * block + m); }, "P");
  te::Tensor C = te::compute(
      {size, size}, {"i", "j"},
      [&](Var i, Var j) {
        return te::sum(A(i, k) * P(floordiv(j, block), k, floormod(j, block)), {k});
      },
      "C");
  te::Schedule s = te::create_schedule(C);
  s[P].vectorize(s[P].axis(2)).parallel(s[P].axis(0));
  const auto tiles = s[C].tile(s[C].axis(0), s[C].axis(1), block, block);
  const auto [ko, ki] = s[C].split(k, 4);
  s[C].reorder({tiles.x_outer, tiles.y_outer, ko, tiles.x_inner, ki, tiles.y_inner})
      .vectorize(tiles.y_inner);
  EXPECT_EQ(compare_with_default(s, {A, B, C}), "");
}

// ---- stencils -----------------------------------------------------------------------------------

struct BlurTest : ::testing::Test {
  te::Tensor A = te::placeholder({26, 31}, "A");
  te::Tensor across = te::compute(
      {26, 29}, {"y", "x"}, [&](Var y, Var x) { return A(y, x) + A(y, x + 1) + A(y, x + 2); },
      "across");
  te::Tensor blur = te::compute(
      {24, 29}, {"y", "x"},
      [&](Var y, Var x) { return across(y, x) + across(y + 1, x) + across(y + 2, x); }, "blur");
  te::Schedule s = te::create_schedule(blur);
};

TEST_F(BlurTest, ProducerPerTile) {
  const auto tiles = s[blur].tile(s[blur].axis(0), s[blur].axis(1), 5, 8);
  s[across].compute_at(s[blur], tiles.y_outer).vectorize(s[across].axis(1));
  s[blur].parallel(tiles.x_outer).vectorize(tiles.y_inner);
  EXPECT_EQ(compare_with_default(s, {A, blur}), "");
}

TEST_F(BlurTest, ProducerPerPoint) {
  s[across].compute_at(s[blur], s[blur].axis(1));
  EXPECT_EQ(compare_with_default(s, {A, blur}), "");
}

TEST_F(BlurTest, ProducerInRollingRows) {
  s[across].compute_at(s[blur], s[blur].axis(0)).rolling_buffer();
  EXPECT_EQ(compare_with_default(s, {A, blur}), "");
}

TEST_F(BlurTest, ProducerInDoubleBufferedTiles) {
  const auto tiles = s[blur].tile(s[blur].axis(0), s[blur].axis(1), 4, 29);
  s[across].compute_at(s[blur], tiles.x_outer).double_buffer();
  EXPECT_EQ(compare_with_default(s, {A, blur}), "");
}

TEST_F(BlurTest, AlignedCache) {
  te::Tensor AL = s.cache_read(A, "global", {across.op()});
  s[AL].storage_align(s[AL].axis(0), 16, 5);
  s[across].compute_inline();
  EXPECT_EQ(compare_with_default(s, {A, blur}), "");
}

// ---- caches and inlining in every order ---------------------------------------------------------

TEST(DiamondTest, EveryOrderOfDataflowRewritesLowersAndMatches) {
  te::Tensor A = te::placeholder({18}, "A", Int(32));
  te::Tensor B = te::compute(
      {18}, {"i"}, [&](Var i) { return A(i) * 2; }, "B");
  te::Tensor L = te::compute(
      {17}, {"i"}, [&](Var i) { return B(i) + B(i + 1); }, "L");
  te::Tensor R = te::compute(
      {17}, {"i"}, [&](Var i) { return B(i + 1) - A(i); }, "R");
  te::Tensor D = te::compute(
      {17}, {"i"}, [&](Var i) { return L(i) * R(i); }, "D");
  using Rewrite = std::function<void(te::Schedule&)>;
  const std::vector<Rewrite> rewrites = {
      [&](te::Schedule& s) { s.cache_read(A, "local", {}); },
      [&](te::Schedule& s) {
        s.cache_read(B, "global", {L.op(), R.op()});
      },
      [&](te::Schedule& s) { s.cache_write(L, "local"); },
      [&](te::Schedule& s) { s.cache_write(D, "local"); },
      [&](te::Schedule& s) { s[B].compute_inline(); },
      [&](te::Schedule& s) { s[R].compute_inline(); },
  };
  int lowered = 0;
  for (std::size_t a = 0; a < rewrites.size(); ++a) {
    for (std::size_t b = 0; b < rewrites.size(); ++b) {
      for (std::size_t c = 0; c < rewrites.size(); ++c) {
        if (a == b || b == c || a == c) continue;
        te::Schedule s = te::create_schedule(D);
        try {
          for (std::size_t n : {a, b, c}) rewrites[n](s);
          s[D].split(s[D].axis(0), 4);
          EXPECT_EQ(compare_with_default(s, {A, D}, {.compile = false}), "") << a << b << c;
          ++lowered;
        } catch (const ScheduleError&) {
        }
      }
    }
  }
  EXPECT_GT(lowered, 80);
}

}  // namespace
}  // namespace tenon::testing

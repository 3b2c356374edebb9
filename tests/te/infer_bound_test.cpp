// Ranges that are inferred, for small schedules of every kind.
#include "tenon/te/infer_bound.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tenon/arith/simplify.h"
#include "tenon/interp/evaluate.h"
#include "tenon/te/reduce.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::te {
namespace {

using tir::floordiv;
using tir::print_expr;

Tensor elementwise(const Tensor& x, const std::string& name) {
  return compute(
      x.shape(), [&](std::span<const Var> i) { return x(i) + 1.0f; }, name);
}

std::string extent_of(const Bounds& bounds, const IterVar& axis) {
  return print_expr(bounds[axis].extent);
}
std::string min_of(const Bounds& bounds, const IterVar& axis) {
  return print_expr(bounds[axis].min);
}

/// Whether the extent is this expression, whatever its form.
bool has_extent(const Bounds& bounds, const IterVar& axis, const Expr& extent) {
  return arith::can_prove_equal(bounds[axis].extent, extent);
}

TEST(InferBound, AProducerIsNeededForOneTileOfItsReader) {
  Var m("m"), l("l");
  Tensor A = placeholder({m, l}, "A");
  Tensor A1 = elementwise(A, "A1"), A2 = elementwise(A1, "A2");
  Schedule s = create_schedule(A2);
  auto [xo, xi] = s[A2].split(s[A2].axis(0), 8);
  s[A1].compute_at(s[A2], xo);
  Bounds bounds = infer_bound(s);
  EXPECT_EQ(extent_of(bounds, s[A1].axis(0)), "8");
  EXPECT_EQ(extent_of(bounds, s[A1].axis(1)), "l");
  EXPECT_EQ(min_of(bounds, s[A1].axis(0)), "(i0.outer*8)");
}

TEST(InferBound, OfAFusedAxisThatNoReaderNeedsAStretchIsEmpty) {
  Tensor P = elementwise(placeholder({1, 12}, "A"), "P"), N = elementwise(P, "N");
  Tensor R = compute(
      {1, 0}, [&](Var i, Var j) { return N(i, j * 4); }, "R");
  Schedule s = create_schedule(R);
  auto [stretch, inside] = s[N].split_by_nparts(s[N].fuse({s[N].axis(0), s[N].axis(1)}), 5);
  s[P].compute_at(s[N], stretch);
  EXPECT_EQ(extent_of(infer_bound(s), inside), "0");
}

TEST(InferBound, AProducerIsNeededForOneTwoDimensionalTile) {
  Var m("m"), l("l");
  Tensor A1 = elementwise(placeholder({m, l}, "A"), "A1"), A2 = elementwise(A1, "A2");
  Schedule s = create_schedule(A2);
  auto [xo, yo, xi, yi] = s[A2].tile(s[A2].axis(0), s[A2].axis(1), 8, 8);
  s[A1].compute_at(s[A2], yo);
  Bounds bounds = infer_bound(s);
  EXPECT_EQ(extent_of(bounds, s[A1].axis(0)), "8");
  EXPECT_EQ(extent_of(bounds, s[A1].axis(1)), "8");
}

TEST(InferBound, SharedMemoryIsFilledForAllThreads) {
  Var m("m"), l("l");
  Tensor A1 = elementwise(placeholder({m, l}, "A"), "A1"), A2 = elementwise(A1, "A2");
  Schedule s = create_schedule(A2);
  s[A1].set_scope("shared");
  auto [xo, xi] = s[A2].split(s[A2].axis(0), 32);
  auto [xi0, xi1] = s[A2].split_by_nparts(xi, 16);
  s[A2].bind(xi0, thread_axis("threadIdx.x"));
  auto [yo, yi] = s[A2].split(s[A2].axis(1), 16);
  s[A2].reorder({xo, xi0, yo, xi1, yi});
  s[A1].compute_at(s[A2], yo);
  Bounds bounds = infer_bound(s);
  EXPECT_EQ(extent_of(bounds, s[A1].axis(0)), "32");
  EXPECT_EQ(extent_of(bounds, s[A1].axis(1)), "16");
}

TEST(InferBound, AShortAxisIsNotSplitFurtherThanItGoes) {
  for (bool by_factor : {true, false}) {
    Tensor A1 = elementwise(placeholder({128, 128}, "A"), "A1"), A2 = elementwise(A1, "A2");
    Schedule s = create_schedule(A2);
    auto [xo, xi] = s[A2].split(s[A2].axis(0), 8);
    s[A1].compute_at(s[A2], xo);
    auto [o, i] =
        by_factor ? s[A1].split(s[A1].axis(0), 32) : s[A1].split_by_nparts(s[A1].axis(0), 32);
    Bounds bounds = infer_bound(s);
    EXPECT_EQ(extent_of(bounds, o), by_factor ? "1" : "8");
    EXPECT_EQ(extent_of(bounds, i), by_factor ? "8" : "1");
  }
}

TEST(InferBound, DivisibleSymbolicExtentsAreDividedExactly) {
  Var m("m"), l("l");
  Tensor A1 = elementwise(placeholder({m * 8, l * 32}, "A"), "A1"), A2 = elementwise(A1, "A2");
  Schedule s = create_schedule(A2);
  auto [xo, yo, xi, yi] = s[A2].tile(s[A2].axis(0), s[A2].axis(1), 8, 32);
  s[A1].compute_at(s[A2], yo);
  Bounds bounds = infer_bound(s);
  EXPECT_EQ(extent_of(bounds, xo), "m");
  EXPECT_EQ(extent_of(bounds, yo), "l");
  EXPECT_EQ(extent_of(bounds, s[A1].axis(0)), "8");
  EXPECT_EQ(extent_of(bounds, s[A1].axis(1)), "32");
}

TEST(InferBound, OfAFusedAxisSplitSymbolicallyTheRowsThatAStretchTouchesAreNeeded) {
  Var m("m"), l("l"), n("n"), split("s");
  Tensor A1 = elementwise(placeholder({m, l}, "A"), "A1"), A2 = elementwise(A1, "A2");
  Schedule s = create_schedule(A2);
  IterVar fused = s[A2].fuse(s[A2].axis(0), s[A2].axis(1));
  auto [xo, xi] = s[A2].split(fused, split);
  s[A1].compute_at(s[A2], xo);
  Bounds bounds = infer_bound(s);
  const Range rows = bounds[s[A1].axis(0)];
  for (int mv = 1; mv <= 5; ++mv) {
    for (int lv = 1; lv <= 5; ++lv) {
      for (int sv = 1; sv <= 5; ++sv) {
        for (int xv = 0; xv * sv < mv * lv; ++xv) {
          auto value = [&](const Expr& e) {
            return tir::evaluate_int(e, [&](const Var& v) -> std::int64_t {
              if (v.same_as(m)) return mv;
              if (v.same_as(l)) return lv;
              return v.same_as(split) ? sv : xv;
            });
          };
          ASSERT_EQ(value(rows.min), xv * sv / lv);
          ASSERT_EQ(value(rows.extent), ((xv + 1) * sv - 1) / lv - xv * sv / lv + 1);
        }
      }
    }
  }
  EXPECT_TRUE(has_extent(bounds, s[A1].axis(1), l));
}

TEST(InferBound, OfAFusedAxisSplitWithinRowsOnlyTheColumnsAreNeeded) {
  Var m("m");
  Tensor A1 = elementwise(placeholder({m, 6}, "A"), "A1"), A2 = elementwise(A1, "A2");
  Schedule s = create_schedule(A2);
  auto [xo, xi] = s[A2].split(s[A2].fuse(s[A2].axis(0), s[A2].axis(1)), 3);
  s[A1].compute_at(s[A2], xo);
  Bounds bounds = infer_bound(s);
  auto at_5 = [&](const Expr& e) { return tir::evaluate_int(e, [](const Var&) { return 5; }); };
  EXPECT_EQ(at_5(bounds[s[A1].axis(0)].min), 2);
  EXPECT_EQ(at_5(bounds[s[A1].axis(0)].extent), 1);
  EXPECT_EQ(at_5(bounds[s[A1].axis(1)].min), 3);
  EXPECT_EQ(at_5(bounds[s[A1].axis(1)].extent), 3);
}

TEST(InferBound, FusedAndSplitTheNumberOfRowsFitsTheStretch) {
  // (12, 6), fused: a stretch of 12 is two rows, of 3 half a row, of 9 or 10 touches up to two or
  // three.
  for (auto [factor, rows, columns] : {std::tuple{12, 2, 6}, {3, 1, 3}}) {
    Tensor A1 = elementwise(placeholder({12, 6}, "A"), "A1"), A2 = elementwise(A1, "A2");
    Schedule s = create_schedule(A2);
    auto [xo, xi] = s[A2].split(s[A2].fuse(s[A2].axis(0), s[A2].axis(1)), factor);
    s[A1].compute_at(s[A2], xo);
    Bounds bounds = infer_bound(s);
    EXPECT_EQ(extent_of(bounds, s[A1].axis(0)), std::to_string(rows));
    EXPECT_EQ(extent_of(bounds, s[A1].axis(1)), std::to_string(columns));
  }
}

TEST(InferBound, ARegionAtAFusedAxisIsWrittenWithoutItsRange) {
  // floormod(fused, 10) is the fused axis itself; the order of terms in known texts
  // (0029_x86_conv2d_nchw) shows that it is not replaced here.
  Tensor P = elementwise(placeholder({1, 10}, "A"), "P"), C = elementwise(P, "C");
  Schedule s = create_schedule(C);
  IterVar fused = s[C].fuse(s[C].axis(0), s[C].axis(1));
  s[P].compute_at(s[C], fused);
  EXPECT_EQ(min_of(infer_bound(s), s[P].axis(1)), "floormod(i0.i1.fused, 10)");
}

TEST(InferBound, WarpMemoryIsSharedAlongThreadIdxX) {
  Var m("m");
  Tensor A1 = elementwise(placeholder({m}, "A"), "A1"), A2 = elementwise(A1, "A2");
  Schedule s = create_schedule(A2);
  s[A1].set_scope("warp");
  auto [xo, xi] = s[A2].split(s[A2].axis(0), 32);
  auto [xi0, xi1] = s[A2].split(xi, 16);
  IterVar tx = thread_axis("threadIdx.x");
  s[A2].bind(xi1, tx);
  s[A1].compute_at(s[A2], xi0);
  auto [yo, yi] = s[A1].split(s[A1].axis(0), 16);
  s[A1].bind(yi, tx);
  Bounds bounds = infer_bound(s);
  EXPECT_EQ(extent_of(bounds, s[A1].axis(0)), "16");
}

TEST(InferBound, AStencilNeedsItsHalo) {
  Var n("n");
  Tensor A = elementwise(placeholder({n + 2}, "X"), "A");
  Tensor B = compute(
      {n}, {"i"}, [&](Var i) { return A(i) + A(i + 1) + A(i + 2); }, "B");
  Schedule s = create_schedule(B);
  s[A].compute_at(s[B], s[B].axis(0));
  EXPECT_EQ(extent_of(infer_bound(s), s[A].axis(0)), "3");
}

TEST(InferBound, ATwoDimensionalStencilNeedsItsHaloInBoth) {
  Var n("n");
  Tensor A = elementwise(placeholder({n + 2, n + 2}, "X"), "A");
  Tensor B = compute(
      {n, n}, {"i", "j"},
      [&](Var i, Var j) {
        return A(i, j) + A(i + 1, j) + A(i + 1, j + 1) + A(i + 1, j + 2) + A(i + 2, j);
      },
      "B");
  Schedule s = create_schedule(B);
  s[A].compute_at(s[B], s[B].axis(1));
  Bounds bounds = infer_bound(s);
  EXPECT_EQ(extent_of(bounds, s[A].axis(0)), "3");
  EXPECT_EQ(extent_of(bounds, s[A].axis(1)), "3");
}

TEST(InferBound, AFactoredReductionHasTheExtentsOfItsSplit) {
  Tensor A = placeholder({1024}, "A");
  Var n("n");
  IterVar k = reduce_axis({0, n}, "k");
  Tensor B = compute(
      {1}, {"i"}, [&](Var) { return sum(A(k), {k}, {.where = Expr(k) >= 1}); }, "B");
  Schedule s = create_schedule(B);
  auto [kf, ki] = s[B].split_by_nparts(k, 4);
  Tensor BF = s.rfactor(B, kf);
  Bounds bounds = infer_bound(s);
  EXPECT_EQ(extent_of(bounds, s[BF].axis(0)), "4");
  EXPECT_EQ(extent_of(bounds, s[BF].axis(1)), "1");
}

TEST(InferBound, BlocksAndThreadsDecideWhatACacheHolds) {
  Var m("m");
  Tensor A = placeholder({m}, "A");
  Tensor A1 = elementwise(A, "A1"), A2 = elementwise(A1, "A2"), A3 = elementwise(A2, "A3");
  Schedule s = create_schedule(A3);
  s[A2].set_scope("shared");
  s[A1].set_scope("local");
  auto [bx, tx] = s[A3].split(s[A3].axis(0), 32);
  s[A3].bind(bx, thread_axis("blockIdx.x")).bind(tx, thread_axis("threadIdx.x"));
  s[A2].compute_at(s[A3], tx);
  auto [x2o, x2i] = s[A2].split(s[A2].axis(0), 32);
  s[A2].bind(x2i, thread_axis("threadIdx.x"));
  s[A1].compute_at(s[A2], x2i);
  Bounds bounds = infer_bound(s);
  EXPECT_EQ(extent_of(bounds, s[A1].axis(0)), "1");
  EXPECT_EQ(extent_of(bounds, s[A2].axis(0)), "32");
  EXPECT_EQ(extent_of(bounds, s[A3].axis(0)), "m");
}

TEST(InferBound, TheCachesOfAGpuMatmulHoldOneTile) {
  Tensor A = placeholder({1024, 1024}, "A"), B = placeholder({1024, 1024}, "B");
  IterVar k = reduce_axis({0, 1024}, "k");
  Tensor C = compute(
      {1024, 1024}, {"y", "x"}, [&](Var y, Var x) { return sum(A(k, y) * B(k, x), {k}); }, "C");
  Schedule s = create_schedule(C);
  Tensor AA = s.cache_read(A, "shared", {C}), BB = s.cache_read(B, "shared", {C});
  Tensor CC = s.cache_write(C, "local");
  IterVar block_x = thread_axis("blockIdx.x"), block_y = thread_axis("blockIdx.y");
  IterVar thread_x = thread_axis("threadIdx.x"), thread_y = thread_axis("threadIdx.y");
  auto [by, yi] = s[C].split(s[C].axis(0), 64);
  auto [bx, xi] = s[C].split(s[C].axis(1), 64);
  s[C].reorder({by, bx, yi, xi}).bind(by, block_y).bind(bx, block_x);
  auto [ty, yj] = s[C].split_by_nparts(yi, 8);
  auto [tx, xj] = s[C].split_by_nparts(xi, 8);
  s[C].reorder({ty, tx, yj, xj}).bind(ty, thread_y).bind(tx, thread_x);
  s[CC].compute_at(s[C], tx);
  auto [ko, ki] = s[CC].split(s[CC].reduce_axis(0), 8);
  s[CC].reorder({ko, ki, s[CC].axis(0), s[CC].axis(1)});
  s[AA].compute_at(s[CC], ko);
  s[BB].compute_at(s[CC], ko);
  Bounds bounds = infer_bound(s);
  EXPECT_EQ(extent_of(bounds, s[BB].axis(1)), "64");
  EXPECT_EQ(extent_of(bounds, s[AA].axis(1)), "64");
  EXPECT_EQ(extent_of(bounds, s[AA].axis(0)), "8");
  EXPECT_EQ(extent_of(bounds, s[CC].axis(0)), "8");
  EXPECT_EQ(extent_of(bounds, s[CC].axis(1)), "8");
}

TEST(InferBound, AGroupIsNeededWhereItIsComputed) {
  Var m("m"), n("n");
  Tensor x = compute(
      {m, n}, {"i", "j"}, [&](Var i, Var j) { return cast(Float(32), i + j); }, "x");
  Tensor x1 = elementwise(x, "x1"), x2 = elementwise(x1, "x2");
  Schedule s = create_schedule(x2);
  Stage group = s.create_group(x1, x, true);
  group.compute_at(s[x2], s[x2].axis(0));
  Bounds bounds = infer_bound(s);
  EXPECT_EQ(extent_of(bounds, s[x].axis(0)), "1");
  EXPECT_EQ(extent_of(bounds, s[x].axis(1)), "n");
}

TEST(InferBound, AnIndexReadFromAnotherTensorNeedsTheWholeDimension) {
  Tensor A = placeholder({64}, "A"), I = placeholder({32}, "I", Int(32));
  Tensor B = elementwise(A, "B");
  Tensor C = compute(
      {32}, {"i"}, [&](Var i) { return B(I(i)); }, "C");
  Schedule s = create_schedule(C);
  s[B].compute_at(s[C], s[C].axis(0));
  EXPECT_EQ(extent_of(infer_bound(s), s[B].axis(0)), "64");
}

TEST(InferBound, ADividedIndexNeedsAsManyAsItTouches) {
  Tensor A = placeholder({32}, "A");
  Tensor B = elementwise(A, "B");
  Tensor C = compute(
      {64}, {"i"}, [&](Var i) { return B(floordiv(i, 2)); }, "C");
  Schedule s = create_schedule(C);
  auto [o, i] = s[C].split(s[C].axis(0), 8);
  s[B].compute_at(s[C], o);
  EXPECT_EQ(extent_of(infer_bound(s), s[B].axis(0)), "4");
}

TEST(InferBound, ReadsBeyondTheShapeOnBothSidesNeedTheShape) {
  Tensor A = placeholder({2}, "A");
  Tensor B = elementwise(A, "B");
  Tensor C = compute(
      {8}, {"i"}, [&](Var i) { return if_then_else(i >= 3 && i < 5, B(i - 3), 0.0f); }, "C");
  Schedule s = create_schedule(C);
  EXPECT_EQ(extent_of(infer_bound(s), s[B].axis(0)), "2");
}

TEST(InferBound, NeedsOfSeveralOutputsCountTogether) {
  Tensor A = placeholder({64}, "A");
  std::vector<Tensor> T = compute_multi(
      {64}, {"i"},
      [&](Var i) {
        return std::vector<Expr>{A(i) + 1.0f, A(i) * 2.0f};
      },
      "T");
  Tensor C = compute(
      {32}, {"i"}, [&](Var i) { return T[0](i) + T[1](i + 8); }, "C");
  Schedule s = create_schedule(C);
  s[T[0]].compute_at(s[C], s[C].axis(0));
  EXPECT_EQ(extent_of(infer_bound(s), s[T[0]].axis(0)), "9");
}

TEST(InferBound, OneThreadAxisRunsTheGreatestExtentBoundToIt) {
  Tensor A = placeholder({1024}, "A");
  Tensor B = elementwise(A, "B"), C = elementwise(B, "C");
  IterVar tx = thread_axis("threadIdx.x");
  Schedule s = create_schedule(C);
  auto [co, ci] = s[C].split(s[C].axis(0), 17);
  s[C].bind(co, thread_axis("blockIdx.x")).bind(ci, tx);
  s[B].set_scope("shared").compute_at(s[C], co);
  auto [bo, bi] = s[B].split(s[B].axis(0), 32);
  s[B].bind(bi, tx);
  EXPECT_EQ(extent_of(infer_bound(s), tx), "32");
}

TEST(InferBound, AChainOfClampedStagesNeedsATileAndAHalo) {
  Tensor T = placeholder({1024}, "A");
  std::vector<Tensor> stages;
  for (int n = 0; n < 12; ++n) {
    Tensor P = T;
    T = compute(
        {1024}, {"i"}, [&](Var i) { return P(i) + P(tir::min(i + 1, 1023)); },
        "T" + std::to_string(n));
    stages.push_back(T);
  }
  Schedule s = create_schedule(T);
  auto [o, i] = s[T].split(s[T].axis(0), 32);
  for (std::size_t n = 0; n + 1 < stages.size(); ++n) s[stages[n]].compute_at(s[T], o);
  Bounds bounds = infer_bound(s);
  EXPECT_LT(tir::node_count(bounds[s[stages[0]].axis(0)].extent), 48u);
}

TEST(Bounds, PrintAsATable) {
  Tensor A = placeholder({64}, "A");
  Tensor B = compute(
      {64}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  Schedule s = create_schedule(B);
  s[B].split(s[B].axis(0), 8);
  std::ostringstream out;
  out << infer_bound(s);
  EXPECT_EQ(out.str(),
            "stage  axis     range\n"
            "B      i        [0, +64)\n"
            "B      i.outer  [0, +8)\n"
            "B      i.inner  [0, +8)\n");
}

TEST(Bounds, OfAnAxisOfAnotherScheduleThrow) {
  Tensor A = placeholder({64}, "A");
  Tensor B = elementwise(A, "B"), C = elementwise(A, "C");
  Schedule s = create_schedule(B), other = create_schedule(C);
  Bounds bounds = infer_bound(s);
  EXPECT_THROW(bounds[other[C].axis(0)], BoundError);
}

}  // namespace
}  // namespace tenon::te

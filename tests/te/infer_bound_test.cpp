// Ranges that are inferred, for small schedules of every kind.
#include <gtest/gtest.h>

#include <sstream>

#include "te/bounds/required_region.h"
#include "tenon/arith/simplify.h"
#include "tenon/interp/evaluate.h"
#include "tenon/te/check_reads.h"
#include "tenon/te/freeze.h"
#include "tenon/te/infer_bound.h"
#include "tenon/te/intrin.h"
#include "tenon/te/reduce.h"
#include "tenon/te/schedule.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"
#include "tests/common/run_schedule.h"

namespace tenon::te {

// ---- ranges -------------------------------------------------------------------------------------

// Ranges that are inferred, for small schedules of every kind.

using namespace tir;
using arith::Interval;

namespace {

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

TEST(InferBound, AnUnreadFusedAxisHasEmptyParts) {
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
  // floormod(fused, 10) is the fused axis itself; the order of terms in the TVM 0.9 text
  // 0029_x86_conv2d_nchw shows that it is not replaced here.
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

TEST(InferBound, ABoundThatIncludesTheWholeAxisIsEnoughForATileThatEndsBehindIt) {
  Tensor A = placeholder({13}, "A");
  Tensor B = elementwise(A, "B"), C = elementwise(B, "C");
  Schedule s = create_schedule(C);
  auto [o, i] = s[C].split(s[C].axis(0), 4);
  s[B].compute_at(s[C], o).bound(s[B].axis(0), Range(0, 13));
  EXPECT_EQ(extent_of(infer_bound(s), s[B].axis(0)), "13");
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

// Exact extents of schedules as people write them: scans, groups, regions, caches of caches,
// threads with memory of their own.

namespace {

TEST(BoundScenarios, ACacheInTheUpdateOfAScanHoldsOnePartOfASplit) {
  Var m("m"), n("n");
  Tensor X = compute(
      {m, n}, {"i", "j"}, [&](Var, Var) { return Expr(1.0f); }, "X");
  Tensor state = placeholder({m, n}, "state");
  Tensor init = compute(
      {1, n}, {"t", "i"}, [&](Var, Var i) { return X(0, i); }, "init");
  Tensor update = compute(
      {m, n}, {"t", "i"}, [&](Var t, Var i) { return state(t - 1, i) + X(t, i); }, "update");
  Tensor all = scan(init, update, state);
  Schedule s = create_schedule(all);
  Tensor XX = s.cache_read(X, "local", {update});
  auto [xo, xi] = s[update].split(s[update].axis(1), 4);
  s[XX].compute_at(s[update], xo);
  const Bounds bounds = infer_bound(s);
  EXPECT_EQ(extent_of(bounds, s[XX].axis(0)), "1");
  EXPECT_EQ(extent_of(bounds, s[XX].axis(1)), "4");
  EXPECT_EQ(print_expr(bounds[s[all].scan_axis()].min), "1");
}

TEST(BoundScenarios, GroupsInsideOfGroupsAreNeededWhereTheirsIs) {
  Var m("m"), n("n");
  Tensor x = compute(
      {m, n}, {"i", "j"}, [&](Var i, Var j) { return cast(Float(32), i + j); }, "x");
  Tensor x1 = elementwise(x, "x1"), x2 = elementwise(x1, "x2");
  Schedule s = create_schedule(x2);
  Stage inner = s.create_group(x, x, true), outer = s.create_group(x1, x, true);
  outer.compute_at(s[x2], s[x2].axis(0));
  inner.compute_at(s[x1], s[x1].axis(1));
  ASSERT_TRUE(s[x].group() && s[x1].group());
  EXPECT_EQ(s[x].group()->name(), inner.name());
  EXPECT_EQ(s[x1].group()->name(), outer.name());
  const Bounds bounds = infer_bound(s);
  EXPECT_EQ(extent_of(bounds, s[x].axis(0)), "1");
  EXPECT_EQ(extent_of(bounds, s[x].axis(1)), "1");
  EXPECT_EQ(extent_of(bounds, s[x1].axis(0)), "1");
  EXPECT_EQ(extent_of(bounds, s[x1].axis(1)), "n");
}

TEST(BoundScenarios, RegionsWithEqualEndsAreUnited) {
  Var m("m"), n("n");
  Tensor a = placeholder({m, n}, "a");
  Tensor c = compute(
      {1, n}, {"i", "j"}, [&](Var, Var j) { return a(0, j) + a(1, j) + a(2, j); }, "c");
  TensorIntrin three_rows = decl_tensor_intrin(
      c.op(),
      [](std::span<const tir::Buffer> in, std::span<const tir::Buffer> out) -> TensorIntrinBody {
        return {.body = tir::make_evaluate(tir::call_extern(
                    Int(32), "three_rows", in[0].access_ptr("r"), out[0].access_ptr("w")))};
      });
  Tensor B = elementwise(placeholder({20, 20}, "A"), "B");
  Tensor C = tensor_compute(
      {10, 20}, {"i"},
      [&](Var i) {
        return three_rows({B.region({Range(i, 10), Range(0, 20)})});
      },
      "C");
  Schedule s = create_schedule(C);
  const Bounds bounds = infer_bound(s);
  EXPECT_EQ(extent_of(bounds, s[B].axis(0)), "10");
  EXPECT_EQ(extent_of(bounds, s[B].axis(1)), "20");
}

/// An intrinsic for each row of a tensor with six columns.
Tensor backwards(const Tensor& A) {
  Tensor a = placeholder({6}, "a");
  Tensor c = compute(
      {6}, {"j"}, [&](Var j) { return a(5 - j); }, "c");
  TensorIntrin intrinsic = decl_tensor_intrin(
      c.op(),
      [](std::span<const tir::Buffer> in, std::span<const tir::Buffer> out) -> TensorIntrinBody {
        return {.body = tir::make_evaluate(tir::call_extern(
                    Int(32), "backwards", in[0].access_ptr("r"), out[0].access_ptr("w")))};
      });
  return tensor_compute(
      {A.shape()[0], 6}, {"i"},
      [&](Var i) {
        return intrinsic({A.region({i, Range(0, 6)})});
      },
      "R");
}

TEST(BoundScenarios, AnIntrinsicWritesItsWholeOutputWhateverIsRead) {
  Tensor R = backwards(placeholder({10, 6}, "A"));
  Tensor D = compute(
      {3}, {"i"}, [&](Var i) { return R(i, 1); }, "D");
  Schedule s = create_schedule(D);
  for (const Bounds& bounds : {infer_bound(s), infer_exact_bound(freeze(s))}) {
    EXPECT_EQ(extent_of(bounds, s[R].axis(0)), "3");
    EXPECT_EQ(extent_of(bounds, s[R].axis(1)), "6");
  }
}

TEST(BoundScenarios, ARegionOfOneRowIsRelaxedAtBothEnds) {
  // Row floormod(i + j, 17), for all i and j, is any row of B, which is computed before both loops.
  Tensor B = elementwise(placeholder({17, 6}, "A"), "B");
  Tensor R = backwards(B);
  Tensor D = compute(
      {10, 12}, {"i", "j"}, [&](Var i, Var j) { return R(floormod(i + j, 17), 1); }, "D");
  Schedule s = create_schedule(D);
  s[R].compute_at(s[D], s[D].axis(1));
  for (const Bounds& bounds : {infer_bound(s), infer_exact_bound(freeze(s))})
    EXPECT_EQ(extent_of(bounds, s[B].axis(0)), "17");
}

/// Tiles of 6 of 13 elements, of which the inner loop stands outside: its readers span 15, and
/// there are 13.
TEST(BoundScenarios, ExactlyNoMoreIsNeededThanTheReaderHas) {
  Tensor A = placeholder({13}, "A");
  Tensor B = elementwise(A, "B"), C = elementwise(B, "C");
  Schedule s = create_schedule(C);
  auto [outer, inner] = s[C].split(s[C].axis(0), 6);
  s[C].reorder({inner, outer});
  auto [part, rest] = s[C].split(inner, 3);
  s[B].compute_at(s[C], part);
  EXPECT_EQ(extent_of(infer_bound(s), s[B].axis(0)), "15");
  EXPECT_EQ(extent_of(infer_exact_bound(freeze(s)), s[B].axis(0)), "13");
}

/// Reads lie within the shape. An extern operation takes its inputs from their first element on,
/// and has no offset.
TEST(BoundScenarios, AReaderOfTheWholeTensorDeterminesTheRegion) {
  const Var n("n");
  Tensor A = placeholder({64}, "A");
  Tensor B = elementwise(A, "B");
  Tensor all = extern_op(
      {64}, {B},
      [](std::span<const tir::Buffer>, std::span<const tir::Buffer>) {
        return tir::make_evaluate(0);
      },
      "all");
  Tensor C = compute(
      {6}, {"i"}, [&](Var i) { return B(i + n) + all(i); }, "C");
  Schedule s = create_schedule(C);
  for (const Bounds& bounds : {infer_bound(s), infer_exact_bound(freeze(s))}) {
    EXPECT_EQ(print_expr(bounds[s[B].axis(0)].min), "0");
    EXPECT_EQ(extent_of(bounds, s[B].axis(0)), "64");
  }
}

TEST(BoundScenarios, IndicesThatAreHardToSimplifyNeedNoMoreThanThereIs) {
  const std::vector<std::function<Expr(Expr)>> indices = {
      [](const Expr& i) { return tir::min(3 * i, 4 * i) + tir::min(-3 * i, -2 * i); },
      [](const Expr& i) { return tir::min(3 * i, 4 * i) + tir::max(-3 * i, -4 * i); },
      [](const Expr& i) { return -2 * truncdiv(i, 2) - tir::min(i, 0 - i); },
      [](const Expr& i) { return i + (0 - i); },
      [](const Expr& i) { return i; },
  };
  for (const auto& index : indices) {
    Tensor A = compute(
        {2}, {"j"}, [](Var j) { return cast(Float(32), j); }, "A");
    Tensor B = compute(
        {10}, {"i"}, [&](Var i) { return A(index(i)); }, "B");
    Schedule s = create_schedule(B);
    const std::optional<std::int64_t> extent =
        tir::constant_int(infer_bound(s)[s[A].axis(0)].extent);
    ASSERT_TRUE(extent);
    EXPECT_LE(*extent, 2) << print_expr(index(Var("i")));
  }
}

/// The largest size is not a multiple of 3, so that its last tile would leave the index type.
TEST(BoundScenarios, ARoundedUpTileOfASymbolicSizeIsAssumedToFitTheIndexType) {
  Var n("n");
  Tensor A = placeholder({n}, "A");
  Tensor B = compute(
      {n}, {"i"}, [&](Var i) { return A(i) * 2.0f; }, "B");
  Tensor C = compute(
      {n}, {"i"}, [&](Var i) { return B(i) + 1.0f; }, "C");
  Schedule s = create_schedule(C);
  s[B].compute_at(s[C], s[C].split(s[C].axis(0), 3).outer).round_up(B.op().axis(0));
  EXPECT_EQ(extent_of(infer_bound(s), B.op().axis(0)), "3");
}

/// B[i] for i in [0, extent), computed in the tiles of 4 elements that C needs.
std::string range_of_shifted_tile(const Expr& extent) {
  Tensor A = placeholder({extent}, "A");
  Tensor B = compute(
      {extent}, {"i"}, [&](Var i) { return A(i) * 2.0f; }, "B");
  Tensor C = compute(
      {extent}, {"i"}, [&](Var i) { return B(i) + 1.0f; }, "C");
  Schedule s = create_schedule(C);
  s[B].compute_at(s[C], s[C].split(s[C].axis(0), 4).outer).shift_inwards(B.op().axis(0));
  const Range range = infer_bound(s)[B.op().axis(0)];
  return tir::print_legacy(range.min) + ", " + tir::print_legacy(range.extent);
}

TEST(BoundScenarios, TheLastTileOfAShiftedAxisEndsWithTheAxis) {
  EXPECT_EQ(range_of_shifted_tile(10), "min((i.outer*4), 6), 4");
}

TEST(BoundScenarios, AnAxisThatMayBeShorterThanATileIsNotShifted) {
  EXPECT_EQ(range_of_shifted_tile(Var("n")), "(i.outer*4), 4");
}

/// Nothing bounds the loops of the reader here, and the axis has nearly all values of its type.
TEST(BoundScenarios, ARoundedUpTileOfAnAxisThatFillsTheIndexTypeIsRefused) {
  Var n("n");
  Tensor A = placeholder({8}, "A");
  Tensor B = compute(
      {2147483647}, {"i"}, [&](Var i) { return A(floormod(i, 8)); }, "B");
  Tensor C = compute(
      {n}, {"i"}, [&](Var i) { return B(i + 2147483646); }, "C");
  Schedule s = create_schedule(C);
  EXPECT_NO_THROW(infer_bound(s));
  s[B].round_up(B.op().axis(0));
  try {
    infer_bound(s);
    FAIL();
  } catch (const BoundError& error) {
    EXPECT_NE(std::string(error.what()).find("declare the size of the axis as int64"),
              std::string::npos)
        << error.what();
  }
}

TEST(BoundScenarios, ACacheOfATiledCacheHoldsTheRowsOfItsReader) {
  constexpr int kTile = 128;
  Tensor A = compute(
      {256, 256}, {"n", "m"}, [](Var, Var) { return tir::make_const(Float(16), 5); }, "A");
  Tensor C = compute(
      {256, 256}, {"n", "m"}, [&](Var n, Var m) { return A(n, m); }, "C");
  Schedule s = create_schedule(C);
  s.cache_write(C, "local");
  {
    auto [bn, bm, ni, mi] = s[C].tile(s[C].axis(0), s[C].axis(1), kTile, kTile);
    auto [outer, inner] = s[C].split(ni, 2);
    s[C].fuse(inner, mi);
  }
  Tensor shared = s.cache_write(C, "shared");
  s[shared].storage_align(s[shared].axis(2), kTile * 2, 8);
  auto [bn, bm, ni, mi] = s[C].tile(s[C].axis(0), s[C].axis(1), kTile, kTile);
  auto [rows, row] = s[C].split(ni, 32);
  s[shared].compute_at(s[C], rows);
  const Bounds bounds = infer_bound(s);
  EXPECT_EQ(extent_of(bounds, s[shared].axis(2)), "16");
}

TEST(BoundScenarios, ASplitOfTheLoopThatAnotherIsComputedAtLeavesItInside) {
  Tensor A = compute(
      {10, 10}, {"i", "j"}, [](Var, Var) { return Expr(1.0f); }, "A");
  Tensor B = elementwise(A, "B");
  for (bool split : {true, false}) {
    Schedule s = create_schedule(B);
    s[A].compute_at(s[B], s[B].axis(1));
    if (split) s[B].split(s[B].axis(1), 2);
    if (!split) s[B].fuse(s[B].axis(0), s[B].axis(1));
    const StageGraph graph = freeze(s);
    EXPECT_EQ(graph.attach_path(*graph.find(A.op())).size(), split ? 3u : 1u);
    EXPECT_EQ(extent_of(infer_bound(s), s[A].axis(1)), "1");
  }
}

// ---- memory of threads --------------------------------------------------------------------------

struct Seen {
  /// Conditions that may fail.
  int ifs = 0;
  std::vector<std::string> sizes;
};

Seen seen_in(const Schedule& s) {
  Seen seen;
  arith::Facts loops;
  const tir::Stmt program = schedule_ops(s, infer_bound(s));
  tir::walk(
      program,
      [&](const tir::For& loop) {
        loops.bind(loop.var, Range::from_min_extent(loop.min, loop.extent));
      },
      [&](const tir::If& branch) {
        seen.ifs += !tir::is_true(arith::simplify(branch.condition, loops));
      },
      [&](const tir::Realize& r) { seen.sizes.push_back(print_expr(r.bounds.back().extent)); });
  return seen;
}

TEST(BoundScenarios, ThreadsThatFillWhatTheyReadNeedNoGuards) {
  struct Kind {
    const char *thread, *scope;
  };
  for (const Kind& kind :
       {Kind{"threadIdx.x", "local"}, Kind{"vthread", "local"}, Kind{"blockIdx.y", "shared"}}) {
    Tensor A = placeholder({1, 3, 2}, "A");
    Tensor B = elementwise(A, "B"), C = elementwise(B, "C");
    IterVar thread = thread_axis(kind.thread);
    Schedule s = create_schedule(C);
    s[B].compute_at(s[C], s[C].axis(0)).set_scope(kind.scope);
    auto [outer, inner] = s[B].split(s[B].axis(1), 3);
    s[C].bind(s[C].axis(0), thread_axis("blockIdx.x")).bind(s[C].axis(1), thread);
    s[B].bind(inner, thread);
    EXPECT_EQ(seen_in(s).ifs, 0) << kind.thread;
    EXPECT_EQ(testing::run(s, {A, C}), testing::run(create_schedule(C), {A, C})) << kind.thread;
  }
}

TEST(BoundScenarios, OneLoopOfAReaderHoldsMemoryOfOneThreadAndOfAll) {
  Tensor A = placeholder({64}, "A"), B = placeholder({64}, "B");
  Tensor C = compute(
      {64}, {"i"}, [&](Var i) { return A(i) + B(i); }, "C");
  Schedule s = create_schedule(C);
  Tensor AL = s.cache_read(A, "local", {C}), BS = s.cache_read(B, "shared", {C});
  auto [io, ii] = s[C].split(s[C].axis(0), 16);
  s[C].bind(io, thread_axis("blockIdx.x")).bind(ii, thread_axis("threadIdx.x"));
  s[AL].compute_at(s[C], ii);
  s[BS].compute_at(s[C], ii);
  const Bounds bounds = infer_bound(s);
  EXPECT_EQ(extent_of(bounds, s[AL].axis(0)), "1");
  EXPECT_EQ(extent_of(bounds, s[BS].axis(0)), "16");
}

TEST(BoundScenarios, SeparateElementsGiveTheirHull) {
  Tensor A = placeholder({128}, "A");
  Tensor B = elementwise(A, "B"), C = elementwise(B, "C");
  IterVar block = thread_axis("blockIdx.x"), thread = thread_axis({0, 32}, "threadIdx.x");
  Schedule s = create_schedule(C);
  Tensor AA = s.cache_read(A, "local", {B});
  s[B].set_scope("shared");
  auto [oc, ic] = s[C].split(s[C].axis(0), 64);
  auto [ooc, ioc] = s[C].split(oc, 2);
  auto [oic, iic] = s[C].split(ic, 32);
  s[C].bind(ooc, block).bind(iic, thread);
  s[B].compute_at(s[C], ioc);
  auto [ob, ib] = s[B].split(s[B].axis(0), 32);
  s[B].bind(ib, thread);
  s[AA].compute_at(s[C], ooc);
  auto [oaa, iaa] = s[AA].split(s[AA].axis(0), 32);
  s[AA].bind(iaa, thread);
  const Seen seen = seen_in(s);
  EXPECT_EQ(seen.ifs, 0);
  EXPECT_EQ(std::count(seen.sizes.begin(), seen.sizes.end(), "97"), 1);
  EXPECT_EQ(testing::run(s, {A, C}), testing::run(create_schedule(C), {A, C}));
}

TEST(ExactBounds, HoldNoDistanceBetweenAnElementAndAnotherIndex) {
  const Tensor I = placeholder({6}, "I", Int(32)), A = placeholder({6, 40}, "A");
  const Tensor B = compute(
      {6}, {"i"},
      [&](Var i) {
        const Expr is_inside = I(i) >= 0 && I(i) < 40;
        return if_then_else(is_inside, A(i, I(i)), 0.0f) + A(i, i * 2);
      },
      "B");
  Schedule s = create_schedule(B);
  const Tensor cache = s.cache_read(A, "local", {B});
  s[cache].compute_at(s[B], s[B].axis(0));
  const StageGraph graph = freeze(s);
  const IterVar column = graph.stage(*graph.find(cache.op())).op.axis()[1];
  EXPECT_EQ(tir::constant_int(infer_exact_bound(graph)[column].extent), 40);
}

}  // namespace

// Extents that only all values of the loops around show to be one number.

namespace {

struct OnlyValueTest : ::testing::Test {
  Var i{"i"}, n{"n"};
  arith::IntervalMap values;
  OnlyValueTest() { values.set(i, Interval::of(0, 7)); }
};

/// 6 or 4 elements are one tile of 6.
TEST_F(OnlyValueTest, IsThatOfAllPoints) {
  const Expr elements = tir::min(i * 3 + 2, 20) + 4 - tir::min(i * 3, 20);
  EXPECT_EQ(only_value(floordiv(elements + 5, 6), values), 1);
  EXPECT_EQ(only_value(floordiv(elements, 2), values), std::nullopt);
}

TEST_F(OnlyValueTest, IsUnknownWhereAVariableHasNoEnds) {
  EXPECT_EQ(only_value(tir::min(i, 0) + tir::min(n, 0), values), std::nullopt);
}

TEST_F(OnlyValueTest, IsUnknownWhereALastValueIsNoNumber) {
  values.set(i, Interval::of(Expr(0), tir::min(n, 15)));
  EXPECT_EQ(only_value(floormod(i, 10) + 1, values), std::nullopt);
}

TEST_F(OnlyValueTest, IsNotAskedOfManyPoints) {
  values.set(n, Interval::of(0, 100'000));
  EXPECT_EQ(only_value(floordiv(tir::min(n, 1), 2), values), std::nullopt);
}

}  // namespace

// Reads outside of their tensors: what is proved, and of which kind it is.

namespace {

/// Whether a compute of `count` elements that reads 100 at these places is refused.
bool refuses(Outside refused, int count, const std::function<Expr(const Tensor&, Var)>& body) {
  Tensor A = placeholder({100}, "A");
  Tensor B = compute(
      {count}, {"i"}, [&](Var i) { return body(A, i); }, "B");
  const StageGraph graph = freeze(create_schedule(B));
  try {
    check_reads(graph, infer_bound(graph), refused);
    return false;
  } catch (const BoundError&) {
    return true;
  }
}

TEST(CheckReads, AllInsideAreFine) {
  EXPECT_FALSE(refuses(Outside::Partly, 100, [](const Tensor& A, Var i) { return A(99 - i); }));
}

TEST(CheckReads, SomeOutsideArePartlyOutside) {
  auto shifted = [](const Tensor& A, Var i) { return A(i + 2); };
  EXPECT_TRUE(refuses(Outside::Partly, 100, shifted));
  EXPECT_FALSE(refuses(Outside::Wholly, 100, shifted));
}

TEST(CheckReads, NoneInsideAreWhollyOutside) {
  EXPECT_TRUE(refuses(Outside::Wholly, 100, [](const Tensor& A, Var i) { return A(i + 100); }));
  EXPECT_TRUE(refuses(Outside::Wholly, 100, [](const Tensor& A, Var i) { return A(i - 100); }));
}

TEST(CheckReads, WhatAConditionMayKeepFromHappeningIsNoFault) {
  EXPECT_FALSE(refuses(Outside::Partly, 200, [](const Tensor& A, Var i) {
    return tir::if_then_else(i < 100, A(i), 0.0f);
  }));
  IterVar k = reduce_axis({0, 200}, "k");
  EXPECT_FALSE(refuses(Outside::Partly, 1, [&](const Tensor& A, Var) {
    return sum(A(k), {k}, {.where = Expr(k) < 100});
  }));
}

TEST(CheckReads, OfAReductionThatStartsElsewhereTheSumOfTheAxesCounts) {
  IterVar k = reduce_axis({0, 100}, "k"), k2 = reduce_axis({2, 5}, "k2");
  auto window = [&](const Tensor& A, Var) { return max(A(k + k2 - 2), {k, k2}); };
  EXPECT_TRUE(refuses(Outside::Partly, 1, window));
  EXPECT_FALSE(refuses(Outside::Wholly, 1, window));
}

/// The conditions for reads in the graph of `output`, with "or n is 1" where an argument that
/// broadcasts could have one element.
std::vector<std::string> conditions(const Tensor& output) {
  const StageGraph graph = freeze(create_schedule(output));
  std::vector<std::string> texts;
  for (const auto& [condition, size, message] :
       check_reads(graph, infer_bound(graph), Outside::Partly))
    texts.push_back(tir::print_expr(condition) + (size ? " or " + size->name() + " is 1" : ""));
  return texts;
}

/// The conditions for reads of a tensor of `n` elements by a compute of `count` elements.
std::vector<std::string> conditions(const Var& n, const Expr& count,
                                    const std::function<Expr(const Tensor&, Var)>& body) {
  Tensor A = placeholder({n}, "A");
  return conditions(compute(
      {count}, {"i"}, [&](Var i) { return body(A, i); }, "B"));
}

TEST(CheckReads, SymbolicSizesAreConditionsOnTheSizes) {
  const Var n("n"), m("m");
  const auto same = [](const Tensor& A, Var i) { return A(i); };
  EXPECT_EQ(conditions(n, n, same), std::vector<std::string>{});
  EXPECT_EQ(conditions(n, n - 1, same), std::vector<std::string>{});
  // A dimension of one element may be broadcast.
  EXPECT_EQ(
      conditions(n, m, same),
      std::vector<std::string>{
          "((cast(int64, m) <= 0i64) || ((cast(int64, m) - 1i64) < cast(int64, n))) or n is 1"});
  EXPECT_EQ(conditions(n, 10, same), std::vector<std::string>{"(9i64 < cast(int64, n)) or n is 1"});
  const auto doubled = [](const Tensor& A, Var i) { return A(i * 2); };
  EXPECT_EQ(
      conditions(n, n, doubled),
      std::vector<std::string>{
          "((cast(int64, n) <= 0i64) || (((cast(int64, n)*2i64) - 2i64) < cast(int64, n))) or n is 1"});
}

TEST(CheckReads, AQuotientHasTheQuotientsOfTheEnds) {
  const Var n("n"), m("m");
  EXPECT_EQ(
      conditions(n, m, [](const Tensor& A, Var i) { return A(floordiv(i, 4)); }),
      std::vector<std::string>{
          "((cast(int64, m) <= 0i64) || (floordiv((cast(int64, m) - 1i64), 4i64) < cast(int64, n))) or n is 1"});
}

TEST(CheckReads, SumsOfArgumentsThatExceedTheirTypeDoNotHold) {
  const Var n("n"), m("m"), first("first");
  EXPECT_EQ(
      conditions(n, m, [&](const Tensor& A, Var i) { return A(first + i); }),
      std::vector<std::string>{
          "((cast(int64, m) <= 0i64) || (((cast(int64, first) >= 0i64) && (((cast(int64, first) + "
          "cast(int64, m)) - 1i64) >= 0i64)) && (((cast(int64, first) + cast(int64, m)) - 1i64) < "
          "cast(int64, n)))) or n is 1"});
}

TEST(CheckReads, SizesOfDifferentTypesAreComparedInMoreBits) {
  const Var n("n"), m("m", Int(64));
  EXPECT_EQ(conditions(n, m, [](const Tensor& A, Var i) { return A(i); }),
            std::vector<std::string>{"((m <= 0i64) || ((m - 1i64) < cast(int64, n))) or n is 1"});
}

TEST(CheckReads, OnlyAnInputIsBroadcast) {
  const Var n("n"), m("m");
  Tensor A = placeholder({n}, "A");
  Tensor T = compute(
      {n}, {"i"}, [&](Var i) { return A(i) + 1; }, "T");
  Tensor B = compute(
      {m}, {"i"}, [&](Var i) { return T(i); }, "B");
  EXPECT_EQ(conditions(B),
            std::vector<std::string>{
                "((cast(int64, m) <= 0i64) || ((cast(int64, m) - 1i64) < cast(int64, n)))"});
}

TEST(CheckReads, AStageThatIsSkippedReadsNothing) {
  const Var n("n"), m("m"), flag("flag");
  Tensor A = placeholder({m}, "A");
  Tensor T = compute(
      {n}, {"i"}, [&](Var i) { return A(i) + 1; }, "T");
  Tensor B = compute(
      {n}, {"i"}, [&](Var i) { return tir::if_then_else(flag > 0, T(i), 0.0f); }, "B");
  EXPECT_EQ(
      conditions(B),
      std::vector<std::string>{
          "(!(flag > 0) || ((cast(int64, n) <= 0i64) || ((cast(int64, n) - 1i64) < cast(int64, m)))) or m is 1"});
}

TEST(CheckReads, ConditionsOnSizesAgreeWithEnumeration) {
  unsigned state = 1;
  const auto below = [&](unsigned limit) {
    state = state * 1664525u + 1013904223u;
    return static_cast<int>((state >> 16) % limit);
  };
  int conditions = 0, refusals = 0;
  for (int round = 0; round < 400; ++round) {
    const Var n("n"), m("m");
    const auto size = [&] {
      const Expr sizes[] = {n, m, n + 1, n * 2, m + n - 2, 3, floordiv(n, 2), tir::max(n, m)};
      return sizes[below(8)];
    };
    const Expr rows = size(), columns = size(), extent = size();
    const int a = below(4) - 1, b = below(4) - 1, c = below(5) - 2;
    const Expr shift = below(3) == 0 ? m + c : Expr(c);
    Tensor A = placeholder({extent}, "A");
    Tensor B = compute(
        {rows, columns}, {"i", "j"}, [&](Var i, Var j) { return A(i * a + j * b + shift); }, "B");
    const StageGraph graph = freeze(create_schedule(B));
    std::vector<arith::SizeCondition> found;
    bool is_refused = false;
    try {
      found = check_reads(graph, infer_bound(graph), Outside::Partly);
    } catch (const BoundError&) {
      is_refused = true;
    }
    conditions += static_cast<int>(found.size());
    refusals += is_refused;
    for (int n_value = 0; n_value < 5; ++n_value)
      for (int m_value = 0; m_value < 5; ++m_value) {
        tir::VarMap sizes;
        set(sizes, n, Expr(n_value));
        set(sizes, m, Expr(m_value));
        const auto value = [&](const Expr& e) {
          return *constant_int(arith::simplify(tir::substitute(e, sizes)));
        };
        const std::int64_t count = value(extent), shifted = value(shift);
        bool reads = false, is_inside = true;
        for (std::int64_t i = 0; i < value(rows); ++i)
          for (std::int64_t j = 0; j < value(columns); ++j) {
            const std::int64_t index = i * a + j * b + shifted;
            reads = true;
            is_inside = is_inside && index >= 0 && index < count;
          }
        bool holds = true;
        for (const arith::SizeCondition& each : found) holds = holds && value(each.condition) != 0;
        const std::string what =
            tir::print_expr(extent) + " elements read by " + tir::print_expr(rows) + " x " +
            tir::print_expr(columns) + " at i*" + std::to_string(a) + " + j*" + std::to_string(b) +
            " + " + tir::print_expr(shift) + ", n = " + std::to_string(n_value) +
            ", m = " + std::to_string(m_value);
        if (is_refused) {
          EXPECT_FALSE(reads && is_inside) << what;
        } else if (!(extent.as<tir::VarNode>() && count == 1)) {
          EXPECT_EQ(holds, is_inside) << what;
        }
      }
  }
  EXPECT_GT(conditions, 100);
  EXPECT_GT(refusals, 10);
}

TEST(CheckReads, ASecondReadOfTheSameElementsAddsNoCondition) {
  const Var n("n"), m("m");
  EXPECT_EQ(conditions(n, m, [](const Tensor& A, Var i) { return A(i) * A(i); }).size(), 1u);
}

}  // namespace
}  // namespace tenon::te

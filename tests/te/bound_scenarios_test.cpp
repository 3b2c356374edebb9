// Exact extents of schedules as people write them: scans, groups, regions, caches of caches,
// threads with memory of their own.
#include <gtest/gtest.h>

#include "tenon/arith/simplify.h"
#include "tenon/te/exact_bound.h"
#include "tenon/te/freeze.h"
#include "tenon/te/infer_bound.h"
#include "tenon/te/intrin.h"
#include "tenon/te/reduce.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"
#include "tests/common/run_schedule.h"

namespace tenon::te {
namespace {

using tir::print_expr;
using tir::truncdiv;

std::string extent_of(const Bounds& bounds, const IterVar& axis) {
  return print_expr(bounds[axis].extent);
}

Tensor elementwise(const Tensor& x, const std::string& name) {
  return compute(
      x.shape(), [&](std::span<const Var> i) { return x(i) + 1.0f; }, name);
}

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

TEST(BoundScenarios, OfARegionThatEndsAtOnePlaceTheUnionIsNeeded) {
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

TEST(BoundScenarios, AnIntrinsicWritesItsWholeOutputWhateverIsRead) {
  Tensor a = placeholder({6}, "a");
  Tensor c = compute(
      {6}, {"j"}, [&](Var j) { return a(5 - j); }, "c");
  TensorIntrin backwards = decl_tensor_intrin(
      c.op(),
      [](std::span<const tir::Buffer> in, std::span<const tir::Buffer> out) -> TensorIntrinBody {
        return {.body = tir::make_evaluate(tir::call_extern(
                    Int(32), "backwards", in[0].access_ptr("r"), out[0].access_ptr("w")))};
      });
  Tensor A = placeholder({10, 6}, "A");
  Tensor R = tensor_compute(
      {10, 6}, {"i"},
      [&](Var i) {
        return backwards({A.region({i, Range(0, 6)})});
      },
      "R");
  Tensor D = compute(
      {3}, {"i"}, [&](Var i) { return R(i, 1); }, "D");
  Schedule s = create_schedule(D);
  for (const Bounds& bounds : {infer_bound(s), infer_exact_bound(freeze(s))}) {
    EXPECT_EQ(extent_of(bounds, s[R].axis(0)), "3");
    EXPECT_EQ(extent_of(bounds, s[R].axis(1)), "6");
  }
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

/// What is read lies within the shape. An extern operation takes its inputs from their first
/// element on, and has no offset.
TEST(BoundScenarios, BesideAReaderOfAllOthersNeedNothingMore) {
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

TEST(BoundScenarios, OfFourElementsThatLieApartTheHullIsKept) {
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
}  // namespace tenon::te

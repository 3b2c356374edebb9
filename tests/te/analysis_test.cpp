// Checks queries of users: the inputs of operations, and the operations of a step of a scan.
#include <gtest/gtest.h>

#include "te/bounds/bound_inference.h"
#include "tenon/te/analysis.h"
#include "tenon/te/freeze.h"
#include "tenon/te/infer_bound.h"
#include "tenon/te/reduce.h"
#include "tenon/te/schedule_ops.h"
#include "tenon/tir/print.h"
#include "tests/common/run_schedule.h"

namespace tenon::te {

using tir::print_expr;

namespace {

template <class List>
std::vector<std::string> names_of(const List& list) {
  std::vector<std::string> names;
  for (const auto& item : list) names.push_back(item.name());
  return names;
}

using Names = std::vector<std::string>;

Tensor plus_one(const Tensor& A, const std::string& name) {
  return compute(
      A.shape(), {"i"}, [&](Var i) { return A(i) + 1.0f; }, name);
}

TEST(PostDfsOrder, HasInputsInTheirOrderBeforeTheirReaders) {
  Tensor A = placeholder({4}, "A"), B = placeholder({4}, "B");
  Tensor C = plus_one(B, "C");
  Tensor D = compute(
      {4}, {"i"}, [&](Var i) { return C(i) + A(i) + B(i); }, "D");
  EXPECT_EQ(names_of(post_dfs_order({D.op()})), (Names{"B", "C", "A", "D"}));
  // Each once, and what an output needs before the next output.
  EXPECT_EQ(names_of(post_dfs_order({A.op(), D.op(), C.op(), D.op()})),
            (Names{"A", "B", "C", "D"}));
  EXPECT_EQ(names_of(post_dfs_order({})), Names{});
}

TEST(PostDfsOrder, GoesAsDeepAsThereAreOperations) {
  Tensor last = placeholder({4}, "A");
  for (int n = 0; n < 20'000; ++n) last = plus_one(last, "B");
  EXPECT_EQ(post_dfs_order({last.op()}).size(), 20'001u);
}

struct ScanAnalysisTest : ::testing::Test {
  Var m = size_var("m"), n = size_var("n");
  Tensor X = placeholder({m, n}, "X"), state = placeholder({m, n}, "state");
  Tensor before = compute(
      {m, n}, {"t", "i"}, [&](Var t, Var i) { return X(t, i) * 2.0f; }, "before");
  Tensor init = compute(
      {1, n}, {"t", "i"}, [&](Var, Var i) { return X(0, i); }, "init");

  Tensor scan_of(const std::function<Expr(Var, Var)>& read_state) {
    Tensor inside = compute({m, n}, {"t", "i"}, read_state, "inside");
    Tensor update = compute(
        {m, n}, {"t", "i"}, [&](Var t, Var i) { return inside(t, i) + before(t, i); }, "update");
    return scan(init, update, state, {}, "S");
  }
};

TEST_F(ScanAnalysisTest, TheBodyIsWhatDependsOnTheStateUpToTheUpdate) {
  Tensor S = scan_of([&](Var t, Var i) { return state(t - 1, i); });
  EXPECT_EQ(names_of(scan_body(S.op())), (Names{"inside", "update"}));
}

TEST_F(ScanAnalysisTest, AnAxisReadInPlaceIsFixed) {
  Tensor in_place = scan_of([&](Var t, Var i) { return state(t - 1, i); });
  EXPECT_EQ(names_of(scan_fixed_axes(in_place.op())), Names{"S.out0.i1"});
  Tensor shifted = scan_of([&](Var t, Var i) { return state(t - 1, tir::max(i - 1, 0)); });
  EXPECT_EQ(names_of(scan_fixed_axes(shifted.op())), Names{});
}

TEST_F(ScanAnalysisTest, OfAnotherOperationThereIsNoStep) {
  for (const auto& question : {std::function<void()>([&] { scan_body(X.op()); }),
                               std::function<void()>([&] { scan_fixed_axes(X.op()); })}) {
    try {
      question();
      FAIL() << "a placeholder has no steps";
    } catch (const TypeError& error) {
      EXPECT_NE(std::string(error.what()).find("`X` is not a scan"), std::string::npos)
          << error.what();
      ASSERT_TRUE(error.where());
      EXPECT_NE(std::string(error.where()->file_name()).find("analysis_test"), std::string::npos);
    }
  }
}

// ---- buffers as blocks of memory ----------------------------------------------------------------

/// The result for the graph, which must equal that for its loops.
bool needs_compact(const Schedule& s) {
  const StageGraph graph = freeze(s);
  const bool by_graph = needs_compact_buffers(graph);
  EXPECT_EQ(needs_compact_buffers(schedule_ops(graph, infer_bound(graph))), by_graph);
  return by_graph;
}

TEST(CompactBuffers, AreNeededWhereStatementsSeeThemAsMemory) {
  Tensor A = placeholder({8}, "A");
  Tensor B = plus_one(A, "B");
  EXPECT_FALSE(needs_compact(create_schedule(B)));
  Tensor C = extern_op(
      {8}, {B},
      [](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) -> ExternResult {
        return tir::call_extern(Int(32), "f", ins[0].access_ptr("r"), outs[0].access_ptr("w"));
      },
      "C");
  EXPECT_TRUE(needs_compact(create_schedule(C)));
  Tensor a = placeholder({4}, "a");
  Tensor b = plus_one(a, "b");
  const TensorIntrin intrin = decl_tensor_intrin(
      b.op(),
      [](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) -> TensorIntrinBody {
        return {.body = tir::make_evaluate(tir::call_extern(Int(32), "f", ins[0].access_ptr("r"),
                                                            outs[0].access_ptr("w")))};
      });
  Schedule s = create_schedule(B);
  s[B].tensorize(s[B].split(s[B].axis(0), 4).inner, intrin);
  EXPECT_TRUE(needs_compact(s));
}

}  // namespace

// Spatial axes of scans: which of them a step reads only where it computes, and what that saves.

namespace {

/// Whether each spatial axis is fixed: `y` or `n` for each.
std::string fixed_axes_of(const Tensor& all) {
  const StageGraph graph = freeze(create_schedule(all));
  const std::vector<IterVar> fixed = fixed_axes(graph, *graph.find(all.op()));
  std::string text;
  for (const IterVar& axis : all.op().as<Scan>()->spatial_axis)
    text +=
        std::any_of(fixed.begin(), fixed.end(), [&](const IterVar& f) { return f.same_as(axis); })
            ? 'y'
            : 'n';
  return text;
}

struct PlaneScan {
  Var l{"l"}, n{"n"}, m{"m"};
  Tensor x = placeholder({l, m, n}, "x"), state = placeholder({l, n, m}, "state");
  Tensor init = compute(
      {1, n, m}, {"t", "i", "j"}, [&](Var, Var i, Var j) { return x(0, j, i); }, "init");
  Tensor all(const std::function<Expr(Var, Var, Var)>& body) {
    Tensor update = compute(
        {l, n, m}, {"t", "i", "j"}, [&](Var t, Var i, Var j) { return body(t, i, j); }, "update");
    return scan(init, update, state);
  }
};

TEST(ScanAxes, ReadInPlaceAreFixed) {
  PlaneScan p;
  EXPECT_EQ(fixed_axes_of(
                p.all([&](Var t, Var i, Var j) { return p.x(t, j, i) * p.state(t - 1, i, j); })),
            "yy");
}

TEST(ScanAxes, ReadTransposedAreNot) {
  Var l("l"), n("n");
  Tensor x = placeholder({l, n, n}, "x"), state = placeholder({l, n, n}, "state");
  Tensor init = compute(
      {1, n, n}, {"t", "i", "j"}, [&](Var, Var i, Var j) { return x(0, i, j); }, "init");
  Tensor update = compute(
      {l, n, n}, {"t", "i", "j"},
      [&](Var t, Var i, Var j) { return x(t, j, i) * state(t - 1, j, i); }, "update");
  EXPECT_EQ(fixed_axes_of(scan(init, update, state)), "nn");
}

TEST(ScanAxes, AreFollowedThroughTransposedStagesAndFailAtAConstant) {
  PlaneScan p;
  Tensor h1 = compute(
      {p.l, p.m, p.n}, {"t", "j", "i"}, [&](Var t, Var j, Var i) { return p.state(t - 1, i, j); },
      "h1");
  Tensor h2 = compute(
      {p.l, p.n, p.m}, {"t", "i", "j"},
      [&](Var t, Var i, Var) { return p.state(t - 1, i, 10) * 2.0f; }, "h2");
  EXPECT_EQ(fixed_axes_of(p.all([&](Var t, Var i, Var j) { return h1(t, j, i) + h2(t, i, j); })),
            "yn");
}

TEST(ScanAxes, OneThatReachesAnotherNeedsAllOfThatOne) {
  Var l("l"), n("n");
  Tensor x = placeholder({l, n, n}, "x"), state = placeholder({l, n, n}, "state");
  Tensor init = compute(
      {1, n, n}, {"t", "i", "j"}, [&](Var, Var i, Var j) { return x(0, i, j); }, "init");
  Tensor h1 = compute(
      {l, n, n}, {"t", "j", "i"}, [&](Var t, Var j, Var) { return state(t - 1, j, j); }, "h1");
  Tensor h2 = compute(
      {l, n, n}, {"t", "i", "j"}, [&](Var t, Var i, Var j) { return state(t - 1, i, j) * 2.0f; },
      "h2");
  Tensor update = compute(
      {l, n, n}, {"t", "i", "j"}, [&](Var t, Var i, Var j) { return h1(t, j, i) + h2(t, i, j); },
      "update");
  // Columns are read at rows, so all rows are needed; columns are only ever read in place.
  EXPECT_EQ(fixed_axes_of(scan(init, update, state)), "ny");
}

TEST(ScanAxes, OfSeveralStatesEachHasItsOwn) {
  Var m("m"), n("n");
  Tensor x1 = placeholder({m, n}, "x1"), s1 = placeholder({m, n}, "s1");
  Tensor x2 = placeholder({m, n}, "x2"), s2 = placeholder({m, n}, "s2");
  auto first = [&](const Tensor& x, const std::string& name) {
    return compute(
        {1, n}, {"t", "i"}, [&](Var, Var i) { return x(0, i); }, name);
  };
  auto step = [&](const Tensor& x, const Tensor& state, const std::string& name) {
    return compute(
        {m, n}, {"t", "i"}, [&](Var t, Var i) { return state(t - 1, i) + x(t, i); }, name);
  };
  const std::vector<Tensor> all =
      scan({first(x1, "init1"), first(x2, "init2")},
           {step(x1, s1, "update1"), step(x2, s2, "update2")}, {s1, s2});
  EXPECT_EQ(fixed_axes_of(all[0]), "yy");
  // If one state reads the other, all of the other is needed.
  Tensor crossed = compute(
      {m, n}, {"t", "i"}, [&](Var t, Var i) { return s1(t - 1, i) + s2(t - 1, i); }, "update1");
  const std::vector<Tensor> mixed =
      scan({first(x1, "init1"), first(x2, "init2")}, {crossed, step(x2, s2, "update2")}, {s1, s2});
  EXPECT_EQ(fixed_axes_of(mixed[0]), "yn");
}

TEST(ScanAxes, OfAReductionOverTheStateAreNot) {
  Var m("m"), n("n");
  Tensor x = placeholder({m, n}, "x"), state = placeholder({m, n}, "state");
  IterVar k = reduce_axis({0, n}, "k");
  Tensor init = compute(
      {1, n}, {"t", "i"}, [&](Var, Var i) { return x(0, i); }, "init");
  Tensor total = compute(
      {m, n}, {"t", "i"}, [&](Var t, Var) { return sum(state(t - 1, k), {k}); }, "total");
  Tensor update = compute(
      {m, n}, {"t", "i"}, [&](Var t, Var i) { return total(t, i) + x(t, i); }, "update");
  EXPECT_EQ(fixed_axes_of(scan(init, update, state)), "n");
}

// ---- the stages of a step, and what is around them ----------------------------------------------

struct SumTest : ::testing::Test {
  static constexpr int kSteps = 5, kSpace = 24;
  Tensor x = placeholder({kSteps, kSpace}, "x"), state = placeholder({kSteps, kSpace}, "state");
  Tensor y = compute(
      {kSteps, kSpace}, {"t", "i"}, [&](Var t, Var i) { return x(t, i) * 2.0f; }, "y");
  Tensor init = compute(
      {1, kSpace}, {"t", "i"}, [&](Var, Var i) { return y(0, i); }, "init");
  Tensor half = compute(
      {kSteps, kSpace}, {"t", "i"}, [&](Var t, Var i) { return state(t - 1, i) + y(t, i); },
      "half");
  Tensor update = compute(
      {kSteps, kSpace}, {"t", "i"}, [&](Var t, Var i) { return half(t, i) + 1.0f; }, "update");
  Tensor all = scan(init, update, state, {}, "sum");

  Tensor reader(int count, int first) {
    return compute(
        {kSteps, count}, {"t", "i"}, [&](Var t, Var i) { return all(t, i + first) * 3.0f; },
        "reader");
  }
  IterVar space() { return all.op().as<Scan>()->spatial_axis[0]; }
};

TEST_F(SumTest, AStepIsWhatDependsOnTheStateAndMakesTheUpdate) {
  const StageGraph graph = freeze(create_schedule(all));
  const std::vector<StageId> expected = {*graph.find(half.op()), *graph.find(update.op())};
  EXPECT_EQ(stages_of_step(graph, *graph.find(all.op())), expected);
}

TEST_F(SumTest, WhatIsComputedInAnUpdateIsInItsTimeLoop) {
  Schedule s = create_schedule(all);
  s[y].compute_root();
  Tensor yy = s.cache_read(y, "local", {half});
  s[yy].compute_at(s[half], s[half].axis(1));
  const StageGraph graph = freeze(s);
  const std::vector<AttachPoint>& path = graph.attach_path(*graph.find(yy.op()));
  std::vector<std::string> names;
  for (const AttachPoint& point : path) names.push_back(point.axis.name());
  EXPECT_EQ(names, (std::vector<std::string>{"i", "t", "sum.idx"}));
}

TEST_F(SumTest, OfAFixedAxisOnlyWhatIsReadIsComputed) {
  Tensor out = reader(7, 4);
  Schedule s = create_schedule(out);
  const Bounds bounds = infer_bound(s);
  for (const IterVar& axis : {space(), s[update].axis(1), s[half].axis(1), s[init].axis(1)}) {
    EXPECT_EQ(print_expr(bounds[axis].min), "4") << axis.name();
    EXPECT_EQ(print_expr(bounds[axis].extent), "7") << axis.name();
  }
  Schedule whole = create_schedule({out, all});
  EXPECT_EQ(testing::run(s, {x, out})[1], testing::run(whole, {x, out, all})[1]);
}

TEST_F(SumTest, AScanAtALoopOfItsReaderComputesThatPart) {
  Tensor out = reader(kSpace, 0);
  Schedule s = create_schedule(out);
  auto [o, i] = s[out].split(s[out].axis(1), 8);
  s[out].reorder({o, s[out].axis(0), i});
  s[all].compute_at(s[out], o);
  s[init].compute_at(s[out], o);
  EXPECT_EQ(print_expr(infer_bound(s)[space()].extent), "8");
  EXPECT_EQ(testing::run(s, {x, out}), testing::run(create_schedule(out), {x, out}));
}

TEST_F(SumTest, LoopsThatOvershootGetAllOfTheState) {
  Tensor out = reader(7, 4);
  Schedule s = create_schedule(out);
  // The last part of the update's split reads `half` beyond the 7 elements that are needed.
  auto [o, i] = s[update].split(s[update].axis(1), 3);
  s[half].compute_at(s[update], o);
  EXPECT_EQ(print_expr(infer_bound(s)[space()].extent), "24");
  EXPECT_EQ(testing::run(s, {x, out}), testing::run(create_schedule(out), {x, out}));
}

TEST_F(SumTest, OfTheFirstStatesAloneNoStepIsMade) {
  Tensor out = compute(
      {kSpace}, {"i"}, [&](Var i) { return all(0, i); }, "out");
  Schedule s = create_schedule(out);
  EXPECT_EQ(print_expr(infer_bound(s)[all.op().scan_axis()].extent), "0");
  testing::Array first = testing::run(create_schedule(y), {x, y})[1];
  first.resize(kSpace);
  EXPECT_EQ(testing::run(s, {x, out})[1], first);
}

}  // namespace

}  // namespace tenon::te

// What operations are computed from, and what makes a step of a scan, as a user asks for it.
#include "tenon/te/analysis.h"

#include <gtest/gtest.h>

#include "tenon/te/freeze.h"
#include "tenon/te/infer_bound.h"
#include "tenon/te/reduce.h"
#include "tenon/te/schedule_ops.h"

namespace tenon::te {
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
      EXPECT_NE(std::string(error.what()).find("`X` is no scan"), std::string::npos)
          << error.what();
      ASSERT_TRUE(error.where());
      EXPECT_NE(std::string(error.where()->file_name()).find("analysis_test"), std::string::npos);
    }
  }
}

// ---- buffers as blocks of memory ----------------------------------------------------------------

/// What the graph says, which its loops must say as well.
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
}  // namespace tenon::te

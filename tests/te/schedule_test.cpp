// Loops and relations after primitives.
#include <gtest/gtest.h>

#include "tenon/te/freeze.h"
#include "tenon/te/graph.h"
#include "tenon/te/reduce.h"
#include "tenon/tir/walk.h"

namespace tenon::te {
namespace {

/// "i.outer j.outer i.inner j.inner"
std::string loops(const Stage& stage) {
  std::string text;
  for (const IterVar& axis : stage.leaf_iter_vars())
    text += (text.empty() ? "" : " ") + axis.name();
  return text;
}

std::string order(const Schedule& schedule) {
  std::string text;
  for (const Stage& stage : schedule.stages()) text += (text.empty() ? "" : " ") + stage.name();
  return text;
}

struct MatmulTest : testing::Test {
  Tensor A = placeholder({64, 32}, "A"), B = placeholder({32, 48}, "B");
  IterVar k = reduce_axis({0, 32}, "k");
  Tensor C = compute(
      {64, 48}, {"i", "j"}, [&](Var i, Var j) { return sum(A(i, k) * B(k, j), {k}); }, "C");
  Tensor D = compute(
      {64, 48}, {"i", "j"}, [&](Var i, Var j) { return C(i, j) * 2.0f; }, "D");
  Schedule s = create_schedule({D});
};

TEST_F(MatmulTest, StagesStandInTheOrderInWhichReadsMeetThem) { EXPECT_EQ(order(s), "A B C D"); }

TEST_F(MatmulTest, SplitPutsOuterAndInnerInPlaceOfTheAxis) {
  auto [jo, ji] = s[C].split(s[C].axis(1), 8);
  EXPECT_EQ(loops(s[C]), "i j.outer j.inner k");
  ASSERT_EQ(s[C].relations().size(), 1u);
  const Split& split = std::get<Split>(s[C].relations()[0]);
  EXPECT_TRUE(split.parent.same_as(s[C].axis(1)) && split.outer.same_as(jo) &&
              split.inner.same_as(ji));
  EXPECT_TRUE(tir::is_constant_int(std::get<Split::ByFactor>(split.size).factor, 8));
}

TEST_F(MatmulTest, SplitOfAReductionAxisGivesReductionAxes) {
  auto [ko, ki] = s[C].split_by_nparts(s[C].reduce_axis(0), 4);
  EXPECT_EQ(ko.kind(), IterKind::Reduce);
  EXPECT_EQ(ki.kind(), IterKind::Reduce);
  EXPECT_TRUE(std::holds_alternative<Split::ByParts>(std::get<Split>(s[C].relations()[0]).size));
}

TEST_F(MatmulTest, TileSplitsTwiceAndReorders) {
  auto [io, jo, ii, ji] = s[C].tile(s[C].axis(0), s[C].axis(1), 32, 16);
  EXPECT_EQ(loops(s[C]), "i.outer j.outer i.inner j.inner k");
  EXPECT_EQ(jo.name() + ji.name(), "j.outerj.inner");
  EXPECT_TRUE(s[C].leaf_iter_vars()[0].same_as(io) && s[C].leaf_iter_vars()[2].same_as(ii));
}

TEST_F(MatmulTest, ReorderMovesOnlyTheListedLoops) {
  s[C].reorder({s[C].reduce_axis(0), s[C].axis(0)});
  EXPECT_EQ(loops(s[C]), "k j i");
}

TEST_F(MatmulTest, FuseIsALeftFold) {
  s[C].fuse({s[C].axis(0), s[C].axis(1), s[C].reduce_axis(0)});
  EXPECT_EQ(loops(s[C]), "i.j.fused.k.fused");
  EXPECT_EQ(s[C].relations().size(), 2u);
  EXPECT_EQ(s[C].leaf_iter_vars()[0].kind(), IterKind::Reduce);
}

TEST_F(MatmulTest, FuseTakesNeighboursInEitherOrderWithTheOuterLoopFirst) {
  s[C].fuse(s[C].axis(1), s[C].axis(0));
  EXPECT_EQ(loops(s[C]), "j.i.fused k");
  EXPECT_TRUE(std::get<Fuse>(s[C].relations()[0]).outer.same_as(s[C].axis(0)));
}

TEST_F(MatmulTest, FuseOfNothingIsALoopOutsideOfAll) {
  s[C].fuse({});
  EXPECT_EQ(loops(s[C]), "singleton i j k");
  EXPECT_TRUE(std::holds_alternative<Singleton>(s[C].relations()[0]));
}

TEST_F(MatmulTest, FuseOfOneIsItself) {
  EXPECT_TRUE(s[C].fuse({s[C].axis(0)}).same_as(s[C].axis(0)));
  EXPECT_TRUE(s[C].relations().empty());
}

TEST(FuseTest, OfTwoTypesHasTheWider) {
  Tensor W = compute(
      {Expr(4), tir::make_int(Int(64), 5)}, {"i", "j"}, [](Var i, Var j) { return j + i; }, "W");
  Schedule s = create_schedule(W);
  EXPECT_EQ(s[W].fuse(s[W].axis(0), s[W].axis(1)).var().dtype(), Int(64));
}

TEST_F(MatmulTest, CopiesDoNotFollow) {
  Schedule other = s.copy();
  s[C].split(s[C].axis(0), 4);
  EXPECT_EQ(loops(other[C]), "i j k");
  EXPECT_EQ(loops(s[C]), "i.outer i.inner j k");
}

TEST_F(MatmulTest, NormalizedAxesAreFoundThroughTheOldHandles) {
  Schedule n = s.normalize();
  n[C].split(C.op().axis(0), 4);
  EXPECT_EQ(loops(n[C]), "i.outer i.inner j k");
  EXPECT_EQ(loops(s[C]), "i j k");
}

// ---- dataflow -----------------------------------------------------------------------------------

std::string text(const Operation& op) {
  std::ostringstream out;
  out << op;
  return out.str();
}

TEST_F(MatmulTest, CacheReadCopiesRightAfterTheProducer) {
  Tensor AA = s.cache_read(A, "shared", {C});
  EXPECT_EQ(order(s), "A A.shared B C D");
  EXPECT_EQ(text(AA.op()),
            "compute(A.shared, body=[A[ax0, ax1]], axis=[iter_var(ax0, range(min=0, ext=64)), "
            "iter_var(ax1, range(min=0, ext=32))], reduce_axis=[], tag=, attrs={})");
  EXPECT_TRUE(s[C].op().inputs()[0].same_as(AA));
  EXPECT_EQ(s[AA].data().scope, tir::StorageScope::Shared);
}

TEST_F(MatmulTest, NamesOfRepeatedCachesDiffer) {
  Tensor E = compute(
      {64, 32}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + D(i, j); }, "E");
  Schedule t = create_schedule({E});
  t.cache_read(A, "local", {C});
  EXPECT_EQ(t.cache_read(A, "local", {E}).name(), "A.local.d");
}

TEST(CacheReadTest, OfOneOfSeveralOutputsIsNamedAfterThatOutput) {
  Tensor A = placeholder({4}, "A");
  std::vector<Tensor> T = compute_multi(
      {4}, {"i"},
      [&](Var i) {
        return std::vector<Expr>{A(i) + 1.0f, A(i) * 2.0f};
      },
      "T");
  Tensor sum = compute(
      {4}, {"i"}, [&](Var i) { return T[0](i) + T[1](i); }, "sum");
  Schedule s = create_schedule(sum);
  EXPECT_EQ(s.cache_read(T[1], "shared", {sum}).name(), "T.v1.shared");
  EXPECT_TRUE(s[sum].op().inputs()[0].same_as(T[0])) << "the other output is read as before";
}

TEST_F(MatmulTest, CacheReadOfACacheWritesReaderFindsTheReaderByItsOldTensor) {
  s.cache_write(C, "local");
  Tensor CC = s.cache_read(C, "shared", {D});
  EXPECT_EQ(order(s), "A B C.local C C.shared D");
  EXPECT_TRUE(s[D].op().inputs()[0].same_as(CC));
}

TEST_F(MatmulTest, CacheWriteComputesInFrontAndTheStageCopies) {
  Tensor CL = s.cache_write(C, "local");
  EXPECT_EQ(order(s), "A B C.local C D");
  EXPECT_EQ(loops(s[CL]), "i.c j.c k");
  EXPECT_EQ(loops(s[C]), "i j");
  EXPECT_EQ(text(s[C].op()),
            "compute(C, body=[C.local[i, j]], axis=[iter_var(i, range(min=0, ext=64)), iter_var(j, "
            "range(min=0, ext=48))], "
            "reduce_axis=[], tag=, attrs={})");
  EXPECT_TRUE(s[CL].reduce_axis(0).same_as(k));
}

TEST_F(MatmulTest, CacheWriteTakesTheLayoutOfTheLoops) {
  s[C].tile(s[C].axis(0), s[C].axis(1), 16, 8);
  Tensor CL = s.cache_write(C, "local");
  EXPECT_EQ(loops(s[CL]), "i.outer.c j.outer.c i.inner.c j.inner.c k");
  std::ostringstream shape;
  shape << CL;
  EXPECT_EQ(shape.str(), "Tensor(shape=[4, 6, 16, 8], op.name=C.local)");
}

TEST_F(MatmulTest, CacheWriteOfAnUnevenSplitGuardsTheBody) {
  s[D].split(s[D].axis(0), 10);
  Tensor DL = s.cache_write(D, "local");
  // Lazily: beyond the end of the axis there is nothing to read.
  const tir::Call* body = DL.op().body()[0].as<tir::Call>();
  ASSERT_TRUE(body && body->is(tir::Intrin::if_then_else));
  EXPECT_EQ(tir::constant_int(DL.shape()[0]), 7);
}

TEST_F(MatmulTest, CacheWriteOfAnUnevenReductionGuardsItsCondition) {
  s[C].split(s[C].axis(0), 10);
  Tensor CL = s.cache_write(C, "local");
  EXPECT_FALSE(tir::is_true(CL.op().as<Compute>()->reduction()->condition));
}

TEST_F(MatmulTest, RfactorMakesPartialResultsInFront) {
  auto [ko, ki] = s[C].split(k, 4);
  Tensor CF = s.rfactor(C, ki);
  EXPECT_EQ(order(s), "A B C.rf C.repl D");
  EXPECT_EQ(loops(s[CF]), "k.inner i j k.outer");
  EXPECT_EQ(loops(s[C]), "ax0 ax1 k.inner.v");
  EXPECT_EQ(tir::constant_int(CF.shape()[0]), 4);
}

TEST_F(MatmulTest, RfactorPutsTheNewDimensionWhereItIsTold) {
  auto [ko, ki] = s[C].split(k, 4);
  EXPECT_EQ(tir::constant_int(s.rfactor(C, ko, -1).shape()[2]), 8);
  EXPECT_EQ(loops(s[s[C].op().inputs()[0]]), "i j k.outer k.inner");
}

TEST_F(MatmulTest, RfactorTwice) {
  auto [ko, ki] = s[C].split(k, 8);
  Tensor CF = s.rfactor(C, ki);
  auto [vo, vi] = s[C].split(s[C].reduce_axis(0), 2);
  s.rfactor(C, vi);
  EXPECT_EQ(order(s), "A B C.rf C.repl.rf C.repl.repl D");
}

TEST(RfactorTest, OfAnUnevenSplitKeepsTheCondition) {
  Tensor A = placeholder({10}, "A");
  IterVar k = reduce_axis({0, 10}, "k");
  Tensor B = compute(
      {1}, {"i"}, [&](Var) { return sum(A(k), {k}); }, "B");
  Schedule s = create_schedule({B});
  auto [ko, ki] = s[B].split(k, 4);
  Tensor BF = s.rfactor(B, ki);
  EXPECT_FALSE(tir::is_true(BF.op().as<Compute>()->reduction()->condition));
}

TEST(RfactorTest, OfATupleReductionGivesAllOutputs) {
  Tensor A = placeholder({4, 16}, "A", Int(32));
  Reducer argmax = comm_reducer(
      [](std::span<const Var> x, std::span<const Var> y) -> std::vector<Expr> {
        return {tir::select(x[1] >= y[1], x[0], y[0]), tir::select(x[1] >= y[1], x[1], y[1])};
      },
      [](std::span<const DataType> t) -> std::vector<Expr> {
        return {tir::make_const(t[0], -1), tir::min_value(t[1])};
      },
      "argmax");
  IterVar k = reduce_axis({0, 16}, "k");
  std::vector<Tensor> T = compute_multi(
      {4}, {"i"},
      [&](Var i) {
        return argmax({k, A(i, k)}, {k});
      },
      "T");
  Schedule s = create_schedule({T[0]});
  auto [ko, ki] = s[T[0]].split(k, 4);
  std::vector<Tensor> F = s.rfactor(T, ki);
  ASSERT_EQ(F.size(), 2u);
  EXPECT_EQ(F[1].name(), "T.rf.v1");
  const Compute& rest = *s[T[0]].op().as<Compute>();
  EXPECT_EQ(rest.body[0].as<tir::Reduce>()->reduction, rest.body[1].as<tir::Reduce>()->reduction);
}

TEST(ReducerTest, AListOfOneSourceIsAList) {
  Tensor A = placeholder({4, 16}, "A");
  Reducer total = comm_reducer(
      [](std::span<const Var> x, std::span<const Var> y) -> std::vector<Expr> {
        return {x[0] + y[0]};
      },
      [](std::span<const DataType> t) -> std::vector<Expr> { return {tir::make_const(t[0], 0)}; },
      "total");
  IterVar k = reduce_axis({0, 16}, "k");
  std::vector<Tensor> T = compute_multi(
      {4}, {"i"}, [&](Var i) { return total({A(i, k)}, {k}); }, "T");
  EXPECT_EQ(T.size(), 1u);
}

// ---- freezing -----------------------------------------------------------------------------------

TEST_F(MatmulTest, FreezeRebasesRootLoops) {
  StageGraph graph = freeze(s);
  const FrozenStage& stage = graph.stage(*graph.find(C.op()));
  ASSERT_EQ(stage.relations.size(), 3u);
  EXPECT_TRUE(std::get<Rebase>(stage.relations[2]).parent.same_as(k));
  EXPECT_FALSE(stage.has_leaf(k));
}

TEST_F(MatmulTest, AnAttachmentFollowsSplitsToTheInnerAndFusionsToTheFusedLoop) {
  s[C].compute_at(s[D], s[D].axis(1));
  auto [jo, ji] = s[D].split(s[D].axis(1), 8);
  StageGraph graph = freeze(s);
  EXPECT_TRUE(graph.attach_path(*graph.find(C.op())).front().axis.same_as(ji));
  s[D].reorder({jo, s[D].axis(0)});
  IterVar fused = s[D].fuse(s[D].axis(0), ji);
  graph = freeze(s);
  EXPECT_TRUE(graph.attach_path(*graph.find(C.op())).front().axis.same_as(fused));
}

TEST_F(MatmulTest, InlinedStagesAreGoneFromTheGraph) {
  Tensor E = compute(
      {64, 48}, {"i", "j"}, [&](Var i, Var j) { return D(63 - i, j) + D(63 - i, j); }, "E");
  Schedule t = create_schedule({E});
  t[D].compute_inline();
  StageGraph graph = freeze(t);
  EXPECT_EQ(graph.size(), 4u);
  EXPECT_FALSE(graph.find(D.op()).has_value());
  const Expr& body = graph.stage(StageId(3)).op.body()[0];
  EXPECT_TRUE(body.as<tir::Binary>()->a.same_as(body.as<tir::Binary>()->b));
  EXPECT_EQ(graph.stage(StageId(3)).op.inputs()[0].name(), "C");
}

TEST(FreezeTest, AChainOfInlinedStagesTakesTimeInProportion) {
  Tensor last = placeholder({16}, "A");
  std::vector<Tensor> chain;
  for (int n = 0; n < 800; ++n) {
    chain.push_back(compute(
        {16}, {"i"}, [&](Var i) { return last(i) + 1.0f; }, "B" + std::to_string(n)));
    last = chain.back();
  }
  Schedule s = create_schedule({last});
  for (std::size_t n = 0; n + 1 < chain.size(); ++n) s[chain[n]].compute_inline();
  const StageGraph graph = freeze(s);
  EXPECT_EQ(graph.size(), 2u);
  EXPECT_EQ(tir::node_count(graph.stage(StageId(1)).op.body()[0]), 800u * 2 + 2);
}

TEST(FreezeTest, InliningThatExplodesIsRefused) {
  // Written out, the body has 2^60 reads.
  Tensor last = placeholder({16}, "A");
  std::vector<Tensor> chain;
  for (int n = 0; n < 60; ++n) {
    chain.push_back(compute(
        {16}, {"i"}, [&](Var i) { return last(i) * last(i); }, "B" + std::to_string(n)));
    last = chain.back();
  }
  Schedule s = create_schedule({last});
  for (std::size_t n = 0; n + 1 < chain.size(); ++n) s[chain[n]].compute_inline();
  EXPECT_THROW(freeze(s), ScheduleError);
}

TEST_F(MatmulTest, GraphKnowsReadersAndPaths) {
  s[C].compute_at(s[D], s[D].axis(0));
  StageGraph graph = freeze(s);
  const StageId c = *graph.find(C.op()), d = *graph.find(D.op());
  EXPECT_EQ(std::vector<StageId>(graph.readers(c).begin(), graph.readers(c).end()),
            std::vector<StageId>{d});
  EXPECT_EQ(graph.reads(c).size(), 2u);
  ASSERT_EQ(graph.attach_path(c).size(), 1u);
  EXPECT_EQ(graph.attached_at(d, graph.attach_path(c)[0].axis), std::vector<StageId>{c});
}

TEST(OperationTest, AVeryLongChainIsTakenApartWithoutRecursion) {
  Tensor last = placeholder({16}, "A");
  for (int n = 0; n < 200'000; ++n)
    last = compute(
        {16}, {"i"}, [&](Var i) { return last(i) + 1.0f; }, "B");
  last = placeholder({16}, "A");
  SUCCEED();
}

TEST(GroupTest, MembersAreComputedWhereTheGroupIs) {
  Tensor A = placeholder({8, 8}, "A");
  Tensor X = compute(
      {8, 8}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "X");
  Tensor Y = compute(
      {8, 8}, {"i", "j"}, [&](Var i, Var j) { return X(i, j) * 2.0f; }, "Y");
  Tensor Z = compute(
      {8, 8}, {"i", "j"}, [&](Var i, Var j) { return Y(i, j) - 1.0f; }, "Z");
  Schedule s = create_schedule({Z});
  Stage group = s.create_group(Y, A, true);
  group.compute_at(s[Z], s[Z].axis(0));
  EXPECT_TRUE(s[X].group()->same_as(group));
  EXPECT_FALSE(s[Z].group().has_value());
  StageGraph graph = freeze(s);
  for (const Tensor& member : {X, Y})
    EXPECT_EQ(graph.attach_path(*graph.find(member.op())).size(), 1u);
}

TEST(GroupTest, GroupsNest) {
  // test: x, x1 in g1, g1 and x2 in g2; x2's readers outside.
  Tensor A = placeholder({8, 8}, "A");
  auto plus_one = [](const Tensor& t, const std::string& name) {
    return compute(
        {8, 8}, {"i", "j"}, [&](Var i, Var j) { return t(i, j) + 1.0f; }, name);
  };
  Tensor X = plus_one(A, "X"), Y = plus_one(X, "Y"), Z = plus_one(Y, "Z"), W = plus_one(Z, "W");
  Schedule s = create_schedule({W});
  Stage inner = s.create_group(Y, A);
  Stage outer = s.create_group(Z, A);
  EXPECT_TRUE(inner.group()->same_as(outer));
  EXPECT_TRUE(s[X].group()->same_as(inner));
  EXPECT_TRUE(s[Z].group()->same_as(outer));
  inner.compute_at(s[Z], s[Z].axis(0));
  outer.compute_at(s[W], s[W].axis(0));
  StageGraph graph = freeze(s);
  EXPECT_EQ(graph.attach_path(*graph.find(X.op())).size(), 2u);
  EXPECT_EQ(graph.attach_path(*graph.find(Z.op())).size(), 1u);
}

TEST(GroupTest, StagesThatRewritesAddJoinTheGroup) {
  Tensor A = placeholder({8}, "A");
  Tensor X = compute(
      {8}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "X");
  Tensor Y = compute(
      {8}, {"i"}, [&](Var i) { return X(i) * 2.0f; }, "Y");
  Tensor Z = compute(
      {8}, {"i"}, [&](Var i) { return Y(i) - 1.0f; }, "Z");
  Schedule s = create_schedule({Z});
  Stage group = s.create_group(Y, A);
  EXPECT_TRUE(s[s.cache_write(Y, "local")].group()->same_as(group));
  EXPECT_TRUE(s[s.cache_read(X, "local", {})].group()->same_as(group));
}

// ---- reductions whose length is data ------------------------------------------------------------

struct SegmentTest : testing::Test {
  Tensor L = placeholder({8}, "L", Int(32)), A = placeholder({8, 32}, "A");
  Tensor M = compute(
      {8}, {"i"}, [&](Var i) { return L(i) + 1; }, "M");
  Tensor S = compute(
      {8}, {"i"},
      [&](Var i) {
        IterVar k = reduce_axis({0, M(i)}, "k");
        return sum(A(i, k), {k});
      },
      "S");
  Schedule s = create_schedule({S});

  /// The tensor that the length of the reduction reads.
  static std::string length_of(const StageSpec& stage) {
    std::string name;
    tir::walk(stage.op.reduce_axis(0).dom()->extent,
              [&](const tir::ProducerLoad& load) { name = load.producer->name(); });
    return name;
  }
};

TEST_F(SegmentTest, TensorsInRangesAreRead) { EXPECT_EQ(S.op().inputs()[0].name(), "M"); }

TEST_F(SegmentTest, CacheReadReachesTheRange) {
  IterVar k = s[S].reduce_axis(0);
  auto [ko, ki] = s[S].split(k, 4);
  s.cache_read(M, "local", {S});
  EXPECT_EQ(length_of(s[S].data()), "M.local");
  EXPECT_TRUE(std::get<Split>(s[S].relations()[0]).parent.same_as(s[S].reduce_axis(0)));
  EXPECT_TRUE(s[S].leaf_iter_vars()[2].same_as(ki));
}

TEST_F(SegmentTest, InliningReachesTheRange) {
  s[M].compute_inline();
  StageGraph graph = freeze(s);
  EXPECT_EQ(length_of(graph.stage(*graph.find(S.op()))), "L");
}

TEST_F(SegmentTest, CacheWriteCountsByTheNewAxes) {
  Tensor SL = s.cache_write(S, "local");
  EXPECT_TRUE(tir::uses_var(SL.op().reduce_axis(0).dom()->extent, SL.op().axis(0).var()));
}

// ---- operations on regions ----------------------------------------------------------------------

struct RegionTest : testing::Test {
  static TensorIntrin add_one() {
    Tensor a = placeholder({16}, "a");
    Tensor c = compute(
        {16}, {"i"}, [&](Var i) { return a(i) + 1.0f; }, "c");
    auto code = [](std::span<const tir::Buffer> in,
                   std::span<const tir::Buffer> out) -> TensorIntrinBody {
      return {.body = tir::make_evaluate(tir::call_extern(Int(32), "add_one", in[0].access_ptr("r"),
                                                          out[0].access_ptr("w")))};
    };
    return decl_tensor_intrin(c.op(), code, {.name = "add_one"});
  }
  Tensor A = placeholder({8, 16}, "A");
  Tensor C = tensor_compute(
      {8, 16}, {"i"},
      [&](Var i) {
        return add_one()({A.region({i, Range(0, 16)})});
      },
      "C");
  Schedule s = create_schedule({C});
};

TEST_F(RegionTest, OnlyTheNamedAxesAreLoops) {
  EXPECT_EQ(loops(s[C]), "i");
  EXPECT_EQ(C.op().axis().size(), 2u);
}

TEST_F(RegionTest, CacheWriteComputesRegionsInTheCacheAndCopiesElements) {
  auto [io, ii] = s[C].split(s[C].axis(0), 4);
  Tensor CL = s.cache_write(C, "local");
  EXPECT_EQ(loops(s[CL]), "i.outer.c i.inner.c");
  EXPECT_EQ(loops(s[C]), "i ax1");
  const TensorCompute& cached = *CL.op().as<TensorCompute>();
  EXPECT_EQ(cached.schedulable_ndim, 2);
  EXPECT_TRUE(tir::uses_var(cached.inputs[0].ranges[0].min, CL.op().axis(0).var()));
  EXPECT_THROW(s[CL].tensorize(CL.op().axis(0), add_one()), ScheduleError);
}

TEST_F(RegionTest, AnIntrinsicHasNoGuards) {
  s[C].split(s[C].axis(0), 3);
  EXPECT_THROW(s.cache_write(C, "local"), ScheduleError);
}

// ---- scans --------------------------------------------------------------------------------------

TEST(ScanTest, TheUpdateIsComputedInTheTimeLoop) {
  Var m = size_var("m");
  Tensor X = placeholder({m, 8}, "X"), state = placeholder({m, 8}, "state");
  Tensor init = compute(
      {1, 8}, {"t", "i"}, [&](Var, Var i) { return X(0, i); }, "init");
  Tensor twice = compute(
      {m, 8}, {"t", "i"}, [&](Var t, Var i) { return state(t - 1, i) * 2.0f; }, "twice");
  Tensor update = compute(
      {m, 8}, {"t", "i"}, [&](Var t, Var i) { return twice(t, i) + X(t, i); }, "update");
  Tensor all = scan(init, update, state, {X}, "scan");
  Schedule s = create_schedule({all});
  EXPECT_EQ(all.op().scan_axis().name(), "scan.idx");
  EXPECT_EQ(loops(s[all]), "scan.idx");
  StageGraph graph = freeze(s);
  for (const Tensor& inside : {twice, update}) {
    const std::vector<AttachPoint>& path = graph.attach_path(*graph.find(inside.op()));
    ASSERT_EQ(path.size(), 1u);
    EXPECT_EQ(path[0].axis.name(), "scan.idx");
  }
  EXPECT_TRUE(graph.attach_path(*graph.find(init.op())).empty());
  EXPECT_THROW(s[update].compute_at(s[init], s[init].axis(0)), ScheduleError);
}

/// A chain of element-wise operations, longer than the stack is deep.
Tensor long_chain(Tensor x) {
  for (int n = 0; n < 100'000; ++n) {
    const Tensor previous = x;
    x = compute(
        x.shape(), [&](std::span<const Var> i) { return previous(i) + 1.0f; }, "x");
  }
  return x;
}

TEST(LongChains, AreAGroup) {
  Tensor A = placeholder({4}, "A");
  Tensor B = long_chain(A);
  Schedule s = create_schedule(B);
  s.create_group({B}, {A});
  EXPECT_EQ(s.stages().size(), 100'001u);
  EXPECT_TRUE(s.stages().back().group().has_value());
  EXPECT_FALSE(s.stages().front().group().has_value());
}

TEST(LongChains, AreAStepOfAScan) {
  Tensor A = placeholder({1, 4}, "A"), state = placeholder({5, 4}, "state");
  Tensor first = compute(
      {1, 4}, {"t", "i"}, [&](Var, Var i) { return A(0, i); }, "first");
  Tensor last = compute(
      {5, 4}, {"t", "i"}, [&](Var t, Var i) { return state(t - 1, i); }, "last");
  Tensor step = long_chain(last);
  Tensor S = scan(first, step, state, {A}, "S");
  Schedule s = create_schedule(S);
  EXPECT_TRUE(s[last].group().has_value());
}

}  // namespace
}  // namespace tenon::te

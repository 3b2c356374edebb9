// Loops and relations after primitives.
#include <gtest/gtest.h>

#include "matmul_schedule.h"
#include "te/schedule/loop_order.h"
#include "tenon/te/freeze.h"
#include "tenon/te/graph.h"
#include "tenon/te/reduce.h"
#include "tenon/te/schedule_ops.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

namespace {

TEST_F(MatmulTest, StagesStandInTheOrderInWhichReadsMeetThem) { EXPECT_EQ(order(s), "A B C D"); }

TEST_F(MatmulTest, SplitPutsOuterAndInnerInPlaceOfTheAxis) {
  auto [jo, ji] = s[C].split(s[C].axis(1), 8);
  EXPECT_EQ(loops(s[C]), "i j.outer j.inner k");
  ASSERT_EQ(s[C].relations().size(), 1u);
  const Split& split = std::get<Split>(s[C].relations()[0]);
  EXPECT_TRUE(split.parent.same_as(s[C].axis(1)) && split.outer.same_as(jo) &&
              split.inner.same_as(ji));
  EXPECT_TRUE(tir::is_constant_int(split.count, 8));
}

TEST_F(MatmulTest, SplitOfAReductionAxisGivesReductionAxes) {
  auto [ko, ki] = s[C].split_by_nparts(s[C].reduce_axis(0), 4);
  EXPECT_EQ(ko.kind(), IterKind::Reduce);
  EXPECT_EQ(ki.kind(), IterKind::Reduce);
  EXPECT_TRUE(std::get<Split>(s[C].relations()[0]).is_by_parts);
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

}  // namespace

// Primitives that add stages: caches and factored reductions, of every kind of operation.

namespace {

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
  std::vector<Tensor> F = s.rfactor(T, ko);
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

}  // namespace

// Axes that count beyond int32 have 64 bits, and those that do not keep 32.

namespace {

struct WideAxesTest : ::testing::Test {
  static Tensor box(std::vector<Expr> shape, const std::string& name = "B") {
    return compute(
        shape, [&](std::span<const Var>) { return tir::make_int(Int(8), 1); }, name);
  }
  static std::string extent(const Schedule& s, const IterVar& axis) {
    return tir::print_expr(infer_bound(s)[axis].extent);
  }
};

TEST_F(WideAxesTest, AFusionOfMoreIterationsThanInt32HasAnAxisOf64Bits) {
  Tensor B = box({65536, 65536});
  Schedule s = create_schedule(B);
  const IterVar fused = s[B].fuse(s[B].axis(0), s[B].axis(1));
  EXPECT_EQ(fused.var().dtype(), Int(64));
  EXPECT_EQ(tir::constant_int(infer_bound(s)[fused].extent), 4294967296);
}

TEST_F(WideAxesTest, TheGreatestExtentOfInt32StaysNarrow) {
  Tensor B = box({2147483647, 1}), C = box({1073741824, 2});
  Schedule s = create_schedule({B, C});
  EXPECT_EQ(s[B].fuse(s[B].axis(0), s[B].axis(1)).var().dtype(), Int(32));
  EXPECT_EQ(s[C].fuse(s[C].axis(0), s[C].axis(1)).var().dtype(), Int(64));
}

TEST_F(WideAxesTest, ASplitThatRoundsUpBeyondInt32HasAxesOf64Bits) {
  Tensor B = box({2147483647}), C = box({2147483000});
  Schedule s = create_schedule({B, C});
  const auto [bo, bi] = s[B].split(s[B].axis(0), 1000);
  const auto [co, ci] = s[C].split(s[C].axis(0), 1000);
  EXPECT_EQ(bo.var().dtype(), Int(64));
  EXPECT_EQ(tir::constant_int(infer_bound(s)[bo].extent), 2147484);
  EXPECT_EQ(co.var().dtype(), Int(32));
}

TEST_F(WideAxesTest, PartsOfASplitMultiplyToTheirParentsLimit) {
  Tensor B = box({10});
  Schedule s = create_schedule(B);
  const auto [o, i] = s[B].split(s[B].axis(0), 4);
  const auto [p, q] = s[B].split_by_nparts(o, 2);
  const Schedule copy = s;
  StageData stage = StageData::make(B.op());
  stage.relations = copy[B].relations();
  EXPECT_EQ(greatest_extent(stage, o), 3);
  EXPECT_EQ(greatest_extent(stage, i), 4);
  EXPECT_EQ(greatest_extent(stage, q), 2);
}

TEST_F(WideAxesTest, OfASymbolicAxisNoLimitIsKnown) {
  Tensor B = box({var("n"), 8});
  Schedule s = create_schedule(B);
  const IterVar fused = s[B].fuse(s[B].axis(0), s[B].axis(1));
  EXPECT_EQ(fused.var().dtype(), Int(32));
}

TEST_F(WideAxesTest, MoreIterationsThanInt64AreRefused) {
  const IterVar p = reduce_axis({0, 2147483647}, "p"), q = reduce_axis({0, 2147483647}, "q"),
                r = reduce_axis({0, 2147483647}, "r");
  Tensor A = placeholder({1}, "A");
  Tensor B = compute(
      {1}, {"i"},
      [&](Var i) {
        return sum(A(i), {p, q, r});
      },
      "B");
  Schedule s = create_schedule(B);
  try {
    s[B].fuse({p, q, r});
    FAIL() << "fused";
  } catch (const ScheduleError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("fuse"), std::string::npos) << text;
    EXPECT_NE(text.find("4611686014132420609 * 2147483647 iterations"), std::string::npos) << text;
  }
  EXPECT_EQ(s[B].leaf_iter_vars().size(), 4u);
}

TEST_F(WideAxesTest, ALayoutBeyondInt32HasIndicesOf64Bits) {
  Tensor B = box({65536, 65536});
  Schedule s = create_schedule(B);
  const std::vector<IterVar> axes =
      s[B].transform_layout([](Var i, Var j) -> std::vector<Expr> { return {j * 65536 + i}; });
  ASSERT_EQ(axes.size(), 1u);
  EXPECT_EQ(axes[0].var().dtype(), Int(64));
  EXPECT_EQ(tir::constant_int(infer_bound(s)[axes[0]].extent), 4294967296);
}

}  // namespace

}  // namespace tenon::te

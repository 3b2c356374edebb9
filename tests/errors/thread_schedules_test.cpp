// Threads, and reductions on them: what would compute something else is refused, at the call where
// the call can know it.
#include <gtest/gtest.h>

#include "tests/errors/chain.h"

namespace tenon::testing {
namespace {

using te::Expr;
using te::IterVar;
using te::Tensor;

struct ThreadScheduleTest : Chain {
  IterVar tx = te::thread_axis("threadIdx.x"), vx = te::thread_axis("vthread");

  /// Computes the same where threads are, which is not on this machine.
  void expect_same() { EXPECT_EQ(compare_with_default(s, args, {.compile = false}), ""); }
};

// ---- reductions ---------------------------------------------------------------------------------

TEST_F(ThreadScheduleTest, DataAndReductionFusedAreNotReducedTogether) {
  const IterVar fused = s[C].fuse(s[C].axis(0), k);
  const std::vector<std::string> parts = {"bind", "`C`", "elements", "reduction"};
  refused([&] { s[C].bind(fused, tx); }, parts);
  auto [o, i] = s[C].split(fused, 16);
  refused([&] { s[C].bind(o, tx); }, parts);
  refused([&] { s[C].bind(i, tx); }, parts);
}

TEST_F(ThreadScheduleTest, ReductionAxesFusedAreReducedTogether) {
  auto [ko, ki] = s[C].split(k, 5);
  s[C].bind(s[C].fuse(ko, ki), tx);
  expect_same();
}

TEST_F(ThreadScheduleTest, PartOfAReductionFusedWithDataKeepsTheRestFromThreads) {
  auto [ko, ki] = s[C].split(k, 5);
  const IterVar fused = s[C].fuse(s[C].axis(0), ko);
  refused([&] { s[C].bind(ki, tx); },
          {"bind", "`k.inner`", "`C`", "`i.k.outer.fused`", "one element at a time", "rfactor"});
  s[C].split(fused, 3);
  refused([&] { s[C].bind(ki, tx); }, {"bind", "`k.inner`", "`C`", "`i.k.outer.fused.outer`"});
}

TEST_F(ThreadScheduleTest, ReductionBoundToThreadsKeepsTheRestFromData) {
  auto [ko, ki] = s[C].split(k, 5);
  s[C].bind(ki, tx);
  refused([&] { s[C].fuse(s[C].axis(0), ko); },
          {"fuse", "`i`", "`C`", "`k.outer`", "`k.inner` is bound to `threadIdx.x`", "separately"});
}

TEST_F(ThreadScheduleTest, PartOfAReductionFactoredForThreadsBeforeTheRestIsFusedWithData) {
  auto [ko, ki] = s[C].split(k, 5);
  const Tensor parts = s.rfactor(C, ki);
  s[parts].fuse(s[parts].axis(1), s[parts].reduce_axis(0));
  s[parts].bind(s[parts].axis(0), tx);
  expect_same();
}

TEST_F(ThreadScheduleTest, ReducersThatDependOnTheOrderStayInOrder) {
  auto minus = te::comm_reducer(
      [](std::span<const Var> x, std::span<const Var> y) { return std::vector<Expr>{x[0] - y[0]}; },
      [](std::span<const DataType> t) { return std::vector<Expr>{make_const(t[0], 0)}; }, "minus");
  C = te::compute(
      {16}, {"i"}, [&](Var i) { return minus(B(i, k), {k}); }, "C");
  s = te::create_schedule(C);
  args = {A, C};
  refused([&] { s[C].bind(k, tx); }, {"bind", "`k`", "`C`", "`minus`", "order"});
  refused([&] { s.rfactor(C, k); }, {"rfactor", "`k`", "`C`", "`minus`", "order"});
}

TEST_F(ThreadScheduleTest, CopiesOfAVirtualThreadDoNotReduceAcrossThreads) {
  s[C].bind(s[C].axis(0), vx).bind(k, tx);
  EXPECT_TRUE(refuses<ScheduleError>(
      [&] { lower(s, args); }, {"bind", "`k`", "`C`", "axis `i`", "virtual thread `vthread`"}));
  s = te::create_schedule(D);
  s[D].bind(s[D].axis(0), vx);
  s[C].compute_at(s[D], s[D].axis(0)).set_scope("shared").bind(k, tx);
  EXPECT_TRUE(
      refuses<ScheduleError>([&] { lower(s, args); }, {"bind", "`k`", "`C`", "`i` of stage `D`"}));
}

TEST(ThreadMemory, OfOneElementIsNotSeenByThreadsInsideOfItsLoop) {
  const te::Tensor A = te::placeholder({4}, "A");
  const te::Tensor B = te::compute(
      std::vector<Expr>{}, [&](std::span<const Var>) { return A(2) + 1.0f; }, "B");
  const te::Tensor C = te::compute(
      {8, 16}, {"i", "j"}, [&](Var, Var) { return B(); }, "C");
  te::Schedule s = te::create_schedule(C);
  s[C].bind(s[C].axis(0), te::thread_axis("threadIdx.y"));
  s[C].bind(s[C].axis(1), te::thread_axis("threadIdx.x"));
  s[B].set_scope("local").compute_at(s[C], s[C].axis(0));
  EXPECT_TRUE(refuses<BoundError>(
      [&] {
        lower(s, {A, C});
      },
      {"`B`", "local memory", "`threadIdx.x`", "outside of it"}));
  s[B].compute_at(s[C], s[C].axis(1));
  EXPECT_EQ(compare_with_default(s, {A, C}, {.compile = false}), "");
}

/// The result does not depend on which of two producers at one loop is visited first.
TEST(ThreadMemory, OfOneOfTwoProducersThatRunInOtherThreadsIsNotSeen) {
  for (const bool bound_first : {true, false}) {
    const te::Tensor A = te::placeholder({8, 16}, "A");
    const auto copy = [&](const char* name, float added) {
      return te::compute(
          {8, 16}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + added; }, name);
    };
    const te::Tensor P = copy("P", 1.0f), Q = copy("Q", 2.0f);
    const te::Tensor C = te::compute(
        {8, 16}, {"i", "j"},
        [&](Var i, Var j) { return bound_first ? P(i, j) * Q(i, j) : Q(i, j) * P(i, j); }, "C");
    te::Schedule s = te::create_schedule(C);
    const te::IterVar x = te::thread_axis("threadIdx.x");
    s[C].bind(s[C].axis(0), te::thread_axis("blockIdx.x")).bind(s[C].axis(1), x);
    for (const te::Tensor& T : {P, Q}) s[T].set_scope("local").compute_at(s[C], s[C].axis(0));
    s[P].bind(s[P].axis(1), x);
    EXPECT_TRUE(refuses<BoundError>(
        [&] {
          lower(s, {A, C});
        },
        {"`Q`", "local memory", "`threadIdx.x`", "outside of it"}));
    s[Q].bind(s[Q].axis(1), x);
    EXPECT_EQ(compare_with_default(s, {A, C}, {.compile = false}), "");
  }
}

TEST_F(ThreadScheduleTest, WhatThreadsReduceIsStoredBehindTheirLoops) {
  auto [ko, ki] = s[C].split(k, 5);
  s[C].bind(ki, tx).set_store_predicate(k.var() < 3);
  EXPECT_TRUE(
      refuses<ScheduleError>([&] { lower(s, args); }, {"set_store_predicate", "`C`", "`k.outer`",
                                                       "store the "
                                                       "result once"}));
  s[C].set_store_predicate(tx.var() == 0);
  EXPECT_NO_THROW(lower(s, args));
}

TEST_F(ThreadScheduleTest, AReductionAcrossTwoThreadsThatDivideNothing) {
  auto [ko, ki] = s[C].split(k, 5);
  s[C].bind(ki, tx).bind(ko, te::thread_axis("threadIdx.y"));
  expect_same();
}

TEST_F(ThreadScheduleTest, OneThreadForTwoPartsOfAReduction) {
  auto [ko, ki] = s[C].split(k, 4);
  s[C].bind(ki, tx).bind(ko, tx);
  ASSERT_EQ(s.warnings().size(), 1u);
  EXPECT_TRUE(refuses<ScheduleError>([&] { build(s, args); },
                                     {"`C`", "`k.inner`", "`k.outer`", "diagonal"}));
}

// ---- virtual threads ----------------------------------------------------------------------------

TEST_F(ThreadScheduleTest, OneVirtualThreadForTwoLoops) {
  s[B].bind(s[B].axis(0), vx).bind(s[B].axis(1), vx);
  ASSERT_EQ(s.warnings().size(), 1u);
  EXPECT_TRUE(refuses<ScheduleError>([&] { build(s, args); },
                                     {"`B`", "`i`", "`j`", "vthread", "diagonal"}));
}

TEST_F(ThreadScheduleTest, TwoVirtualThreadsOfOneTagAreTwo) {
  s[B].bind(s[B].axis(0), vx).bind(s[B].axis(1), te::thread_axis("vthread"));
  EXPECT_TRUE(s.warnings().empty());
  EXPECT_EQ(compare_with_default(s, args), "");
}

TEST_F(ThreadScheduleTest, AVirtualThreadWhoseAxisStartsElsewhereIsShifted) {
  Tensor late = te::compute(
      {4, 16}, {"y", "x"}, [&](Var y, Var x) { return B(y + 7, x) * 2.0f; }, "late");
  s = te::create_schedule(late);
  args = {A, late};
  s[B].bind(s[B].axis(0), vx);
  EXPECT_EQ(compare_with_default(s, args), "");
}

// ---- threads around what is done otherwise ------------------------------------------------------

TEST_F(ThreadScheduleTest, ALayoutIsChangedBeforeItsLoopsAreBound) {
  s[B].bind(s[B].axis(1), tx);
  refused([&] { s[B].transform_layout([](Var i, Var j) {
                  return std::vector<Expr>{j, i};
                }); },
          {"transform_layout", "`j`", "`B`", "`threadIdx.x`", "before bind"});
}

TEST_F(ThreadScheduleTest, ADoubleBufferNeedsALoopThatIsNoThread) {
  for (const IterVar& thread : {tx, vx}) {
    s = te::create_schedule(D);
    s[D].bind(s[D].axis(0), thread);
    s[C].compute_at(s[D], s[D].axis(0)).double_buffer();
    EXPECT_TRUE(
        refuses<ScheduleError>([&] { lower(s, args); }, {"double_buffer", "`C`", "no loop"}));
  }
}

TEST_F(ThreadScheduleTest, ProducersInsideOfReductionsAcrossThreads) {
  s[C].bind(k, tx);
  s[B].compute_at(s[C], k);
  expect_same();
}

// ---- scans --------------------------------------------------------------------------------------

struct ScanScheduleTest : ::testing::Test {
  Tensor X = te::placeholder({8, 16}, "X"), state = te::placeholder({8, 16}, "state");
  Tensor init = te::compute(
      {1, 16}, {"t", "i"}, [&](Var, Var i) { return X(0, i); }, "init");
  Tensor update = te::compute(
      {8, 16}, {"t", "i"}, [&](Var t, Var i) { return state(t - 1, i) + X(t, i); }, "update");
  Tensor sums = te::scan(init, update, state, {X}, "sums");
  Tensor twice = te::compute(
      {8, 16}, {"y", "x"}, [&](Var y, Var x) { return sums(y, x) * 2.0f; }, "twice");
  te::Schedule s = te::create_schedule(twice);
  std::vector<LowerArgument> args = {X, twice};
  IterVar tx = te::thread_axis({0, 16}, "threadIdx.x");

  void refused(const std::function<void()>& primitive, const std::vector<std::string>& parts,
               SourceLocation where = SourceLocation::current()) {
    EXPECT_TRUE(leaves_alone(s, args, [&] {
      EXPECT_TRUE(refuses<ScheduleError>(primitive, parts, where));
    })) << where.line();
  }
};

TEST_F(ScanScheduleTest, ItsThreads) {
  const IterVar open = te::thread_axis("threadIdx.y"),
                other = te::thread_axis({0, 2}, "threadIdx.x");
  refused([&] { s[sums].env_threads({open}); },
          {"env_threads", "`threadIdx.y`", "`sums`", "{0, n}"});
  refused([&] { s[sums].env_threads({s[sums].scan_axis()}); },
          {"env_threads", "`sums`", "thread_axis"});
  refused(
      [&] {
        s[sums].env_threads({tx, tx});
      },
      {"env_threads", "`threadIdx.x`", "`sums`", "more than once"});
  refused(
      [&] {
        s[sums].env_threads({tx, other});
      },
      {"env_threads", "`threadIdx.x`", "`sums`", "another axis"});
  refused(
      [&] {
        s[sums].env_threads({te::thread_axis({0, 4}, "vthread")});
      },
      {"env_threads", "`vthread`", "`sums`", "in sequence"});
  refused([&] { s[update].env_threads({tx}); }, {"env_threads", "`update`", "only a scan"});
  s[sums].env_threads({tx});
  refused([&] { s[sums].env_threads({other}); },
          {"env_threads", "`sums`", "already set", "`threadIdx.x`"});
}

TEST_F(ScanScheduleTest, ItsThreadsAreNoLoops) {
  s[sums].env_threads({tx});
  refused([&] { s[sums].split(tx, 4); }, {"split", "`threadIdx.x`", "`sums`"});
  refused([&] { s[sums].vectorize(tx); }, {"vectorize", "`threadIdx.x`", "`sums`"});
  refused([&] { s[sums].unroll(tx); }, {"unroll", "`threadIdx.x`", "`sums`"});
  refused([&] { s[sums].parallel(tx); }, {"parallel", "`threadIdx.x`", "`sums`"});
  refused([&] { s[sums].pragma(tx, "tensor_core"); }, {"pragma", "`threadIdx.x`", "`sums`"});
  refused([&] { s[sums].bind(tx, te::thread_axis("threadIdx.y")); },
          {"bind", "`threadIdx.x`", "`sums`"});
}

TEST_F(ScanScheduleTest, ItsThreadsShareItsState) {
  s[sums].env_threads({tx});
  s[init].bind(s[init].axis(1), tx);
  s[update].bind(s[update].axis(1), tx);
  EXPECT_EQ(compare_with_default(s, args, {.compile = false}), "");
}

TEST_F(ScanScheduleTest, ItsTimeGoesInOrder) {
  const IterVar t = s[sums].scan_axis();
  refused([&] { s[sums].vectorize(t); }, {"vectorize", "`sums`", "Ordered"});
  refused([&] { s[sums].parallel(t); }, {"parallel", "`sums`", "Ordered"});
  refused([&] { s[sums].bind(t, tx); }, {"bind", "`sums`", "Ordered"});
  refused([&] { s.rfactor(sums, t); }, {"rfactor", "`sums`", "not a reduction"});
  auto [o, i] = s[sums].split(t, 3);
  refused([&] { s[sums].reorder({i, o}); }, {"reorder", "`sums`", "must stay in its place"});
  s[sums].unroll(i);
  EXPECT_EQ(compare_with_default(s, args), "");
}

TEST_F(ScanScheduleTest, ItsUpdateStaysInItsTimeLoop) {
  refused([&] { s[update].compute_at(s[sums], s[sums].scan_axis()); },
          {"compute_at", "`update`", "`sums.update`"});
  refused([&] { s[sums].compute_inline(); }, {"compute_inline", "`sums`", "compute"});
  refused([&] { s.cache_write(sums, "local"); }, {"cache_write", "`sums`", "compute"});
  refused([&] { s[sums].set_store_predicate(Expr(true)); },
          {"set_store_predicate", "`sums`", "compute"});
  s[update].compute_inline();
  s[init].compute_inline();
  EXPECT_EQ(compare_with_default(s, args), "")
      << "a scan reads them as tensors, so they are not inlined";
}

TEST_F(ScanScheduleTest, TheMemoryOfItsStateIsItsOwn) {
  for (const Tensor& part : {init, update}) {
    const std::string name = "`" + part.name() + "`";
    refused([&] { s[part].set_scope("local"); }, {"set_scope", name, "`sums`"});
    refused([&] { s[part].double_buffer(); }, {"double_buffer", name, "`sums`"});
    refused([&] { s[part].rolling_buffer(); }, {"rolling_buffer", name, "`sums`"});
    refused([&] { s[part].storage_align(s[part].axis(0), 8, 1); },
            {"storage_align", name, "`sums`"});
    refused([&] { s[part].transform_layout([](Var t, Var i) {
                    return std::vector<Expr>{i, t};
                  }); },
            {"transform_layout", name, "`sums`"});
  }
  s[sums].compute_at(s[twice], s[twice].axis(0)).storage_align(s[sums].scan_axis(), 8, 1);
  EXPECT_EQ(compare_with_default(s, args), "");
}

// ---- extern operations --------------------------------------------------------------------------

struct ExternScheduleTest : ::testing::Test {
  Tensor X = te::placeholder({8}, "X");
  Tensor before = te::compute(
      {8}, {"i"}, [&](Var i) { return X(i) + 1.0f; }, "before");
  Tensor extern_one = te::extern_op(
      {8}, {before},
      [](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) {
        tir::IRBuilder ib;
        auto in = ib.buffer_ptr(ins[0]), out = ib.buffer_ptr(outs[0]);
        ib.for_range(0, 8, "i", [&](Var i) { out[i] = in[i] * 2.0f; });
        return ib.get();
      },
      "extern");
  Tensor after = te::compute(
      {8}, {"i"}, [&](Var i) { return extern_one(i) + 1.0f; }, "after");
  te::Schedule s = te::create_schedule(after);
  std::vector<LowerArgument> args = {X, after};

  void refused(const std::function<void()>& primitive, const std::vector<std::string>& parts,
               SourceLocation where = SourceLocation::current()) {
    EXPECT_TRUE(leaves_alone(s, args, [&] {
      EXPECT_TRUE(refuses<ScheduleError>(primitive, parts, where));
    })) << where.line();
  }
};

TEST_F(ExternScheduleTest, ItHasNoLoopsAndNoExpression) {
  refused([&] { s[extern_one].axis(0); }, {"`extern`", "0 data axes"});
  refused([&] { s[extern_one].compute_inline(); }, {"compute_inline", "`extern`", "compute"});
  refused([&] { s.cache_write(extern_one, "local"); }, {"cache_write", "`extern`", "compute"});
  refused([&] { s[extern_one].set_store_predicate(Expr(true)); },
          {"set_store_predicate", "`extern`"});
  refused([&] { s[extern_one].transform_layout([](Var i) { return std::vector<Expr>{i}; }); },
          {"transform_layout", "`extern`"});
}

TEST_F(ExternScheduleTest, WhatItReadsIsATensorThatIsThere) {
  const std::vector<std::function<void()>> ways = {
      [&] { s[before].compute_inline(); },
      [&] { s.cache_read(before, "local", {extern_one.op()}); },
      [&] { s.cache_read(extern_one, "local", {after.op()}); },
      [&] { s[extern_one].compute_at(s[after], s[after].axis(0)).double_buffer(); },
      [&] { s[before].rolling_buffer(); },
  };
  for (std::size_t n = 0; n < ways.size(); ++n) {
    s = te::create_schedule(after);
    ways[n]();
    EXPECT_EQ(compare_with_default(s, args), "") << n;
  }
  s = te::create_schedule(after);
  s[before].compute_at(s[after], s[after].axis(0));
  EXPECT_TRUE(refuses<ScheduleError>([&] { lower(s, args); },
                                     {"compute_at", "`before`", "`extern`", "root"}));
}

TEST_F(ExternScheduleTest, ItSeesMemoryAsABlock) {
  s[before].transform_layout([](Var i) {
    return std::vector<Expr>{floormod(i, 4), floordiv(i, 4)};
  });
  EXPECT_TRUE(
      refuses<ScheduleError>([&] { lower(s, args); }, {"transform_layout", "`before`", "block"}));
  s = te::create_schedule(after);
  s[before].storage_align(s[before].axis(0), 16, 3);
  EXPECT_TRUE(refuses<Error>([&] { lower(s, args); }, {"`before`", "strides"}));
}

}  // namespace
}  // namespace tenon::testing

// Threads and memory: what is refused since threads would not see each other's results, and what is
// guarded.
#include <gtest/gtest.h>

#include "tenon/te/freeze.h"
#include "tenon/te/infer_bound.h"
#include "tenon/te/reduce.h"
#include "tenon/te/schedule.h"
#include "tenon/tir/print.h"
#include "tests/common/run_schedule.h"

namespace tenon::te {

namespace {

Tensor elementwise(const Tensor& x, const std::string& name) {
  return compute(
      x.shape(), [&](std::span<const Var> i) { return x(i) + 1.0f; }, name);
}

/// Returns the error of bound inference; "" without an error.
std::string refusal(const Schedule& s) {
  try {
    infer_bound(s);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

void expect_refused(const Schedule& s, const std::vector<std::string>& parts) {
  const std::string text = refusal(s);
  for (const std::string& part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

struct ChainOfThreeTest : ::testing::Test {
  Tensor A = placeholder({8, 12}, "A");
  Tensor B = elementwise(A, "B"), C = elementwise(B, "C"), D = elementwise(C, "D");
  Schedule s = create_schedule(D);
  IterVar tx = thread_axis("threadIdx.x"), bx = thread_axis("blockIdx.x");

  void expect_same_values() {
    EXPECT_EQ(testing::run(s, {A, D}), testing::run(create_schedule(D), {A, D}));
  }
};

TEST_F(ChainOfThreeTest, ThreadsThatEachComputeAPartOfWhatEachWantsWholeAreRefused) {
  s[D].bind(s[D].axis(0), tx);
  s[C].compute_at(s[D], s[D].axis(0)).bind(s[C].axis(1), tx);
  expect_refused(
      s, {"bind of axis `i1` of stage `C`", "`threadIdx.x`", "local", "set_scope(\"shared\")"});
}

TEST_F(ChainOfThreeTest, MemoryOfThreadsIsNotReadOutsideOfThem) {
  s[C].set_scope("local").bind(s[C].axis(0), tx);
  expect_refused(s, {"stage `C`", "threadIdx.x", "local"});
}

TEST_F(ChainOfThreeTest, EvenALoopOfOneIterationIsRunByAllThreads) {
  // Seven of eight threads would add to what the first has summed.
  s[C].set_scope("local");
  auto [o, i] = s[C].split(s[C].axis(0), 8);
  s[C].bind(o, tx);
  s[D].bind(s[D].axis(0), tx);
  EXPECT_NE(refusal(s), "");
}

TEST_F(ChainOfThreeTest, AnInnerLoopOfAllIterationsIsAPartInEachThread) {
  const Tensor sum = compute(
      {8}, {"i"},
      [&](Var i) {
        const IterVar k = reduce_axis({0, 8}, "k");
        return te::sum(C(k, 0) + B(i, 0), {k});
      },
      "sum");
  for (int factor : {8, 20}) {
    Schedule parts = create_schedule(sum);
    parts[C].set_scope("local");
    const IterVar inner = parts[C].split(parts[C].axis(0), factor).inner;
    parts[sum].bind(parts[sum].axis(0), tx);
    parts[C].compute_at(parts[sum], parts[sum].axis(0)).bind(inner, tx);
    expect_refused(parts, {"stage `C`", "`threadIdx.x`", "local", "set_scope(\"shared\")"});
  }
}

TEST_F(ChainOfThreeTest, MoreIterationsThanDeclaredThreadsAreRefused) {
  s[D].bind(s[D].axis(1), thread_axis({0, 8}, "threadIdx.x"));
  expect_refused(s, {"bind of axis `i1` of stage `D`", "12 iterations", "only 8 threads"});
}

TEST_F(ChainOfThreeTest,
       TooFewThreadsAreRefusedWithTheLineOfTheBindAlsoIfMoreIsSaidOfTheAxisLater) {
  const SourceLocation before = SourceLocation::current();
  s[D].bind(s[D].axis(1), thread_axis({0, 8}, "threadIdx.x"));
  s[D].pragma(s[D].axis(1), "auto_unroll_max_step", 16);
  const std::string line = "thread_checks_test.cpp:" + std::to_string(before.line() + 1);
  expect_refused(s, {"only 8 threads", line});
  EXPECT_EQ(refusal(s).find("thread_checks_test.cpp:" + std::to_string(before.line() + 2)),
            std::string::npos);
}

TEST(Threads, MoreOfThemThanTheirAxisCountsAreRefused) {
  Tensor A = placeholder({3}, "A");
  Tensor B = compute(
      {std::int64_t{1} << 31}, {"i"}, [&](Var i) { return A(tir::floormod(i, 3)); }, "B");
  Schedule s = create_schedule(B);
  s[B].bind(s[B].axis(0), thread_axis("blockIdx.x"));
  expect_refused(s, {"bind of axis `i` of stage `B`", "2147483648", "int32", "split"});
}

TEST(Threads, MoreOfThemThanTheEnvironmentOfAScanHasAreRefused) {
  Tensor A = placeholder({4, 11}, "A"), state = placeholder({4, 11}, "state");
  Tensor init = compute(
      {1, 11}, {"t", "i"}, [&](Var, Var i) { return A(0, i); }, "init");
  Tensor update = compute(
      {4, 11}, {"t", "i"}, [&](Var t, Var i) { return state(t - 1, i) + A(t, i); }, "update");
  Tensor sums = scan(init, update, state, {}, "sums");
  for (const int threads : {11, 5}) {
    Schedule s = create_schedule(sums);
    s[sums].env_threads({thread_axis({0, threads}, "threadIdx.x")});
    s[init].bind(s[init].axis(1), thread_axis("threadIdx.x"));
    if (threads == 11)
      EXPECT_EQ(refusal(s), "");
    else
      expect_refused(s, {"bind of axis `i` of stage `init`", "11 iterations", "`sums`", "5 such"});
  }
}

TEST_F(ChainOfThreeTest, ThreadsBeyondAShorterLoopComputeNothingForIt) {
  // 12 threads for D, of which 8 are C's: the producers in the memory of each thread stay within 8
  // rows.
  s[D].bind(s[D].axis(1), tx);
  s[C].bind(s[C].axis(0), tx);
  s[B].compute_at(s[C], s[C].axis(0));
  const StageGraph graph = freeze(s);
  EXPECT_EQ(graph.stage(*graph.find(B.op())).scope, tir::StorageScope::Local);
  expect_same_values();
}

TEST_F(ChainOfThreeTest, AThreadThatDividesTwoLoopsRunsForTheInner) {
  auto [o, i] = s[D].split_by_nparts(s[D].axis(0), 2);
  s[D].bind(o, tx);
  s[C].set_scope("shared").compute_at(s[D], i);
  s[C].bind(s[C].fuse(s[C].axis(0), s[C].axis(1)), tx);
  s[B].compute_at(s[C], s[C].leaf_iter_vars()[0]);
  expect_same_values();
}

TEST(Threads, AllOfThemRunWhatASharedStageBetweenNeeds) {
  // D has one iteration for two threads, but both fill C, and so both need their own B.
  Tensor A = placeholder({1, 6}, "A");
  Tensor A1 = elementwise(A, "A1"), B = elementwise(A1, "B"), C = elementwise(B, "C"),
         D = elementwise(C, "D");
  IterVar tx = thread_axis("threadIdx.x");
  Schedule s = create_schedule(D);
  s[D].bind(s[D].axis(0), tx);
  s[C].set_scope("shared").compute_at(s[D], s[D].axis(1));
  s[B].compute_at(s[C], s[C].axis(0));
  auto [o, i] = s[A1].split(s[A1].axis(1), 5);
  s[A1].bind(o, tx);
  EXPECT_EQ(testing::run(s, {A, D}), testing::run(create_schedule(D), {A, D}));
}

TEST(Threads, OfALoopWhoseLengthVariesAreAsManyAsTheGreatest) {
  Tensor A = placeholder({9}, "A");
  Tensor B = elementwise(A, "B");
  Tensor C = compute(
      {4, 4}, {"i", "j"}, [&](Var i, Var j) { return B(i) + B(j + 4); }, "C");
  IterVar tx = thread_axis("threadIdx.x");
  Schedule s = create_schedule(C);
  s[B].compute_at(s[C], s[C].axis(1)).bind(s[B].axis(0), tx);
  EXPECT_EQ(tir::print_expr(infer_bound(s)[tx].extent), "8");
  EXPECT_EQ(testing::run(s, {A, C}), testing::run(create_schedule(C), {A, C}));
}

TEST(Threads, ThatShareASumAddToItOnce) {
  Tensor A = placeholder({6, 5}, "A");
  IterVar k = reduce_axis({0, 5}, "k");
  Tensor B = compute(
      {6}, {"i"}, [&](Var i) { return sum(A(i, k), {k}); }, "B");
  Tensor C = compute(
      {6}, {"i"}, [&](Var i) { return B(i) * 2.0f; }, "C");
  Schedule s = create_schedule(C);
  IterVar tx = thread_axis("threadIdx.x");
  s[C].bind(s[C].axis(0), tx);
  s[B].set_scope("shared").compute_at(s[C], s[C].axis(0));
  EXPECT_EQ(testing::run(s, {A, C}), testing::run(create_schedule(C), {A, C}));
}

TEST(Threads, MeetAtSharedMemoryInLoopsThatAllOfThemRunEquallyOften) {
  // The rows that one thread needs of B lie between i and its own j: more for some threads than for
  // others.
  Tensor A = placeholder({6, 5}, "A");
  IterVar k = reduce_axis({0, 5}, "k");
  Tensor S = elementwise(A, "S");
  Tensor B = compute(
      {6, 5}, {"i", "j"}, [&](Var i, Var j) { return S(i, j) + 1.0f; }, "B");
  Tensor C = compute(
      {6, 6}, {"i", "j"}, [&](Var i, Var j) { return sum(B(i, k) + B(j, k), {k}); }, "C");
  Schedule s = create_schedule(C);
  s[C].bind(s[C].axis(1), thread_axis("threadIdx.x"));
  s[B].compute_at(s[C], s[C].reduce_axis(0));
  s[S].set_scope("shared").compute_at(s[B], s[B].axis(0));
  expect_refused(s, {"compute_at of stage `S`", "shared", "`threadIdx.x`", "`i` of stage `B`",
                     "set_scope(\"local\")"});
  s[S].compute_at(s[C], s[C].reduce_axis(0));
  EXPECT_EQ(testing::run(s, {A, C}), testing::run(create_schedule(C), {A, C}));
}

// ---- sums that threads make together ------------------------------------------------------------

}  // namespace

// Reductions that threads make together: who gets the total, and what is refused.

namespace {

/// B[i, j] = A[i, j] / sum(A[i, k]): each row is divided by what it sums up to.
struct NormalizedRowsTest : ::testing::Test {
  Tensor A = placeholder({5, 12}, "A");
  IterVar k = reduce_axis({0, 12}, "k");
  Tensor S = compute(
      {5}, {"i"}, [&](Var i) { return sum(A(i, k), {k}); }, "S");
  Tensor B = compute(
      {5, 12}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) / S(i); }, "B");
  Schedule s = create_schedule(B);
  IterVar bx = thread_axis("blockIdx.x"), tx = thread_axis("threadIdx.x");

  void expect_same_values() {
    EXPECT_EQ(testing::run(s, {A, B}), testing::run(create_schedule(B), {A, B}));
  }
};

TEST_F(NormalizedRowsTest, EveryThreadHasTheSumThatAllMakeTogether) {
  s[B].bind(s[B].axis(0), bx).bind(s[B].axis(1), tx);
  s[S].bind(s[S].reduce_axis(0), tx).compute_at(s[B], s[B].axis(1));
  expect_same_values();
}

TEST_F(NormalizedRowsTest, ASumOfPartsThatThreadsMakeByThemselves) {
  auto [jo, ji] = s[B].split(s[B].axis(1), 4);
  s[B].bind(s[B].axis(0), bx).bind(ji, tx);
  auto [ko, ki] = s[S].split(s[S].reduce_axis(0), 4);
  s[S].bind(ki, tx).compute_at(s[B], ji);
  expect_same_values();
}

TEST_F(NormalizedRowsTest, FewerThreadsMakeTheSumThanReadIt) {
  s[B].bind(s[B].axis(0), bx).bind(s[B].axis(1), tx);
  auto [ko, ki] = s[S].split(s[S].reduce_axis(0), 5);
  s[S].bind(ki, tx).compute_at(s[B], s[B].axis(1));
  expect_same_values();
}

TEST_F(NormalizedRowsTest, MoreThreadsMakeTheSumThanReadIt) {
  auto [jo, ji] = s[B].split(s[B].axis(1), 4);
  s[B].bind(s[B].axis(0), bx).bind(ji, tx);
  s[S].bind(s[S].reduce_axis(0), tx).compute_at(s[B], ji);
  expect_same_values();
}

TEST_F(NormalizedRowsTest, PartialSumsInEachThreadsOwnMemory) {
  s[B].bind(s[B].axis(0), bx).bind(s[B].axis(1), tx);
  auto [ko, ki] = s[S].split(s[S].reduce_axis(0), 5);
  Tensor R = s.rfactor(S, ki);
  s[S].bind(s[S].reduce_axis(0), tx).compute_at(s[B], s[B].axis(1));
  s[R].compute_at(s[S], s[S].reduce_axis(0));
  expect_same_values();
}

TEST_F(NormalizedRowsTest, SeveralRowsInEachThreadsOwnMemory) {
  auto [io, ii] = s[B].split(s[B].axis(0), 2);
  s[B].reorder({io, s[B].axis(1), ii}).bind(io, bx).bind(s[B].axis(1), tx);
  s[S].bind(s[S].reduce_axis(0), tx).compute_at(s[B], s[B].axis(1));
  expect_same_values();
}

TEST_F(NormalizedRowsTest, ASumOfWhatEachThreadKeepsForItself) {
  Tensor R = s.cache_read(A, "local", {S});
  s[B].bind(s[B].axis(0), bx).bind(s[B].axis(1), tx);
  s[S].bind(s[S].reduce_axis(0), tx).compute_at(s[B], s[B].axis(1));
  s[R].compute_at(s[B], s[B].axis(1));
  expect_same_values();
}

TEST_F(NormalizedRowsTest, WhatThreadsKeepForASumThatMoreOfThemMake) {
  // R is read for B by 4 threads, and for S by all 12.
  Tensor R = s.cache_read(A, "local", {S, B});
  auto [jo, ji] = s[B].split(s[B].axis(1), 4);
  s[B].bind(s[B].axis(0), bx).bind(ji, tx);
  s[S].bind(s[S].reduce_axis(0), tx).compute_at(s[B], ji);
  s[R].compute_at(s[B], ji);
  expect_same_values();
}

TEST(ThreadSums, ProducersInsideASharedReductionArePrivate) {
  // Inside of a loop of the reduction that threads share, all that B has is kept by each of them.
  Tensor A = placeholder({6, 5}, "A");
  IterVar k = reduce_axis({0, 5}, "k"), r = reduce_axis({0, 3}, "r"), q = reduce_axis({0, 6}, "q");
  Tensor B = compute(
      {6}, {"i"}, [&](Var i) { return sum(A(i, k), {k}); }, "B");
  Tensor C = compute(
      {2}, {"i"},
      [&](Var i) {
        return sum(B(q) + cast(Float(32), r + i), {r, q});
      },
      "C");
  Schedule s = create_schedule(C);
  s[C].bind(q, thread_axis("threadIdx.x"));
  s[B].compute_at(s[C], r);
  EXPECT_EQ(testing::run(s, {A, C}), testing::run(create_schedule(C), {A, C}));
}

TEST(ThreadSums, OfWhatDiffersFromThreadToThreadAreRefused) {
  // Thread j wants the sum of row j, but the threads would make one of all their rows.
  Tensor A = placeholder({8, 8}, "A");
  IterVar k = reduce_axis({0, 8}, "k");
  Tensor S = compute(
      {8}, {"i"}, [&](Var i) { return sum(A(i, k), {k}); }, "S");
  Tensor B = elementwise(S, "B");
  IterVar tx = thread_axis("threadIdx.x");
  Schedule s = create_schedule(B);
  s[B].bind(s[B].axis(0), tx);
  s[S].bind(s[S].reduce_axis(0), tx).compute_at(s[B], s[B].axis(0));
  expect_refused(s, {"bind of axis `k` of stage `S`", "`threadIdx.x`", "each thread",
                     "set_scope(\"shared\")"});
  s[S].set_scope("shared");
  EXPECT_EQ(testing::run(s, {A, B}), testing::run(create_schedule(B), {A, B}));
}

TEST(ThreadSums, OfWhatDiffersFromThreadToThreadOfAReaderAreRefused) {
  // The threads of B's columns stand around S as well, and each wants the sum of its own column.
  Tensor A = placeholder({3, 8, 2}, "A");
  IterVar k = reduce_axis({0, 2}, "k");
  Tensor S = compute(
      {3, 8}, {"i", "j"}, [&](Var i, Var j) { return sum(A(i, j, k), {k}); }, "S");
  Tensor B = elementwise(S, "B");
  Schedule s = create_schedule(B);
  s[B].bind(s[B].axis(0), thread_axis("blockIdx.x"));
  s[B].bind(s[B].axis(1), thread_axis("threadIdx.x"));
  s[S].set_scope("local").compute_at(s[B], s[B].axis(0));
  s[S].bind(s[S].reduce_axis(0), thread_axis("threadIdx.x"));
  expect_refused(s, {"bind of axis `k` of stage `S`", "`threadIdx.x`", "another sum"});
  s[S].set_scope("shared");
  EXPECT_EQ(testing::run(s, {A, B}), testing::run(create_schedule(B), {A, B}));
}

TEST(ThreadSums, OfWhatDiffersByALoopThatDiffersAreRefused) {
  // The part of B that a thread needs, and with it the element of S, is the thread's own.
  Tensor A = placeholder({8, 8}, "A");
  IterVar k = reduce_axis({0, 8}, "k"), r = reduce_axis({0, 3}, "r");
  Tensor S = compute(
      {8}, {"i"}, [&](Var i) { return sum(A(i, k), {k}); }, "S");
  Tensor B = elementwise(S, "B");
  Tensor C = compute(
      {6}, {"i"}, [&](Var i) { return sum(B(i + r), {r}); }, "C");
  IterVar tx = thread_axis("threadIdx.x");
  Schedule s = create_schedule(C);
  s[C].bind(s[C].axis(0), tx);
  s[B].compute_at(s[C], s[C].axis(0));
  s[S].bind(s[S].reduce_axis(0), tx).compute_at(s[B], s[B].axis(0));
  expect_refused(s, {"bind of axis `k` of stage `S`", "`threadIdx.x`", "each thread"});
}

TEST(ThreadSums, ThreadsComeToThemEquallyOften) {
  // The loop over B is longer in some threads than in others.
  Tensor A = placeholder({6, 5}, "A");
  IterVar k = reduce_axis({0, 6}, "k"), r = reduce_axis({0, 5}, "r");
  Tensor S = compute(
      {5}, {"i"}, [&](Var i) { return sum(A(r, i), {r}); }, "S");
  Tensor B = compute(
      {6, 5}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + S(j); }, "B");
  Tensor C = compute(
      {6, 5}, {"i", "j"}, [&](Var i, Var j) { return B(i, j) + B(0, j); }, "C");
  Schedule s = create_schedule(C);
  IterVar tx = thread_axis("threadIdx.x");
  s[C].bind(s[C].axis(0), tx);
  s[B].compute_at(s[C], s[C].axis(1));
  s[S].compute_at(s[B], s[B].axis(0)).bind(r, tx);
  expect_refused(s, {"compute_at of stage `S`", "`threadIdx.x`", "`i` of stage `B`"});
}

TEST(ThreadSums, ThePositionOfTheGreatestByThreads) {
  Tensor A = placeholder({3, 16}, "A");
  auto argmax = comm_reducer(
      [](std::span<const Var> x, std::span<const Var> y) -> std::vector<Expr> {
        Expr left = x[1] > y[1] || (x[1] == y[1] && x[0] < y[0]);
        return {tir::select(left, x[0], y[0]), tir::select(left, x[1], y[1])};
      },
      [](std::span<const DataType> t) -> std::vector<Expr> {
        return {tir::max_value(t[0]), tir::min_value(t[1])};
      },
      "argmax");
  IterVar k = reduce_axis({0, 16}, "k");
  std::vector<Tensor> T = compute_multi(
      {3}, {"i"},
      [&](Var i) {
        return argmax({k, A(i, k)}, {k});
      },
      "T");
  Tensor B = compute(
      {3}, {"i"}, [&](Var i) { return T[0](i).astype(Float(32)); }, "B");
  Schedule s = create_schedule(B);
  IterVar bx = thread_axis("blockIdx.x"), tx = thread_axis("threadIdx.x");
  auto [ko, ki] = s[T[0]].split(s[T[0]].reduce_axis(0), 4);
  std::vector<Tensor> R = s.rfactor(T, ki);
  IterVar row = s[B].axis(0);
  auto [io, ii] = s[B].split(row, 1);
  s[B].bind(io, bx).bind(ii, tx).set_store_predicate(tx.var() == 0);
  s[T[0]].compute_at(s[B], ii).bind(s[T[0]].reduce_axis(0), tx);
  s[R[0]].compute_at(s[T[0]], s[T[0]].reduce_axis(0));
  EXPECT_EQ(testing::run(s, {A, B}), testing::run(create_schedule(B), {A, B}));
}

}  // namespace

// Memory that a launch of threads has for itself, or that its blocks share.

namespace {

struct CheckLaunches : ::testing::Test {
  Tensor A = placeholder({8, 12}, "A");
  Tensor B = elementwise(A, "B"), C = elementwise(B, "C"), D = elementwise(C, "D");
  Schedule s = create_schedule(D);
  IterVar tx = thread_axis("threadIdx.x"), bx = thread_axis("blockIdx.x");

  void expect_same_values() {
    EXPECT_EQ(testing::run(s, {A, D}), testing::run(create_schedule(D), {A, D}));
  }
};

/// Returns the error of making the loops; "" without an error.
std::string refusal_of_loops(const Schedule& s) {
  try {
    const StageGraph graph = freeze(s);
    schedule_ops(graph, infer_bound(graph));
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST_F(CheckLaunches, SharedMemoryOfTwoLaunchesIsRefused) {
  s[C].set_scope("shared").bind(s[C].axis(0), tx);
  s[D].bind(s[D].axis(0), tx);
  const std::string text = refusal_of_loops(s);
  for (const char* part :
       {"stage `C`", "shared memory", "at root", "`threadIdx.x`", "compute_at a loop inside",
        "set_scope(\"global\")", "thread_checks_test.cpp"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST_F(CheckLaunches, SharedMemoryFilledOutsideOfTheLaunchThatReadsItIsRefused) {
  s[C].set_scope("shared").compute_at(s[D], s[D].axis(0));
  s[D].bind(s[D].axis(1), tx);
  const std::string text = refusal_of_loops(s);
  EXPECT_NE(text.find("stage `C` is kept in shared memory"), std::string::npos) << text;
  EXPECT_NE(text.find("in axis `i0` of stage `D`"), std::string::npos) << text;
}

TEST_F(CheckLaunches, SharedMemoryFilledByALaunchAndReadOutsideOfItIsRefused) {
  s[C].set_scope("shared").bind(s[C].axis(1), tx);
  EXPECT_NE(refusal_of_loops(s).find("stage `C` is kept in shared memory"), std::string::npos);
}

TEST_F(CheckLaunches, OutsideOfAnyLaunchGlobalMemoryIsAdvised) {
  const Tensor E = compute(
      {8, 12}, {"i", "j"}, [&](Var i, Var j) { return C(i, j) + C(i, 11 - j); }, "E");
  s = create_schedule(E);
  s[E].bind(s[E].axis(1), tx);
  s[C].compute_at(s[E], s[E].axis(0)).bind(s[C].axis(1), tx).set_scope("local");
  EXPECT_NE(refusal_of_loops(s).find("set_scope(\"global\")"), std::string::npos)
      << refusal_of_loops(s);
  s[C].set_scope("global");
  EXPECT_EQ(testing::run(s, {A, E}), testing::run(create_schedule(E), {A, E}));
}

TEST_F(CheckLaunches, SharedMemoryInsideOfOneLaunchIsAccepted) {
  s[C].set_scope("shared").compute_at(s[D], s[D].axis(0)).bind(s[C].axis(1), tx);
  s[D].bind(s[D].axis(0), bx).bind(s[D].axis(1), tx);
  EXPECT_EQ(refusal_of_loops(s), "");
  expect_same_values();
}

TEST_F(CheckLaunches, WithoutThreadsSharedMemoryIsMemoryLikeAny) {
  s[C].set_scope("shared");
  EXPECT_EQ(refusal_of_loops(s), "");
  expect_same_values();
}

TEST_F(CheckLaunches, VirtualThreadsAreNoLaunch) {
  s[C].set_scope("shared");
  s[D].bind(s[D].axis(0), thread_axis("vthread"));
  EXPECT_EQ(refusal_of_loops(s), "");
}

// ---- memory that blocks share -------------------------------------------------------------------

struct BlocksTest : ::testing::Test {
  Tensor A = placeholder({8, 12}, "A");
  IterVar k = reduce_axis({0, 12}, "k");
  Tensor S = compute(
      {8}, {"i"}, [&](Var i) { return sum(A(i, k), {k}); }, "S");
  Tensor B = compute(
      {8}, {"i"}, [&](Var i) { return S(i) * 2.0f; }, "B");
  Schedule s = create_schedule(B);
  IterVar bx = thread_axis("blockIdx.x"), by = thread_axis("blockIdx.y");

  void expect_refused(const std::vector<std::string>& parts) {
    const std::string text = refusal_of_loops(s);
    for (const std::string& part : parts)
      EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  void expect_same_values() {
    EXPECT_EQ(testing::run(s, {A, B}), testing::run(create_schedule(B), {A, B}));
  }
};

TEST_F(BlocksTest, DoNotAddToMemoryThatTheyShare) {
  s[B].bind(s[B].axis(0), bx);
  s[S].set_scope("global").compute_at(s[B], s[B].axis(0));
  expect_refused(
      {"compute_at of stage `S`", "global memory", "`blockIdx.x`", "set_scope(\"shared\")"});
  s[S].set_scope("shared");
  expect_same_values();
}

TEST_F(BlocksTest, DoNotEachFillAPartOfMemoryThatTheyShare) {
  s[B].bind(s[B].axis(0), bx);
  s[S].set_scope("global").compute_at(s[B], s[B].axis(0)).bind(s[S].axis(0), by);
  expect_refused({"bind of axis `i` of stage `S` to `blockIdx.y`", "global memory"});
}

TEST_F(BlocksTest, AreOneLaunchForEachStageAtRoot) {
  s[B].bind(s[B].axis(0), bx);
  s[S].bind(s[S].axis(0), bx);
  expect_same_values();
}

TEST_F(BlocksTest, MayAllStoreTheSame) {
  const Tensor copy = s.cache_read(A, "global", {S});
  s[S].compute_root();
  auto [o, i] = s[S].split(s[S].axis(0), 2);
  s[S].bind(o, bx);
  s[copy].compute_at(s[S], o);
  expect_same_values();
}

}  // namespace

}  // namespace tenon::te

// Threads and memory: what is refused since threads would not see each other's results, and what is
// guarded.
#include <gtest/gtest.h>

#include "refused_threads.h"
#include "tenon/te/freeze.h"
#include "tenon/te/infer_bound.h"
#include "tenon/te/reduce.h"
#include "tenon/tir/print.h"
#include "tests/common/run_schedule.h"

namespace tenon::te {
namespace {

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
}  // namespace tenon::te

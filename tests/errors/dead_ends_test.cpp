// Schedules on which the reference stops or goes wrong without a word: they work here, or are
// refused with the reason.
#include <gtest/gtest.h>

#include "tenon/te/stage_data.h"
#include "tests/common/refusal.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

using te::Expr;

// A reduction is over axes, which a variable is not.
static_assert(!std::is_convertible_v<Var, te::IterVar>);

struct DeadEndTest : ::testing::Test {
  te::Tensor A = te::placeholder({8, 16}, "A");
  te::Tensor B = te::compute(
      {8, 16}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  te::Tensor C = te::compute(
      {8, 16}, {"y", "x"}, [&](Var y, Var x) { return B(y, x) * 2.0f; }, "C");
  te::Schedule s = te::create_schedule(C);
  std::vector<LowerArgument> args = {A, C};

  void expect_same() { EXPECT_EQ(compare_with_default(s, args), ""); }
};

TEST_F(DeadEndTest, ADoubleBufferWithoutAScope) {
  s[B].compute_at(s[C], s[C].axis(0)).double_buffer();
  expect_same();
}

TEST_F(DeadEndTest, ADoubleBufferWithPaddedRows) {
  auto tiles = s[C].tile(s[C].axis(0), s[C].axis(1), 4, 8);
  s[B].compute_at(s[C], tiles.y_outer).storage_align(s[B].axis(0), 8, 1).double_buffer();
  expect_same();
}

TEST_F(DeadEndTest, VectorsInsideOfVectors) {
  s[C].vectorize(s[C].axis(0)).vectorize(s[C].axis(1));
  expect_same();
}

TEST_F(DeadEndTest, ACachedLayoutReadByAnOperationOfSeveralOutputs) {
  std::vector<te::Tensor> T = te::compute_multi(
      {8}, {"i"},
      [&](Var i) {
        return std::vector<Expr>{B(i, 0) + A(i, 1), B(i, 2) * A(i, 3)};
      },
      "T");
  s = te::create_schedule({T[0].op()});
  args = {A, T[0], T[1]};
  te::Tensor cached = s.cache_read(A, "local", {T[0].op()});
  s[cached].compute_at(s[T[0]], s[T[0]].axis(0));
  EXPECT_FALSE(s[T[0]].op().inputs()[1].same_as(A));
  expect_same();
}

TEST_F(DeadEndTest, AThreadThatReplacesAnother) {
  const te::IterVar tx = te::thread_axis("threadIdx.x"), ty = te::thread_axis("threadIdx.y");
  s[C].bind(s[C].axis(0), tx).bind(s[C].axis(0), ty);
  ASSERT_EQ(s.warnings().size(), 1u);
  for (const char* part : {"`y`", "`C`", "`threadIdx.x`", "`threadIdx.y`", "dead_ends_test.cpp"})
    EXPECT_NE(s.warnings().front().find(part), std::string::npos) << s.warnings().front();
  EXPECT_TRUE(s[C].data().attributes_of(s[C].axis(0))->thread->axis.same_as(ty));
}

TEST_F(DeadEndTest, FactoringALoopOfATransformedReduction) {
  te::IterVar k = te::reduce_axis({0, 16}, "k");
  te::Tensor D = te::compute(
      {8, 4}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, k) * B(j, k), {k}); }, "D");
  s = te::create_schedule(D);
  s[D].transform_layout([](Var i, Var j) { return std::vector<Expr>{j, i}; });
  EXPECT_TRUE(refuses<ScheduleError>([&] { s.rfactor(D, k); }, {"rfactor", "`D`", "first"}));
}

TEST_F(DeadEndTest, FactoringAfterALoopWasMadeParallel) {
  te::IterVar k = te::reduce_axis({0, 16}, "k");
  te::Tensor D = te::compute(
      {8}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}); }, "D");
  s = te::create_schedule(D);
  auto [ko, ki] = s[D].split(k, 4);
  s[D].parallel(s[D].axis(0));
  EXPECT_TRUE(
      refuses<ScheduleError>([&] { s.rfactor(D, ki); }, {"rfactor", "`i`", "`D`", "rfactor first"}))
      << "the parallel would be lost with the operation whose axis it is about";
}

TEST_F(DeadEndTest, AReductionOfVirtualThreads) {
  te::IterVar k = te::reduce_axis({0, 16}, "k");
  te::Tensor D = te::compute(
      {8}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}); }, "D");
  s = te::create_schedule(D);
  EXPECT_TRUE(refuses<ScheduleError>([&] { s[D].bind(k, te::thread_axis("vthread")); },
                                     {"bind", "`k`", "`D`", "virtual threads", "rfactor"}));
}

// ---- results that other threads would not see ---------------------------------------------------

TEST_F(DeadEndTest, AResultThatAnotherThreadReads) {
  const te::IterVar tx = te::thread_axis("threadIdx.x");
  te::Tensor D = te::compute(
      {8, 16}, {"y", "x"}, [&](Var y, Var x) { return B(y, 15 - x) * 2.0f; }, "D");
  s = te::create_schedule(D);
  s[D].bind(s[D].axis(0), te::thread_axis("blockIdx.x")).bind(s[D].axis(1), tx);
  s[B].bind(s[B].axis(1), tx).compute_at(s[D], s[D].axis(0));
  for (const char* scope : {"local", "shared"}) {
    s[B].set_scope(scope);
    EXPECT_EQ(compare_with_default(s, {A, D}, {.compile = false}), "") << scope;
  }
}

TEST_F(DeadEndTest, ResultsOfTwoThreadsInTheMemoryOfOne) {
  const te::IterVar tx = te::thread_axis("threadIdx.x");
  te::Tensor D = te::compute(
      {8, 16}, {"y", "x"}, [&](Var y, Var x) { return B(y, x) + B(y, 15 - x); }, "D");
  s = te::create_schedule(D);
  s[D].bind(s[D].axis(0), te::thread_axis("blockIdx.x")).bind(s[D].axis(1), tx);
  s[B].bind(s[B].axis(1), tx).compute_at(s[D], s[D].axis(0)).set_scope("local");
  EXPECT_TRUE(refuses<Error>(
      [&] {
        lower(s, {A, D});
      },
      {"bind", "`j`", "`B`", "local", "\"shared\""}));
  s[B].set_scope("shared");
  EXPECT_EQ(compare_with_default(s, {A, D}, {.compile = false}), "");
}

TEST_F(DeadEndTest, DeclaredThreadsOfStagesInDifferentPlaces) {
  te::Tensor D = te::compute(
      {8, 16}, {"y", "x"}, [&](Var y, Var x) { return C(y, x) + 1.0f; }, "D");
  s = te::create_schedule(D);
  const te::IterVar eight = te::thread_axis({0, 8}, "threadIdx.x");
  s[C].bind(s[C].axis(1), eight);
  s[D].bind(s[D].axis(1), eight);
  EXPECT_TRUE(refuses<ScheduleError>([&] { lower(s, {A, D}); }, {"`x`", "threadIdx.x", "16", "8"}));
}

}  // namespace
}  // namespace tenon::testing

// Memory that a launch of threads has for itself, or that its blocks share.
#include <gtest/gtest.h>

#include "tenon/te/freeze.h"
#include "tenon/te/infer_bound.h"
#include "tenon/te/reduce.h"
#include "tests/common/run_schedule.h"

namespace tenon::te {
namespace {

Tensor elementwise(const Tensor& x, const std::string& name) {
  return compute(
      x.shape(), [&](std::span<const Var> i) { return x(i) + 1.0f; }, name);
}

struct CheckLaunches : ::testing::Test {
  Tensor A = placeholder({8, 12}, "A");
  Tensor B = elementwise(A, "B"), C = elementwise(B, "C"), D = elementwise(C, "D");
  Schedule s = create_schedule(D);
  IterVar tx = thread_axis("threadIdx.x"), bx = thread_axis("blockIdx.x");

  void expect_same_values() {
    EXPECT_EQ(testing::run(s, {A, D}), testing::run(create_schedule(D), {A, D}));
  }
};

/// What the making of loops says.
std::string refusal(const Schedule& s) {
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
  const std::string text = refusal(s);
  for (const char* part :
       {"stage `C`", "shared memory", "at root", "`threadIdx.x`", "compute_at a loop inside",
        "set_scope(\"global\")", "check_launches_test.cpp"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST_F(CheckLaunches, SharedMemoryFilledOutsideOfTheLaunchThatReadsItIsRefused) {
  s[C].set_scope("shared").compute_at(s[D], s[D].axis(0));
  s[D].bind(s[D].axis(1), tx);
  const std::string text = refusal(s);
  EXPECT_NE(text.find("stage `C` is kept in shared memory"), std::string::npos) << text;
  EXPECT_NE(text.find("in axis `i0` of stage `D`"), std::string::npos) << text;
}

TEST_F(CheckLaunches, SharedMemoryFilledByALaunchAndReadOutsideOfItIsRefused) {
  s[C].set_scope("shared").bind(s[C].axis(1), tx);
  EXPECT_NE(refusal(s).find("stage `C` is kept in shared memory"), std::string::npos);
}

TEST_F(CheckLaunches, OutsideOfAnyLaunchGlobalMemoryIsAdvised) {
  const Tensor E = compute(
      {8, 12}, {"i", "j"}, [&](Var i, Var j) { return C(i, j) + C(i, 11 - j); }, "E");
  s = create_schedule(E);
  s[E].bind(s[E].axis(1), tx);
  s[C].compute_at(s[E], s[E].axis(0)).bind(s[C].axis(1), tx).set_scope("local");
  EXPECT_NE(refusal(s).find("set_scope(\"global\")"), std::string::npos) << refusal(s);
  s[C].set_scope("global");
  EXPECT_EQ(testing::run(s, {A, E}), testing::run(create_schedule(E), {A, E}));
}

TEST_F(CheckLaunches, SharedMemoryInsideOfOneLaunchIsAccepted) {
  s[C].set_scope("shared").compute_at(s[D], s[D].axis(0)).bind(s[C].axis(1), tx);
  s[D].bind(s[D].axis(0), bx).bind(s[D].axis(1), tx);
  EXPECT_EQ(refusal(s), "");
  expect_same_values();
}

TEST_F(CheckLaunches, WithoutThreadsSharedMemoryIsMemoryLikeAny) {
  s[C].set_scope("shared");
  EXPECT_EQ(refusal(s), "");
  expect_same_values();
}

TEST_F(CheckLaunches, VirtualThreadsAreNoLaunch) {
  s[C].set_scope("shared");
  s[D].bind(s[D].axis(0), thread_axis("vthread"));
  EXPECT_EQ(refusal(s), "");
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
    const std::string text = refusal(s);
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

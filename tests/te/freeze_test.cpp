// Checks frozen schedules: loops from 0, attachments at loops, inlined stages, groups.
#include <gtest/gtest.h>

#include "matmul_schedule.h"
#include "tenon/te/freeze.h"
#include "tenon/te/graph.h"
#include "tenon/te/reduce.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

namespace {

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
  // Fully expanded, the body has 2^60 reads.
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

/// The fuzzer's seed 521664 was an internal error.
TEST(FreezeTest, WhatAScanBeginsWithIsComputedBeforeItsLoops) {
  const Tensor A = placeholder({9, 4}, "A");
  const Tensor state = placeholder({9, 4}, "state");
  const Tensor first = compute(
      {1, 4}, {"t", "i"}, [&](Var t, Var i) { return A(t, i); }, "first");
  const Tensor next = compute(
      {9, 4}, {"t", "i"}, [&](Var t, Var i) { return state(t - 1, i) + A(t, i); }, "next");
  const Tensor S = scan(first, next, state, {A}, "S");
  const Schedule s = create_schedule(S);
  const Tensor copy = s.cache_read(A, "local", {first, next});
  s[first].compute_at(s[S], S.op().scan_axis());
  freeze(s);
  s[copy].compute_at(s[S], S.op().scan_axis());
  try {
    freeze(s);
    FAIL() << "not refused";
  } catch (const ScheduleError& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("compute_at of stage `A.local`"), std::string::npos) << text;
    EXPECT_NE(text.find("stage `first` reads it outside"), std::string::npos) << text;
    EXPECT_NE(text.find("it could be computed at root only"), std::string::npos) << text;
  }
}

}  // namespace

// A place that is refused is drawn with the loops of all readers.

namespace {

struct DrawReadersTest : ::testing::Test {
  Tensor A = placeholder({8}, "A");
  Tensor E = compute(
      {8}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "E");
  Tensor F = compute(
      {8}, {"i"}, [&](Var i) { return E(i) * 2.0f; }, "F");
  Tensor G = compute(
      {8}, {"i"}, [&](Var i) { return E(i) - 1.0f; }, "G");
  Tensor H = compute(
      {8}, {"i"}, [&](Var i) { return F(i) / G(i); }, "H");

  static std::string refusal_of(const Schedule& s) {
    try {
      freeze(s);
    } catch (const ScheduleError& error) {
      return error.what();
    }
    return "accepted";
  }
};

TEST_F(DrawReadersTest, ALoopThatReadersAreOutsideOf) {
  Schedule s = create_schedule(H);
  s[E].compute_at(s[H], s[H].split(s[H].axis(0), 4).outer);
  const std::string drawing =
      "it could be computed at root only:\n"
      "  for i in `F`\n"
      "    `F` reads `E`\n"
      "  for i in `G`\n"
      "    `G` reads `E`";
  const std::string text = refusal_of(s);
  EXPECT_NE(text.find(drawing), std::string::npos) << text;
}

/// Both readers are computed in a loop of `H`, one of them in the loop inside as well.
TEST_F(DrawReadersTest, LoopsThatReadersShareAreDrawnOnce) {
  Schedule s = create_schedule(H);
  const auto [outer, inner] = s[H].split(s[H].axis(0), 4);
  s[F].compute_at(s[H], outer);
  s[G].compute_at(s[H], inner);
  s[E].compute_at(s[H], inner);
  const std::string drawing =
      "it could be computed at `i.outer` of stage `H`, or root:\n"
      "  for i.outer in `H`\n"
      "    for i in `F`\n"
      "      `F` reads `E`\n"
      "    for i.inner in `H`    <- `E` is to be computed here\n"
      "      for i in `G`\n"
      "        `G` reads `E`";
  const std::string text = refusal_of(s);
  EXPECT_NE(text.find(drawing), std::string::npos) << text;
}

/// Each with the line that placed it.
TEST_F(DrawReadersTest, AllStagesThatReadersAreOutsideOfAreTold) {
  const Tensor K = compute(
      {8}, {"i"}, [&](Var i) { return H(i) + 1.0f; }, "K");
  Schedule s = create_schedule(K);
  const int line = __LINE__ + 1;
  s[E].compute_at(s[H], s[H].axis(0));
  s[F].compute_at(s[K], s[K].axis(0));
  const std::string text = refusal_of(s);
  const auto place = [](int at) { return "freeze_test.cpp:" + std::to_string(at); };
  EXPECT_EQ(text.find("compute_at of stage `E`"), 0u) << text;
  EXPECT_NE(text.find("(at " + place(line) + ")"), std::string::npos) << text;
  EXPECT_NE(text.find("\nas well, at " + place(line + 1) + ": compute_at of stage `F`"),
            std::string::npos)
      << text;
}

}  // namespace

}  // namespace tenon::te

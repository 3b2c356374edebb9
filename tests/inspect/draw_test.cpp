// Drawings of schedules.
#include "tenon/inspect/draw.h"

#include <gtest/gtest.h>

#include "tenon/te/reduce.h"

namespace tenon::te {
namespace {

/// C = (A + 1) * 2, a tile of B for each of C.
struct Tiled {
  Tensor A = placeholder({64, 32}, "A");
  Tensor B = compute(
      {64, 32}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  Tensor C = compute(
      {64, 32}, {"i", "j"}, [&](Var i, Var j) { return B(i, j) * 2.0f; }, "C");
  Schedule s = create_schedule(C);
  Stage::SplitAxes rows = s[C].split(s[C].axis(0), 16);
  Tiled() {
    s[C].parallel(rows.outer).vectorize(s[C].axis(1));
    s[B].compute_at(s[C], rows.outer);
  }
};

TEST(Draw, LoopsStandWhereTheyRun) {
  const Tiled t;
  EXPECT_EQ(t.s.print_loops(),
            "produce C:\n"
            "  for i.outer in 0..4, parallel:\n"
            "    produce B:\n"
            "      for i in 0..16:\n"
            "        for j in 0..32:\n"
            "          compute B\n"
            "    for i.inner in 0..16:\n"
            "      for j in 0..32, vectorized:\n"
            "        compute C\n");
}

TEST(Draw, ThreadsAndMemoryAreNamed) {
  Tiled t;
  Schedule s = create_schedule(t.C);
  const auto rows = s[t.C].split(s[t.C].axis(0), 16);
  s[t.C]
      .bind(rows.outer, thread_axis("blockIdx.x"))
      .bind(s[t.C].axis(1), thread_axis("threadIdx.x"));
  s[t.B].compute_at(s[t.C], rows.outer).set_scope("shared");
  EXPECT_EQ(s.print_loops(),
            "produce C:\n"
            "  for i.outer in 0..4, on blockIdx.x:\n"
            "    produce B in shared:\n"
            "      for i in 0..16:\n"
            "        for j in 0..32:\n"
            "          compute B\n"
            "    for i.inner in 0..16:\n"
            "      for j in 0..32, on threadIdx.x:\n"
            "        compute C\n");
}

TEST(Draw, DataGoesFromProducersToReaders) {
  EXPECT_EQ(dataflow_dot(Tiled().s),
            "digraph {\n"
            "label=\"what reads what\"\nlabelloc=t\n"
            "node [shape=box, fontname=monospace]\nedge [fontname=monospace]\n"
            "n0 [label=\"A\nfloat32[64, 32]\"]\n"
            "n1 [label=\"B\nfloat32[64, 32]\nglobal\"]\n"
            "n2 [label=\"C\nfloat32[64, 32]\nglobal\", peripheries=2]\n"
            "n0 -> n1\n"
            "n1 -> n2\n"
            "}\n");
}

TEST(Draw, AStagePointsAtTheLoopThatItIsComputedIn) {
  const std::string text = attachment_dot(Tiled().s);
  EXPECT_NE(text.find("n1 -> n2 [label=\"i.outer\"]"), std::string::npos) << text;
  EXPECT_EQ(text.find("n0 ->"), std::string::npos) << text;
}

TEST(Draw, AxesPointAtWhatIsMadeOfThem) {
  const Tiled t;
  const std::string text = axes_dot(t.s, t.C);
  for (const char* part : {"label=\"i\n0..64\"]", "label=\"i.outer\n0..4\", peripheries=2]",
                           "label=\"i.inner\n0..16\", peripheries=2]", "[label=split]"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
}

TEST(Draw, AnUntouchedAxisIsDrawnOnce) {
  const Tiled t;
  const std::string text = axes_dot(t.s, t.B);
  EXPECT_NE(text.find("n0 [label=\"i\n0..16\", peripheries=2]"), std::string::npos) << text;
  EXPECT_EQ(text.find("n2"), std::string::npos) << text;
  EXPECT_EQ(text.find("->"), std::string::npos) << text;
}

TEST(Draw, SeveralSchedulesAreOneGraphWithTitledClusters) {
  const Tiled t;
  const std::string text = all_dots({{"one", t.s}, {"two", create_schedule(t.C)}});
  EXPECT_EQ(text.find("digraph"), 0u);
  EXPECT_EQ(text.rfind("digraph"), 0u);
  for (const char* title :
       {"one: what reads what", "one: the axes of B", "two: what is computed where"})
    EXPECT_NE(text.find("label=\"" + std::string(title) + "\""), std::string::npos) << text;
}

TEST(Draw, AStageThatWasInlinedHasNoAxes) {
  Tiled t;
  t.s = create_schedule(t.C);
  t.s[t.B].compute_inline();
  EXPECT_THROW(axes_dot(t.s, t.B), ScheduleError);
}

}  // namespace
}  // namespace tenon::te

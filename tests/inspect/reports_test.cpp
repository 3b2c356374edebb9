// Drawings of schedules, and reports on their bounds.
#include "tenon/inspect/draw.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tenon/inspect/bounds_report.h"
#include "tenon/te/reduce.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/print.h"

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

// ---- bounds -------------------------------------------------------------------------------------

using tir::Expr;

const BoundsReport::Row& row_of(const BoundsReport& report, const std::string& stage) {
  for (const BoundsReport::Row& row : report.rows)
    if (row.stage == stage) return row;
  throw std::runtime_error("no row of " + stage);
}

std::string text_of(const BoundsReport& report) {
  std::ostringstream out;
  out << report;
  return out.str();
}

struct BoundsReportTest : ::testing::Test {
  Tensor A = placeholder({40}, "A");
  Tensor B = compute(
      {40}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  /// Eight elements of C need twelve of B.
  Tensor C = compute(
      {36}, {"i"}, [&](Var i) { return B(i) + B(i + 4); }, "C");
};

TEST_F(BoundsReportTest, OfATileIsRequiredWhatItReads) {
  Schedule s = create_schedule(C);
  const auto [outer, inner] = s[C].split(s[C].axis(0), 8);
  s[B].compute_at(s[C], outer);
  const BoundsReport report = bounds_report(s);
  const BoundsReport::Row& row = row_of(report, "B");
  EXPECT_EQ(row.place, "C, at i.outer");
  EXPECT_EQ(tir::print_expr(row.dimensions[0].required.extent), "12");
  EXPECT_EQ(tir::print_expr(row.dimensions[0].allocated.extent), "12");
  EXPECT_EQ(row.dimensions[0].decided_by, std::vector<std::string>{"C"});
  EXPECT_EQ(tir::print_expr(row.bytes), "48");
  EXPECT_EQ(row.counts->used(), 1);
  // Tiles begin at 0, 8, 16, 24 and 32: 12 elements of four, and the last 8 of B.
  EXPECT_EQ(row.counts->evaluations, 4 * 12 + 8);
  EXPECT_EQ(row.counts->points, 40);
}

TEST_F(BoundsReportTest, PrintsATable) {
  EXPECT_EQ(text_of(bounds_report(create_schedule(C))),
            "stage  scope   computed at  required        allocated  bytes  used  computed\n"
            "B      global  root         [40 by C] = 40  [40]       160    1.00  1.00\n"
            "C      global  root         [36] = 36       [36]       144    1.00  1.00\n");
}

TEST_F(BoundsReportTest, NamesWhoDecidesEachEnd) {
  const Tensor first = compute(
      {16}, {"i"}, [&](Var i) { return B(i + 2); }, "first");
  const Tensor last = compute(
      {16}, {"i"}, [&](Var i) { return B(i + 20); }, "last");
  const Tensor between = compute(
      {16}, {"i"}, [&](Var i) { return B(i + 10); }, "between");
  const BoundsReport::Dimension dimension =
      row_of(bounds_report(create_schedule({first, between, last})), "B").dimensions[0];
  EXPECT_EQ(dimension.decided_by, (std::vector<std::string>{"first", "last"}));
  EXPECT_EQ(tir::print_expr(dimension.required.min), "2");
  EXPECT_EQ(tir::print_expr(dimension.required.extent), "34");
}

/// Nothing reads between the two places, yet the box has room for it.
TEST_F(BoundsReportTest, TheHullOfDistantReadsIsUsedToItsEnds) {
  const Tensor far = compute(
      {4}, {"i"}, [&](Var i) { return B(i) + B(i + 30); }, "far");
  Schedule s = create_schedule(far);
  s[B].compute_at(s[far], s[far].axis(0));
  const BoundsReport report = bounds_report(s);
  EXPECT_EQ(row_of(report, "B").counts->allocated, std::vector<std::int64_t>{31});
  EXPECT_EQ(row_of(report, "B").counts->used(), 1);
}

/// An element of a sum is stored once for each summand, and computed once.
TEST_F(BoundsReportTest, AReductionIsComputedOncePerPieceOfMemory) {
  const Tensor M = placeholder({6, 5}, "M");
  const IterVar k = reduce_axis({0, 5}, "k");
  const Tensor rows = compute(
      {6}, {"i"}, [&](Var i) { return sum(M(i, k), {k}); }, "rows");
  const Tensor out = compute(
      {6, 3}, {"i", "j"}, [&](Var i, Var j) { return rows(i) * M(i, j); }, "out");
  Schedule s = create_schedule(out);
  s[rows].compute_at(s[out], s[out].axis(0));
  EXPECT_EQ(row_of(bounds_report(s), "rows").counts->computed(), 1);
  s[rows].compute_at(s[out], s[out].axis(1));
  EXPECT_EQ(row_of(bounds_report(s), "rows").counts->computed(), 3);
}

TEST_F(BoundsReportTest, ThreadsThatComputeTheSameAreCounted) {
  Schedule s = create_schedule(C);
  const auto [block, thread] = s[C].split(s[C].axis(0), 9);
  s[C].bind(block, thread_axis("blockIdx.x")).bind(thread, thread_axis("threadIdx.x"));
  s[B].compute_at(s[C], thread).set_scope("shared");
  const BoundsReport report = bounds_report(s);
  const BoundsReport::Row& row = row_of(report, "B");
  EXPECT_EQ(row.scope, tir::StorageScope::Shared);
  // 13 elements in each of 4 blocks, all of them by each of 9 threads.
  EXPECT_EQ(row.counts->evaluations, 4 * 13 * 9);
}

TEST_F(BoundsReportTest, SizesAreGivenForARun) {
  const Var n = size_var("n");
  const Tensor X = placeholder({n}, "X");
  const Tensor Y = compute(
      {n}, {"i"}, [&](Var i) { return X(i) * 2.0f; }, "Y");
  const Tensor Z = compute(
      {n}, {"i"}, [&](Var i) { return Y(i) + 1.0f; }, "Z");
  const BoundsReport without = bounds_report(create_schedule(Z));
  EXPECT_EQ(tir::print_expr(row_of(without, "Y").dimensions[0].required.extent), "n");
  EXPECT_FALSE(row_of(without, "Y").counts);
  EXPECT_EQ(without.not_counted, "`n` has no value; give it one: {.sizes = {{n, 64}}}");
  const BoundsReport with = bounds_report(create_schedule(Z), {.sizes = {{n, 5}}});
  EXPECT_EQ(with.not_counted, "");
  EXPECT_EQ(row_of(with, "Y").counts->points, 5);
}

/// A float that values are multiplied by has nothing to do with bounds; a factor has a value.
TEST_F(BoundsReportTest, ScalarsOfBodiesAndFactorsAreArguments) {
  const Var scale("scale", Float(32)), factor("factor");
  const Tensor X = placeholder({12}, "X");
  const Tensor Y = compute(
      {12}, {"i"}, [&](Var i) { return X(i) * scale; }, "Y");
  const Tensor Z = compute(
      {12}, {"i"}, [&](Var i) { return Y(i) + 1.0f; }, "Z");
  EXPECT_EQ(row_of(bounds_report(create_schedule(Z)), "Y").counts->points, 12);
  Schedule s = create_schedule(Z);
  s[Y].compute_at(s[Z], s[Z].split(s[Z].axis(0), factor).outer);
  EXPECT_EQ(bounds_report(s).not_counted,
            "`factor` has no value; give it one: {.sizes = {{factor, 64}}}");
  EXPECT_EQ(row_of(bounds_report(s, {.sizes = {{factor, 4}}}), "Y").counts->allocated,
            (std::vector<std::int64_t>{4}));
}

TEST_F(BoundsReportTest, WhatRunsTooLongIsNotCounted) {
  const BoundsReport report = bounds_report(create_schedule(C), {.most_steps = 10});
  EXPECT_NE(report.not_counted.find("gave up after 10"), std::string::npos) << report.not_counted;
  EXPECT_FALSE(row_of(report, "B").counts);
}

TEST_F(BoundsReportTest, AScanIsOneRow) {
  const Tensor X = placeholder({5, 3}, "X"), state = placeholder({5, 3}, "state");
  const Tensor init = compute(
      {1, 3}, {"t", "i"}, [&](Var, Var i) { return X(0, i); }, "init");
  const Tensor update = compute(
      {5, 3}, {"t", "i"}, [&](Var t, Var i) { return state(t - 1, i) + X(t, i); }, "update");
  const Tensor all = scan(init, update, state, {X}, "all");
  const Tensor last = compute(
      {3}, {"i"}, [&](Var i) { return all(4, i); }, "last");
  const BoundsReport report = bounds_report(create_schedule(last));
  ASSERT_EQ(report.rows.size(), 2u);
  EXPECT_EQ(row_of(report, "all").counts->allocated, (std::vector<std::int64_t>{5, 3}));
  EXPECT_EQ(row_of(report, "all").counts->used(), 1);
  EXPECT_EQ(row_of(report, "all").counts->computed(), 1);
}

// 2^32 elements, 2^34 bytes: more than 32 bits count.
TEST_F(BoundsReportTest, LargeTensorsHaveTheirSizes) {
  const Tensor X = placeholder({65536, 65536}, "X");
  const Tensor Y = compute(
      {65536, 65536}, {"i", "j"}, [&](Var i, Var j) { return X(i, j) * 2.0f; }, "Y");
  const Tensor Z = compute(
      {65536, 65536}, {"i", "j"}, [&](Var i, Var j) { return Y(i, j) + 1.0f; }, "Z");
  const BoundsReport report = bounds_report(create_schedule(Z));
  EXPECT_EQ(tir::constant_int(row_of(report, "Y").bytes), std::int64_t{1} << 34);
  std::ostringstream text;
  text << report;
  EXPECT_NE(text.str().find("[65536 by Z, 65536 by Z] = 4294967296 "), std::string::npos)
      << text.str();
  EXPECT_EQ(report.not_counted, "the arguments are too large to run with");
}

}  // namespace
}  // namespace tenon::te

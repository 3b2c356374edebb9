// Checks the explanations of programs: which accesses and loops are proved, which are not, and what
// a run with instrument_bounds reports about those.
#include "tenon/inspect/explain.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tenon/runtime/spec.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

using Verdict = Explanation::Verdict;

int count(const Explanation& explanation, Verdict verdict) {
  return static_cast<int>(
      std::ranges::count(explanation.accesses, verdict, &Explanation::Access::verdict));
}

std::string text_of(const Explanation& explanation) {
  std::ostringstream out;
  out << explanation;
  return out.str();
}

struct Gather {
  te::Tensor A = te::placeholder({20, 6}, "A");
  te::Tensor I = te::placeholder({10}, "I", Int(32));
  te::Tensor B = te::compute(
      {10, 6}, {"i", "j"}, [&](Var i, Var j) { return A(I(i), j) + 1.0f; }, "B");
  std::vector<LowerArgument> args = {A, I, B};
};

TEST(ExplainTest, AnIndexThatIsDataIsNotProved) {
  const Gather g;
  const Explanation explanation = explain(te::create_schedule(g.B), g.args);
  ASSERT_EQ(explanation.accesses.size(), 3u);
  EXPECT_EQ(count(explanation, Verdict::Proved), 2);
  const auto open =
      std::ranges::find(explanation.accesses, Verdict::NotProved, &Explanation::Access::verdict);
  ASSERT_NE(open, explanation.accesses.end());
  EXPECT_EQ(open->tensor, "A");
  EXPECT_EQ(open->text, "reads A[I[i], j]");
  EXPECT_EQ(open->open, "I[i] in [0, 20)");
  EXPECT_TRUE(open->stage.starts_with("B, explain_test.cpp:")) << open->stage;
}

TEST(ExplainTest, WhatIsNotProvedIsCheckedInInstrumentedPrograms) {
  const Gather g;
  const Explanation explanation =
      explain(te::create_schedule(g.B), g.args, {.instrument_bounds = true});
  EXPECT_EQ(count(explanation, Verdict::Checked), 1);
  EXPECT_EQ(count(explanation, Verdict::NotProved), 0);
}

TEST(ExplainTest, ThatArgumentsAreApartIsAssumed) {
  const Gather g;
  const Explanation explanation = explain(te::create_schedule(g.B), g.args);
  ASSERT_EQ(explanation.assumed.size(), 1u);
  EXPECT_EQ(explanation.assumed.front(), "A, I and B do not overlap (each call checks it)");
}

TEST(ExplainTest, PrintsWhatIsNotProved) {
  const Gather g;
  const std::string text = text_of(explain(te::create_schedule(g.B), g.args));
  for (const char* part :
       {"loads and stores: 2 of 3 are proved to lie inside\n",
        "  not proved: B, explain_test.cpp:", " reads A[I[i], j], I[i] in [0, 20)\n",
        "loops side by side: 0 of 0 are proved free of conflicts\n", "assumed:\n  A, I and B do"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in:\n" << text;
}

TEST(ExplainTest, AClampedIndexIsProved) {
  te::Tensor A = te::placeholder({20}, "A"), I = te::placeholder({10}, "I", Int(32));
  te::Tensor B = te::compute(
      {10}, {"i"}, [&](Var i) { return A(max(min(I(i), 19), 0)); }, "B");
  const Explanation explanation = explain(te::create_schedule(B), {A, I, B});
  EXPECT_EQ(count(explanation, Verdict::Proved), 3) << explanation;
}

TEST(ExplainTest, AnIndexUnderItsConditionIsProved) {
  te::Tensor A = te::placeholder({20}, "A"), I = te::placeholder({10}, "I", Int(32));
  te::Tensor B = te::compute(
      {10}, {"i"}, [&](Var i) { return if_then_else(I(i) >= 0 && I(i) < 20, A(I(i)), 0.0f); }, "B");
  const Explanation explanation = explain(te::create_schedule(B), {A, I, B});
  EXPECT_EQ(count(explanation, Verdict::Proved), static_cast<int>(explanation.accesses.size()))
      << explanation;
}

/// A condition on memory is a fact only until something is written there.
TEST(ExplainTest, AConditionOnMemoryThatIsWrittenIsNoFact) {
  te::Tensor A = te::placeholder({20}, "A");
  te::Tensor B = te::extern_op(
      {2}, {A},
      [](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) -> te::ExternResult {
        tir::IRBuilder ib;
        auto at = ib.allocate(Int(32), {1}, "at");
        auto a = ib.buffer_ptr(ins[0]), b = ib.buffer_ptr(outs[0]);
        at[0] = 3;
        ib.if_scope(Expr(at[0]) < 20 && Expr(at[0]) >= 0, [&] {
          at[0] = 100;
          b[0] = Expr(a[Expr(at[0])]);
        });
        return ib.get();
      },
      "B", {.dtype = Float(32)});
  const Explanation explanation = explain(te::create_schedule(B), {A, B});
  EXPECT_EQ(count(explanation, Verdict::NotProved), 1) << explanation;
}

TEST(ExplainTest, TilesOfEverySizeAreProved) {
  Var n = te::size_var("n"), m = te::size_var("m");
  te::Tensor A = te::placeholder({n, m}, "A"), B = te::placeholder({m, n}, "B");
  te::IterVar k = te::reduce_axis({0, m}, "k");
  te::Tensor C = te::compute(
      {n, n}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, k) * B(k, j), {k}); }, "C");
  te::Schedule s = te::create_schedule(C);
  te::Tensor tile = s.cache_write(C, "local");
  const auto tiles = s[C].tile(s[C].axis(0), s[C].axis(1), 4, 8);
  s[C].parallel(tiles.x_outer).vectorize(tiles.y_inner);
  s[tile].compute_at(s[C], tiles.y_outer);
  const Explanation explanation = explain(s, {A, B, C});
  EXPECT_EQ(count(explanation, Verdict::Proved), static_cast<int>(explanation.accesses.size()))
      << explanation;
  ASSERT_EQ(explanation.loops.size(), 2u);
  for (const Explanation::Loop& loop : explanation.loops)
    EXPECT_EQ(loop.verdict, Verdict::Proved) << explanation;
}

// ---- loops side by side -------------------------------------------------------------------------

/// Two iterations of the fused tile axes differ in the row of tiles or in the column.
TEST(ExplainTest, FusedTilesAreProvedApart) {
  te::Tensor A = te::placeholder({32, 48}, "A");
  te::Tensor B = te::compute(
      {32, 48}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * 2.0f; }, "B");
  te::Schedule s = te::create_schedule(B);
  const auto [io, jo, ii, ji] = s[B].tile(s[B].axis(0), s[B].axis(1), 8, 16);
  s[B].parallel(s[B].fuse(io, jo));
  const Explanation explanation = explain(s, {A, B});
  ASSERT_EQ(explanation.loops.size(), 1u);
  EXPECT_EQ(explanation.loops.front().verdict, Verdict::Proved) << explanation;
}

/// b[f(i)] = a[i] for i in [0, 8), side by side.
Explanation explain_stores(const std::function<Expr(const Var&, const Expr&)>& index,
                           ForKind kind = ForKind::Parallel) {
  te::Tensor I = te::placeholder({8}, "I", Int(32));
  te::Tensor B = te::extern_op(
      {64}, {I},
      [&](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) -> te::ExternResult {
        tir::IRBuilder ib;
        auto in = ib.buffer_ptr(ins[0]), b = ib.buffer_ptr(outs[0]);
        ib.for_range(0, 8, "i", [&](Var i) { b[index(i, Expr(in[i]))] = i.astype(Float(32)); },
                     {.kind = kind});
        return ib.get();
      },
      "B", {.dtype = Float(32)});
  return explain(te::create_schedule(B), {I, B});
}

Verdict verdict_of_stores(const std::function<Expr(const Var&, const Expr&)>& index) {
  const Explanation explanation = explain_stores(index);
  return explanation.loops.at(0).verdict;
}

TEST(ExplainTest, StoresOfParallelIterations) {
  EXPECT_EQ(verdict_of_stores([](const Var& i, const Expr&) { return i * 3 + 1; }),
            Verdict::Proved);
  EXPECT_EQ(verdict_of_stores([](const Var& i, const Expr&) { return 63 - i; }), Verdict::Proved);
  // A transposition of 2 x 4.
  EXPECT_EQ(verdict_of_stores(
                [](const Var& i, const Expr&) { return floormod(i, 4) * 2 + floordiv(i, 4); }),
            Verdict::Proved);
  EXPECT_EQ(verdict_of_stores([](const Var& i, const Expr&) { return floordiv(i, 2); }),
            Verdict::NotProved);
  EXPECT_EQ(verdict_of_stores([](const Var& i, const Expr&) { return floormod(i, 4); }),
            Verdict::NotProved);
  EXPECT_EQ(verdict_of_stores([](const Var& i, const Expr&) { return i * i; }), Verdict::NotProved);
  EXPECT_EQ(verdict_of_stores([](const Var&, const Expr& data) { return data; }),
            Verdict::NotProved);
  EXPECT_EQ(verdict_of_stores([](const Var&, const Expr&) { return Expr(5); }), Verdict::Wrong);
}

TEST(ExplainTest, BothAccessesOfAConflictAreNamed) {
  te::Tensor B = te::extern_op(
      {9}, {},
      [](std::span<const tir::Buffer>, std::span<const tir::Buffer> outs) -> te::ExternResult {
        tir::IRBuilder ib;
        auto b = ib.buffer_ptr(outs[0]);
        ib.for_range(0, 8, "i", [&](Var i) { b[i + 1] = Expr(b[i]) + 1.0f; },
                     {.kind = ForKind::Parallel});
        return ib.get();
      },
      "B", {.dtype = Float(32)});
  const Explanation explanation = explain(te::create_schedule(B), {B});
  ASSERT_EQ(explanation.loops.size(), 1u);
  EXPECT_EQ(explanation.loops.front().verdict, Verdict::NotProved);
  for (const char* part : {"B, explain_test.cpp:", "reads B[i]", "writes B[(i + 1)]"})
    EXPECT_NE(explanation.loops.front().conflict.find(part), std::string::npos) << explanation;
}

// ---- at run time --------------------------------------------------------------------------------

std::string error_of(const runtime::Module& mod, const std::vector<int>& index) {
  const runtime::NDArray a = runtime::NDArray::random({20, 6}, Float(32)),
                         b = runtime::NDArray::zeros({10, 6}, Float(32));
  try {
    mod["main"](a, runtime::NDArray::from(index, {10}), b);
  } catch (const RuntimeError& error) {
    return error.what();
  }
  return "";
}

void expect_checked(const Target& target) {
  const Gather g;
  te::Schedule s = te::create_schedule(g.B);
  s[g.B].parallel(s[g.B].axis(0)).vectorize(s[g.B].axis(1));
  const runtime::Module mod = build(s, g.args, target, {.instrument_bounds = true});
  EXPECT_EQ(error_of(mod, {0, 19, 3, 4, 5, 6, 7, 8, 9, 10}), "");
  const std::string text = error_of(mod, {0, 1, 2, 25, 4, 5, 6, 7, 8, 9});
  for (const char* part :
       {"B, explain_test.cpp:", "reads `A` at index 25 of dimension 0, which has 20 elements"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
  EXPECT_NE(error_of(mod, {0, 1, 2, -1, 4, 5, 6, 7, 8, 9}), "");
}

TEST(CheckedAccessesTest, TheErrorNamesTensorIndexExtentAndLine) { expect_checked(Target("llvm")); }
TEST(CheckedAccessesTest, InCToo) { expect_checked(Target("c")); }

/// The second row's index is itself read at an index that is data; the first check comes first.
TEST(CheckedAccessesTest, AnIndexWithinAnIndexIsCheckedFirst) {
  te::Tensor A = te::placeholder({20}, "A"), I = te::placeholder({4}, "I", Int(32)),
             J = te::placeholder({3}, "J", Int(32));
  te::Tensor B = te::compute(
      {3}, {"i"}, [&](Var i) { return A(I(J(i))); }, "B");
  const runtime::Module mod =
      build(te::create_schedule(B), {A, I, J, B}, Target("llvm"), {.instrument_bounds = true});
  const runtime::NDArray a = runtime::NDArray::random({20}, Float(32)),
                         b = runtime::NDArray::zeros({3}, Float(32));
  try {
    mod["main"](a, runtime::NDArray::from(std::vector<int>{1, 2, 3, 99}, {4}),
                runtime::NDArray::from(std::vector<int>{0, 1 << 30, 3}, {3}), b);
    FAIL() << "was not checked";
  } catch (const RuntimeError& error) {
    EXPECT_NE(std::string(error.what()).find("reads `I` at index 1073741824"), std::string::npos)
        << error.what();
  }
}

/// If the condition does not hold, nothing is read and nothing is checked.
TEST(CheckedAccessesTest, ABranchThatIsNotTakenIsNotChecked) {
  te::Tensor A = te::placeholder({20}, "A"), I = te::placeholder({4}, "I", Int(32)),
             J = te::placeholder({4}, "J", Int(32));
  te::Tensor B = te::compute(
      {4}, {"i"}, [&](Var i) { return if_then_else(J(i) > 0, A(I(i)), 0.0f); }, "B");
  const runtime::Module mod =
      build(te::create_schedule(B), {A, I, J, B}, Target("llvm"), {.instrument_bounds = true});
  const runtime::NDArray a = runtime::NDArray::random({20}, Float(32)),
                         b = runtime::NDArray::zeros({4}, Float(32)),
                         i = runtime::NDArray::from(std::vector<int>{1, -7, 3, 99}, {4});
  mod["main"](a, i, runtime::NDArray::from(std::vector<int>{1, 0, 1, 0}, {4}), b);
  EXPECT_THROW(mod["main"](a, i, runtime::NDArray::from(std::vector<int>{1, 1, 1, 0}, {4}), b),
               RuntimeError);
}

// ---- refused ------------------------------------------------------------------------------------

template <class Run>
void expect_refused(Run run, const std::vector<std::string>& parts) {
  try {
    run();
    FAIL() << "was not refused";
  } catch (const Error& error) {
    const std::string text = error.what();
    for (const std::string& part : parts)
      EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
  }
}

TEST(ProvedFaultsTest, WhatIsOutsideWheneverItHappensIsNotLowered) {
  Var n = te::size_var("n");
  te::Tensor A = te::placeholder({n}, "A");
  te::Tensor B = te::compute(
      {n}, {"i"}, [&](Var i) { return A(i + n); }, "B");
  for (const bool instrument : {false, true})
    expect_refused(
        [&] {
          lower(te::create_schedule(B), {A, B}, {.instrument_bounds = instrument});
        },
        {"B, explain_test.cpp:", "reads A[(i + n)], which is outside of `A`"});
}

TEST(ProvedFaultsTest, WhatNeverHappensIsNotRefused) {
  te::Tensor A = te::placeholder({4}, "A");
  te::Tensor B = te::compute(
      {0, 3}, {"i", "j"}, [&](Var i, Var j) { return A(i * 2 + 9) + A(j + 7); }, "B");
  EXPECT_NO_THROW(lower(te::create_schedule(B), {A, B}));
}

/// In code by hand, which no bound inference has seen.
TEST(ProvedFaultsTest, AStoreOutsideIsNotLowered) {
  te::Tensor B = te::extern_op(
      {8}, {},
      [](std::span<const tir::Buffer>, std::span<const tir::Buffer> outs) -> te::ExternResult {
        tir::IRBuilder ib;
        auto b = ib.buffer_ptr(outs[0]);
        ib.for_range(0, 4, "i", [&](Var i) { b[i + 8] = 1.0f; });
        return ib.get();
      },
      "B", {.dtype = Float(32)});
  expect_refused([&] { lower(te::create_schedule(B), {B}); },
                 {"B, explain_test.cpp:", "writes B[(i + 8)]", "(i + 8) in [0, 8) never holds"});
}

TEST(ProvedFaultsTest, IterationsThatAllStoreToOneElementAreNotBuilt) {
  te::Tensor B = te::extern_op(
      {8}, {},
      [](std::span<const tir::Buffer>, std::span<const tir::Buffer> outs) -> te::ExternResult {
        tir::IRBuilder ib;
        auto b = ib.buffer_ptr(outs[0]);
        ib.for_range(0, 4, "i", [&](Var i) { b[3] = i.astype(Float(32)); },
                     {.kind = ForKind::Parallel});
        return ib.get();
      },
      "B", {.dtype = Float(32)});
  const te::Schedule s = te::create_schedule(B);
  EXPECT_EQ(lower(s, {B}).functions.size(), 1u);
  expect_refused([&] { compile(s, {B}, Target("llvm")); },
                 {"the parallel loop over `i`", "B, explain_test.cpp:", "writes B[3]"});
  EXPECT_NO_THROW(
      compile(s, {B}, Target("llvm"), {.allow_parallel_reduction_race = true, .opt_level = 0}));
}

}  // namespace
}  // namespace tenon::testing

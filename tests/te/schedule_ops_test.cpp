// Loop programs: where things stand, and that they compute the same as the plain loops.
#include "tenon/te/schedule_ops.h"

#include <gtest/gtest.h>

#include "run_schedule.h"
#include "tenon/te/freeze.h"
#include "tenon/te/reduce.h"
#include "tenon/tir/print.h"

namespace tenon::te {
namespace {

using testing::Computation;
using testing::run;
using testing::watch;

std::string text(const Schedule& s) { return tir::print_stmt(schedule_ops(s, infer_bound(s))); }

Tensor plus_one(const Tensor& x, const std::string& name) {
  return compute(
      x.shape(), {"i"}, [&](Var i) { return x(i) + 1.0f; }, name);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

// ---- bounds of something else -------------------------------------------------------------------

std::string refusal(const Schedule& s, const Bounds& bounds) {
  try {
    schedule_ops(s, bounds);
    return "";
  } catch (const ScheduleError& error) {
    return error.what();
  }
}

TEST(ScheduleOps, BoundsOfAScheduleThatWasChangedAreRefused) {
  Tensor A = placeholder({16}, "A"), B = plus_one(A, "B");
  Schedule s = create_schedule(B);
  const Bounds bounds = infer_bound(s);
  EXPECT_EQ(refusal(s, bounds), "");
  const IterVar inner = s[B].split(s[B].axis(0), 4).inner;
  EXPECT_TRUE(contains(refusal(s, bounds), "infer_bound(schedule)"));
  const Bounds after = infer_bound(s);
  EXPECT_EQ(refusal(s, after), "");
  s[B].vectorize(inner);
  EXPECT_TRUE(contains(refusal(s, after), "before it was changed"));
}

TEST(ScheduleOps, BoundsOfAFrozenGraphAreForThatGraph) {
  Tensor A = placeholder({16}, "A"), B = plus_one(A, "B");
  Schedule s = create_schedule(B);
  EXPECT_TRUE(contains(refusal(s, infer_bound(freeze(s))), "frozen graph"));
}

// ---- text ---------------------------------------------------------------------------------------

TEST(ScheduleOps, RootStagesStandOneAfterTheOther) {
  Tensor A = placeholder({4}, "A"), B = plus_one(A, "B"), C = plus_one(B, "C");
  EXPECT_EQ(text(create_schedule(C)),
            "realize(B: Buffer(B_1: Pointer(global float32), float32, [4], []), [0:4]) {\n"
            "  for (i: int32, 0, 4) {\n"
            "    B[i] = (A: Buffer(A_1: Pointer(float32), float32, [4], [])[i] + 1f32)\n"
            "  }\n"
            "  realize(C: Buffer(C_1: Pointer(global float32), float32, [4], []), [0:4]);\n"
            "  for (i_1: int32, 0, 4) {\n"
            "    C[i_1] = (B[i_1] + 1f32)\n"
            "  }\n"
            "}");
}

TEST(ScheduleOps, StagesAtOneLoopStandInOrder) {
  Tensor A = placeholder({8}, "A"), B = plus_one(A, "B"), C = plus_one(B, "C"),
         D = plus_one(C, "D");
  Schedule s = create_schedule(D);
  auto [o, i] = s[D].split(s[D].axis(0), 4);
  s[B].compute_at(s[D], o);
  s[C].compute_at(s[D], o);
  std::string t = text(s);
  EXPECT_LT(t.find("realize(B"), t.find("realize(C"));
  EXPECT_LT(t.find("B[("), t.find("C[("));
  EXPECT_EQ(count(t, "i.outer: int32, 0, 2"), 1);
}

TEST(ScheduleOps, InitialisationStandsBeforeTheOutermostLoopOfTheReduction) {
  Tensor A = placeholder({4, 8}, "A");
  IterVar k = reduce_axis({0, 8}, "k");
  Tensor B = compute(
      {4}, {"i"}, [&](Var i) { return sum(A(i, k), {k}); }, "B");
  Schedule s = create_schedule(B);
  auto [ko, ki] = s[B].split(k, 4);
  s[B].reorder({ko, s[B].axis(0), ki});
  EXPECT_EQ(
      text(s),
      "realize(B: Buffer(B_1: Pointer(global float32), float32, [4], []), [0:4]) {\n"
      "  for (i.init: int32, 0, 4) {\n"
      "    B[i.init] = 0f32\n"
      "  }\n"
      "  for (k.outer: int32, 0, 2) {\n"
      "    for (i: int32, 0, 4) {\n"
      "      for (k.inner: int32, 0, 4) {\n"
      "        B[i] = (B[i] + A: Buffer(A_1: Pointer(float32), float32, [4, 8], [])[i, (k.inner + "
      "(k.outer*4))])\n"
      "      }\n"
      "    }\n"
      "  }\n"
      "}");
}

TEST(ScheduleOps, LoopsOfOneIterationVanish) {
  Tensor A = placeholder({8}, "A"), B = plus_one(A, "B");
  Schedule s = create_schedule(B);
  s[B].split(s[B].axis(0), 8);
  EXPECT_FALSE(contains(text(s), "i.outer"));
  EXPECT_TRUE(contains(text(s), "for (i.inner: int32, 0, 8)"));
}

TEST(ScheduleOps, AnUnevenSplitIsGuardedOnce) {
  Tensor A = placeholder({10}, "A"), B = plus_one(A, "B");
  Schedule s = create_schedule(B);
  s[B].split(s[B].axis(0), 4);
  EXPECT_EQ(count(text(s), "likely"), 1);
}

TEST(ScheduleOps, AnEvenSplitIsNotGuarded) {
  Tensor A = placeholder({12}, "A"), B = plus_one(A, "B");
  Schedule s = create_schedule(B);
  s[B].split(s[B].axis(0), 4);
  EXPECT_FALSE(contains(text(s), "likely"));
}

TEST(ScheduleOps, InitialisationOfAnArgumentIsGuardedLikeItsUpdate) {
  // B is needed beyond its end, and lives in an argument: nothing may be written there.
  Tensor A = placeholder({8}, "A");
  IterVar k = reduce_axis({0, 3}, "k");
  Tensor B = compute(
      {8}, {"i"}, [&](Var i) { return sum(A(i) * cast(Float(32), Expr(k)), {k}); }, "B");
  Tensor C = compute(
      {8}, {"i"}, [&](Var i) { return if_then_else(i < 6, B(i + 2), 0.0f); }, "C");
  Schedule s = create_schedule(C);
  EXPECT_NO_THROW(run(s, {A, B, C}));
}

TEST(ScheduleOps, ThreadsThatStandAroundAStageAreNotOpenedAgain) {
  Tensor A = placeholder({64}, "A"), B = plus_one(A, "B"), C = plus_one(B, "C");
  IterVar bx = thread_axis("blockIdx.x"), tx = thread_axis("threadIdx.x");
  Schedule s = create_schedule(C);
  auto [o, i] = s[C].split(s[C].axis(0), 16);
  s[C].bind(o, bx).bind(i, tx);
  s[B].set_scope("shared").compute_at(s[C], o);
  s[B].bind(s[B].axis(0), tx);
  std::string t = text(s);
  EXPECT_EQ(count(t, "\"threadIdx.x\")] \"thread_extent\""), 2);  // of B, and of C beside it
  EXPECT_EQ(count(t, "\"blockIdx.x\")] \"thread_extent\""), 1);
}

TEST(ScheduleOps, PragmasStandAroundTheirLoop) {
  Tensor A = placeholder({64}, "A"), B = plus_one(A, "B");
  Schedule s = create_schedule(B);
  s[B].pragma(s[B].axis(0), "auto_unroll_max_step", 8);
  std::string t = text(s);
  EXPECT_LT(t.find("pragma_auto_unroll_max_step\" = 8"), t.find("for (i"));
}

TEST(ScheduleOps, StorePredicatesGuardTheStoreAlone) {
  Tensor A = placeholder({64}, "A"), B = plus_one(A, "B");
  Schedule s = create_schedule(B);
  s[B].set_store_predicate(s[B].axis(0) < 8);
  EXPECT_TRUE(contains(text(s), "if (i < 8) {"));
}

/// What is left in B, 12 elements that begin as NaN, and how many of them are NaN still.
struct Stored {
  std::vector<float> values;
  std::ptrdiff_t untouched() const {
    return std::ranges::count_if(values, [](float v) { return std::isnan(v); });
  }
};

struct StoredSumsTest : ::testing::Test {
  Tensor A = placeholder({12, 10}, "A");
  IterVar k = reduce_axis({0, 10}, "k");
  Tensor B = compute(
      {12}, {"i"}, [&](Var i) { return sum(A(i, k), {k}); }, "B");
  Schedule s = create_schedule(B);
  Stored stored() const { return {testing::run(s, {A, B}).back()}; }
  std::vector<float> whole() const { return testing::run(create_schedule(B), {A, B}).back(); }
};

TEST_F(StoredSumsTest, ElementsThatAreNotStoredAreNotInitialised) {
  s[B].set_store_predicate(s[B].axis(0) < 8);
  const Stored result = stored();
  EXPECT_EQ(result.untouched(), 4);
  for (std::size_t n = 0; n < 8; ++n) EXPECT_EQ(result.values[n], whole()[n]);
}

TEST_F(StoredSumsTest, InLoopsOfTheInitialisation) {
  auto [o, i] = s[B].split(s[B].axis(0), 5);
  s[B].reorder({k, o, i});
  s[B].set_store_predicate(tir::floormod(s[B].axis(0), 3) == 0 && i < 4);
  const Stored result = stored();
  for (std::size_t n = 0; n < 12; ++n) {
    if (n % 3 == 0 && n % 5 < 4)
      EXPECT_EQ(result.values[n], whole()[n]) << n;
    else
      EXPECT_TRUE(std::isnan(result.values[n])) << n;
  }
}

TEST_F(StoredSumsTest, StepsThatAreNotStoredLeaveTheSumOfTheOthers) {
  s[B].set_store_predicate(k < 6 && s[B].axis(0) >= 2);
  const Stored result = stored();
  EXPECT_EQ(result.untouched(), 2);
  Tensor C = compute(
      {12}, {"i"}, [&](Var i) { return sum(A(i, k), {k}, {.where = k < 6}); }, "C");
  const std::vector<float> expected = testing::run(create_schedule(C), {A, C}).back();
  for (std::size_t n = 2; n < 12; ++n) EXPECT_EQ(result.values[n], expected[n]);
}

TEST(ScheduleOps, ALaterOutputSeesTheOldValueOfAnEarlierOne) {
  // (sum, sum of products of pairs): the second needs the first as it was.
  Tensor A = placeholder({3}, "A");
  IterVar k = reduce_axis({0, 3}, "k");
  Reducer pairs = comm_reducer(
      [](std::span<const Var> x, std::span<const Var> y) {
        return std::vector<Expr>{x[0] + y[0], x[1] + y[1] + x[0] * y[0]};
      },
      [](std::span<const DataType> t) {
        return std::vector<Expr>{tir::make_const(t[0], 0), tir::make_const(t[1], 0)};
      },
      "pairs");
  std::vector<Tensor> T = compute_multi(
      {1}, {"i"},
      [&](Var) {
        return pairs({A(k), Expr(0.0f)}, {k});
      },
      "T");
  std::vector<testing::Array> arrays = run(create_schedule(T), {A, T[0], T[1]});
  float expected = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < i; ++j)
      expected += arrays[0][static_cast<std::size_t>(i)] * arrays[0][static_cast<std::size_t>(j)];
  }
  EXPECT_EQ(arrays[2][0], expected);
}

TEST(ScheduleOps, APlaceholderThatIsNoArgumentIsNamed) {
  Tensor A = placeholder({64}, "A"), B = plus_one(A, "B");
  Schedule s = create_schedule(B);
  StageGraph graph = freeze(s);
  try {
    schedule_ops(graph, infer_bound(graph), {B});
    FAIL();
  } catch (const ScheduleError& error) {
    EXPECT_TRUE(contains(error.what(), "placeholder `A`"));
    EXPECT_TRUE(contains(error.what(), "stage `B`"));
  }
}

TEST(ScheduleOps, AnArgumentGivenTwiceIsRefused) {
  Tensor A = placeholder({64}, "A"), B = plus_one(A, "B");
  StageGraph graph = freeze(create_schedule(B));
  tir::Buffer buffer = tir::decl_buffer({64}, Float(32), {.name = "A"});
  EXPECT_THROW(
      schedule_ops(graph, infer_bound(graph), {buffer, buffer, B}, {.binds = {{A, buffer}}}),
      ScheduleError);
}

// ---- values -------------------------------------------------------------------------------------

void expect_same(const std::vector<testing::Array>& a, const std::vector<testing::Array>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(a[i], b[i]);
}

/// sum over a 3x3 window of a padded input.
struct PaddedWindow {
  Tensor A = placeholder({7, 9}, "A");
  Tensor P = compute(
      {9, 11}, {"i", "j"},
      [&](Var i, Var j) {
        return if_then_else(tir::all(i >= 1, i < 8, j >= 1, j < 10), A(i - 1, j - 1), 0.0f);
      },
      "P");
  IterVar y = reduce_axis({0, 3}, "y"), x = reduce_axis({0, 3}, "x");
  Tensor B = compute(
      {7, 9}, {"i", "j"},
      [&](Var i, Var j) {
        return sum(P(i + y, j + x), {y, x});
      },
      "B");
};

TEST(ScheduleOpsValues, AStageAtAnyLoopGivesTheSame) {
  PaddedWindow w;
  std::vector<testing::Array> expected = run(create_schedule(w.B), {w.A, w.B});
  for (int position = 0; position < 6; ++position) {
    Schedule s = create_schedule(w.B);
    auto [jo, ji] = s[w.B].split(s[w.B].axis(1), 4);
    auto [io, ii] = s[w.B].split(s[w.B].axis(0), 2);
    s[w.B].reorder({io, jo, ii, ji});
    s[w.P].compute_at(s[w.B], s[w.B].leaf_iter_vars()[static_cast<std::size_t>(position)]);
    expect_same(run(s, {w.A, w.B}), expected);
  }
}

TEST(ScheduleOpsValues, AReductionAtASplitThatDoesNotDivideGivesTheSame) {
  Tensor A = placeholder({101, 5}, "A");
  IterVar k = reduce_axis({0, 5}, "k");
  Tensor B = compute(
      {101}, {"i"}, [&](Var i) { return sum(A(i, k), {k}); }, "B");
  Tensor C = compute(
      {101}, {"i"}, [&](Var i) { return B(i) * 2.0f; }, "C");
  std::vector<testing::Array> expected = run(create_schedule(C), {A, C});
  for (int factor : {100, 7, 64, 101, 3}) {
    Schedule s = create_schedule(C);
    auto [o, i] = s[C].split(s[C].axis(0), factor);
    s[B].compute_at(s[C], i);
    expect_same(run(s, {A, C}), expected);
  }
}

TEST(ScheduleOpsValues, DataAndReductionFusedGiveTheSame) {
  Tensor A = placeholder({6, 5}, "A");
  IterVar k = reduce_axis({0, 5}, "k");
  Tensor B = compute(
      {6}, {"i"}, [&](Var i) { return sum(A(i, k), {k}); }, "B");
  std::vector<testing::Array> expected = run(create_schedule(B), {A, B});
  for (int factor : {1, 4, 7, 30}) {
    Schedule s = create_schedule(B);
    s[B].split(s[B].fuse(s[B].axis(0), s[B].reduce_axis(0)), factor);
    expect_same(run(s, {A, B}), expected);
  }
}

TEST(ScheduleOpsValues, ARankZeroReductionUnderASingletonSplitGivesTheSame) {
  Tensor A = placeholder({10}, "A");
  IterVar k = reduce_axis({0, 10}, "k");
  Tensor B = compute(
      {}, {}, [&] { return sum(A(k), {k}); }, "B");
  std::vector<testing::Array> expected = run(create_schedule(B), {A, B});
  Schedule s = create_schedule(B);
  s[B].split_by_nparts(s[B].fuse(std::vector<IterVar>{}), 20);
  expect_same(run(s, {A, B}), expected);
}

TEST(ScheduleOpsValues, AReductionRangeMayDependOnADataAxis) {
  Tensor A = placeholder({6}, "A");
  Tensor B = compute(
      {6}, {"i"},
      [&](Var i) {
        IterVar k = reduce_axis({0, i + 1}, "k");
        return sum(A(k), {k});
      },
      "B");
  std::vector<testing::Array> arrays = run(create_schedule(B), {A, B});
  float total = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    total += arrays[0][i];
    EXPECT_EQ(arrays[1][i], total);
  }
}

TEST(ScheduleOpsValues, ThreadsOfTwoExtentsOnOneAxisGiveTheSame) {
  Tensor A = placeholder({102}, "A"), B = plus_one(A, "B"), C = plus_one(B, "C");
  std::vector<testing::Array> expected = run(create_schedule(C), {A, C});
  IterVar tx = thread_axis("threadIdx.x");
  Schedule s = create_schedule(C);
  auto [co, ci] = s[C].split(s[C].axis(0), 17);
  s[C].bind(co, thread_axis("blockIdx.x")).bind(ci, tx);
  s[B].set_scope("shared").compute_at(s[C], co);
  auto [bo, bi] = s[B].split(s[B].axis(0), 32);
  s[B].bind(bi, tx);
  expect_same(run(s, {A, C}), expected);
}

TEST(ScheduleOpsValues, AThreadOnAnAxisThatStartsElsewhereIsShifted) {
  Tensor A = placeholder({64}, "A"), B = plus_one(A, "B");
  Tensor C = compute(
      {32}, {"i"}, [&](Var i) { return B(i + 16); }, "C");
  std::vector<testing::Array> expected = run(create_schedule(C), {A, C});
  Schedule s = create_schedule(C);
  s[B].bind(s[B].axis(0), thread_axis("threadIdx.x"));
  expect_same(run(s, {A, C}), expected);
}

TEST(ScheduleOpsValues, ReductionsAcrossThreadsGiveTheSame) {
  for (int size : {1, 10, 32, 37, 64}) {
    Tensor A = placeholder({10, size}, "A");
    IterVar k = reduce_axis({0, size}, "k");
    Tensor B = compute(
        {10}, {"i"}, [&](Var i) { return sum(A(i, k), {k}); }, "B");
    std::vector<testing::Array> expected = run(create_schedule(B), {A, B});
    for (int form = 0; form < 4; ++form) {
      Schedule s = create_schedule(B);
      IterVar tx = thread_axis("threadIdx.x");
      if (form == 0) s[B].bind(s[B].reduce_axis(0), tx);
      if (form == 1) s[B].bind(s[B].split_by_nparts(s[B].reduce_axis(0), 8).outer, tx);
      if (form == 2) s[B].bind(s[B].split(s[B].reduce_axis(0), 8).inner, tx);
      if (form == 3) {
        auto [ko, ki] = s[B].split(s[B].reduce_axis(0), 8);
        s[B].bind(ko, thread_axis("threadIdx.y")).bind(ki, tx);
      }
      expect_same(run(s, {A, B}), expected);
    }
  }
}

TEST(ScheduleOpsValues, AnUnevenDataAxisBesideAReductionAcrossThreadsGivesTheSame) {
  Tensor A = placeholder({10, 16}, "A");
  IterVar k = reduce_axis({0, 16}, "k");
  Tensor B = compute(
      {10}, {"i"}, [&](Var i) { return sum(A(i, k), {k}); }, "B");
  std::vector<testing::Array> expected = run(create_schedule(B), {A, B});
  Schedule s = create_schedule(B);
  auto [io, ii] = s[B].split(s[B].axis(0), 4);
  s[B].bind(io, thread_axis("blockIdx.x")).bind(ii, thread_axis("threadIdx.y"));
  s[B].bind(s[B].reduce_axis(0), thread_axis("threadIdx.x"));
  expect_same(run(s, {A, B}), expected);
}

TEST(ScheduleOpsValues, AStartValueIsCountedOnceAcrossThreads) {
  Tensor A = placeholder({4, 16}, "A"), I = placeholder({4}, "I");
  IterVar k = reduce_axis({0, 16}, "k");
  Tensor B = compute(
      {4}, {"i"}, [&](Var i) { return sum(A(i, k), {k}, {.init = {I(i)}}); }, "B");
  std::vector<testing::Array> expected = run(create_schedule(B), {A, I, B});
  Schedule s = create_schedule(B);
  s[B].bind(s[B].reduce_axis(0), thread_axis("threadIdx.x"));
  expect_same(run(s, {A, I, B}), expected);
}

TEST(ScheduleOpsValues, AConditionHoldsForEachElementAcrossThreads) {
  Tensor A = placeholder({4, 16}, "A");
  IterVar k = reduce_axis({0, 16}, "k");
  Tensor B = compute(
      {4}, {"i"}, [&](Var i) { return sum(A(i, k), {k}, {.where = k < i * 4 + 1}); }, "B");
  std::vector<testing::Array> expected = run(create_schedule(B), {A, B});
  for (bool split : {false, true}) {
    Schedule s = create_schedule(B);
    IterVar tx = thread_axis("threadIdx.x");
    s[B].bind(split ? s[B].split(s[B].reduce_axis(0), 4).inner : s[B].reduce_axis(0), tx);
    expect_same(run(s, {A, B}), expected);
  }
}

TEST(ScheduleOpsValues, AProducerInsideAReductionAcrossThreadsGivesTheSame) {
  Tensor A = placeholder({4, 32}, "A");
  Tensor P = compute(
      {4, 32}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * 2.0f; }, "P");
  IterVar k = reduce_axis({0, 32}, "k");
  Tensor B = compute(
      {4}, {"i"}, [&](Var i) { return sum(P(i, k), {k}); }, "B");
  std::vector<testing::Array> expected = run(create_schedule(B), {A, B});
  for (int place = 0; place < 3; ++place) {
    Schedule s = create_schedule(B);
    auto [ko, ki] = s[B].split(s[B].reduce_axis(0), 8);
    s[B].bind(ki, thread_axis("threadIdx.x"));
    s[P].compute_at(s[B], place == 0 ? s[B].axis(0) : place == 1 ? ko : ki);
    if (place == 0) s[P].set_scope("shared");
    expect_same(run(s, {A, B}), expected);
  }
}

// ---- what is computed is what is read -----------------------------------------------------------

void expect_exact(const std::vector<Computation>& computations, std::size_t times) {
  ASSERT_EQ(computations.size(), times);
  for (const Computation& c : computations) EXPECT_EQ(c.written, c.read);
}

TEST(ScheduleOpsRegions, OfATileAndItsHalo) {
  Tensor A = placeholder({34}, "A"), B = plus_one(A, "B");
  Tensor C = compute(
      {32}, {"i"}, [&](Var i) { return B(i) + B(i + 1) + B(i + 2); }, "C");
  Schedule s = create_schedule(C);
  auto [o, i] = s[C].split(s[C].axis(0), 8);
  s[B].compute_at(s[C], o);
  expect_exact(watch(s, {A, C}, "B"), 4);
}

TEST(ScheduleOpsRegions, OfStridedReads) {
  Tensor A = placeholder({64}, "A"), B = plus_one(A, "B");
  Tensor C = compute(
      {32}, {"i"}, [&](Var i) { return B(i * 2) + B(i * 2 + 1); }, "C");
  Schedule s = create_schedule(C);
  auto [o, i] = s[C].split(s[C].axis(0), 4);
  s[B].compute_at(s[C], o);
  expect_exact(watch(s, {A, C}, "B"), 8);
}

TEST(ScheduleOpsRegions, OfReversedReads) {
  Tensor A = placeholder({32}, "A"), B = plus_one(A, "B");
  Tensor C = compute(
      {32}, {"i"}, [&](Var i) { return B(31 - i); }, "C");
  Schedule s = create_schedule(C);
  auto [o, i] = s[C].split(s[C].axis(0), 4);
  s[B].compute_at(s[C], o);
  expect_exact(watch(s, {A, C}, "B"), 8);
}

TEST(ScheduleOpsRegions, OfATransposedReaderInTwoLevels) {
  Tensor A = placeholder({16, 12}, "A");
  Tensor B = compute(
      {16, 12}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  Tensor C = compute(
      {12, 16}, {"i", "j"}, [&](Var i, Var j) { return B(j, i) * 2.0f; }, "C");
  Schedule s = create_schedule(C);
  auto [io, jo, ii, ji] = s[C].tile(s[C].axis(0), s[C].axis(1), 4, 8);
  s[B].compute_at(s[C], jo);
  expect_exact(watch(s, {A, C}, "B"), 6);
}

TEST(ScheduleOpsRegions, OfAWindowInsideTheReduction) {
  PaddedWindow w;
  Schedule s = create_schedule(w.B);
  s[w.P].compute_at(s[w.B], s[w.B].reduce_axis(0));
  expect_exact(watch(s, {w.A, w.B}, "P"), 7 * 9 * 3);
}

TEST(ScheduleOpsRegions, OfRowsUnderAFusedAxis) {
  Tensor A = placeholder({12, 6}, "A");
  Tensor B = compute(
      {12, 6}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  Tensor C = compute(
      {12, 6}, {"i", "j"}, [&](Var i, Var j) { return B(i, j) * 2.0f; }, "C");
  for (auto [factor, times] : {std::pair<int, std::size_t>{12, 6}, {6, 12}, {3, 24}, {2, 36}}) {
    Schedule s = create_schedule(C);
    auto [o, i] = s[C].split(s[C].fuse(s[C].axis(0), s[C].axis(1)), factor);
    s[B].compute_at(s[C], o);
    expect_exact(watch(s, {A, C}, "B"), times);
  }
}

}  // namespace
}  // namespace tenon::te

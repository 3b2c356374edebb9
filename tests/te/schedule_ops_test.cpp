// Loop programs: where things stand.
#include "tenon/te/schedule_ops.h"

#include <gtest/gtest.h>

#include "tenon/te/freeze.h"
#include "tenon/te/reduce.h"
#include "tenon/tir/print.h"
#include "tests/common/occurrences.h"
#include "tests/common/run_schedule.h"

namespace tenon::te {
namespace {

using tenon::testing::count_of;
using testing::run;

std::string text(const Schedule& s) { return tir::print_stmt(schedule_ops(s, infer_bound(s))); }

Tensor plus_one(const Tensor& x, const std::string& name) {
  return compute(
      x.shape(), {"i"}, [&](Var i) { return x(i) + 1.0f; }, name);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// ---- bounds of something else -------------------------------------------------------------------

std::string refusal(const Schedule& s, const Bounds& bounds) {
  try {
    schedule_ops(s, bounds);
    return "";
  } catch (const ScheduleError& error) {
    EXPECT_TRUE(error.where() && contains(error.what(), "schedule_ops_test.cpp")) << error.what();
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

TEST(ScheduleOps, ARefusedPrimitiveDoesNotOutdateBounds) {
  Tensor A = placeholder({16}, "A"), B = plus_one(A, "B");
  Schedule s = create_schedule(B);
  const Bounds bounds = infer_bound(s);
  EXPECT_THROW(s[B].set_scope("shared"), ScheduleError);
  EXPECT_THROW(s[B].compute_inline(), ScheduleError);
  EXPECT_EQ(refusal(s, bounds), "");
}

TEST(ScheduleOps, PrimitivesOfWholeSchedulesOutdateBounds) {
  Tensor A = placeholder({16}, "A"), B = plus_one(A, "B"), C = plus_one(B, "C");
  const std::vector<std::function<void(Schedule&)>> primitives = {
      [&](Schedule& s) { s[B].compute_root(); }, [&](Schedule& s) { s.create_group({B}, {A}); },
      [&](Schedule& s) { s.cache_read(A, "local", {}); },
      [&](Schedule& s) { s.cache_write(C, "local"); }};
  for (const auto& primitive : primitives) {
    Schedule s = create_schedule(C);
    const Bounds bounds = infer_bound(s);
    primitive(s);
    EXPECT_NE(refusal(s, bounds), "");
  }
}

TEST(ScheduleOps, BoundsOfACopyAreRefused) {
  Tensor A = placeholder({16}, "A"), B = plus_one(A, "B");
  Schedule s = create_schedule(B);
  EXPECT_TRUE(contains(refusal(s, infer_bound(s.copy())), "another schedule"));
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
  EXPECT_EQ(count_of(t, "i.outer: int32, 0, 2"), 1u);
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
  EXPECT_EQ(count_of(text(s), "likely"), 1u);
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
  EXPECT_EQ(count_of(t, "\"threadIdx.x\")] \"thread_extent\""), 2u);  // one of B, and one of C
  EXPECT_EQ(count_of(t, "\"blockIdx.x\")] \"thread_extent\""), 1u);
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

/// The contents of B, 12 elements that begin as NaN, and how many of them are NaN still.
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

/// Three groups of five threads for 12 sums.
struct SumsOfThreadsTest : StoredSumsTest {
  SumsOfThreadsTest() {
    auto [o, i] = s[B].split(s[B].axis(0), 5);
    s[B].bind(o, thread_axis("blockIdx.x")).bind(i, thread_axis("threadIdx.y"));
    s[B].bind(k, thread_axis("threadIdx.x"));
  }
  /// Whether the store has a guard; guards of a thread's own part are not marked.
  bool has_guard() const { return contains(text(s), "likely("); }
};

TEST_F(SumsOfThreadsTest, GuardsThatTheStorePredicateCoversGo) {
  EXPECT_TRUE(has_guard());
  s[B].set_store_predicate(s[B].axis(0) < 8);
  EXPECT_FALSE(has_guard());
  const Stored result = stored();
  EXPECT_EQ(result.untouched(), 4);
  for (std::size_t n = 0; n < 8; ++n) EXPECT_EQ(result.values[n], whole()[n]);
}

TEST_F(SumsOfThreadsTest, GuardsThatTheStorePredicateDoesNotCoverStay) {
  s[B].set_store_predicate(s[B].axis(0) >= 8);
  EXPECT_TRUE(has_guard());
  EXPECT_EQ(stored().untouched(), 8);
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

}  // namespace
}  // namespace tenon::te

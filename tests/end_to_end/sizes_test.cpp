// Sizes of loops and of memory: large ones, and ones that a program computes.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "tenon/driver/build.h"
#include "tenon/driver/lower.h"
#include "tenon/runtime/threads.h"
#include "tenon/te/reduce.h"
#include "tenon/tir/builder.h"
#include "tenon/tir/expr.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

// ---- the limits of int32 ------------------------------------------------------------------------

// Loops and arrays at the limits of int32, compiled and run: nothing wraps.

using te::IterVar;
using te::Tensor;
using tir::Expr;
using tir::Stmt;
using tir::Var;

/// sum(k for k < n), which the loops go through one by one in whatever way they are split.
std::int64_t sum_below(const te::Schedule& s, const Tensor& C) {
  runtime::Module module = build(s, {C}, Target("llvm"), {.name = "f"});
  auto c = runtime::NDArray::zeros({1}, Int(64), cpu(0));
  module["f"](c);
  return c.data<std::int64_t>()[0];
}

struct SumBelow {
  explicit SumBelow(std::int64_t n)
      : k(te::reduce_axis({0, static_cast<int>(n)}, "k")),
        C(te::compute(
            {1}, {"i"}, [&](Var) { return te::sum(k.var().astype(Int(64)), {k}); }, "C")),
        s(te::create_schedule(C)) {}
  IterVar k;
  Tensor C;
  te::Schedule s;
};

TEST(WideExtentsTest, ALoopOfTheGreatestInt32SplitWithARest) {
  SumBelow sum(2147483647);
  sum.s[sum.C].split(sum.k, 1000);
  EXPECT_EQ(sum_below(sum.s, sum.C), 2147483647LL * 2147483646 / 2);
}

TEST(WideExtentsTest, ALoopOfTheGreatestInt32SplitIntoParts) {
  SumBelow sum(2147483647);
  sum.s[sum.C].split_by_nparts(sum.k, 1000);
  EXPECT_EQ(sum_below(sum.s, sum.C), 2147483647LL * 2147483646 / 2);
}

TEST(WideExtentsTest, FusedReductionsOfMoreIterationsThanInt32) {
  const IterVar r = te::reduce_axis({0, 65536}, "r"), q = te::reduce_axis({0, 65536}, "q");
  Tensor A = te::placeholder({3}, "A", Int(64));
  Tensor C = te::compute(
      {3}, {"i"},
      [&](Var i) {
        return te::sum(A(i), {r, q});
      },
      "C");
  te::Schedule s = te::create_schedule(C);
  s[C].fuse({r, q});
  runtime::Module module = build(s, {A, C}, Target("llvm"), {.name = "f"});
  const std::vector<std::int64_t> in = {1, -7, 65537};
  auto a = runtime::NDArray::from(std::span<const std::int64_t>(in), {3});
  auto c = runtime::NDArray::zeros({3}, Int(64), cpu(0));
  module["f"](a, c);
  for (std::size_t n = 0; n < in.size(); ++n)
    EXPECT_EQ(c.data<std::int64_t>()[n], in[n] * 4294967296LL);
}

TEST(WideExtentsTest, FusedAxesOfAnOutputOfMoreElementsThanInt32) {
  // Text alone: the array has 4 GiB.
  Tensor B = te::compute(
      {65536, 65536}, {"i", "j"},
      [&](Var i, Var j) { return (tir::floormod(i, 64) + j).astype(Int(8)); }, "B");
  te::Schedule s = te::create_schedule(B);
  s[B].fuse(s[B].axis(0), s[B].axis(1));
  std::ostringstream text;
  text << lower(s, {B}, {.simple_mode = true});
  EXPECT_NE(text.str().find("for (i.j.fused: int64, 0i64, 4294967296i64) {"), std::string::npos)
      << text.str();
}

TEST(WideExtentsTest, FusedReductionsOfSymbolicExtents) {
  Var n = te::var("n"), m = te::var("m");
  const IterVar r = te::reduce_axis({0, n}, "r"), q = te::reduce_axis({0, m}, "q");
  Tensor A = te::placeholder({1}, "A", Int(64));
  Tensor C = te::compute(
      {1}, {"i"},
      [&](Var i) {
        return te::sum(A(i), {r, q});
      },
      "C");
  te::Schedule s = te::create_schedule(C);
  s[C].fuse({r, q});
  runtime::Module module = build(s, {A, C, n, m}, Target("llvm"), {.name = "f"});
  const std::vector<std::int64_t> in = {-7};
  auto a = runtime::NDArray::from(std::span<const std::int64_t>(in), {1});
  auto c = runtime::NDArray::zeros({1}, Int(64), cpu(0));
  module["f"](a, c, 65536, 65537);
  EXPECT_EQ(c.data<std::int64_t>()[0], -7 * 65536LL * 65537);
}

TEST(WideExtentsTest, GuardsInValuesOfEverySchedule) {
  Var n = te::size_var("n"), m = te::size_var("m");
  Tensor C = te::compute(
      {16}, {"i"},
      [&](Var i) {
        const Expr is_before = i * m + i < n * m;
        return tir::select(is_before, 1, 0) + tir::if_then_else(!is_before, 0, 2);
      },
      "C");
  for (const Target& target : {Target("llvm"), Target("c")})
    for (const bool is_vector : {false, true}) {
      te::Schedule s = te::create_schedule(C);
      if (is_vector) s[C].vectorize(s[C].split(s[C].axis(0), 8).inner);
      runtime::Module module = build(s, {C, n, m}, target, {.name = "f"});
      auto c = runtime::NDArray::zeros({16}, Int(32), cpu(0));
      module["f"](c, 50000, 50000);
      const std::int32_t* values = c.data<std::int32_t>();
      EXPECT_EQ(std::count(values, values + 16, 3), 16) << target.str() << is_vector;
    }
}

// The row of A is data, so the index is data times a size.
TEST(WideExtentsTest, InstrumentedRowsThatDataChooses) {
  Var n = te::size_var("n"), m = te::size_var("m");
  Tensor A = te::placeholder({n, m}, "A", Int(8)), I = te::placeholder({1}, "I", Int(32));
  Tensor C = te::compute(
      {1}, {"i"}, [&](Var i) { return A(I(i), m - 1); }, "C");
  runtime::Module module = build(te::create_schedule(C), {A, I, C}, Target("llvm"),
                                 {.name = "f", .instrument_bounds = true});
  // The untouched pages of the array take no memory.
  auto a = runtime::NDArray::empty({65537, 65536}, Int(8), cpu(0));
  a.data<std::int8_t>()[65537LL * 65536 - 1] = 42;
  auto row = runtime::NDArray::from(std::span<const std::int32_t>(std::array{65536}), {1});
  auto c = runtime::NDArray::zeros({1}, Int(8), cpu(0));
  module["f"](a, row, c);
  EXPECT_EQ(c.data<std::int8_t>()[0], 42);
}

/// C[0] is what was stored at the end of memory of n * n * n bytes.
runtime::Module last_of_cube(int factors) {
  Var n = te::var("n");
  Tensor C =
      te::extern_op({1}, {},
                    [&](std::span<const tir::Buffer>, std::span<const tir::Buffer> outs) -> Stmt {
                      tir::IRBuilder ib;
                      Expr size = n, last = n - 1;
                      for (int k = 1; k < factors; ++k) {
                        size = size * n;
                        last = last * n + (n - 1);
                      }
                      auto T = ib.allocate(Int(8), {size}, "T");
                      auto c = ib.buffer_ptr(outs[0]);
                      T[last] = tir::make_int(Int(8), 42);
                      c[Expr(0)] = Expr(T[last]);
                      return ib.get();
                    },
                    "C", {.dtype = Int(8)});
  te::Schedule s = te::create_schedule(C);
  return build(s, {C, n}, Target("llvm"), {.name = "f"});
}

TEST(WideExtentsTest, TemporariesOfSymbolicExtentsBeyondInt32) {
  // 46341 is the least whose square is beyond int32; of the memory two pages are touched.
  auto c = runtime::NDArray::zeros({1}, Int(8), cpu(0));
  last_of_cube(2)["f"](c, 46341);
  EXPECT_EQ(c.data<std::int8_t>()[0], 42);
}

TEST(WideExtentsTest, MoreMemoryThanInt64CountsIsAnError) {
  auto c = runtime::NDArray::zeros({1}, Int(8), cpu(0));
  // (2^22)^3 is 2^66.
  EXPECT_THROW(last_of_cube(3)["f"](c, 1 << 22), RuntimeError);
}

TEST(WideExtentsTest, SharesOfAPersistentRegionReachTheGreatestInt32) {
  // Marks one iteration of every 2^20; the last mark is of the last 2^20 - 1 iterations.
  for (const bool strided : {false, true}) {
    Tensor C =
        te::extern_op({2048}, {},
                      [&](std::span<const tir::Buffer>, std::span<const tir::Buffer> outs) -> Stmt {
                        tir::IRBuilder ib;
                        auto c = ib.buffer_ptr(outs[0]);
                        ib.scope_attr("parallel_launch_point", 1);
                        if (strided) ib.scope_attr("parallel_stride_pattern", 1);
                        ib.for_range(0, 2147483647, "i",
                                     [&](Var i) {
                                       ib.if_scope(tir::floormod(i, 1048576) == 5,
                                                   [&] { c[tir::floordiv(i, 1048576)] = Expr(1); });
                                     },
                                     {.kind = tir::ForKind::Parallel});
                        return ib.get();
                      },
                      "C", {.dtype = Int(32)});
    te::Schedule s = te::create_schedule(C);
    runtime::Module module = build(s, {C}, Target("llvm"), {.name = "f"});
    auto c = runtime::NDArray::zeros({2048}, Int(32), cpu(0));
    runtime::set_num_threads(strided ? 3 : 2);
    module["f"](c);
    runtime::set_num_threads(0);
    const auto marks = c.data<std::int32_t>();
    EXPECT_EQ(std::count(marks, marks + 2048, 1), 2048) << strided;
  }
}

TEST(WideExtentsTest, ASplitByAFactorNearTheLimitOfAnExtentThatVaries) {
  // The rows that an iteration of k needs: from the k / 2-th to the last.
  Tensor A = te::placeholder({4, 8}, "A", Int(32));
  IterVar k = te::reduce_axis({0, 2}, "k");
  Tensor B = te::compute(
      {8}, {"i"}, [&](Var i) { return te::sum(A(3, i) + A(tir::floordiv(k, 2), i), {k}); }, "B");
  te::Schedule s = te::create_schedule(B);
  Tensor C = s.cache_read(A, "local", {B});
  s[C].compute_at(s[B], s[B].reduce_axis(0)).split(s[C].axis(0), 2147483647);
  EXPECT_EQ(testing::compare_with_default(s, {A, B}, {}), "");
}

TEST(WideExtentsTest, AStageThatIsReadAtWiderIndicesIsInlined) {
  Tensor A = te::placeholder({2}, "A");
  Tensor B = te::compute(
      {16}, {"i"}, [&](Var i) { return A(tir::floordiv(i, 8)) + 1.0f; }, "B");
  Tensor C = te::compute(
      {tir::make_int(Int(64), 32)}, {"i"}, [&](Var i) { return B(tir::floormod(i, 16)) * 2.0f; },
      "C");
  te::Schedule s = te::create_schedule(C);
  s[B].compute_inline();
  EXPECT_EQ(testing::compare_with_default(s, {A, C}), "");
}

TEST(WideExtentsTest, AStageThatIsReadAtWiderIndicesKeepsItsAxisNarrow) {
  Tensor A = te::placeholder({2}, "A");
  Tensor B = te::compute(
      {16}, {"i"}, [&](Var i) { return A(tir::floordiv(i, 8)) + 1.0f; }, "B");
  const Expr first = tir::make_int(Int(64), 3);
  Tensor C = te::compute(
      {8}, {"i"}, [&](Var i) { return B(tir::cast(Int(64), i) + first) * 2.0f; }, "C");
  te::Schedule s = te::create_schedule(C);
  EXPECT_EQ(testing::compare_with_default(s, {A, C}), "");
}

TEST(WideExtentsTest, LoopsWiderThanTheirAxisAreFactored) {
  Tensor A = te::placeholder({40}, "A");
  IterVar k = te::reduce_axis({3, 32}, "k");
  Tensor B = te::compute(
      {2}, {"i"}, [&](Var i) { return te::sum(A(k + i + 3), {k}); }, "B");
  te::Schedule s = te::create_schedule(B);
  s.rfactor(B, s[B].split(k, 2147483647).outer);
  // The factored stage splits k in int64, and computes with it as an int32. (To run the guarded
  // 2^31 iterations would take seconds.)
  EXPECT_NO_THROW(lower(s, {A, B}));
}

TEST(WideExtentsTest, AGuardStaysWhereTheSumItGuardsMayReachBeyondInt32) {
  Tensor A = te::placeholder({8}, "A");
  Tensor B = te::compute(
      {8}, {"i"}, [&](Var i) { return A(i) + 3.0f; }, "B");
  te::Schedule s = te::create_schedule(B);
  auto [outer, inner] = s[B].split(s[B].axis(0), 2147483646);
  // Threads that are launched for every part: the loops go beyond the eight elements.
  auto [part, rest] = s[B].split_by_nparts(s[B].fuse(outer, inner), 4);
  s[B].bind(part, te::thread_axis("vthread"));
  std::ostringstream text;
  text << lower_to_loops(s, {A, B});
  EXPECT_NE(text.str().find(" < 8), dtype=bool)"), std::string::npos) << text.str();
}

/// Rows of the last seven of a stage of as many rows as int32 can count, made for what five
/// iterations of their reader need: two parts of five, of which the second goes past the end.
struct RowsNearTheLimit {
  RowsNearTheLimit() {
    expected[all].compute_inline();
    const auto [outer, inner] = s[B].split(s[B].axis(0), 5);
    s[B].reorder({inner, s[B].axis(1), outer});
    s[all].compute_at(s[B], inner);
  }
  Tensor A = te::placeholder({16, 13}, "A", Int(8));
  Tensor all = te::compute(
      {2147483647, 16}, {"i", "j"},
      [&](Var i, Var j) { return A(tir::floormod(i, 16), tir::floormod(j, 13)); }, "all");
  Tensor B = te::compute(
      {7, 3}, {"i", "j"}, [&](Var i, Var j) { return all(i + 2147483640, j); }, "B");
  te::Schedule expected = te::create_schedule(B), s = te::create_schedule(B);
};

TEST(WideExtentsTest, RowsThatArePastTheLimitAreNotMade) {
  RowsNearTheLimit rows;
  EXPECT_EQ(testing::compare_with(rows.expected, rows.s, {rows.A, rows.B}), "");
}

TEST(WideExtentsTest, RowsThatArePastTheLimitAreNotMadeByLoopsInParts) {
  RowsNearTheLimit rows;
  const te::Stage all = rows.s[rows.all];
  all.split(all.split(all.axis(0), 5).inner, 3);
  EXPECT_EQ(testing::compare_with(rows.expected, rows.s, {rows.A, rows.B}), "");
}

/// The iteration of a fused loop, plus the least number, minus that number.
TEST(WideExtentsTest, AReductionFromTheLeastInt32IsFused) {
  const Expr least = tir::make_int(Int(32), -2147483648), first = tir::make_int(Int(64), 1LL << 33);
  te::IterVar k =
      te::reduce_axis(tir::Range::from_min_extent(first, tir::make_int(Int(64), 2)), "k");
  te::IterVar l = te::reduce_axis(tir::Range::from_min_extent(least, 9), "l");
  Tensor A = te::placeholder({9, 3}, "A", Int(32));
  Tensor B = te::compute(
      {9}, {"i"},
      [&](Var i) {
        return te::sum(A(i, tir::floordiv(l - least, 4)), {k, l});
      },
      "B");
  te::Schedule s = te::create_schedule(B);
  s[B].fuse({s[B].axis(0), k, l});
  EXPECT_EQ(testing::compare_with_default(s, {A, B}), "");
}

TEST(WideExtentsTest, RowsThatArePastTheLimitAreNotMadeByLoopsOfAnyLength) {
  const Var n = te::size_var("n");
  const Tensor A = te::placeholder({11}, "A");
  const Tensor all = te::compute(
      {2147483647}, {"i"}, [&](Var i) { return A(tir::floormod(i, 11)); }, "all");
  const Tensor part = te::compute(
      {8}, {"i"}, [&](Var i) { return all(i + 2147483639); }, "part");
  const Tensor B = te::compute(
      {n}, {"i"}, [&](Var i) { return tir::if_then_else(i * 3 < 8, part(i * 3), 0.0f); }, "B");
  te::Schedule expected = te::create_schedule(B);
  expected[all].compute_inline();
  EXPECT_EQ(testing::compare_with(expected, te::create_schedule(B), {A, B, n}), "");
}

TEST(WideExtentsTest, RequirementsBeyondTheTypeAreClamped) {
  constexpr int kFirst = 2147483615, kEnd = 2147483647;
  const Tensor A = te::placeholder({33}, "A");
  const te::IterVar k = te::reduce_axis({kFirst, kEnd}, "k");
  const Tensor C = te::compute(
      {11}, {"i"}, [&](Var) { return te::sum(A(k - kFirst + 1) + A(min(k - kFirst, 2)), {k}); },
      "C");
  te::Schedule s = te::create_schedule(C);
  const te::IterVar outer = s[C].split(k, 6).outer;  // 36 iterations, for 32
  s[s.cache_read(A, "global", {C})].compute_at(s[C], outer);
  EXPECT_EQ(testing::compare_with_default(s, {A, C}, {.build = {.bounds = Bounds::Exact}}), "");
}

TEST(WideExtentsTest, WhatThreadsAskForBehindTheLastNumberOfTheTypeIsTheEnd) {
  constexpr int kFirst = 2147483634;
  const Tensor A = te::placeholder({16}, "A");
  const Tensor all = te::compute(
      {2147483647}, {"i"}, [&](Var i) { return A(max(min(i - kFirst, 15), 0)); }, "all");
  const Tensor B = te::compute(
      {tir::make_int(Int(64), 13)}, {"i"}, [&](Var i) { return all(cast(Int(32), i) + kFirst); },
      "B");
  te::Schedule expected = te::create_schedule(B), s = te::create_schedule(B);
  expected[all].compute_inline();
  const Tensor own = s.cache_write(all, "local");
  s[all].compute_at(s[B], s[B].axis(0));
  const auto bind = [&](const te::Stage& stage, int threads) {
    const auto [block, thread] = stage.split(stage.axis(0), threads);
    stage.bind(block, te::thread_axis("blockIdx.x")).bind(thread, te::thread_axis("threadIdx.x"));
    return block;
  };
  const te::IterVar block = bind(s[all], 13);
  s[own].compute_at(s[all], block);
  s[own].bind(s[own].split(s[own].axis(0), 16).inner, te::thread_axis("threadIdx.x"));
  EXPECT_EQ(testing::compare_with(expected, s, {A, B}, {.compile = false}), "");
}

// ---- rows as long as an iteration needs ---------------------------------------------------------

// Memory of two physical dimensions whose rows are as long as an iteration of a loop around needs,
// whatever that loop becomes.

TEST(IterationSizes, FollowALoopThatIsVectorized) {
  const te::Tensor A = te::placeholder({6, 4, 6}, "A", Int(32));
  const te::Tensor B = te::compute(
      {6, 4, 6}, {"i", "j", "l"}, [&](Var i, Var j, Var l) { return A(i, j, l) + 1; }, "B");
  const te::IterVar k = te::reduce_axis({0, 6}, "k");
  const te::Tensor C = te::compute(
      {},
      [&](std::span<const Var>) {
        return te::sum(B(k, floordiv(k, 3), 5 - k) * B(k, floormod(k, 2), floordiv(k, 4)), {k});
      },
      "C");
  const te::Schedule s = te::create_schedule(C);
  const te::Tensor parts = s.rfactor(C, s[C].split(k, 4).outer, 0);
  const te::IterVar part = s[parts].op().axis()[0];
  s[parts].vectorize(part);
  s[B].transform_layout([](Var i, Var j, Var l) -> std::vector<Expr> {
    return {i, te::axis_separator(), j, l};
  });
  s[B].compute_at(s[parts], part);
  EXPECT_EQ(compare_with_default(
                s, {A, C}, {.build = {.bounds = Bounds::Exact, .passes = {.disable_cse = true}}}),
            "");
}

TEST(IterationSizes, FollowALoopThatIsNarrowed) {
  const auto wide = [](std::int64_t value) { return tir::make_int(Int(64), value); };
  const te::Tensor A = te::placeholder({wide(17), wide(33)}, "A");
  const te::Tensor B = te::compute(
      {wide(17), wide(33)}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  const te::IterVar k = te::reduce_axis({0, 6}, "k");
  const te::Tensor C = te::compute(
      {wide(16)}, {"i"},
      [&](Var i) { return te::sum(B(i, i + wide(10)) * B(i + wide(1), k), {k}); }, "C");
  const te::Schedule s = te::create_schedule(C);
  s[B].transform_layout([](Var i, Var j) -> std::vector<Expr> {
    return {i, te::axis_separator(), j};
  });
  s[B].compute_at(s[C], k);
  EXPECT_EQ(compare_with_default(s, {A, C}), "");
}

TEST(IterationSizes, FollowALoopThatIsWidened) {
  const te::Var n = te::size_var("n");
  const te::Tensor A = te::placeholder({4}, "A");
  const te::Tensor B = te::compute(
      {7, 4, n * 2}, {"i", "j", "l"}, [&](Var, Var j, Var) { return A(j); }, "B");
  const te::Tensor C = te::compute(
      {6, n + 3}, {"i", "j"},
      [&](Var i, Var j) {
        return tir::if_then_else(j * 3 >= 1 && j * 3 - 1 < 7, B(j * 3 - 1, min(j, 3), 0), 0.0f) +
               B(floormod(j, 7), floormod(i, 4), floormod(j, n * 2));
      },
      "C");
  const te::Schedule s = te::create_schedule(C);
  s[B].transform_layout([](Var i, Var j, Var l) -> std::vector<Expr> {
    return {i, te::axis_separator(), j, l};
  });
  s[B].compute_at(s[C], s[C].axis(1));
  EXPECT_EQ(compare_with_default(s, {A, C, n}, {.build = {.instrument_bounds = true}}), "");
}

// ---- sizes above loops --------------------------------------------------------------------------

// Values that are hoisted above loops are computed even if these have no iteration.

// The memory of T1 and the number of blocks are known before the loop over i and k, which does not
// run where n is 0, and they are quotients by n.
TEST(SizesInFrontOfLoops, AreNotDividedByZeroWhereTheLoopDoesNotRun) {
  Var n = te::size_var("n");
  te::Tensor A = te::placeholder({3, n}, "A");
  const auto mirrored = [&](const te::Tensor& read, const char* name) {
    return te::compute(
        {3, n}, {"i", "j"}, [&](Var i, Var j) { return read(2 - i, j) * 3.0f + read(i, j); }, name);
  };
  te::Tensor T1 = mirrored(mirrored(A, "T0"), "T1"), T2 = mirrored(T1, "T2");
  te::IterVar k = te::reduce_axis({0, n}, "k");
  te::Tensor S = te::compute(
      {3}, {"i"}, [&](Var i) { return te::sum(T2(i, k), {k}); }, "S");
  for (const bool is_bound : {false, true}) {
    te::Schedule s = te::create_schedule(S);
    s[T2].compute_at(s[S], k);
    s[S].fuse(s[S].axis(0), k);
    if (is_bound) s[T1].bind(s[T1].axis(0), te::thread_axis("blockIdx.y"));
    s[T1].compute_at(s[T2], s[T2].axis(1));
    EXPECT_EQ(compare_with_default(s, {A, S}, {.compile = !is_bound, .symbols = {0, 1, 4}}), "")
        << is_bound;
  }
}

// ---- sizes of narrow types ----------------------------------------------------------------------

// Extents, ranges, indices and guards are computed in an index type, even if twice the size exceeds
// the size's own type.

class NarrowSizes : public ::testing::TestWithParam<DataType> {
 protected:
  /// A size of which the type holds the single, but not the double.
  const std::int64_t size =
      (std::int64_t{1} << (GetParam().bits - (GetParam().is_int() ? 1 : 0))) * 3 / 4;
  Var n = te::var("n", GetParam());
  Tensor A = te::placeholder({n}, "A", Int(32));

  /// Returns the elements of B if all elements of A are 1.
  std::vector<std::int32_t> values(const te::Schedule& s, const Tensor& B, std::int64_t count) {
    runtime::Module module = build(s, {A, B}, Target("llvm"), {.name = "f"});
    const std::vector<std::int32_t> ones(static_cast<std::size_t>(size), 1);
    auto a = runtime::NDArray::from(std::span<const std::int32_t>(ones), {size});
    auto b = runtime::NDArray::zeros({count}, Int(32), cpu(0));
    module["f"](a, b);
    return {b.data<std::int32_t>(), b.data<std::int32_t>() + count};
  }
  std::vector<std::int32_t> values(const Tensor& B, std::int64_t count) {
    return values(te::create_schedule(B), B, count);
  }
  static std::vector<std::int32_t> repeated(std::int32_t value, std::int64_t count) {
    return std::vector<std::int32_t>(static_cast<std::size_t>(count), value);
  }
};

TEST_P(NarrowSizes, DoNotWrapInTheExtentOfATemporary) {
  Tensor T = te::compute(
      {n * 2}, {"i"}, [&](Var i) { return A(tir::floordiv(i, 2)) + 1; }, "T");
  Tensor B = te::compute(
      {n}, {"i"}, [&](Var i) { return T(i * 2) + T(i * 2 + 1); }, "B");
  EXPECT_EQ(values(B, size), repeated(4, size));
}

TEST_P(NarrowSizes, DoNotWrapInTheExtentOfAnArgument) {
  Tensor B = te::compute(
      {n * 2}, {"i"}, [&](Var i) { return A(tir::floordiv(i, 2)) + 1; }, "B");
  EXPECT_EQ(values(B, size * 2), repeated(2, size * 2));
}

TEST_P(NarrowSizes, DoNotWrapInTheRangeOfAReduction) {
  IterVar k = te::reduce_axis({tir::make_const(GetParam(), 0), n * 2}, "k");
  Tensor B = te::compute(
      {1}, {"i"}, [&](Var) { return te::sum(A(tir::floordiv(k, 2)), {k}); }, "B");
  EXPECT_EQ(values(B, 1), repeated(static_cast<std::int32_t>(size * 2), 1));
}

TEST_P(NarrowSizes, DoNotWrapInAnIndex) {
  Tensor T = te::compute(
      {n * 2}, {"i"}, [&](Var i) { return tir::cast(Int(32), i); }, "T");
  Tensor B = te::compute(
      {1}, {"i"}, [&](Var) { return T(n * 2 - 1) + A(0); }, "B");
  EXPECT_EQ(values(B, 1), repeated(static_cast<std::int32_t>(size * 2), 1));
}

TEST_P(NarrowSizes, DoNotWrapInAGuard) {
  Tensor B = te::compute(
      {n}, {"i"}, [&](Var i) { return tir::if_then_else(i < n * 2, A(i), 0); }, "B");
  EXPECT_EQ(values(B, size), repeated(1, size));
}

TEST_P(NarrowSizes, DoNotWrapInTheConditionOfAReduction) {
  IterVar k = te::reduce_axis({0, n}, "k");
  Tensor B = te::compute(
      {1}, {"i"}, [&](Var) { return te::sum(A(k), {k}, {.where = k < n * 2}); }, "B");
  EXPECT_EQ(values(B, 1), repeated(static_cast<std::int32_t>(size), 1));
}

TEST_P(NarrowSizes, DoNotWrapInAFactor) {
  Tensor B = te::compute(
      {n}, {"i"}, [&](Var i) { return A(i) + 1; }, "B");
  te::Schedule s = te::create_schedule(B);
  s[B].split(s[B].axis(0), n * 2);
  EXPECT_EQ(values(s, B, size), repeated(2, size));
}

TEST_P(NarrowSizes, DoNotWrapInAStorePredicate) {
  Tensor B = te::compute(
      {n}, {"i"}, [&](Var i) { return A(i) + 1; }, "B");
  te::Schedule s = te::create_schedule(B);
  s[B].set_store_predicate(s[B].axis(0) < n * 2);
  EXPECT_EQ(values(s, B, size), repeated(2, size));
}

TEST_P(NarrowSizes, DoNotWrapInLoopsOfAnExtern) {
  Tensor B = te::extern_op(
      {n}, {A},
      [&](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) {
        tir::IRBuilder ir;
        const tir::BufferRef a = ir.buffer_ptr(ins[0]), b = ir.buffer_ptr(outs[0]);
        const tir::BufferRef twice = ir.allocate(Int(32), {n * 2}, "twice");
        ir.for_range(0, n * 2, "i", [&](Var i) { twice[i] = a[tir::floordiv(i, 2)]; });
        ir.for_range(0, n, "i", [&](Var i) { b[i] = twice[n * 2 - 1 - i]; });
        return ir.get();
      },
      "B");
  EXPECT_EQ(values(B, size), repeated(1, size));
}

INSTANTIATE_TEST_SUITE_P(OfAllTypes, NarrowSizes,
                         ::testing::Values(Int(8), UInt(8), Int(16), UInt(16)),
                         [](const auto& info) { return info.param.str(); });

}  // namespace
}  // namespace tenon::testing

// Programs that broke compilers of this kind.
#include <gtest/gtest.h>

#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

// ---- bounds, attachment, guards -------------------------------------------------------------------------

TEST(RegressionTest, TheInitOfAnAttachedReductionStaysInside) {
  te::Tensor A = te::placeholder({101, 101}, "A");
  te::IterVar k = te::reduce_axis({0, 101}, "k");
  te::Tensor B = te::compute(
      {101}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}); }, "B");
  te::Tensor C = te::compute(
      {101}, {"i"}, [&](Var i) { return B(i) + 0.0f; }, "C");
  // B's own memory, and memory of the caller's.
  for (bool is_argument : {false, true}) {
    te::Schedule s =
        is_argument ? te::create_schedule(std::vector<te::Tensor>{B, C}) : te::create_schedule(C);
    const auto [outer, inner] = s[C].split(s[C].axis(0), 100);
    if (!is_argument) s[B].compute_at(s[C], inner);
    if (is_argument) s[B].split(s[B].axis(0), 100);
    std::vector<LowerArgument> args = {A};
    if (is_argument) args.emplace_back(B);
    args.emplace_back(C);
    EXPECT_EQ(compare_with_default(s, args), "") << is_argument;
  }
}

TEST(RegressionTest, AnAxisThatStartsAboveZeroSplitUnevenly) {
  Var m = te::size_var("m");
  te::Tensor X = te::placeholder({m, 4}, "X"), state = te::placeholder({m, 4}, "state");
  te::Tensor init = te::compute(
      {1, 4}, {"t", "i"}, [&](Var, Var i) { return X(0, i); }, "init");
  te::Tensor update = te::compute(
      {m, 4}, {"t", "i"}, [&](Var t, Var i) { return state(t - 1, i) + X(t, i); }, "update");
  te::Tensor S = te::scan(init, update, state, {X}, "S");
  te::Schedule s = te::create_schedule(S);
  s[S].split(s[S].scan_axis(), 4);
  EXPECT_EQ(compare_with_default(s, {X, S}, {.symbols = {1, 2, 6, 9}}), "");
}

TEST(RegressionTest, SegmentSumsWithLengthsFromATensor) {
  te::Tensor L = te::placeholder({6}, "L", Int(32)), A = te::placeholder({6, 9}, "A");
  for (int cached = 0; cached < 3; ++cached) {
    std::optional<te::IterVar> k;
    te::Tensor B = te::compute(
        {6}, {"n"},
        [&](Var n) {
          k = te::reduce_axis({0, max(min(L(n), 9), 0)}, "k");
          return te::sum(A(n, *k), {*k});
        },
        "B");
    te::Schedule s = te::create_schedule(B);
    if (cached == 1) s.cache_write(B, "local");
    if (cached == 2) s.cache_read(A, "local", {B.op()});
    EXPECT_EQ(compare_with_default(s, {L, A, B}), "") << cached;
  }
}

TEST(RegressionTest, DependenceThroughAConditionAnIndexAndAnInit) {
  te::Tensor A = te::placeholder({8}, "A", Int(32));
  te::Tensor P = te::compute(
      {8}, {"i"}, [&](Var i) { return A(i) > 0; }, "P");
  te::Tensor I = te::compute(
      {8}, {"i"}, [&](Var i) { return Expr(7) - i; }, "I");
  te::Tensor Z = te::compute(
      {8}, {"i"}, [&](Var i) { return A(i) * 2; }, "Z");
  te::IterVar k = te::reduce_axis({0, 8}, "k");
  te::Tensor B = te::compute(
      {8}, {"i"}, [&](Var i) { return te::sum(A(I(k)), {k}, {.where = P(k), .init = {Z(i)}}); }, "B");
  te::Schedule s = te::create_schedule(B);
  EXPECT_EQ(s.stages().size(), 5u);
  s[B].split(k, 3);
  s[P].compute_at(s[B], s[B].leaf_iter_vars()[1]);
  EXPECT_EQ(compare_with_default(s, {A, B}), "");
}

TEST(RegressionTest, ALongFusedAxisDoesNotRecomputeItsProducers) {
  te::Tensor A = te::placeholder({6, 300}, "A");
  te::Tensor B = te::compute(
      {6, 300}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  te::Tensor C = te::compute(
      {6, 300}, {"i", "j"}, [&](Var i, Var j) { return B(i, j) * 2.0f; }, "C");
  te::Schedule s = te::create_schedule(C);
  const auto [outer, inner] = s[C].split(s[C].fuse(s[C].axis(0), s[C].axis(1)), 50);
  s[B].compute_at(s[C], outer);
  EXPECT_EQ(compare_with_default(s, {A, C}, {.compile = false}), "");
  // 50 divides the rows: each tile needs 50 elements of one row.
  const Arguments a = make_arguments({A, C});
  std::int64_t computed = 0;
  tir::EvaluateOptions options;
  options.on_access = [&](const tir::Access& access) {
    computed += access.is_write && access.buffer->name == "B";
  };
  tir::evaluate(lower(s, {A, C}).functions.at("main"), a.values, options);
  EXPECT_EQ(computed, 6 * 300);
}

TEST(RegressionTest, AShortAxisSplitByMoreThanItsExtent) {
  te::Tensor A = te::placeholder({2, 8}, "A");
  te::Tensor B = te::compute(
      {2, 8}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  te::Tensor C = te::compute(
      {2, 8}, {"i", "j"}, [&](Var i, Var j) { return B(i, j) + 1.0f; }, "C");
  te::Schedule s = te::create_schedule(C);
  s[C].split(s[C].axis(0), 4);
  const auto [outer, inner] = s[C].split(s[C].axis(1), 32);
  s[B].compute_at(s[C], outer);
  std::ostringstream text;
  text << lower(s, {A, C}, {.simple_mode = true});
  EXPECT_EQ(text.str().find("likely"), std::string::npos) << text.str();
  EXPECT_EQ(compare_with_default(s, {A, C}), "");
}

TEST(RegressionTest, TwoOutputsCachedWithAnInlinedProducer) {
  te::Tensor A = te::placeholder({10}, "A");
  te::Tensor P = te::compute(
      {10}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "P");
  std::vector<te::Tensor> T = te::compute_multi(
      {10}, {"i"},
      [&](Var i) {
        return std::vector<Expr>{P(i) * 2.0f, P(i) - A(i)};
      },
      "T");
  te::Schedule s = te::create_schedule(T);
  std::vector<te::Tensor> cached = s.cache_write(T, "local");
  s[P].compute_inline();
  const auto [outer, inner] = s[T[0]].split(s[T[0]].axis(0), 4);
  s[cached[0]].compute_at(s[T[0]], outer);
  EXPECT_EQ(compare_with_default(s, {A, T[0], T[1]}), "");
}

TEST(RegressionTest, APlaceholderReadByFourStagesAndCached) {
  te::Tensor A = te::placeholder({12}, "A");
  te::Tensor T = A;
  std::vector<te::Operation> readers;
  for (int n = 0; n < 4; ++n) {
    T = te::compute(
        {12}, {"i"}, [&](Var i) { return T(i) + A(i); }, "T" + std::to_string(n));
    readers.push_back(T.op());
  }
  te::Schedule s = te::create_schedule(T);
  te::Tensor first = s.cache_read(A, "local", {readers[0], readers[2]});
  te::Tensor second = s.cache_read(A, "local", {readers[3]});
  const auto [outer, inner] = s[T].split(s[T].axis(0), 5);
  s[second].compute_at(s[T], outer);
  EXPECT_EQ(compare_with_default(s, {A, T}), "");
}

// ---- loops and lanes ----------------------------------------------------------------------------------

TEST(RegressionTest, LanesWhoseRemaindersWrapAround) {
  te::Tensor A = te::placeholder({20}, "A", Int(32));
  te::Tensor B = te::compute(
      {10, 8}, {"t", "j"},
      [&](Var t, Var j) { return A(floormod(t * 50 + j * 8 + 3, 20)) + floordiv(j + 5, 3); }, "B");
  te::Schedule s = te::create_schedule(B);
  s[B].vectorize(s[B].axis(1));
  EXPECT_EQ(compare_with_default(s, {A, B}), "");
}

TEST(RegressionTest, VectorizedStoresWithAndWithoutAGuard) {
  for (int size : {32, 30}) {
    te::Tensor A = te::placeholder({64}, "A", Int(32));
    te::Tensor B = te::compute(
        {size}, {"i"}, [&](Var i) { return A(i * 2) + if_then_else(i > 3, A(i), 1); }, "B");
    te::Schedule s = te::create_schedule(B);
    s[B].vectorize(s[B].split(s[B].axis(0), 8).inner);
    EXPECT_EQ(compare_with_default(s, {A, B}), "") << size;
  }
}

TEST(RegressionTest, NarrowVectorsAtOddOffsets) {
  te::Tensor A = te::placeholder({7, 3}, "A", Float(16));
  te::Tensor B = te::compute(
      {7, 2}, {"i", "j"}, [&](Var i, Var j) { return A(i, j + 1); }, "B");
  te::Schedule s = te::create_schedule(B);
  s[B].vectorize(s[B].axis(1));
  EXPECT_EQ(compare_with_default(s, {A, B}), "");
}

TEST(RegressionTest, IndicesOfMixedWidths) {
  Var n = te::var("n", Int(64));
  te::Tensor A = te::placeholder({n, 8}, "A");
  te::Tensor B = te::compute(
      {n, 8}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + cast(Float(32), j); }, "B");
  te::Schedule s = te::create_schedule(B);
  s[B].vectorize(s[B].split(s[B].fuse(s[B].axis(0), s[B].axis(1)), 16).inner);
  EXPECT_EQ(compare_with_default(s, {A, B}, {.symbols = {1, 3}}), "");
}

// ---- memory ---------------------------------------------------------------------------------------------

TEST(RegressionTest, ReusedMemoryGrowsToItsLargestTenant) {
  te::Tensor A = te::placeholder({400}, "A", Int(16));
  te::Tensor T = A;
  for (int size : {200, 400, 100, 400}) {
    te::Tensor from = T;
    const int available = from.shape()[0].as<tir::IntImm>()->value;
    T = te::compute(
        {size}, {"i"}, [&](Var i) { return from(floormod(i, available)) + 1; }, "T" + std::to_string(size));
  }
  EXPECT_EQ(compare_with_default(te::create_schedule(T), {A, T}), "");
}

TEST(RegressionTest, VectorsShareMemoryWithoutOverlap) {
  te::Tensor A = te::placeholder({16}, "A");
  te::Tensor T = A;
  for (int n = 0; n < 5; ++n) {
    te::Tensor from = T;
    T = te::compute(
        {16}, {"i"}, [&](Var i) { return from(Expr(15) - i) + A(i); }, "T" + std::to_string(n));
  }
  te::Schedule s = te::create_schedule(T);
  for (const te::Stage& stage : s.stages())
    if (!stage.op().as<te::Placeholder>()) stage.vectorize(stage.axis(0));
  EXPECT_EQ(compare_with_default(s, {A, T}), "");
}

TEST(RegressionTest, ABufferReadTwiceByOneConsumerIsNotReusedTooEarly) {
  te::Tensor A = te::placeholder({32}, "A", Int(32));
  te::Tensor B = te::compute(
      {32}, {"i"}, [&](Var i) { return A(i) + 1; }, "B");
  te::Tensor C = te::compute(
      {32}, {"i"}, [&](Var i) { return B(i) * 2; }, "C");
  te::Tensor D = te::compute(
      {32}, {"i"}, [&](Var i) { return C(i) + B(Expr(31) - i); }, "D");
  te::Tensor E = te::compute(
      {32}, {"i"}, [&](Var i) { return D(i) + C(Expr(31) - i); }, "E");
  EXPECT_EQ(compare_with_default(te::create_schedule(E), {A, E}), "");
}

// ---- parallel loops ---------------------------------------------------------------------------------------

TEST(RegressionTest, ParallelLoopsInParallelLoopsWithTemporaries) {
  te::Tensor A = te::placeholder({6, 7, 40}, "A");
  te::Tensor B = te::compute(
      {6, 7, 40}, {"i", "j", "k"}, [&](Var i, Var j, Var k) { return A(i, j, k) + 1.0f; }, "B");
  te::Tensor C = te::compute(
      {6, 7, 40}, {"i", "j", "k"}, [&](Var i, Var j, Var k) { return B(i, j, Expr(39) - k) * 2.0f; }, "C");
  te::Schedule s = te::create_schedule(C);
  s[C].parallel(s[C].axis(0)).parallel(s[C].axis(1));
  s[B].compute_at(s[C], s[C].axis(1));
  EXPECT_EQ(compare_with_default(s, {A, C}), "");
}

}  // namespace
}  // namespace tenon::testing

// Operations without reductions: types, mathematics, conditions, strange indices; scheduled, run
// every way.
#include <gtest/gtest.h>

#include "tenon/tir/expr.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

/// Split by 4 with the inner loop vectorized, the outer one parallel.
void vectorize_and_parallelize(const te::Schedule& s, const te::Tensor& t) {
  const auto [outer, inner] = s[t].split(s[t].axis(0), 4);
  s[t].vectorize(inner).parallel(outer);
}

TEST(ElementwiseTest, SymbolicSizes) {
  Var n = te::size_var("n");
  te::Tensor A = te::placeholder({n}, "A"), B = te::placeholder({n}, "B"),
             C = te::placeholder({n}, "C");
  te::Tensor T = te::compute(
      {n}, {"i"}, [&](Var i) { return A(i) + B(i); }, "T");
  te::Tensor D = te::compute(
      {n}, {"i"}, [&](Var i) { return T(i) + C(i); }, "D");
  const WaysToRun sizes = {.symbols = {1, 2, 8, 9, 31, 64}};
  EXPECT_EQ(compare_with_default(te::create_schedule(D), {A, B, C, D}, sizes), "");
  te::Schedule s = te::create_schedule(D);
  vectorize_and_parallelize(s, D);
  s[T].compute_at(s[D], s[D].leaf_iter_vars()[0]);
  EXPECT_EQ(compare_with_default(s, {A, B, C, D}, sizes), "");
}

TEST(ElementwiseTest, ShapesThatDependOnAScalar) {
  Var m = te::var("m"), x = te::var("x");
  te::Tensor A = te::placeholder({m, m}, "A");
  te::Tensor B = te::compute(
      {m, floordiv(m, x) + 1}, {"i", "j"}, [&](Var i, Var j) { return A(i, floormod(j, m)); }, "B");
  te::Schedule s = te::create_schedule(B);
  EXPECT_EQ(compare_with_default(s, {x, A, B}, {.symbols = {1, 5}}), "");
}

TEST(ElementwiseTest, CachesOnBothSides) {
  for (DataType type : {Float(32), Float(64), Int(32), Int(8)}) {
    te::Tensor A = te::placeholder({50}, "A", type);
    te::Tensor B = te::compute(
        {50}, {"i"}, [&](Var i) { return A(i) * A(i) + A(i); }, "B");
    te::Schedule s = te::create_schedule(B);
    te::Tensor AL = s.cache_read(A, "local", {B.op()});
    te::Tensor BL = s.cache_write(B, "local");
    const auto [outer, inner] = s[B].split(s[B].axis(0), 8);
    s[B].parallel(outer).vectorize(inner);
    s[BL].compute_at(s[B], outer);
    s[AL].compute_at(s[B], outer);
    s[AL].vectorize(s[AL].axis(0));
    EXPECT_EQ(compare_with_default(s, {A, B}), "") << type.str();
  }
}

TEST(ElementwiseTest, MathematicsThroughSeveralCaches) {
  using Body = std::function<Expr(Expr)>;
  const std::vector<std::pair<DataType, Body>> functions = {
      {Float(32), [](Expr a) { return exp(a); }},
      {Float(64), [](Expr a) { return log(abs(a) + 1); }},
      {Float(32), [](Expr a) { return pow(abs(a) + 1, 2.5f); }},
      {Float(32), [](Expr a) { return fmod(a, 3.0f); }},
      {Float(16), [](Expr a) { return exp(a); }},
      {BFloat(16), [](Expr a) { return tanh(a); }},
      {Int(32), [](Expr a) { return popcount(a); }},
      {UInt(8), [](Expr a) { return popcount(a); }},
      {Int(64), [](Expr a) { return clz(a); }}};
  for (const auto& [type, body] : functions) {
    te::Tensor A = te::placeholder({67}, "A", type);
    te::Tensor B = te::compute(
        {67}, {"i"}, [&](Var i) { return body(A(i)); }, "B");
    te::Schedule s = te::create_schedule(B);
    te::Tensor near = s.cache_write(B, "local"), far = s.cache_write(near, "local");
    te::Tensor read = s.cache_read(A, "shared", {far.op()});
    const auto [outer, inner] = s[B].split(s[B].axis(0), 16);
    const auto [middle, lanes] = s[B].split(inner, 4);
    s[B].parallel(outer).vectorize(lanes);
    s[near].compute_at(s[B], middle);
    s[far].compute_at(s[B], outer);
    s[far].vectorize(s[far].split(s[far].axis(0), 8).inner);
    s[read].compute_at(s[B], outer);
    EXPECT_EQ(compare_with_default(s, {A, B}, {.tolerance = type.bits == 16 ? 1e-2 : 1e-5}), "")
        << type.str();
  }
}

TEST(ElementwiseTest, TemporariesOfSymbolicSizesIn64Bits) {
  Var n = te::size_var("n", Int(64));
  te::Tensor A = te::placeholder({n}, "A", Int(32));
  te::Tensor B = te::compute(
      {n}, {"i"}, [&](Var i) { return A(i) + 1; }, "B");
  te::Tensor C = te::compute(
      {n}, {"i"}, [&](Var i) { return B(n - 1 - i) * 2 + cast(Int(32), i); }, "C");
  const WaysToRun sizes = {.symbols = {0, 1, 9, 64}};
  te::Schedule s = te::create_schedule(C);
  EXPECT_EQ(compare_with_default(s, {A, C}, sizes), "");
  const auto [outer, inner] = s[C].split(s[C].axis(0), 8);
  s[C].parallel(outer);
  s[B].compute_at(s[C], outer);
  s[B].vectorize(s[B].split(s[B].axis(0), 4).inner);
  EXPECT_EQ(compare_with_default(s, {A, C}, sizes), "");
}

TEST(ElementwiseTest, DivisionsOfEveryKind) {
  for (bool is_constant : {true, false}) {
    te::Tensor A = te::placeholder({64}, "A", Int(32)), D = te::placeholder({64}, "D", Int(32));
    std::vector<te::Tensor> T = te::compute_multi(
        {64}, {"i"},
        [&](Var i) {
          const Expr a = A(i) * 3 + i - 40, d = is_constant ? Expr(-3) : D(i);
          return std::vector<Expr>{floordiv(a, d), floormod(a, d), truncdiv(a, d), truncmod(a, d)};
        },
        "T");
    te::Schedule s = te::create_schedule(T);
    vectorize_and_parallelize(s, T[0]);
    EXPECT_EQ(compare_with_default(s, {A, D, T[0], T[1], T[2], T[3]}), "") << is_constant;
  }
}

TEST(ElementwiseTest, DivisionsRoundAsTheirNamesSay) {
  te::Tensor A = te::placeholder({1}, "A", Int(32));
  te::Tensor B = te::compute(
      {4, 16}, {"kind", "i"},
      [&](Var kind, Var i) {
        const Expr a = i - 8;
        const Expr d = select(A(0) > 100, 7, 3);
        return if_then_else(kind == 0, floordiv(a, d),
                            if_then_else(kind == 1, floormod(a, d),
                                         if_then_else(kind == 2, truncdiv(a, d), truncmod(a, d))));
      },
      "B");
  const Arguments a = make_arguments({A, B});
  run_compiled(build(te::create_schedule(B), {A, B}, Target("llvm"), {.opt_level = 1})["main"], a);
  const int* out = reinterpret_cast<const int*>(a.arrays[1]->data());
  for (int i = 0; i < 16; ++i) {
    const int x = i - 8;
    const int floored = x >= 0 ? x / 3 : -((-x + 2) / 3);
    EXPECT_EQ(out[i], floored);
    EXPECT_EQ(out[16 + i], x - 3 * floored);
    EXPECT_EQ(out[32 + i], x / 3);
    EXPECT_EQ(out[48 + i], x % 3);
  }
}

TEST(ElementwiseTest, Mathematics) {
  for (DataType type : {Float(32), Float(64)}) {
    te::Tensor A = te::placeholder({24}, "A", type);
    std::vector<te::Tensor> T = te::compute_multi(
        {24}, {"i"},
        [&](Var i) {
          const Expr a = A(i), p = abs(A(i)) + 1;
          return std::vector<Expr>{exp(a),     tanh(a),     sigmoid(a),  log(p),   sqrt(p),
                                   pow(p, a),  floor(a),    ceil(a),     trunc(a), round(a),
                                   sin(a),     cos(a),      erf(a),      rsqrt(p), atan(a),
                                   fmod(a, p), atan2(a, p), nearbyint(a)};
        },
        "T");
    te::Schedule s = te::create_schedule(T);
    s[T[0]].vectorize(s[T[0]].split(s[T[0]].axis(0), 8).inner);
    std::vector<LowerArgument> args = {A};
    args.insert(args.end(), T.begin(), T.end());
    EXPECT_EQ(compare_with_default(s, args, {.tolerance = 1e-5}), "") << type.str();
  }
}

TEST(ElementwiseTest, BoolsAreStoredAsBytes) {
  te::Tensor A = te::placeholder({20}, "A"), B = te::placeholder({20}, "B");
  te::Tensor C = te::compute(
      {20}, {"i"}, [&](Var i) { return A(i) > B(i); }, "C");
  te::Tensor D = te::compute(
      {20}, {"i"}, [&](Var i) { return select(C(i), A(i), B(i)); }, "D");
  te::Schedule s = te::create_schedule({C.op(), D.op()});
  vectorize_and_parallelize(s, C);
  vectorize_and_parallelize(s, D);
  EXPECT_EQ(compare_with_default(s, {A, B, C, D}), "");
}

TEST(ElementwiseTest, RankZeroAtBothEndsAndBetween) {
  te::Tensor a = te::placeholder({}, "a");
  te::Tensor b = te::compute(
      {}, {}, [&] { return a() * 2.0f; }, "b");
  te::Tensor c = te::compute(
      {5}, {"i"}, [&](Var i) { return b() + i.astype(Float(32)); }, "c");
  te::Tensor d = te::compute(
      {}, {}, [&] { return c(3) + 1.0f; }, "d");
  te::Schedule s = te::create_schedule(d);
  EXPECT_EQ(compare_with_default(s, {a, d}), "");
  s[b].compute_inline();
  EXPECT_EQ(compare_with_default(s, {a, d}), "");
}

TEST(ElementwiseTest, HalfPrecision) {
  for (DataType type : {Float(16), BFloat(16)}) {
    te::Tensor A = te::placeholder({33}, "A", type), B = te::placeholder({33}, "B", type);
    te::Tensor C = te::compute(
        {33}, {"i"}, [&](Var i) { return A(i) + B(i) * A(i); }, "C");
    te::Schedule s = te::create_schedule(C);
    vectorize_and_parallelize(s, C);
    EXPECT_EQ(compare_with_default(s, {A, B, C}, {.tolerance = type.is_bfloat() ? 1e-2 : 1e-3}), "")
        << type.str();
  }
}

TEST(ElementwiseTest, HalfPrecisionAccumulatedInSingle) {
  te::Tensor A = te::placeholder({8, 40}, "A", Float(16));
  te::IterVar k = te::reduce_axis({0, 40}, "k");
  te::Tensor C = te::compute(
      {8}, {"i"}, [&](Var i) { return te::sum(cast(Float(32), A(i, k)), {k}); }, "C");
  te::Schedule s = te::create_schedule(C);
  s[C].reorder({k, s[C].axis(0)}).vectorize(s[C].axis(0));
  EXPECT_EQ(compare_with_default(s, {A, C}, {.tolerance = 0}), "");
}

TEST(ElementwiseTest, GuardedNeighbour) {
  te::Tensor A = te::placeholder({21}, "A");
  te::Tensor B = te::compute(
      {21}, {"i"}, [&](Var i) { return if_then_else(i >= 1, A(i - 1), 0.0f); }, "B");
  te::Schedule s = te::create_schedule(B);
  vectorize_and_parallelize(s, B);
  EXPECT_EQ(compare_with_default(s, {A, B}), "");
}

TEST(ElementwiseTest, SelectDoesNotReadWhatItDoesNotTake) {
  te::Tensor A = te::placeholder({21}, "A");
  te::Tensor B = te::compute(
      {21}, {"i"}, [&](Var i) { return select(i >= 1, A(i - 1), 0.0f); }, "B");
  te::Schedule s = te::create_schedule(B);
  s[B].split(s[B].axis(0), 8);
  const Arguments a = make_arguments({A, B});
  EXPECT_NO_THROW(tir::evaluate(lower(s, {A, B}).functions.at("main"), a.values));
  // The loops before any pass evaluate both sides; the other form of the choice is their truth.
  te::Tensor guarded = te::compute(
      {21}, {"i"}, [&](Var i) { return if_then_else(i >= 1, A(i - 1), 0.0f); }, "B");
  const Arguments expected = make_arguments({A, guarded});
  tir::evaluate(lower_to_loops(te::create_schedule(guarded), {A, guarded}), expected.values);
  EXPECT_EQ(first_difference(expected, a), "");
}

TEST(ElementwiseTest, Reversed) {
  te::Tensor A = te::placeholder({32}, "A");
  te::Tensor B = te::compute(
      {32}, {"i"}, [&](Var i) { return A(31 - i); }, "B");
  te::Schedule s = te::create_schedule(B);
  vectorize_and_parallelize(s, B);
  EXPECT_EQ(compare_with_default(s, {A, B}), "");
}

TEST(ElementwiseTest, VectorsAsElements) {
  te::Tensor A = te::placeholder({10}, "A", Float(32, 4));
  te::Tensor B = te::compute(
      {10}, {"i"}, [&](Var i) { return A(i) + A(i); }, "B");
  te::Schedule s = te::create_schedule(B);
  s[B].parallel(s[B].split_by_nparts(s[B].axis(0), 3).outer);
  EXPECT_EQ(compare_with_default(s, {A, B}), "");
}

TEST(ElementwiseTest, StorePredicateLeavesTheRestAlone) {
  te::Tensor A = te::placeholder({16}, "A", Int(32));
  te::Tensor B = te::compute(
      {16}, {"i"}, [&](Var i) { return A(i) + 1; }, "B");
  te::Schedule s = te::create_schedule(B);
  s[B].set_store_predicate(s[B].axis(0) < 8);
  const Arguments a = make_arguments({A, B});
  run_compiled(build(s, {A, B}, Target("llvm"), {.opt_level = 1})["main"], a);
  const int* in = reinterpret_cast<const int*>(a.arrays[0]->data());
  const int* out = reinterpret_cast<const int*>(a.arrays[1]->data());
  for (int i = 0; i < 16; ++i) EXPECT_EQ(out[i], i < 8 ? in[i] + 1 : -1);
}

TEST(ElementwiseTest, DataDependentIndices) {
  te::Tensor I = te::placeholder({12}, "I", Int(32)), A = te::placeholder({10}, "A");
  te::Tensor B = te::compute(
      {10}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  te::Tensor C = te::compute(
      {12}, {"i"}, [&](Var i) { return B(max(min(I(i), 9), 0)); }, "C");
  te::Schedule s = te::create_schedule(C);
  const auto [outer, inner] = s[C].split(s[C].axis(0), 5);
  s[B].compute_at(s[C], outer);
  EXPECT_EQ(compare_with_default(s, {I, A, C}), "");
}

}  // namespace
}  // namespace tenon::testing

// Reductions of every kind, scheduled, run every way.
#include <gtest/gtest.h>

#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

struct RowSumTest : ::testing::Test {
  te::Tensor A = te::placeholder({13, 37}, "A");
  te::IterVar k = te::reduce_axis({0, 37}, "k");
  te::Tensor B = te::compute(
      {13}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}); }, "B");
  te::Schedule s = te::create_schedule(B);
};

TEST_F(RowSumTest, Default) { EXPECT_EQ(compare_with_default(s, {A, B}), ""); }

TEST_F(RowSumTest, SplitReduction) {
  s[B].split(k, 16);
  EXPECT_EQ(compare_with_default(s, {A, B}), "");
}

TEST_F(RowSumTest, ParallelRows) {
  const auto [outer, inner] = s[B].split(s[B].axis(0), 4);
  s[B].parallel(outer);
  EXPECT_EQ(compare_with_default(s, {A, B}), "");
}

TEST_F(RowSumTest, ReductionOutermost) {
  s[B].reorder({k, s[B].axis(0)}).vectorize(s[B].axis(0));
  EXPECT_EQ(compare_with_default(s, {A, B}), "");
}

TEST_F(RowSumTest, DataAndReductionFused) {
  const te::IterVar fused = s[B].fuse(s[B].axis(0), k);
  s[B].split(fused, 8);
  EXPECT_EQ(compare_with_default(s, {A, B}), "");
}

// 1027 elements: no factor divides them.
struct TotalTest : ::testing::Test {
  te::Tensor A = te::placeholder({1027}, "A");
  te::IterVar k = te::reduce_axis({0, 1027}, "k");
  te::Tensor total(te::ReduceOptions options = {}) {
    return te::compute(
        {1}, {"i"}, [&](Var) { return te::sum(A(k), {k}, options); }, "B");
  }
};

TEST_F(TotalTest, FactoredAndParallel) {
  te::Tensor B = total();
  te::Schedule s = te::create_schedule(B);
  const auto [outer, inner] = s[B].split_by_nparts(k, 4);
  te::Tensor BF = s.rfactor(B, outer);
  s[BF].parallel(s[BF].axis(0));
  EXPECT_EQ(compare_with_default(s, {A, B}), "");
}

TEST_F(TotalTest, InitIsAppliedOnce) {
  te::Tensor B = total({.init = {10.0f}});
  te::Schedule s = te::create_schedule(B);
  const Arguments plain = make_arguments({A, B});
  tir::evaluate(lower_to_loops(s, {A, B}), plain.values);
  double sum = 10;
  for (int n = 0; n < 1027; ++n) sum += reinterpret_cast<const float*>(plain.arrays[0]->data())[n];
  EXPECT_EQ(reinterpret_cast<const float*>(plain.arrays[1]->data())[0], static_cast<float>(sum));

  const auto [outer, inner] = s[B].split_by_nparts(k, 4);
  te::Tensor BF = s.rfactor(B, outer);
  s[BF].parallel(s[BF].axis(0));
  EXPECT_EQ(compare_with_default(s, {A, B}), "");
}

struct MatmulInitTest : ::testing::Test {
  te::Tensor A = te::placeholder({9, 20}, "A"), C = te::placeholder({20, 11}, "C"),
             I = te::placeholder({9, 11}, "I");
  te::IterVar k = te::reduce_axis({0, 20}, "k");
  te::Tensor B = te::compute(
      {9, 11}, {"i", "j"},
      [&](Var i, Var j) { return te::sum(A(i, k) * C(k, j), {k}, {.init = {I(i, j)}}); }, "B");
  te::Schedule s = te::create_schedule(B);
};

TEST_F(MatmulInitTest, FromATensor) {
  s[B].tile(s[B].axis(0), s[B].axis(1), 4, 4);
  EXPECT_EQ(compare_with_default(s, {A, C, I, B}), "");
}

TEST_F(MatmulInitTest, FactoredAtTheEnd) {
  const auto [outer, inner] = s[B].split(k, 3);
  te::Tensor BF = s.rfactor(B, inner, 1);
  s[BF].parallel(s[BF].axis(0));
  EXPECT_EQ(compare_with_default(s, {A, C, I, B}), "");
}

TEST(RfactorTest, FactorsThatDoNotDivideOnceAndTwice) {
  for (int extent : {1, 2, 7, 16, 29}) {
    for (int factor : {1, 2, 3, 5, 17}) {
      te::Tensor A = te::placeholder({4, extent}, "A", Int(32));
      te::IterVar k = te::reduce_axis({0, extent}, "k");
      te::Tensor B = te::compute(
          {4}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}, {.where = k <= i * 7}); }, "B");
      te::Schedule s = te::create_schedule(B);
      const auto [ko, ki] = s[B].split(k, factor);
      te::Tensor BF = s.rfactor(B, ki);
      const auto [koo, koi] = s[BF].split(s[BF].reduce_axis(0), 2);
      s.rfactor(BF, koi, 1);
      EXPECT_EQ(compare_with_default(s, {A, B}, {.compile = false}), "")
          << extent << " by " << factor;
    }
  }
}

// ---- tuples -------------------------------------------------------------------------------------

te::Reducer argmax() {
  return te::comm_reducer(
      [](std::span<const Var> x, std::span<const Var> y) {
        const Expr first = x[1] > y[1] || (x[1] == y[1] && x[0] <= y[0]);
        return std::vector<Expr>{select(first, x[0], y[0]), select(first, x[1], y[1])};
      },
      [](std::span<const DataType> t) {
        return std::vector<Expr>{max_value(t[0]), min_value(t[1])};
      },
      "argmax");
}

struct ArgmaxTest : ::testing::Test {
  te::Tensor val = te::placeholder({12, 16}, "val");
  te::IterVar k = te::reduce_axis({0, 16}, "k");
  te::Reducer reduce = argmax();
  std::vector<te::Tensor> T = te::compute_multi(
      {12}, {"i"},
      [&](Var i) {
        return reduce({Expr(k), val(i, k)}, {k});
      },
      "T");
  te::Schedule s = te::create_schedule(T);
};

TEST_F(ArgmaxTest, FindsThePlaceOfTheLargest) {
  const Arguments a = make_arguments({val, T[0], T[1]});
  tir::evaluate(lower_to_loops(s, {val, T[0], T[1]}), a.values);
  const float* in = reinterpret_cast<const float*>(a.arrays[0]->data());
  for (int i = 0; i < 12; ++i) {
    const int place =
        static_cast<int>(std::max_element(in + 16 * i, in + 16 * i + 16) - (in + 16 * i));
    EXPECT_EQ(reinterpret_cast<const int*>(a.arrays[1]->data())[i], place);
    EXPECT_EQ(reinterpret_cast<const float*>(a.arrays[2]->data())[i], in[16 * i + place]);
  }
}

TEST_F(ArgmaxTest, Factored) {
  const auto [outer, inner] = s[T[0]].split(k, 5);
  s.rfactor(T, inner);
  EXPECT_EQ(compare_with_default(s, {val, T[0], T[1]}), "");
}

TEST_F(ArgmaxTest, CachedAndTiled) {
  std::vector<te::Tensor> cached = s.cache_write(T, "local");
  const auto [outer, inner] = s[T[0]].split(s[T[0]].axis(0), 4);
  s[cached[0]].compute_at(s[T[0]], outer);
  EXPECT_EQ(compare_with_default(s, {val, T[0], T[1]}), "");
}

// The sum of the products of all pairs: the second component needs the first one's old value.
TEST(TupleTest, AllNewValuesAreComputedBeforeAnyIsStored) {
  te::Tensor A = te::placeholder({5, 6}, "A", Int(32));
  te::IterVar k = te::reduce_axis({0, 6}, "k");
  te::Reducer pairs = te::comm_reducer(
      [](std::span<const Var> x, std::span<const Var> y) {
        return std::vector<Expr>{x[0] + y[0], x[1] + y[1] + x[0] * y[0]};
      },
      [](std::span<const DataType> t) {
        return std::vector<Expr>{make_const(t[0], 0), make_const(t[1], 0)};
      },
      "pairs");
  std::vector<te::Tensor> T = te::compute_multi(
      {5}, {"i"},
      [&](Var i) {
        return pairs({A(i, k), Expr(0)}, {k});
      },
      "T");
  te::Schedule s = te::create_schedule(T);
  const std::vector<LowerArgument> args = {A, T[0], T[1]};
  const Arguments a = make_arguments(args);
  tir::evaluate(lower(s, args).functions.at("main"), a.values);
  const int* in = reinterpret_cast<const int*>(a.arrays[0]->data());
  for (int i = 0; i < 5; ++i) {
    int expected = 0;
    for (int p = 0; p < 6; ++p)
      for (int q = 0; q < p; ++q) expected += in[6 * i + p] * in[6 * i + q];
    EXPECT_EQ(reinterpret_cast<const int*>(a.arrays[2]->data())[i], expected);
  }
  EXPECT_EQ(compare_with_default(s, args), "");
}

// ---- odd shapes ---------------------------------------------------------------------------------

TEST(ReductionTest, OfRankZeroFusedFromNothing) {
  te::Tensor A = te::placeholder({10}, "A");
  te::IterVar k = te::reduce_axis({0, 10}, "k");
  te::Tensor B = te::compute(
      {}, {}, [&] { return te::sum(A(k), {k}); }, "B");
  te::Schedule s = te::create_schedule(B);
  s[B].split_by_nparts(s[B].fuse({}), 20);
  EXPECT_EQ(compare_with_default(s, {A, B}), "");
}

TEST(ReductionTest, WhoseExtentDependsOnTheRow) {
  te::Tensor A = te::placeholder({6, 6}, "A");
  for (bool cached : {false, true}) {
    std::optional<te::IterVar> inner;
    te::Tensor B = te::compute(
        {6}, {"n"},
        [&](Var n) {
          inner = te::reduce_axis({0, n}, "rv");
          return te::sum(A(n, *inner), {*inner});
        },
        "B");
    te::Schedule s = te::create_schedule(B);
    if (cached) s.cache_write(B, "local");
    EXPECT_EQ(compare_with_default(s, {A, B}), "") << cached;
  }
}

/// Rows of a matrix, of which the first two are summed and the others reduced to their largest
/// element.
struct OwnReducerTest : ::testing::Test {
  te::Tensor A = te::placeholder({7, 23}, "A", Int(32));
  te::IterVar k = te::reduce_axis({0, 23}, "k");
  te::Tensor B = te::compute(
      {7}, {"i"},
      [&](Var i) {
        const te::Reducer reducer = te::comm_reducer(
            [i](std::span<const Var> x, std::span<const Var> y) {
              return std::vector<Expr>{select(i < 2, x[0] + y[0], max(x[0], y[0]))};
            },
            [i](std::span<const DataType>) {
              return std::vector<Expr>{select(i < 2, 0, min_value(Int(32)))};
            },
            "sum_or_max");
        return reducer(A(i, k), {k});
      },
      "B");
  te::Schedule s = te::create_schedule(B);
};

TEST_F(OwnReducerTest, UsesAnAxisOfTheCache) {
  const te::Tensor cache = s.cache_write(B, "local");
  s[cache].split(s[cache].axis(0), 3);
  EXPECT_EQ(compare_with_default(s, {A, B}), "");
}

TEST_F(OwnReducerTest, UsesAnAxisThatIsSplit) {
  const auto [outer, inner] = s[B].split(s[B].axis(0), 3);
  s[B].reorder({outer, k, inner}).vectorize(inner);
  EXPECT_EQ(compare_with_default(s, {A, B}), "");
}

TEST_F(OwnReducerTest, UsesAnAxisOfThePartialResults) {
  const auto [outer, inner] = s[B].split(k, 6);
  const te::Tensor partial = s.rfactor(B, outer);
  s[partial].parallel(s[partial].axis(0));
  EXPECT_EQ(compare_with_default(s, {A, B}), "");
}

TEST_F(OwnReducerTest, UsesAnIteratorOfABlock) {
  const tir::PrimFunc func = te::create_prim_func({A, B});
  const Arguments plain = make_arguments({A, B}), blocks = make_arguments({A, B});
  tir::evaluate(lower_to_loops(s, {A, B}), plain.values);
  tir::evaluate(func, blocks.values);
  for (int i = 0; i < 7; ++i)
    EXPECT_EQ(reinterpret_cast<const int*>(plain.arrays[1]->data())[i],
              reinterpret_cast<const int*>(blocks.arrays[1]->data())[i]);
}

TEST_F(OwnReducerTest, ThatUsesAnAxisIsNotCombinedByThreads) {
  s[B].bind(k, te::thread_axis("threadIdx.x"));
  try {
    lower(s, {A, B});
    FAIL() << "accepted";
  } catch (const ScheduleError& error) {
    EXPECT_NE(error.sentence().find("its reducer `sum_or_max` uses axis `i`"), std::string::npos)
        << error.what();
  }
}

TEST(ReductionTest, MayUseAParameterInItsReducer) {
  const Var n = te::var("n");
  const te::Tensor A = te::placeholder({7, 23}, "A", Int(32));
  const te::IterVar k = te::reduce_axis({0, 23}, "k");
  const te::Reducer clamped = te::comm_reducer(
      [&](std::span<const Var> x, std::span<const Var> y) {
        return std::vector<Expr>{max(max(x[0], y[0]), n)};
      },
      [&](std::span<const DataType>) { return std::vector<Expr>{n}; }, "clamped");
  const te::Tensor B = te::compute(
      {7}, {"i"}, [&](Var i) { return clamped(A(i, k), {k}); }, "B");
  te::Schedule s = te::create_schedule(B);
  const te::Tensor cache = s.cache_write(B, "local");
  s[cache].split(s[cache].reduce_axis(0), 4);
  EXPECT_EQ(compare_with_default(s, {n, A, B}), "");
}

TEST(ReductionTest, OfNothingIsTheIdentity) {
  te::Tensor A = te::placeholder({4, 4}, "A", Int(32));
  te::IterVar k = te::reduce_axis({3, 3}, "k");
  te::Tensor B = te::compute(
      {4}, {"i"}, [&](Var i) { return te::max(A(i, k), {k}); }, "B");
  te::Schedule s = te::create_schedule(B);
  EXPECT_EQ(compare_with_default(s, {A, B}), "");
  const Arguments a = make_arguments({A, B});
  tir::evaluate(lower(s, {A, B}).functions.at("main"), a.values);
  EXPECT_EQ(reinterpret_cast<const int*>(a.arrays[1]->data())[3], std::numeric_limits<int>::min());
}

TEST(ReductionTest, OverAxesThatDoNotStartAtZeroSplitUnevenly) {
  te::Tensor A = te::placeholder({5, 23}, "A");
  te::IterVar k = te::reduce_axis({3, 20}, "k");
  te::Tensor B = te::compute(
      {5}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}); }, "B");
  te::Schedule s = te::create_schedule(B);
  s[B].split(k, 5);
  EXPECT_EQ(compare_with_default(s, {A, B}), "");
}

TEST(ReductionTest, StartValuesCountOnceAcrossThreads) {
  te::Tensor A = te::placeholder({8, 16}, "A"), start = te::placeholder({8}, "start");
  te::IterVar k = te::reduce_axis({0, 16}, "k");
  te::Tensor B = te::compute(
      {8}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}, {.init = {start(i)}}); }, "B");
  te::Schedule s = te::create_schedule(B);
  s[B].bind(s[B].split(k, 4).inner, te::thread_axis("threadIdx.x"));
  EXPECT_EQ(compare_with_default(s, {A, start, B}, {.compile = false}), "");
}

TEST(ReductionTest, OfEveryKind) {
  te::Tensor A = te::placeholder({6, 9}, "A", Int(32));
  te::IterVar k = te::reduce_axis({0, 9}, "k");
  auto reduced = [&](const std::function<Expr(Var)>& body, const std::string& name) {
    return te::compute(
        {6}, {"i"}, [&](Var i) { return body(i); }, name);
  };
  const std::vector<te::Tensor> outputs = {
      reduced([&](Var i) { return te::prod(A(i, k), {k}); }, "product"),
      reduced([&](Var i) { return te::min(A(i, k), {k}); }, "least"),
      reduced([&](Var i) { return te::max(A(i, k), {k}); }, "greatest"),
      reduced([&](Var i) { return te::all(A(i, k) > -9, {k}); }, "every"),
      reduced([&](Var i) { return te::any(A(i, k) > 8, {k}); }, "some")};
  te::Schedule s = te::create_schedule(outputs);
  std::vector<LowerArgument> args = {A};
  for (const te::Tensor& t : outputs) {
    s[t].reorder({k, s[t].axis(0)}).vectorize(s[t].axis(0));
    args.emplace_back(t);
  }
  EXPECT_EQ(compare_with_default(s, args), "");
}

TEST(InitTest, OfVectorElements) {
  te::Tensor A = te::placeholder({3, 13}, "A", Int(32, 4));
  const te::IterVar k = te::reduce_axis({0, 13}, "k");
  te::Tensor B = te::compute(
      {3}, {"i"},
      [&](Var i) { return te::sum(A(i, k), {k}, {.init = {tir::make_const(Int(32, 4), 7)}}); },
      "B");
  EXPECT_EQ(compare_with_default(te::create_schedule(B), {A, B}), "");
}

TEST(MaximumTest, OfVectorElements) {
  te::Tensor A = te::placeholder({3, 13}, "A", Float(32, 4));
  const te::IterVar k = te::reduce_axis({0, 13}, "k");
  te::Tensor B = te::compute(
      {3}, {"i"}, [&](Var i) { return te::max(A(i, k), {k}); }, "B");
  EXPECT_EQ(compare_with_default(te::create_schedule(B), {A, B}), "");
}

/// 3 tiles of 4 elements cover 10: the last two would start from A[10] and A[11].
TEST(InitTest, ReadsNothingOutsideOfTheDomain) {
  te::Tensor A = te::placeholder({10}, "A", Int(32));
  const te::IterVar k = te::reduce_axis({0, 3}, "k");
  te::Tensor B = te::compute(
      {10}, {"i"}, [&](Var i) { return te::sum(A(i) * 2, {k}, {.init = {A(i)}}); }, "B");
  te::Tensor C = te::compute(
      {10}, {"j"}, [&](Var j) { return B(j) + 1; }, "C");
  te::Schedule s = te::create_schedule(C);
  const auto [outer, inner] = s[C].split(s[C].axis(0), 4);
  s[B].compute_at(s[C], outer);
  EXPECT_EQ(compare_with_default(s, {A, C}), "");
}

}  // namespace
}  // namespace tenon::testing

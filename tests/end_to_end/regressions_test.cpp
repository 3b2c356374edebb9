// Programs that broke compilers of this kind.
#include <gtest/gtest.h>

#include "tenon/te/operation_kind.h"
#include "tests/common/refusal.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

// ---- bounds, attachment, guards -----------------------------------------------------------------

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
      {8}, {"i"}, [&](Var i) { return te::sum(A(I(k)), {k}, {.where = P(k), .init = {Z(i)}}); },
      "B");
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

TEST(RegressionTest, AScanComputedAtItsReader) {
  Var m = te::size_var("m");
  te::Tensor X = te::placeholder({m, 6}, "X"), state = te::placeholder({m, 6}, "state");
  te::Tensor init = te::compute(
      {1, 6}, {"t", "i"}, [&](Var, Var i) { return X(0, i); }, "init");
  te::Tensor update = te::compute(
      {m, 6}, {"t", "i"}, [&](Var t, Var i) { return state(t - 1, i) + X(t, i); }, "update");
  te::Tensor S = te::scan(init, update, state, {X}, "S");
  te::Tensor D = te::compute(
      {m, 6}, {"t", "i"}, [&](Var t, Var i) { return S(t, i) + 1.0f; }, "D");
  for (int axis : {0, 1}) {
    te::Schedule s = te::create_schedule(D);
    const auto [outer, inner] = s[D].split(s[D].axis(axis), 4);
    if (axis == 1) s[D].reorder({outer, s[D].axis(0), inner});
    s[S].compute_at(s[D], outer);
    EXPECT_EQ(compare_with_default(s, {X, D}, {.symbols = {1, 2, 9}}), "") << axis;
  }
}

TEST(RegressionTest, ALengthIsReadOnlyOfRowsThatAreThere) {
  // Rows in tiles that do not divide them: the range of the reduction is read from memory before
  // any guard of its body. The last tile would read behind the end.
  te::Tensor L = te::placeholder({13}, "L", Int(32)), A = te::placeholder({13, 9}, "A");
  std::optional<te::IterVar> k;
  te::Tensor B = te::compute(
      {13}, {"n"},
      [&](Var n) {
        k = te::reduce_axis({0, max(min(L(n), 9), 0)}, "k");
        return te::sum(A(n, *k), {*k});
      },
      "B");
  for (bool on_threads : {false, true}) {
    te::Schedule s = te::create_schedule(B);
    const auto [outer, inner] = s[B].split(s[B].axis(0), 4);
    if (on_threads)
      s[B].bind(outer, te::thread_axis("blockIdx.x")).bind(inner, te::thread_axis("threadIdx.x"));
    EXPECT_EQ(compare_with_default(s, {L, A, B}, {.compile = !on_threads}), "") << on_threads;
  }
}

TEST(RegressionTest, ReductionsWhoseExtentIsAMaximum) {
  te::Tensor A = te::placeholder({10, 10}, "A", Int(32));
  std::optional<te::IterVar> k;
  te::Tensor B = te::compute(
      {8}, {"i"},
      [&](Var i) {
        k = te::reduce_axis({0, max(2, i)}, "k");
        return te::sum(A(i, *k), {*k});
      },
      "B");
  te::Tensor C = te::compute(
      {8}, {"i"}, [&](Var i) { return B(i) + 1; }, "C");
  te::Schedule s = te::create_schedule(C);
  s[B].split(*k, 3);
  s[B].compute_at(s[C], s[C].split(s[C].axis(0), 3).outer);
  EXPECT_EQ(compare_with_default(s, {A, C}), "");
}

TEST(RegressionTest, ATupleReductionUnderAConditionOfItsData) {
  te::Tensor val = te::placeholder({5, 16}, "val");
  te::IterVar k = te::reduce_axis({0, 16}, "k");
  const te::Reducer argmax = te::comm_reducer(
      [](std::span<const Var> x, std::span<const Var> y) {
        const Expr first = x[1] > y[1] || (x[1] == y[1] && x[0] <= y[0]);
        return std::vector<Expr>{select(first, x[0], y[0]), select(first, x[1], y[1])};
      },
      [](std::span<const DataType> t) {
        return std::vector<Expr>{make_const(t[0], 99), min_value(t[1])};
      },
      "argmax");
  std::vector<te::Tensor> T = te::compute_multi(
      {5}, {"i"},
      [&](Var i) {
        return argmax({Expr(k), val(i, k)}, {k}, {.where = k <= i * 3 && val(i, k) > 0.0f});
      },
      "T");
  for (int way = 0; way < 3; ++way) {
    te::Schedule s = te::create_schedule(T);
    if (way == 0) s[T[0]].split(k, 5);
    if (way == 1) s.rfactor(T, s[T[0]].split(k, 5).inner);
    if (way == 2) s.cache_write(T, "local");
    EXPECT_EQ(compare_with_default(s, {val, T[0], T[1]}), "") << way;
  }
}

TEST(RegressionTest, AReducerThatDependsOnTheOrderIsNotFactored) {
  te::Tensor A = te::placeholder({12}, "A");
  te::IterVar k = te::reduce_axis({0, 12}, "k");
  const te::Reducer minus = te::comm_reducer(
      [](std::span<const Var> x, std::span<const Var> y) { return std::vector<Expr>{x[0] - y[0]}; },
      [](std::span<const DataType> t) { return std::vector<Expr>{make_const(t[0], 0)}; }, "minus");
  te::Tensor B = te::compute(
      {1}, {"i"}, [&](Var) { return minus(A(k), {k}); }, "B");
  te::Schedule s = te::create_schedule(B);
  const auto [outer, inner] = s[B].split(k, 3);
  EXPECT_TRUE(leaves_alone(s, {A, B}, [&] {
    EXPECT_TRUE(refuses<ScheduleError>([&] { s.rfactor(B, inner); },
                                       {"rfactor", "`B`", "`minus`", "order"}));
  }));
  // In the order that it has, it is what it says.
  EXPECT_EQ(compare_with_default(s, {A, B}), "");
}

TEST(RegressionTest, ReducersOfSortedPairsAreFactored) {
  // The two largest: merging is associative on what reductions make of single values.
  te::Tensor A = te::placeholder({4, 12}, "A");
  te::IterVar k = te::reduce_axis({0, 12}, "k");
  const te::Reducer largest = te::comm_reducer(
      [](std::span<const Var> x, std::span<const Var> y) {
        return std::vector<Expr>{max(x[0], y[0]), max(min(x[0], y[0]), max(x[1], y[1]))};
      },
      [](std::span<const DataType> t) {
        return std::vector<Expr>{min_value(t[0]), min_value(t[1])};
      },
      "largest");
  std::vector<te::Tensor> T = te::compute_multi(
      {4}, {"i"},
      [&](Var i) {
        return largest({A(i, k), min_value(Float(32))}, {k});
      },
      "T");
  te::Schedule s = te::create_schedule(T);
  s.rfactor(T, s[T[0]].split(k, 5).inner);
  EXPECT_EQ(compare_with_default(s, {A, T[0], T[1]}), "");
}

// ---- loops and lanes ----------------------------------------------------------------------------

/// The loop and its index must agree where the required elements begin.
TEST(RegressionTest, ALayoutOfAStageAtALoopWhoseReaderClampsItsIndex) {
  te::Tensor A = te::placeholder({2}, "A", Int(16));
  te::Tensor T = te::compute(
      {2}, {"i"}, [&](Var i) { return A(i) + 1; }, "T");
  te::Tensor B = te::compute(
      {32}, {"i"}, [&](Var i) { return T(floormod(i, 2)) - T(max(min(i * i, 1), 0)); }, "B");
  te::Schedule s = te::create_schedule(B);
  s[T].transform_layout(
      [](Var i) {
        return std::vector<Expr>{floordiv(i, 3), floormod(i, 3)};
      },
      {.pad = true});
  s[T].compute_at(s[B], B.op().axis()[0]);
  EXPECT_EQ(compare_with_default(s, {A, B}), "");
}

/// A conversion to a type of the same width is no instruction, and its value was taken for an
/// index.
TEST(RegressionTest, SumsOfAnAxisThatIsConvertedToAnUnsignedTypeWrap) {
  const te::IterVar k = te::reduce_axis({0, 9}, "k");
  const te::Tensor B = te::compute(
      {32}, {"i"},
      [&](Var) {
        const Expr distance = cast(Int(64), cast(UInt(32), k.var() * 2 - 172));
        const Expr x = make_const(Int(64), -7409761545207941689) - distance;
        return te::sum(make_const(Int(8), 31), {k}, {.where = x > x + x});
      },
      "B");
  EXPECT_EQ(compare_with_default(te::create_schedule(B), {B}), "");
}

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

TEST(RegressionTest, BothBranchesBelowAVirtualThread) {
  te::Tensor A = te::placeholder({16}, "A");
  te::Tensor B = te::compute(
      {16}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  te::Tensor C = te::compute(
      {16}, {"i"},
      [&](Var i) { return if_then_else(i < 5, B(i), B(i) * 2.0f) + select(i > 9, B(i), 0.0f); },
      "C");
  te::Schedule s = te::create_schedule(C);
  const auto [thread, rest] = s[C].split_by_nparts(s[C].axis(0), 2);
  s[C].bind(thread, te::thread_axis("vthread"));
  s[B].compute_at(s[C], s[C].split(rest, 3).outer);
  EXPECT_EQ(compare_with_default(s, {A, C}), "");
}

TEST(RegressionTest, StatementsOfTheUsersOwnBelowAVirtualThread) {
  te::Tensor A = te::placeholder({16}, "A");
  te::Tensor B = te::extern_op(
      {16}, {A},
      [](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) -> te::ExternResult {
        tir::IRBuilder ib;
        auto a = ib.buffer_ptr(ins[0]), b = ib.buffer_ptr(outs[0]);
        const te::IterVar thread = te::thread_axis({0, 4}, "vthread", "vx");
        const Expr first = thread.var() * 4;
        ib.scope_attr(thread, tir::AttrKind::VirtualThread, 4);
        auto own = ib.allocate(Float(32), {4}, "own", "local");
        ib.for_range(0, 4, "j", [&](Var j) { own[j] = a[first + j]; });
        ib.for_range(0, 4, "j", [&](Var j) {
          ib.if_scope(j < thread.var(), [&] { b[first + j] = own[3 - j]; });
          ib.else_scope([&] { b[first + j] = Expr(own[j]) * 2.0f; });
        });
        return ib.get();
      },
      "B");
  EXPECT_EQ(compare_with_default(te::create_schedule(B), {A, B}), "");
}

TEST(RegressionTest, ConditionsOfOneFormOnTwoBuffers) {
  te::Tensor A = te::placeholder({8}, "A"), P = te::placeholder({1}, "P", Int(32)),
             Q = te::placeholder({1}, "Q", Int(32));
  te::Tensor B = te::compute(
      {8}, {"i"},
      [&](Var i) { return if_then_else(P(0) < 2, A(i), if_then_else(Q(0) < 2, A(7 - i), 0.0f)); },
      "B");
  te::Schedule s = te::create_schedule(B);
  s[B].split(s[B].axis(0), 3);
  const runtime::Function f = build(s, {A, P, Q, B})["main"];
  const std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8};
  for (int p : {1, 5}) {
    for (int q : {1, 5}) {
      const runtime::NDArray b = runtime::NDArray::zeros({8}, Float(32));
      f(runtime::NDArray::from(values, {8}), runtime::NDArray::full({1}, Int(32), p),
        runtime::NDArray::full({1}, Int(32), q), b);
      EXPECT_EQ(b.data<float>()[2], p < 2 ? 3 : q < 2 ? 6 : 0) << p << " " << q;
    }
  }
}

TEST(RegressionTest, ADoubleBufferThatIsInlinedAway) {
  te::Tensor A = te::placeholder({8, 16}, "A");
  te::Tensor C = te::compute(
      {8, 16}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * 2.0f; }, "C");
  te::Schedule s = te::create_schedule(C);
  te::Tensor cached = s.cache_read(A, "local", {C.op()});
  s[cached].compute_at(s[C], s[C].axis(0));
  s[cached].double_buffer();
  s[cached].compute_inline();
  EXPECT_EQ(compare_with_default(s, {A, C}), "");
}

// ---- values as large as their types -------------------------------------------------------------

// A reducer starts from the least or the greatest value of its type. Terms of a comparison with it
// must not change sides: the sums would wrap.
TEST(RegressionTest, ReducersCompareComputedKeysWithTheExtremesOfTheirType) {
  for (DataType type : {Int(32), Int(64)}) {
    for (bool is_greatest : {true, false}) {
      auto best = te::comm_reducer(
          [=](std::span<const Var> x, std::span<const Var> y) -> std::vector<Expr> {
            const Expr first = is_greatest ? x[1] > y[1] : x[1] < y[1];
            return {select(first, x[0], y[0]), select(first, x[1], y[1])};
          },
          [=](std::span<const DataType> t) -> std::vector<Expr> {
            return {make_const(t[0], -1), is_greatest ? min_value(t[1]) : max_value(t[1])};
          },
          "best");
      // Rows enough that some begin with a sign that wraps.
      te::Tensor A = te::placeholder({16, 3}, "A", type);
      te::IterVar k = te::reduce_axis({0, 3}, "k");
      const std::vector<te::Tensor> C = te::compute_multi(
          {16}, {"i"},
          [&](Var i) {
            return best({k.var(), 3 - A(i, k)}, {k});
          },
          "C");
      EXPECT_EQ(compare_with_default(te::create_schedule(C[0]), {A, C[0], C[1]}), "")
          << type.str() << is_greatest;
    }
  }
}

// ---- types of loops -----------------------------------------------------------------------------

// The loop that gathers keeps int64; the others become int32.
TEST(RegressionTest, LoopsOfTwoTypesAroundChoicesOfTermsAreBuilt) {
  const auto wide = [](int value) { return tir::make_int(Int(64), value); };
  te::Tensor A = te::placeholder({wide(16)}, "A", UInt(64));
  te::Tensor B = te::compute(
      {wide(8), wide(10), wide(3)}, {"i", "j", "k"},
      [&](Var, Var j, Var k) {
        const Expr place = max(min(tir::cast(Int(64), A(k * wide(2))), wide(15)), wide(0));
        return A(max(k, j)) + A(place) + A(j + wide(6));
      },
      "B");
  te::Schedule s = te::create_schedule(B);
  const auto [outer, inner] = s[B].split(s[B].axis(1), 3);
  s[B].reorder({inner, s[B].axis(0), outer}).bind(inner, te::thread_axis("vthread"));
  const auto [above, below] = s[B].split(s[B].axis(0), 2);
  s[B].unroll(above);
  EXPECT_EQ(compare_with_default(s, {A, B}, {.build = {.autotune_loops = true}}), "");
}

// ---- memory -------------------------------------------------------------------------------------

TEST(RegressionTest, ReusedMemoryGrowsToItsLargestTenant) {
  te::Tensor A = te::placeholder({400}, "A", Int(16));
  te::Tensor T = A;
  for (int size : {200, 400, 100, 400}) {
    te::Tensor from = T;
    const int available = from.shape()[0].as<tir::IntImm>()->value;
    T = te::compute(
        {size}, {"i"}, [&](Var i) { return from(floormod(i, available)) + 1; },
        "T" + std::to_string(size));
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

// ---- parallel loops -----------------------------------------------------------------------------

TEST(RegressionTest, ParallelLoopsInParallelLoopsWithTemporaries) {
  te::Tensor A = te::placeholder({6, 7, 40}, "A");
  te::Tensor B = te::compute(
      {6, 7, 40}, {"i", "j", "k"}, [&](Var i, Var j, Var k) { return A(i, j, k) + 1.0f; }, "B");
  te::Tensor C = te::compute(
      {6, 7, 40}, {"i", "j", "k"},
      [&](Var i, Var j, Var k) { return B(i, j, Expr(39) - k) * 2.0f; }, "C");
  te::Schedule s = te::create_schedule(C);
  s[C].parallel(s[C].axis(0)).parallel(s[C].axis(1));
  s[B].compute_at(s[C], s[C].axis(1));
  EXPECT_EQ(compare_with_default(s, {A, C}), "");
}

}  // namespace
}  // namespace tenon::testing

// Intrinsics where they do not fit: loops that they do not divide, on any number of axes, in stages
// computed inside of others, on memory of every kind. Each call is also compared with what it
// declares.
#include <gtest/gtest.h>

#include "tests/common/loop_intrinsics.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

std::string difference(const te::Schedule& s, const std::vector<LowerArgument>& args,
                       WaysToRun ways = {}) {
  ways.build = {.check_intrinsics = true, .opt_level = 1};
  return compare_with_default(s, args, ways);
}

te::Tensor matrix(const Expr& rows, const Expr& columns, const std::string& name,
                  DataType type = Float(32)) {
  return te::placeholder({rows, columns}, name, type);
}

/// c[m, n] = sum over k of a[m, k] b[k, n], in another type than the operands'.
te::Tensor product(const te::Tensor& a, const te::Tensor& b, DataType type,
                   const std::string& name) {
  te::IterVar k = te::reduce_axis(Range(0, a.shape()[1]), "k");
  return te::compute(
      {a.shape()[0], b.shape()[1]}, {"i", "j"},
      [&](Var i, Var j) { return te::sum(cast(type, a(i, k)) * cast(type, b(k, j)), {k}); }, name);
}

const LoopIntrinsicOptions kWaysToReset[] = {{}, {.body = false}, {.reset = false}};

void tile_product(const te::Stage& stage, int m, int n, int k, const te::TensorIntrin& intrin,
                  bool reduction_outermost = false) {
  auto [io, jo, ii, ji] = stage.tile(stage.axis(0), stage.axis(1), m, n);
  auto [ko, ki] = stage.split(stage.reduce_axis(0), k);
  if (reduction_outermost) {
    stage.reorder({ko, io, jo, ii, ji, ki});
  } else {
    stage.reorder({io, jo, ko, ii, ji, ki});
  }
  stage.tensorize(ii, intrin);
}

// ---- types --------------------------------------------------------------------------------------

struct TypesTest : ::testing::TestWithParam<std::tuple<DataType, DataType, DataType>> {};

TEST_P(TypesTest, ProductsWithTailsOnAllAxes) {
  const auto& [left, right, result] = GetParam();
  for (const LoopIntrinsicOptions& options : kWaysToReset) {
    te::Tensor A = matrix(9, 11, "A", left), B = matrix(11, 21, "B", right);
    te::Tensor C = product(A, B, result, "C");
    te::Tensor c = product(matrix(4, 4, "a", left), matrix(4, 8, "b", right), result, "c");
    te::Schedule s = te::create_schedule(C);
    tile_product(s[C], 4, 8, 4, loop_intrinsic(c, options));
    EXPECT_EQ(difference(s, {A, B, C}), "");
  }
}

INSTANTIATE_TEST_SUITE_P(IntrinsicTails, TypesTest,
                         ::testing::Values(std::tuple(Float(32), Float(32), Float(32)),
                                           std::tuple(UInt(8), Int(8), Int(32)),
                                           std::tuple(Int(8), Int(8), Int(32)),
                                           std::tuple(Float(16), Float(16), Float(16)),
                                           std::tuple(Float(16), Float(16), Float(32)),
                                           std::tuple(BFloat(16), BFloat(16), Float(32)),
                                           std::tuple(Float(64), Float(64), Float(64)),
                                           std::tuple(Int(64), Int(64), Int(64))));

/// Four products of bytes in each of sixteen lanes: c[j] += sum over 4 of a[k] b[j, k], the weights
/// packed four by four.
TEST(IntrinsicTails, FourProductsOfBytesPerLane) {
  const DataType wide = Int(32);
  for (const auto& [rows, columns, depth] :
       {std::tuple(3, 32, 16), std::tuple(3, 40, 16), std::tuple(3, 32, 16), std::tuple(2, 39, 24)})
    for (const LoopIntrinsicOptions& options : kWaysToReset) {
      te::Tensor A = matrix(rows, depth, "A", UInt(8)),
                 W = te::placeholder({depth / 4, columns, 4}, "W", Int(8));
      te::IterVar k = te::reduce_axis({0, depth}, "k");
      te::Tensor C = te::compute(
          {rows, columns}, {"i", "j"},
          [&](Var i, Var j) {
            return te::sum(cast(wide, A(i, k)) * cast(wide, W(floordiv(k, 4), j, floormod(k, 4))),
                           {k});
          },
          "C");
      te::Tensor a = te::placeholder({4}, "a", UInt(8)), w = matrix(16, 4, "w", Int(8));
      te::IterVar r = te::reduce_axis({0, 4}, "r");
      te::Tensor c = te::compute(
          {16}, {"x"}, [&](Var x) { return te::sum(cast(wide, a(r)) * cast(wide, w(x, r)), {r}); },
          "c");
      te::Schedule s = te::create_schedule(C);
      auto [jo, ji] = s[C].split(s[C].axis(1), 16);
      auto [ko, ki] = s[C].split(k, 4);
      s[C].reorder({jo, ko, ji, ki}).tensorize(ji, loop_intrinsic(c, options));
      EXPECT_EQ(difference(s, {A, W, C}), "") << columns << " " << depth;
    }
}

// ---- tails --------------------------------------------------------------------------------------

struct TailsTest : ::testing::TestWithParam<std::tuple<int, int, int, bool>> {};

TEST_P(TailsTest, OnAnyNumberOfAxes) {
  const auto [m, n, l, reduction_outermost] = GetParam();
  for (const LoopIntrinsicOptions& options : kWaysToReset) {
    te::Tensor A = matrix(m, l, "A"), B = matrix(l, n, "B"), C = product(A, B, Float(32), "C");
    te::Tensor c = product(matrix(3, 4, "a"), matrix(4, 5, "b"), Float(32), "c");
    te::Schedule s = te::create_schedule(C);
    tile_product(s[C], 3, 5, 4, loop_intrinsic(c, options), reduction_outermost);
    EXPECT_EQ(difference(s, {A, B, C}), "");
  }
}

INSTANTIATE_TEST_SUITE_P(IntrinsicTails, TailsTest,
                         ::testing::Combine(::testing::Values(6, 7), ::testing::Values(10, 11),
                                            ::testing::Values(8, 10), ::testing::Bool()));

TEST(IntrinsicTails, OfSizesThatAreKnownWhenCalled) {
  Var m = te::size_var("m"), n = te::size_var("n"), l = te::size_var("l");
  for (const LoopIntrinsicOptions& options : kWaysToReset) {
    te::Tensor A = matrix(m, l, "A"), B = matrix(l, n, "B"), C = product(A, B, Float(32), "C");
    te::Tensor c = product(matrix(3, 4, "a"), matrix(4, 5, "b"), Float(32), "c");
    te::Schedule s = te::create_schedule(C);
    tile_product(s[C], 3, 5, 4, loop_intrinsic(c, options));
    EXPECT_EQ(difference(s, {A, B, C}, {.symbols = {1, 2, 5, 12, 13}}), "");
  }
}

/// A convolution whose channels are reduced in fours, with a window around.
TEST(IntrinsicTails, OfOneOfSeveralReductionAxes) {
  te::Tensor X = te::placeholder({9, 10, 6}, "X"), W = te::placeholder({3, 3, 6, 10}, "W");
  te::IterVar kh = te::reduce_axis({0, 3}, "kh"), kw = te::reduce_axis({0, 3}, "kw"),
              ci = te::reduce_axis({0, 6}, "ci");
  te::Tensor Y = te::compute(
      {7, 8, 10}, {"h", "w", "co"},
      [&](Var h, Var w, Var co) {
        return te::sum(X(h + kh, w + kw, ci) * W(kh, kw, ci, co), {ci, kh, kw});
      },
      "Y");
  te::Tensor x = te::placeholder({4}, "x"), w = matrix(4, 8, "w");
  te::IterVar r = te::reduce_axis({0, 4}, "r");
  te::Tensor y = te::compute(
      {8}, {"c"}, [&](Var c) { return te::sum(x(r) * w(r, c), {r}); }, "y");
  for (const LoopIntrinsicOptions& options : kWaysToReset) {
    te::Schedule s = te::create_schedule(Y);
    auto [co, coi] = s[Y].split(s[Y].axis(2), 8);
    auto [cio, cii] = s[Y].split(ci, 4);
    s[Y].reorder({co, kh, cio, kw, coi, cii}).tensorize(coi, loop_intrinsic(y, options));
    EXPECT_EQ(difference(s, {X, W, Y}), "");
  }
}

TEST(IntrinsicTails, OfConditionsAndOwnReducers) {
  auto smallest = te::comm_reducer(
      [](std::span<const Var> x, std::span<const Var> y) -> std::vector<Expr> {
        const Expr first = x[1] <= y[1];
        return {select(first, x[0], y[0]), select(first, x[1], y[1])};
      },
      [](std::span<const DataType> t) -> std::vector<Expr> {
        return {make_const(t[0], 0), max_value(t[1])};
      },
      "argmin");
  using Pair = std::vector<Expr>;
  for (int columns : {16, 19}) {
    te::Tensor I = matrix(5, columns, "I", Int(32)), V = matrix(5, columns, "V");
    te::IterVar k = te::reduce_axis({0, columns}, "k"), r = te::reduce_axis({0, 8}, "r");
    std::vector<te::Tensor> C = te::compute_multi(
        {5}, {"i"},
        [&](Var i) {
          return smallest(Pair{I(i, k), V(i, k)}, {k}, {.where = V(i, k) != 0.25f});
        },
        "C");
    te::Tensor a = te::placeholder({8}, "a", Int(32)), v = te::placeholder({8}, "v");
    std::vector<te::Tensor> c = te::compute_multi(
        {1}, {"x"},
        [&](Var) {
          return smallest(Pair{a(r), v(r)}, {r}, {.where = v(r) != 0.25f});
        },
        "c");
    for (const LoopIntrinsicOptions& options : kWaysToReset) {
      te::Schedule s = te::create_schedule(C[0]);
      s[C[0]].tensorize(s[C[0]].split(k, 8).inner, loop_intrinsic(c[0], options));
      EXPECT_EQ(difference(s, {I, V, C[0], C[1]}), "") << columns;
    }
  }
}

TEST(IntrinsicTails, OfReductionsThatStartFromATensor) {
  for (const auto& [columns, depth] : {std::pair(8, 12), std::pair(11, 14)})
    for (const LoopIntrinsicOptions& options : kWaysToReset) {
      te::Tensor A = matrix(6, depth, "A"), B = matrix(depth, columns, "B"),
                 S = matrix(6, columns, "S");
      te::IterVar k = te::reduce_axis({0, depth}, "k"), r = te::reduce_axis({0, 4}, "r");
      te::Tensor C = te::compute(
          {6, columns}, {"i", "j"},
          [&](Var i, Var j) { return te::sum(A(i, k) * B(k, j), {k}, {.init = {S(i, j)}}); }, "C");
      te::Tensor a = matrix(2, 4, "a"), b = matrix(4, 4, "b"), start = matrix(2, 4, "start");
      te::Tensor c = te::compute(
          {2, 4}, {"x", "y"},
          [&](Var x, Var y) { return te::sum(a(x, r) * b(r, y), {r}, {.init = {start(x, y)}}); },
          "c");
      te::Schedule s = te::create_schedule(C);
      tile_product(s[C], 2, 4, 4, loop_intrinsic(c, options));
      EXPECT_EQ(difference(s, {A, B, S, C}), "") << columns;
    }
}

/// c[0] = sum over four of a.
te::Tensor sum_of_four() {
  te::Tensor a = te::placeholder({4}, "a");
  te::IterVar r = te::reduce_axis({0, 4}, "r");
  return te::compute(
      {1}, {"x"}, [&](Var) { return te::sum(a(r), {r}); }, "c");
}

TEST(IntrinsicTails, OfReductionsWhoseLengthDependsOnTheRow) {
  te::Tensor A = matrix(13, 16, "A"), L = te::placeholder({13}, "L", Int(32));
  const std::function<Expr(Var)> lengths[] = {[](Var i) { return i + 1; },
                                              [&](Var i) { return max(min(L(i), 16), 0); }};
  for (const auto& length : lengths)
    for (const LoopIntrinsicOptions& options : kWaysToReset) {
      te::Tensor C = te::compute(
          {13}, {"i"},
          [&](Var i) {
            te::IterVar k = te::reduce_axis(Range(0, length(i)), "k");
            return te::sum(A(i, k), {k});
          },
          "C");
      te::Schedule s = te::create_schedule(C);
      s[C].tensorize(s[C].split(s[C].reduce_axis(0), 4).inner,
                     loop_intrinsic(sum_of_four(), options));
      std::vector<LowerArgument> args{A, L, C};
      if (C.op().inputs().size() == 1) args.erase(args.begin() + 1);
      EXPECT_EQ(difference(s, args), "");
    }
}

TEST(IntrinsicTails, OfReductionsThatDoNotBeginAtZero) {
  te::Tensor A = te::placeholder({20}, "A");
  te::IterVar k = te::reduce_axis({3, 17}, "k");
  te::Tensor C = te::compute(
      {}, {}, [&] { return te::sum(A(k), {k}); }, "C");
  te::Schedule s = te::create_schedule(C);
  s[C].tensorize(s[C].split(k, 4).inner, loop_intrinsic(sum_of_four()));
  EXPECT_EQ(difference(s, {A, C}), "");
}

// ---- stages inside of others --------------------------------------------------------------------

te::Tensor scaled(const te::Tensor& x, int rows, int columns, const std::string& name) {
  return te::compute(
      {rows, columns}, {"i", "j"}, [&](Var i, Var j) { return x(i, j) * 2.0f; }, name);
}

TEST(IntrinsicTails, OfAStageThatIsComputedWithAMargin) {
  for (int width : {20, 23}) {
    te::Tensor A = matrix(12, width + 2, "A");
    te::Tensor B = scaled(A, 12, width + 2, "B");
    te::Tensor C = te::compute(
        {10, width}, {"i", "j"},
        [&](Var i, Var j) { return B(i, j) + B(i + 1, j + 1) + B(i + 2, j + 2); }, "C");
    for (bool is_inner : {false, true}) {
      te::Schedule s = te::create_schedule(C);
      auto [io, jo, ii, ji] = s[C].tile(s[C].axis(0), s[C].axis(1), 4, 8);
      s[B].compute_at(s[C], is_inner ? jo : io);
      auto [yo, xo, yi, xi] = s[B].tile(s[B].axis(0), s[B].axis(1), 3, 4);
      s[B].tensorize(yi, loop_intrinsic(scaled(matrix(3, 4, "a"), 3, 4, "b")));
      EXPECT_EQ(difference(s, {A, C}), "") << width << is_inner;
    }
  }
}

TEST(IntrinsicTails, OfInputsAndOutputsInOtherScopes) {
  te::Tensor A = matrix(10, 14, "A"), B = matrix(14, 19, "B"), C = product(A, B, Float(32), "C");
  te::Tensor c = product(matrix(4, 4, "a"), matrix(4, 8, "b"), Float(32), "c");
  for (LoopIntrinsicOptions options : kWaysToReset) {
    options.scope_of = [](const te::Tensor& t) { return t.name() == "c" ? "local" : "shared"; };
    te::Schedule s = te::create_schedule(C);
    te::Tensor local = s.cache_write(C, "local");
    te::Tensor AS = s.cache_read(A, "shared", {local.op()}),
               BS = s.cache_read(B, "shared", {local.op()});
    auto [io, jo, ii, ji] = s[C].tile(s[C].axis(0), s[C].axis(1), 8, 16);
    s[local].compute_at(s[C], jo);
    tile_product(s[local], 4, 8, 4, loop_intrinsic(c, options));
    s[AS].compute_at(s[local], s[local].leaf_iter_vars()[2]);
    s[BS].compute_at(s[C], jo).storage_align(s[BS].axis(0), 16, 4);
    EXPECT_EQ(difference(s, {A, B, C}), "");
  }
}

TEST(IntrinsicTails, OfABufferThatIsWrittenTwice) {
  te::Tensor A = matrix(10, 18, "A");
  te::Tensor B = scaled(A, 10, 18, "B"), C = scaled(B, 10, 18, "C");
  te::Schedule s = te::create_schedule(C);
  auto [jo, ji] = s[C].split(s[C].axis(1), 4);
  s[B].compute_at(s[C], s[C].axis(0)).set_scope("local").double_buffer();
  te::Tensor row = te::compute(
      {4}, {"x"}, [a = te::placeholder({4}, "a")](Var x) { return a(x) * 2.0f; }, "row");
  s[B].tensorize(s[B].split(s[B].axis(1), 4).inner, loop_intrinsic(row));
  s[C].tensorize(ji, loop_intrinsic(row));
  EXPECT_EQ(difference(s, {A, C}), "");
}

TEST(IntrinsicTails, OfABufferThatRolls) {
  te::Tensor A = matrix(12, 22, "A"), B = scaled(A, 12, 22, "B");
  te::Tensor C = te::compute(
      {10, 22}, {"i", "j"}, [&](Var i, Var j) { return B(i, j) + B(i + 1, j) + B(i + 2, j); }, "C");
  te::Schedule s = te::create_schedule(C);
  s[B].compute_at(s[C], s[C].axis(0)).rolling_buffer();
  te::Tensor row = te::compute(
      {4}, {"x"}, [a = te::placeholder({4}, "a")](Var x) { return a(x) * 2.0f; }, "row");
  s[B].tensorize(s[B].split(s[B].axis(1), 4).inner, loop_intrinsic(row));
  EXPECT_EQ(difference(s, {A, C}), "");
}

/// Loads and stores of an accelerator: tiles copied in and out of its memory.
TEST(IntrinsicTails, OfCopiesBetweenScopes) {
  te::Tensor A = matrix(10, 18, "A"), B = scaled(A, 10, 18, "B"), a = matrix(4, 8, "a");
  te::Tensor copy = te::compute(
      {4, 8}, {"x", "y"}, [&](Var x, Var y) { return a(x, y); }, "copy");
  auto between = [&](const std::string& from, const std::string& to) {
    return loop_intrinsic(
        copy, {.scope_of = [=](const te::Tensor& t) { return t.name() == "a" ? from : to; }});
  };
  te::Schedule s = te::create_schedule(B);
  te::Tensor result = s.cache_write(B, "local");
  te::Tensor input = s.cache_read(A, "shared", {result.op()});
  auto [io, jo, ii, ji] = s[B].tile(s[B].axis(0), s[B].axis(1), 4, 8);
  s[result].compute_at(s[B], jo);
  s[input].compute_at(s[B], jo);
  auto [yo, xo, yi, xi] = s[input].tile(s[input].axis(0), s[input].axis(1), 4, 8);
  s[input].tensorize(yi, between("global", "shared"));
  s[B].tensorize(ii, between("local", "global"));
  EXPECT_EQ(difference(s, {A, B}), "");
}

TEST(IntrinsicTails, OfWhatIsInlined) {
  te::Tensor A = matrix(11, 13, "A"), B = matrix(13, 9, "B");
  te::Tensor moved = te::compute(
      {10, 13}, {"i", "k"}, [&](Var i, Var k) { return A(i + 1, 12 - k); }, "moved");
  te::Tensor turned = te::compute(
      {10, 13}, {"i", "k"}, [&](Var i, Var k) { return moved(i, 12 - k); }, "turned");
  te::Tensor C = product(turned, B, Float(32), "C");
  te::Tensor D = te::compute(
      {10, 9}, {"i", "j"}, [&](Var i, Var j) { return C(i, j) + 1.0f; }, "D");
  te::Tensor c = product(matrix(4, 4, "a"), matrix(4, 4, "b"), Float(32), "c");
  te::Schedule s = te::create_schedule(D);
  s[moved].compute_inline();
  s[turned].compute_inline();
  auto [io, jo, ii, ji] = s[D].tile(s[D].axis(0), s[D].axis(1), 8, 8);
  s[C].compute_at(s[D], jo);
  tile_product(s[C], 4, 4, 4, loop_intrinsic(c));
  EXPECT_EQ(difference(s, {A, B, D}), "");
}

TEST(IntrinsicTails, OfLoopsThatAreFused) {
  te::Tensor A = matrix(7, 10, "A"), B = scaled(A, 7, 10, "B");
  te::Tensor b = te::compute(
      {4}, {"x"}, [a = te::placeholder({4}, "a")](Var x) { return a(x) * 2.0f; }, "b");
  te::Schedule s = te::create_schedule(B);
  auto [jo, ji] = s[B].split(s[B].axis(1), 4);
  const te::IterVar fused = s[B].fuse(s[B].axis(0), jo);
  s[B].parallel(fused).tensorize(ji, loop_intrinsic(b));
  EXPECT_EQ(difference(s, {A, B}), "");
}

// ---- memory -------------------------------------------------------------------------------------

TEST(IntrinsicTails, OffsetsThatAreMultiples) {
  te::Tensor A = matrix(6, 44, "A"), B = scaled(A, 6, 44, "B");
  te::Tensor b = te::compute(
      {4}, {"x"}, [a = te::placeholder({4}, "a")](Var x) { return a(x) * 2.0f; }, "b");
  for (int factor : {1, 2, 4}) {
    te::Schedule s = te::create_schedule(B);
    s[B].tensorize(s[B].split(s[B].axis(1), 4).inner, loop_intrinsic(b, {.offset_factor = factor}));
    EXPECT_EQ(difference(s, {A, B}), "") << factor;
  }
}

TEST(IntrinsicTails, ArgumentsWithStridesOfTheirOwn) {
  Var n = te::size_var("n"), m = te::size_var("m");
  te::Tensor A = te::placeholder({n, m}, "A");
  te::Tensor B = te::compute(
      {n, m}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * 2.0f; }, "B");
  te::Schedule s = te::create_schedule(B);
  auto [io, jo, ii, ji] = s[B].tile(s[B].axis(0), s[B].axis(1), 3, 4);
  s[B].tensorize(ii, loop_intrinsic(scaled(matrix(3, 4, "a"), 3, 4, "b")));
  EXPECT_EQ(difference(s, {A, B}, {.symbols = {2, 3, 4, 7, 12}}), "");
}

/// An intrinsic sees memory as a block.
TEST(IntrinsicTails, StagesWithALayoutOfTheirOwnAreRefused) {
  te::Tensor A = matrix(8, 18, "A");
  te::Tensor B = scaled(A, 8, 18, "B"), C = scaled(B, 8, 18, "C");
  te::Schedule s = te::create_schedule(C);
  s[B].transform_layout([](Var i, Var j) { return std::vector<Expr>{j, i}; });
  te::Tensor b = te::compute(
      {1, 4}, {"x", "y"}, [a = matrix(1, 4, "a")](Var x, Var y) { return a(x, y) * 2.0f; }, "b");
  s[C].tensorize(s[C].split(s[C].axis(1), 4).inner, loop_intrinsic(b));
  EXPECT_THROW(difference(s, {A, C}), ScheduleError);
}

TEST(IntrinsicTails, TruthValues) {
  te::Tensor A = matrix(6, 18, "A"), B = matrix(6, 18, "B"), a = te::placeholder({4}, "a"),
             b = te::placeholder({4}, "b");
  te::Tensor C = te::compute(
      {6, 18}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) > B(i, j); }, "C");
  te::Tensor c = te::compute(
      {4}, {"x"}, [&](Var x) { return b(x) < a(x); }, "c");
  te::Schedule s = te::create_schedule(C);
  s[C].tensorize(s[C].split(s[C].axis(1), 4).inner, loop_intrinsic(c));
  EXPECT_EQ(difference(s, {A, B, C}), "");
}

TEST(IntrinsicTails, SizesThatTheIntrinsicTakesFromItsPart) {
  Var m = te::var("m"), n = te::var("n"), l = te::var("l");
  te::Tensor c = product(matrix(m, l, "a"), matrix(l, n, "b"), Float(32), "c");
  te::Tensor A = matrix(14, 10, "A"), B = matrix(10, 14, "B"), C = product(A, B, Float(32), "C");
  te::Schedule s = te::create_schedule(C);
  tile_product(s[C], 4, 3, 4, loop_intrinsic(c));
  EXPECT_EQ(difference(s, {A, B, C}), "");
}

// ---- vectors as elements ------------------------------------------------------------------------

TEST(IntrinsicTails, ElementsThatAreVectors) {
  const DataType type = Float(32, 4);
  te::Tensor A = matrix(5, 10, "A", type), B = matrix(5, 10, "B", type);
  te::Tensor C = te::compute(
      {5, 10}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * B(i, j) + A(i, j); }, "C");
  te::Tensor a = te::placeholder({4}, "a", type), b = te::placeholder({4}, "b", type);
  te::Tensor c = te::compute(
      {4}, {"x"}, [&](Var x) { return a(x) + b(x) * a(x); }, "c");
  te::Schedule s = te::create_schedule(C);
  s[C].tensorize(s[C].split(s[C].axis(1), 4).inner, loop_intrinsic(c));
  EXPECT_EQ(difference(s, {A, B, C}), "");
}

}  // namespace
}  // namespace tenon::testing

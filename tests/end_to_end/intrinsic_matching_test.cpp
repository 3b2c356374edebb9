// Checks how operands, axes, inputs and dimensions of an intrinsic are matched, by their uses. The
// code of each intrinsic is loops over its declaration, so that a wrong match gives wrong numbers.
#include <gtest/gtest.h>

#include "tests/common/loop_intrinsics.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

/// With the check of every call, which compares with what is declared.
std::string difference(const te::Schedule& s, const std::vector<LowerArgument>& args) {
  return compare_with_default(s, args, {.build = {.check_intrinsics = true, .opt_level = 1}});
}

te::Tensor matrix(int rows, int columns, const std::string& name, DataType type = Float(32)) {
  return te::placeholder({rows, columns}, name, type);
}

// ---- one tensor for several inputs --------------------------------------------------------------

TEST(IntrinsicMatching, SquaresAreProductsOfOneTensorWithItself) {
  te::Tensor A = matrix(5, 20, "A"), a = te::placeholder({8}, "a"), b = te::placeholder({8}, "b");
  te::Tensor C = te::compute(
      {5, 20}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * A(i, j); }, "C");
  te::Tensor c = te::compute(
      {8}, {"x"}, [&](Var x) { return a(x) * b(x); }, "c");
  te::Schedule s = te::create_schedule(C);
  s[C].tensorize(s[C].split(s[C].axis(1), 8).inner, loop_intrinsic(c));
  EXPECT_EQ(difference(s, {A, C}), "");
}

/// c[x, y] = sum over r of a[x, r] b[y, r].
te::Tensor product_with_transpose(int m, int n, int l) {
  te::Tensor a = matrix(m, l, "a"), b = matrix(n, l, "b");
  te::IterVar r = te::reduce_axis({0, l}, "r");
  return te::compute(
      {m, n}, {"x", "y"}, [&](Var x, Var y) { return te::sum(a(x, r) * b(y, r), {r}); }, "c");
}

TEST(IntrinsicMatching, ATensorTimesItsOwnTransposeGivesEachInputItsRegion) {
  for (bool is_commuted : {false, true})
    for (int size : {12, 14}) {
      te::Tensor A = matrix(size, 10, "A");
      te::IterVar k = te::reduce_axis({0, 10}, "k");
      te::Tensor C = te::compute(
          {size, size}, {"i", "j"},
          [&](Var i, Var j) {
            return te::sum(is_commuted ? A(j, k) * A(i, k) : A(i, k) * A(j, k), {k});
          },
          "C");
      te::Schedule s = te::create_schedule(C);
      auto [io, jo, ii, ji] = s[C].tile(s[C].axis(0), s[C].axis(1), 4, 3);
      auto [ko, ki] = s[C].split(k, 4);
      s[C].reorder({io, jo, ko, ii, ji, ki})
          .tensorize(ii, loop_intrinsic(product_with_transpose(4, 3, 4)));
      EXPECT_EQ(difference(s, {A, C}), "") << size << is_commuted;
    }
}

TEST(IntrinsicMatching, SeveralReadsOfOneInputAreOneRegion) {
  te::Tensor A = matrix(6, 34, "A"), a = te::placeholder({10}, "a"), b = te::placeholder({8}, "b");
  // A stencil and, as another input, the same tensor further on.
  te::Tensor C = te::compute(
      {6, 24}, {"i", "j"}, [&](Var i, Var j) { return (A(i, j) + A(i, j + 2)) * A(i, j + 10); },
      "C");
  te::Tensor c = te::compute(
      {8}, {"x"}, [&](Var x) { return b(x) * (a(x + 2) + a(x)); }, "c");
  te::Schedule s = te::create_schedule(C);
  s[C].tensorize(s[C].split(s[C].axis(1), 8).inner, loop_intrinsic(c));
  EXPECT_EQ(difference(s, {A, C}), "");
}

// ---- axes by use --------------------------------------------------------------------------------

/// c[x] = sum over r, s of a[x + r, s] w[r, s], for a window of 2 x 3 (or as many the other way
/// round).
te::Tensor window(bool is_swapped) {
  te::Tensor a = matrix(5, 3, "a"), w = matrix(2, 3, "w");
  te::IterVar r = te::reduce_axis({0, 2}, "r"), s = te::reduce_axis({0, 3}, "s");
  const std::vector<te::IterVar> order = is_swapped ? std::vector{s, r} : std::vector{r, s};
  return te::compute(
      {4}, {"x"}, [&](Var x) { return te::sum(a(x + r, s) * w(r, s), order); }, "c");
}

TEST(IntrinsicMatching, ReductionAxesMayBeListedInAnotherOrder) {
  te::Tensor A = matrix(17, 3, "A"), W = matrix(2, 3, "W");
  te::IterVar kh = te::reduce_axis({0, 2}, "kh"), kw = te::reduce_axis({0, 3}, "kw");
  for (bool own_is_swapped : {false, true})
    for (bool is_swapped : {false, true}) {
      const std::vector<te::IterVar> order =
          own_is_swapped ? std::vector{kw, kh} : std::vector{kh, kw};
      te::Tensor C = te::compute(
          {16}, {"i"}, [&](Var i) { return te::sum(A(i + kh, kw) * W(kh, kw), order); }, "C");
      te::Schedule s = te::create_schedule(C);
      s[C].tensorize(s[C].split(s[C].axis(0), 4).inner, loop_intrinsic(window(is_swapped)));
      EXPECT_EQ(difference(s, {A, W, C}), "") << own_is_swapped << is_swapped;
    }
}

TEST(IntrinsicMatching, ReductionAxesOfOneExtentGoByTheReadsThatTheyStandIn) {
  te::Tensor A = matrix(12, 4, "A"), W = matrix(4, 4, "W"), a = matrix(7, 4, "a"),
             w = matrix(4, 4, "w");
  te::IterVar p = te::reduce_axis({0, 4}, "p"), q = te::reduce_axis({0, 4}, "q");
  te::IterVar r = te::reduce_axis({0, 4}, "r"), t = te::reduce_axis({0, 4}, "t");
  te::Tensor C = te::compute(
      {8}, {"i"},
      [&](Var i) {
        return te::sum(A(i + p, q) * W(q, p), {p, q});
      },
      "C");
  te::Tensor c = te::compute(
      {4}, {"x"},
      [&](Var x) {
        return te::sum(w(r, t) * a(x + t, r), {r, t});
      },
      "c");
  te::Schedule s = te::create_schedule(C);
  s[C].tensorize(s[C].split(s[C].axis(0), 4).inner, loop_intrinsic(c));
  EXPECT_EQ(difference(s, {A, W, C}), "");
}

TEST(IntrinsicMatching, ReductionAxesThatOneIndexMixesAreTriedOut) {
  te::Tensor A = te::placeholder({40}, "A"), a = te::placeholder({19}, "a");
  te::IterVar p = te::reduce_axis({0, 4}, "p"), q = te::reduce_axis({0, 4}, "q");
  te::IterVar r = te::reduce_axis({0, 4}, "r"), t = te::reduce_axis({0, 4}, "t");
  te::Tensor C = te::compute(
      {8}, {"i"},
      [&](Var i) {
        return te::sum(A(i + p * 4 + q), {p, q});
      },
      "C");
  te::Tensor c = te::compute(
      {4}, {"x"},
      [&](Var x) {
        return te::sum(a(x + t * 4 + r), {r, t});
      },
      "c");
  te::Schedule s = te::create_schedule(C);
  s[C].tensorize(s[C].split(s[C].axis(0), 4).inner, loop_intrinsic(c));
  EXPECT_EQ(difference(s, {A, C}), "");
}

TEST(IntrinsicMatching, DataAxesMayBeNamedTheOtherWayRoundWhereInputsTradePlaces) {
  te::Tensor A = matrix(8, 6, "A"), B = matrix(8, 6, "B");
  te::IterVar k = te::reduce_axis({0, 6}, "k");
  // The columns' tensor stands first.
  te::Tensor C = te::compute(
      {8, 8}, {"i", "j"}, [&](Var i, Var j) { return te::sum(B(j, k) * A(i, k), {k}); }, "C");
  te::Schedule s = te::create_schedule(C);
  auto [io, jo, ii, ji] = s[C].tile(s[C].axis(0), s[C].axis(1), 4, 4);
  s[C].tensorize(ii, loop_intrinsic(product_with_transpose(4, 4, 6)));
  EXPECT_EQ(difference(s, {A, B, C}), "");
}

TEST(IntrinsicMatching, TheTensorizedLoopsMayStandInAnyOrder) {
  for (int order = 0; order < 6; ++order) {
    te::Tensor A = matrix(8, 8, "A"), B = matrix(9, 8, "B");
    te::IterVar k = te::reduce_axis({0, 8}, "k");
    te::Tensor C = te::compute(
        {8, 9}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, k) * B(j, k), {k}); }, "C");
    te::Schedule s = te::create_schedule(C);
    auto [io, jo, ii, ji] = s[C].tile(s[C].axis(0), s[C].axis(1), 4, 3);
    auto [ko, ki] = s[C].split(k, 4);
    std::vector<te::IterVar> inside{ii, ji, ki};
    std::sort(inside.begin(), inside.end(),
              [](const auto& x, const auto& y) { return x.name() < y.name(); });
    for (int n = 0; n < order; ++n)
      std::next_permutation(inside.begin(), inside.end(),
                            [](const auto& x, const auto& y) { return x.name() < y.name(); });
    s[C].reorder({io, jo, ko, inside[0], inside[1], inside[2]});
    s[C].tensorize(inside[0], loop_intrinsic(product_with_transpose(4, 3, 4)));
    EXPECT_EQ(difference(s, {A, B, C}), "") << order;
  }
}

// ---- operands -----------------------------------------------------------------------------------

/// A body of `count` inputs, of which each may be told from the others: p0*2 + max(p1, p2*3) + ...
Expr mixed(const std::vector<Expr>& p, bool is_reversed) {
  auto both = [&](const std::function<Expr(Expr, Expr)>& op, const Expr& x, const Expr& y) {
    return is_reversed ? op(y, x) : op(x, y);
  };
  auto add = [](const Expr& x, const Expr& y) { return x + y; };
  auto mul = [](const Expr& x, const Expr& y) { return x * y; };
  auto largest = [](const Expr& x, const Expr& y) { return max(x, y); };
  Expr result = both(mul, p[0], 2.0f);
  for (std::size_t n = 1; n + 1 < p.size(); n += 2)
    result = both(add, both(largest, p[n], both(mul, p[n + 1], Expr(static_cast<float>(n + 2)))),
                  result);
  return result;
}

TEST(IntrinsicMatching, OperandsOfManyInputsMayTradePlaces) {
  std::vector<te::Tensor> own, theirs;
  std::vector<LowerArgument> args;
  for (int n = 0; n < 9; ++n) {
    own.push_back(matrix(4, 16, "A" + std::to_string(n)));
    theirs.push_back(te::placeholder({8}, "a" + std::to_string(n)));
    args.emplace_back(own.back());
  }
  te::Tensor C = te::compute(
      {4, 16}, {"i", "j"},
      [&](Var i, Var j) {
        std::vector<Expr> reads;
        for (const te::Tensor& tensor : own) reads.push_back(tensor(i, j));
        return mixed(reads, false);
      },
      "C");
  te::Tensor c = te::compute(
      {8}, {"x"},
      [&](Var x) {
        std::vector<Expr> reads;
        for (const te::Tensor& tensor : theirs) reads.push_back(tensor(x));
        return mixed(reads, true);
      },
      "c");
  args.emplace_back(C);
  te::Schedule s = te::create_schedule(C);
  s[C].tensorize(s[C].split(s[C].axis(1), 8).inner, loop_intrinsic(c));
  EXPECT_EQ(difference(s, args), "");
}

TEST(IntrinsicMatching, SumsOfIntegersMayBeInAnyOrderAltogether) {
  const DataType type = Int(32);
  te::Tensor A = matrix(4, 8, "A", type), B = matrix(4, 8, "B", type), D = matrix(4, 8, "D", type);
  te::Tensor a = te::placeholder({8}, "a", type), b = te::placeholder({8}, "b", type),
             d = te::placeholder({8}, "d", type);
  te::Tensor C = te::compute(
      {4, 8}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * 3 + (B(i, j) - D(i, j)); }, "C");
  te::Tensor c = te::compute(
      {8}, {"x"}, [&](Var x) { return (a(x) + 3 * b(x)) - d(x); }, "c");
  te::Schedule s = te::create_schedule(C);
  s[C].tensorize(s[C].axis(1), loop_intrinsic(c));
  EXPECT_EQ(difference(s, {A, B, D, C}), "");
}

TEST(IntrinsicMatching, SumsOfFloatsKeepTheirOrder) {
  te::Tensor A = matrix(4, 8, "A"), a = te::placeholder({8}, "a");
  te::Tensor C = te::compute(
      {4, 8}, {"i", "j"}, [&](Var i, Var j) { return (A(i, j) + 0.1f) + 1e8f * A(i, j); }, "C");
  te::Tensor c = te::compute(
      {8}, {"x"}, [&](Var x) { return a(x) + (0.1f + 1e8f * a(x)); }, "c");
  te::Schedule s = te::create_schedule(C);
  s[C].tensorize(s[C].axis(1), loop_intrinsic(c));
  EXPECT_THROW(lower(s, {A, C}), ScheduleError);
}

// ---- dimensions of one element ------------------------------------------------------------------

/// `shape` with a 1 inserted at the positions whose bits are set: bit 0 is before the first
/// dimension, and so on.
std::vector<Expr> with_ones(const std::vector<int>& shape, unsigned places) {
  std::vector<Expr> result;
  for (std::size_t d = 0; d <= shape.size(); ++d) {
    if ((places >> d) & 1u) result.emplace_back(1);
    if (d < shape.size()) result.emplace_back(shape[d]);
  }
  return result;
}

std::vector<Expr> with_zeros(const std::vector<Expr>& index, unsigned places) {
  std::vector<Expr> result;
  for (std::size_t d = 0; d <= index.size(); ++d) {
    if ((places >> d) & 1u) result.emplace_back(0);
    if (d < index.size()) result.push_back(index[d]);
  }
  return result;
}

/// The indices among `vars` without those of the dimensions that `with_ones` inserted.
std::vector<Expr> without_ones(std::span<const Var> vars, unsigned places, std::size_t rank) {
  std::vector<Expr> result;
  std::size_t at = 0;
  for (std::size_t d = 0; d <= rank; ++d) {
    at += (places >> d) & 1u;
    if (d < rank) result.emplace_back(vars[at++]);
  }
  return result;
}

/// out[i, j] = in[i + 1, j] * 2, each with ones at some places.
te::Tensor doubled(const te::Tensor& in, std::vector<int> shape, unsigned ones_in,
                   unsigned ones_out, int shift) {
  return te::compute(
      with_ones(shape, ones_out),
      [&](std::span<const Var> vars) {
        std::vector<Expr> index = without_ones(vars, ones_out, 2);
        index[0] = index[0] + shift;
        const std::vector<Expr> place = with_zeros(index, ones_in);
        return tir::make_producer_load(in.producer(), place) * 2.0f;
      },
      "doubled");
}

struct OnesTest : ::testing::TestWithParam<std::tuple<unsigned, unsigned>> {};

TEST_P(OnesTest, MayStandAnywhereInTheRegionOrInTheIntrinsic) {
  const auto [own, theirs] = GetParam();
  for (unsigned mixed_in : {0u, 7u}) {
    te::Tensor A = te::placeholder(with_ones({9, 16}, own ^ mixed_in), "A");
    te::Tensor a = te::placeholder(with_ones({4, 8}, theirs ^ mixed_in), "a");
    te::Tensor C = doubled(A, {8, 16}, own ^ mixed_in, own, 1),
               c = doubled(a, {4, 8}, theirs ^ mixed_in, theirs, 0);
    te::Schedule s = te::create_schedule(C);
    const int first = static_cast<int>(own & 1u),
              second = first + 1 + static_cast<int>((own >> 1) & 1u);
    auto [io, jo, ii, ji] = s[C].tile(s[C].axis(first), s[C].axis(second), 4, 8);
    s[C].tensorize(ii, loop_intrinsic(c));
    EXPECT_EQ(difference(s, {A, C}), "") << own << " " << theirs << " " << mixed_in;
  }
}

INSTANTIATE_TEST_SUITE_P(IntrinsicMatching, OnesTest,
                         ::testing::Combine(::testing::Range(0u, 8u), ::testing::Range(0u, 8u)));

TEST(IntrinsicMatching, AReductionOfOneStepMayBeMissingOnEitherSide) {
  for (bool own_has_one : {false, true})
    for (bool has_one : {false, true}) {
      te::Tensor A = matrix(6, 8, "A"), a = te::placeholder({8}, "a");
      te::IterVar k = te::reduce_axis({0, 8}, "k"), o = te::reduce_axis({0, 1}, "o");
      te::IterVar r = te::reduce_axis({0, 8}, "r"), u = te::reduce_axis({0, 1}, "u");
      te::Tensor C = te::compute(
          {6}, {"i"},
          [&](Var i) {
            return own_has_one ? te::sum(A(i + o, k), {o, k}) : te::sum(A(i, k), {k});
          },
          "C");
      te::Tensor c = te::compute(
          {1}, {"x"},
          [&](Var) {
            return has_one ? te::sum(a(r + u), {r, u}) : te::sum(a(r), {r});
          },
          "c");
      te::Schedule s = te::create_schedule(C);
      s[C].tensorize(k, loop_intrinsic(c));
      EXPECT_EQ(difference(s, {A, C}), "") << own_has_one << has_one;
    }
}

// ---- indices that are read ----------------------------------------------------------------------

TEST(IntrinsicMatching, IndicesThatAreReadGoByTheirReads) {
  te::Tensor A = te::placeholder({20}, "A"), I = te::placeholder({3, 8}, "I", Int(32));
  te::Tensor a = te::placeholder({20}, "a"), i0 = te::placeholder({8}, "i0", Int(32));
  auto limited = [](const Expr& e) { return max(min(e, 19), 0); };
  te::Tensor C = te::compute(
      {3, 8}, {"i", "j"}, [&](Var i, Var j) { return A(limited(I(i, j))) + 1.0f; }, "C");
  te::Tensor c = te::compute(
      {8}, {"x"}, [&](Var x) { return 1.0f + a(limited(i0(x))); }, "c");
  te::Schedule s = te::create_schedule(C);
  s[C].tensorize(s[C].axis(1), loop_intrinsic(c));
  EXPECT_EQ(difference(s, {A, I, C}), "");
}

}  // namespace
}  // namespace tenon::testing

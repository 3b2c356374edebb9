// The operator library's numbers, beside plain C++: reductions, and elements in other places.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tenon/tir/expr.h"
#include "tests/common/numbers.h"

namespace tenon::testing {
namespace {

using Indices = std::span<const std::int64_t>;
using Index = std::vector<std::int64_t>;

struct LibraryTest : ::testing::Test {
  te::Tensor A = te::placeholder({4, 3, 5}, "A"), B = te::placeholder({4, 2, 5}, "B");
};

// ---- reductions ---------------------------------------------------------------------------------

/// Calls f with every index below `count`.
double over(std::int64_t count, double start,
            const std::function<double(double, std::int64_t)>& f) {
  for (std::int64_t k = 0; k < count; ++k) start = f(start, k);
  return start;
}

TEST_F(LibraryTest, ReductionsCombineAllOfADimension) {
  auto sum = [](auto& in, Indices i) {
    return over(3, 0, [&](double s, std::int64_t k) { return s + in[0]({i[0], k, i[1]}); });
  };
  EXPECT_EQ(differs({A}, topi::sum(A, {1}), sum), "");
  EXPECT_EQ(differs({A}, topi::sum(A, {-2}, {.keepdims = true}),
                    [&](auto& in, Indices i) {
                      return sum(in, Index{i[0], i[2]});
                    }),
            "");
  EXPECT_EQ(differs({A}, topi::prod(A, {1}),
                    [](auto& in, Indices i) {
                      return over(3, 1, [&](double p, std::int64_t k) {
                        return p * in[0]({i[0], k, i[1]});
                      });
                    }),
            "");
}

TEST_F(LibraryTest, ReductionsOfSeveralDimensions) {
  auto greatest = [](auto& in, Indices i) {
    return over(20, -1e9, [&](double m, std::int64_t k) {
      return std::max(m, in[0]({k / 5, i[0], k % 5}));
    });
  };
  EXPECT_EQ(differs({A}, topi::max(A, {0, 2}), greatest), "");
  EXPECT_EQ(differs({A}, topi::min(A),
                    [](auto& in, Indices) {
                      return over(60, 1e9, [&](double m, std::int64_t k) {
                        return std::min(m, in[0]({k / 15, k / 5 % 3, k % 5}));
                      });
                    }),
            "");
}

TEST_F(LibraryTest, TruthsAreCombined) {
  te::Tensor T = te::placeholder({6, 2}, "T", Bool());
  auto count = [](auto& in, Indices i) { return in[0]({i[0], 0}) + in[0]({i[0], 1}); };
  EXPECT_EQ(differs({T}, topi::all(T, {1}), [&](auto& in, Indices i) { return count(in, i) == 2; }),
            "");
  EXPECT_EQ(differs({T}, topi::any(T, {1}), [&](auto& in, Indices i) { return count(in, i) > 0; }),
            "");
}

TEST_F(LibraryTest, PositionsAreThoseOfTheFirst) {
  // Small integers, so that there are equals.
  te::Tensor I = te::placeholder({3, 20}, "I", Int(8));
  auto first = [](bool greatest) {
    return [greatest](auto& in, Indices i) {
      std::int64_t best = 0;
      for (std::int64_t k = 1; k < 20; ++k)
        if (greatest ? in[0]({i[0], k}) > in[0]({i[0], best})
                     : in[0]({i[0], k}) < in[0]({i[0], best}))
          best = k;
      return static_cast<double>(best);
    };
  };
  EXPECT_EQ(differs({I}, topi::argmax(I, {1}), first(true)), "");
  EXPECT_EQ(differs({I}, topi::argmin(I, {1}), first(false)), "");
}

TEST_F(LibraryTest, PositionsInSeveralDimensionsCountRowByRow) {
  EXPECT_EQ(differs({A}, topi::argmax(A, {0, 2}),
                    [](auto& in, Indices i) {
                      std::int64_t best = 0;
                      for (std::int64_t k = 1; k < 20; ++k)
                        if (in[0]({k / 5, i[0], k % 5}) > in[0]({best / 5, i[0], best % 5}))
                          best = k;
                      return static_cast<double>(best);
                    }),
            "");
}

TEST_F(LibraryTest, PositionsPassByWhatIsNoNumber) {
  te::Tensor P = te::placeholder({4, 9}, "P");
  // The logarithm of a negative number is NaN, that of zero is less than any other.
  te::Tensor logs = te::compute(
      {4, 9}, [&](Var i, Var j) { return log(P(i, j)); }, "logs");
  EXPECT_EQ(differs({P}, topi::argmax(logs, {1}),
                    [](auto& in, Indices i) {
                      std::int64_t best = -1;
                      for (std::int64_t k = 0; k < 9; ++k) {
                        if (in[0]({i[0], k}) < 0) continue;
                        if (best < 0 || in[0]({i[0], k}) > in[0]({i[0], best})) best = k;
                      }
                      return static_cast<double>(std::max<std::int64_t>(best, 0));
                    }),
            "");
}

TEST_F(LibraryTest, PositionsAmongTheLeastNumbersAndNone) {
  te::Tensor F = topi::full({2, 3}, Float(32), -infinity(Float(32)));
  EXPECT_EQ(differs({}, topi::argmax(F, {1}), [](auto&, Indices) { return 0.0; }), "");
  te::Tensor None = topi::log(topi::full({2, 3}, Float(32), -1.0f));
  EXPECT_EQ(differs({}, topi::argmax(None, {1}), [](auto&, Indices) { return 0.0; }), "");
  EXPECT_EQ(differs({}, topi::argmax(topi::concatenate({None, F}, 1), {1}),
                    [](auto&, Indices) { return 3.0; }),
            "");
  te::Tensor I = topi::full({2, 3}, Int(8), -128);
  EXPECT_EQ(differs({}, topi::argmax(I, {1}), [](auto&, Indices) { return 0.0; }), "");
}

// ---- elements in other places -------------------------------------------------------------------

TEST_F(LibraryTest, TransposeAndReshape) {
  EXPECT_EQ(differs({A}, topi::transpose(A, {2, 0, 1}),
                    [](auto& in, Indices i) {
                      return in[0]({i[1], i[2], i[0]});
                    }),
            "");
  auto row_major = [](auto& in, std::int64_t k) { return in[0]({k / 15, k / 5 % 3, k % 5}); };
  EXPECT_EQ(differs({A}, topi::reshape(A, {2, 30}),
                    [&](auto& in, Indices i) { return row_major(in, i[0] * 30 + i[1]); }),
            "");
  EXPECT_EQ(
      differs({A}, topi::reshape(A, {5, 1, 6, 2}),
              [&](auto& in, Indices i) { return row_major(in, i[0] * 12 + i[2] * 2 + i[3]); }),
      "");
  EXPECT_EQ(differs({A}, topi::flatten(A),
                    [&](auto& in, Indices i) { return row_major(in, i[0] * 15 + i[1]); }),
            "");
}

TEST_F(LibraryTest, ReshapeOfNothingAndOfOneElement) {
  te::Tensor None = te::placeholder({0, 3}, "None"), One = te::placeholder({1, 1}, "One");
  EXPECT_EQ(differs({None}, topi::reshape(None, {2, 0, 5}), [](auto&, Indices) { return 0.0; }),
            "");
  EXPECT_EQ(differs({One}, topi::reshape(One, {}),
                    [](auto& in, Indices) {
                      return in[0]({0, 0});
                    }),
            "");
}

TEST_F(LibraryTest, ReshapeOfSymbolicShapes) {
  Var n = te::size_var("n");
  te::Tensor P = te::placeholder({n, 6}, "P");
  EXPECT_EQ(differs({P}, topi::reshape(P, {2, n, 3}),
                    [](auto& in, Indices i) {
                      const std::int64_t k = (i[0] * 5 + i[1]) * 3 + i[2];
                      return in[0]({k / 6, k % 6});
                    },
                    {.symbol = 5}),
            "");
}

TEST_F(LibraryTest, DimensionsOfExtentOne) {
  EXPECT_EQ(differs({A}, topi::expand_dims(A, 1),
                    [](auto& in, Indices i) {
                      return in[0]({i[0], i[2], i[3]});
                    }),
            "");
  te::Tensor Thin = te::placeholder({1, 4, 1}, "Thin");
  EXPECT_EQ(differs({Thin}, topi::squeeze(Thin),
                    [](auto& in, Indices i) {
                      return in[0]({0, i[0], 0});
                    }),
            "");
}

TEST_F(LibraryTest, SideBySide) {
  EXPECT_EQ(differs({A, B}, topi::concatenate({A, B, A}, 1),
                    [](auto& in, Indices i) {
                      const std::int64_t k = i[1];
                      return k < 3   ? in[0]({i[0], k, i[2]})
                             : k < 5 ? in[1]({i[0], k - 3, i[2]})
                                     : in[0]({i[0], k - 5, i[2]});
                    }),
            "");
  te::Tensor C = te::placeholder({4, 3, 5}, "C");
  EXPECT_EQ(differs({A, C}, topi::stack({A, C}, 1),
                    [](auto& in, Indices i) {
                      return in[static_cast<std::size_t>(i[1])]({i[0], i[2], i[3]});
                    }),
            "");
}

TEST_F(LibraryTest, PartsAreTheTensor) {
  EXPECT_EQ(differs({A}, topi::concatenate(topi::split(A, {1, 4}, 2), 2),
                    [](auto& in, Indices i) { return in[0](i); }),
            "");
  EXPECT_EQ(differs({A}, topi::split_sections(A, 2)[1],
                    [](auto& in, Indices i) {
                      return in[0]({i[0] + 2, i[1], i[2]});
                    }),
            "");
}

TEST_F(LibraryTest, SlicesStepAsTheyAreTold) {
  te::Tensor V = te::placeholder({10}, "V");
  // Begin, end, stride: as Python takes them, [begin:end:stride].
  struct Case {
    int begin, end, stride;
    Index places;
  };
  for (const Case& c : std::vector<Case>{{2, 7, 1, {2, 3, 4, 5, 6}},
                                         {0, 10, 3, {0, 3, 6, 9}},
                                         {-3, 99, 1, {7, 8, 9}},
                                         {8, 2, -2, {8, 6, 4}},
                                         {99, -99, -4, {9, 5, 1}},
                                         {3, 3, 1, {}},
                                         {5, 2, 1, {}},
                                         {-99, 2, 1, {0, 1}}}) {
    const te::Tensor part = topi::strided_slice(V, {c.begin}, {c.end}, {c.stride});
    ASSERT_EQ(tir::constant_int(part.shape()[0]), static_cast<std::int64_t>(c.places.size()));
    EXPECT_EQ(differs({V}, part,
                      [&](auto& in, Indices i) {
                        return in[0]({c.places[static_cast<std::size_t>(i[0])]});
                      },
                      {.compile = false}),
              "")
        << c.begin << ":" << c.end << ":" << c.stride;
  }
  EXPECT_EQ(differs({A}, topi::strided_slice(A, {1, 2}, {4, -4}, {2, -1}),
                    [](auto& in, Indices i) {
                      return in[0]({1 + 2 * i[0], 2 - i[1], i[2]});
                    }),
            "");
}

TEST_F(LibraryTest, TakenPlacesEndAtTheEnds) {
  for (DataType type : {Int(32), Int(8), Int(64), UInt(8), UInt(64)}) {
    te::Tensor I = te::placeholder({2, 4}, "I", type);
    EXPECT_EQ(differs({A, I}, topi::take(A, I, 1),
                      [](auto& in, Indices i) {
                        const auto k = static_cast<std::int64_t>(in[1]({i[1], i[2]}));
                        return in[0]({i[0], std::clamp<std::int64_t>(k, 0, 2), i[3]});
                      },
                      {.compile = type == Int(32)}),
              "")
        << type.str();
  }
}

TEST_F(LibraryTest, PaddingSurrounds) {
  EXPECT_EQ(differs({A}, topi::pad(A, {1, 0, 2}, {0, 1}, -1.5f),
                    [](auto& in, Indices i) {
                      const std::int64_t x = i[0] - 1, y = i[1], z = i[2] - 2;
                      return x < 0 || y > 2 || z < 0 ? -1.5 : in[0]({x, y, z});
                    }),
            "");
}

TEST_F(LibraryTest, InlinedTheyReadTheOriginal) {
  te::Tensor B2 = topi::reshape(topi::transpose(topi::pad(A, {1}, {1}), {2, 1, 0}), {15, 6});
  te::Tensor C = topi::sum(topi::strided_slice(B2, {1}, {14}, {3}), {1});
  te::Schedule s = te::create_schedule(C);
  EXPECT_EQ(te::auto_inline_injective(s).size(), 4u);
  EXPECT_EQ(compare_with_default(s, {A, C}), "");
}

}  // namespace
}  // namespace tenon::testing

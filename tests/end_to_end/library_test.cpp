// The operator library's numbers, compared with plain C++ and across schedules.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <sstream>

#include "tenon/driver/lower.h"
#include "tenon/driver/target.h"
#include "tenon/te/operation_kind.h"
#include "tenon/te/relation.h"
#include "tenon/te/stage_data.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/walk.h"
#include "tenon/topi/blas.h"
#include "tenon/topi/broadcast.h"
#include "tenon/topi/convolution.h"
#include "tenon/topi/cpu.h"
#include "tenon/topi/elementwise.h"
#include "tenon/topi/scan.h"
#include "tenon/topi/schedule.h"
#include "tenon/topi/transformer.h"
#include "tests/common/cpu_targets.h"
#include "tests/common/numbers.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

// ---- reductions, and elements in other places ---------------------------------------------------

// The operator library's numbers, beside plain C++: reductions, and elements in other places.

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

// ---- neural networks ----------------------------------------------------------------------------

// The operator library's neural networks, beside plain C++.

double sum(std::int64_t count, const std::function<double(std::int64_t)>& term) {
  double total = 0;
  for (std::int64_t k = 0; k < count; ++k) total += term(k);
  return total;
}

TEST(LibraryNnTest, Gelu) {
  te::Tensor A = te::placeholder({5, 7}, "A");
  auto truth = [](auto& in, Indices i) {
    const double x = in[0](i);
    return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
  };
  EXPECT_EQ(differs({A}, topi::gelu(A), truth), "");
}

TEST(LibraryNnTest, Norms) {
  te::Tensor A = te::placeholder({3, 9}, "A"), G = te::placeholder({9}, "G"),
             B = te::placeholder({9}, "B");
  auto layer = [](auto& in, Indices i) {
    auto x = [&](std::int64_t k) { return in[0]({i[0], k}); };
    const double mean = sum(9, x) / 9;
    const double variance = sum(9, [&](std::int64_t k) { return std::pow(x(k) - mean, 2); }) / 9;
    return (x(i[1]) - mean) / std::sqrt(variance + 0.5) * in[1]({i[1]}) + in[2]({i[1]});
  };
  EXPECT_EQ(differs({A, G, B}, topi::layer_norm(A, G, B, 0.5), layer), "");
  auto rms = [](auto& in, Indices i) {
    const double mean = sum(9, [&](std::int64_t k) { return std::pow(in[0]({i[0], k}), 2); }) / 9;
    return in[0](i) / std::sqrt(mean + 0.5) * in[1]({i[1]});
  };
  EXPECT_EQ(differs({A, G}, topi::rms_norm(A, G, 0.5), rms), "");
}

TEST(LibraryNnTest, Attention) {
  te::Tensor Q = te::placeholder({2, 3, 4}, "Q"), K = te::placeholder({2, 5, 4}, "K"),
             V = te::placeholder({2, 5, 6}, "V");
  auto truth = [](auto& in, Indices i) {
    auto power = [&](std::int64_t j) {
      return std::exp(0.25 * sum(4, [&](std::int64_t w) {
                        return in[0]({i[0], i[1], w}) * in[1]({i[0], j, w});
                      }));
    };
    return sum(5,
               [&](std::int64_t j) {
                 return power(j) * in[2]({i[0], j, i[2]});
               }) /
           sum(5, power);
  };
  EXPECT_EQ(differs({Q, K, V}, topi::attention(Q, K, V, {.scale = 0.25}), truth), "");
}

TEST(LibraryNnTest, ProductsOfMatrices) {
  for (const bool transpose_a : {false, true})
    for (const bool transpose_b : {false, true}) {
      te::Tensor A =
          te::placeholder(transpose_a ? std::vector<Expr>{6, 4} : std::vector<Expr>{4, 6}, "A");
      te::Tensor B =
          te::placeholder(transpose_b ? std::vector<Expr>{5, 6} : std::vector<Expr>{6, 5}, "B");
      auto truth = [&](auto& in, Indices i) {
        return sum(6, [&](std::int64_t k) {
          return (transpose_a ? in[0]({k, i[0]}) : in[0]({i[0], k})) *
                 (transpose_b ? in[1]({i[1], k}) : in[1]({k, i[1]}));
        });
      };
      EXPECT_EQ(
          differs({A, B},
                  topi::matmul(A, B, {.transpose_a = transpose_a, .transpose_b = transpose_b}),
                  truth, {.compile = !transpose_a}),
          "")
          << transpose_a << transpose_b;
    }
}

TEST(LibraryNnTest, SmallIntegersAreSummedUpInTheTypeThatIsAskedFor) {
  te::Tensor A = te::placeholder({3, 200}, "A", Int(8)), W = te::placeholder({2, 200}, "W", Int(8));
  EXPECT_EQ(differs({A, W}, topi::dense(A, W, {.out_dtype = Int(32)}),
                    [](auto& in, Indices i) {
                      return sum(200, [&](std::int64_t k) {
                        return in[0]({i[0], k}) * in[1]({i[1], k});
                      });
                    }),
            "");
}

TEST(LibraryNnTest, ALayerWithItsBias) {
  te::Tensor X = te::placeholder({3, 7}, "X"), W = te::placeholder({2, 7}, "W"),
             B = te::placeholder({2}, "B");
  EXPECT_EQ(differs({X, W, B}, topi::dense(X, W, B),
                    [](auto& in, Indices i) {
                      return in[2]({i[1]}) + sum(7, [&](std::int64_t k) {
                               return in[0]({i[0], k}) * in[1]({i[1], k});
                             });
                    }),
            "");
}

TEST(LibraryNnTest, OneMatrixServesAllOfABatch) {
  te::Tensor A = te::placeholder({4, 2, 3}, "A"), One = te::placeholder({1, 3, 5}, "One"),
             B = te::placeholder({4, 5, 3}, "B");
  EXPECT_EQ(differs({A, One}, topi::batch_matmul(A, One),
                    [](auto& in, Indices i) {
                      return sum(3, [&](std::int64_t k) {
                        return in[0]({i[0], i[1], k}) * in[1]({0, k, i[2]});
                      });
                    }),
            "");
  EXPECT_EQ(differs({One, B}, topi::batch_matmul(One, B),
                    [](auto& in, Indices i) {
                      return sum(5, [&](std::int64_t k) {
                        return in[0]({0, i[1], k}) * in[1]({i[0], k, i[2]});
                      });
                    }),
            "");
}

TEST(LibraryNnTest, SoftmaxAlongAnyDimension) {
  te::Tensor X = te::placeholder({3, 4, 5}, "X");
  EXPECT_EQ(differs({X}, topi::softmax(X),
                    [](auto& in, Indices i) {
                      return std::exp(in[0](i)) / sum(5, [&](std::int64_t k) {
                               return std::exp(in[0]({i[0], i[1], k}));
                             });
                    }),
            "");
  EXPECT_EQ(differs({X}, topi::softmax(X, 1),
                    [](auto& in, Indices i) {
                      return std::exp(in[0](i)) / sum(4, [&](std::int64_t k) {
                               return std::exp(in[0]({i[0], k, i[2]}));
                             });
                    }),
            "");
}

TEST(LibraryNnTest, SoftmaxDoesNotOverflow) {
  te::Tensor X = te::placeholder({6}, "X");
  EXPECT_EQ(differs({X}, topi::softmax(X * 1000.0f),
                    [](auto& in, Indices i) {
                      double greatest = -1e9;
                      for (std::int64_t k = 0; k < 6; ++k)
                        greatest = std::max(greatest, in[0]({k}));
                      auto power = [&](std::int64_t k) {
                        return std::exp(1000 * (in[0]({k}) - greatest));
                      };
                      return power(i[0]) / sum(6, power);
                    }),
            "");
}

// ---- windows ------------------------------------------------------------------------------------

/// Calls f with every element of the window at `i` that there is; window 3 x 2, stride 2 x 1,
/// padding 1 at the top, left and right.
void in_window(const Element& x, Indices i, const std::function<void(double)>& f) {
  for (std::int64_t p = 0; p < 3; ++p)
    for (std::int64_t q = 0; q < 2; ++q) {
      const std::int64_t y = i[2] * 2 + p - 1, z = i[3] + q - 1;
      if (y >= 0 && y < x.extent(2) && z >= 0 && z < x.extent(3)) f(x({i[0], i[1], y, z}));
    }
}
const topi::PoolOptions kPool{.stride = {2, 1}, .padding = {1, 1, 0, 1}};

TEST(LibraryNnTest, TheGreatestOfAWindow) {
  for (DataType type : {Float(32), Int(8)}) {
    te::Tensor X = te::placeholder({2, 3, 7, 5}, "X", type);
    EXPECT_EQ(differs({X}, topi::max_pool2d(X, {3, 2}, kPool),
                      [](auto& in, Indices i) {
                        double greatest = -1e9;
                        in_window(in[0], i, [&](double x) { greatest = std::max(greatest, x); });
                        return greatest;
                      }),
              "");
  }
}

TEST(LibraryNnTest, TheMeanOfAWindowCountsWhatIsThere) {
  te::Tensor X = te::placeholder({2, 3, 7, 5}, "X");
  EXPECT_EQ(differs({X}, topi::avg_pool2d(X, {3, 2}, kPool),
                    [](auto& in, Indices i) {
                      double total = 0;
                      int count = 0;
                      in_window(in[0], i, [&](double x) { total += x, ++count; });
                      return total / count;
                    }),
            "");
  EXPECT_EQ(
      differs(
          {X}, topi::avg_pool2d(X, {7, 5}),
          [](auto& in, Indices i) {
            return sum(35, [&](std::int64_t k) { return in[0]({i[0], i[1], k / 5, k % 5}); }) / 35;
          }),
      "");
}

TEST(LibraryNnTest, PoolsOfNhwcImagesReduceEachChannel) {
  te::Tensor X = te::placeholder({2, 7, 5, 3}, "X");
  topi::PoolOptions options = kPool;
  options.layout = topi::Layout::Nhwc;
  // The window of the transposed image.
  const auto values = [](auto& in, Indices i, const std::function<void(double)>& f) {
    for (std::int64_t p = 0; p < 3; ++p)
      for (std::int64_t q = 0; q < 2; ++q) {
        const std::int64_t y = i[1] * 2 + p - 1, x = i[2] + q - 1;
        if (y >= 0 && y < 7 && x >= 0 && x < 5) f(in[0]({i[0], y, x, i[3]}));
      }
  };
  EXPECT_EQ(differs({X}, topi::max_pool2d(X, {3, 2}, options),
                    [&](auto& in, Indices i) {
                      double greatest = -1e9;
                      values(in, i, [&](double x) { greatest = std::max(greatest, x); });
                      return greatest;
                    }),
            "");
  EXPECT_EQ(differs({X}, topi::avg_pool2d(X, {3, 2}, options),
                    [&](auto& in, Indices i) {
                      double total = 0;
                      int count = 0;
                      values(in, i, [&](double x) { total += x, ++count; });
                      return total / count;
                    }),
            "");
}

TEST(LibraryNnTest, Convolution) {
  te::Tensor X = te::placeholder({2, 3, 8, 9}, "X"), K = te::placeholder({4, 3, 3, 2}, "K");
  for (const topi::ConvolutionOptions& c :
       {topi::ConvolutionOptions{}, topi::ConvolutionOptions{.stride = {2, 3}},
        topi::ConvolutionOptions{.stride = {1, 2}, .dilation = {2, 3}, .padding = {1, 2, 3, 0}}})
    EXPECT_EQ(
        differs({X, K}, topi::conv2d_nchw(X, K, c),
                [&](auto& in, Indices i) {
                  return sum(18, [&](std::int64_t k) {
                    const std::int64_t channel = k / 6, p = k / 2 % 3, q = k % 2;
                    const std::int64_t y = i[2] * c.stride[0] + p * c.dilation[0] - c.padding[0],
                                       z = i[3] * c.stride[1] + q * c.dilation[1] - c.padding[1];
                    if (y < 0 || y >= 8 || z < 0 || z >= 9) return 0.0;
                    return in[0]({i[0], channel, y, z}) * in[1]({i[1], channel, p, q});
                  });
                }),
        "");
}

TEST(LibraryNnTest, ConvolutionOfSymbolicImages) {
  Var n = te::size_var("n");
  te::Tensor X = te::placeholder({1, 2, n, n}, "X"), K = te::placeholder({3, 2, 3, 3}, "K");
  EXPECT_EQ(differs({X, K}, topi::conv2d_nchw(X, K, {.padding = {1, 1, 1, 1}}),
                    [](auto& in, Indices i) {
                      return sum(18, [&](std::int64_t k) {
                        const std::int64_t y = i[2] + k / 3 % 3 - 1, z = i[3] + k % 3 - 1;
                        if (y < 0 || y >= in[0].extent(2) || z < 0 || z >= in[0].extent(3))
                          return 0.0;
                        return in[0]({0, k / 9, y, z}) * in[1]({i[1], k / 9, k / 3 % 3, k % 3});
                      });
                    },
                    {.symbol = 6}),
            "");
}

TEST(LibraryNnTest, ANetworkInlinedByWhatItsOperationsAre) {
  te::Tensor X = te::placeholder({1, 2, 8, 8}, "X"), K = te::placeholder({3, 2, 3, 3}, "K");
  te::Tensor W = te::placeholder({5, 48}, "W"), B = te::placeholder({5}, "B");
  te::Tensor features = topi::relu(topi::conv2d_nchw(X, K, {.padding = {1, 1, 1, 1}}));
  te::Tensor pooled = topi::flatten(topi::max_pool2d(features, {2, 2}, {.stride = {2, 2}}));
  te::Tensor Y = topi::softmax(topi::dense(pooled, W, B));
  te::Schedule s = te::create_schedule(Y);
  // T_pad, T_relu, T_flatten, T_add, and T_softmax_exp.
  EXPECT_EQ(te::auto_inline_injective(s).size(), 5u);
  EXPECT_EQ(compare_with_default(s, {X, K, W, B, Y}), "");
}

// ---- convolutions -------------------------------------------------------------------------------

// Convolutions of the operator library beside conv2d_nchw, beside plain C++, and their schedules
// for processors.

using Options = topi::ConvolutionOptions;

const std::vector<Options> kOptions = {
    {}, {.stride = {2, 3}}, {.stride = {1, 2}, .dilation = {2, 3}, .padding = {1, 2, 3, 0}}};

/// An element of the image at the place of a window's point; 0 in the padding.
struct Image {
  const Options& options;
  std::int64_t height, width;

  template <class At>
  double at(std::int64_t y, std::int64_t x, std::int64_t p, std::int64_t q, At read) const {
    y = y * options.stride[0] + p * options.dilation[0] - options.padding[0];
    x = x * options.stride[1] + q * options.dilation[1] - options.padding[1];
    return y < 0 || y >= height || x < 0 || x >= width ? 0.0 : read(y, x);
  }
};

/// Over the window's 3 x 2 points and so many channels: the image's element at the place of a point
/// of window (y, x), times the kernel's. `of_image(channel, row, column)` reads an element,
/// `of_kernel(channel, p, q)` as well.
template <class OfImage, class OfKernel>
double summed(const Image& image, std::int64_t y, std::int64_t x, int channels, OfImage of_image,
              OfKernel of_kernel) {
  double sum = 0;
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t p = 0; p < 3; ++p)
      for (std::int64_t q = 0; q < 2; ++q)
        sum += image.at(y, x, p, q, std::bind_front(of_image, c)) * of_kernel(c, p, q);
  return sum;
}

TEST(LibraryConvolution, Depthwise) {
  for (const int multiplier : {1, 2})
    for (const Options& options : kOptions) {
      te::Tensor X = te::placeholder({2, 3, 8, 9}, "X"),
                 K = te::placeholder({3, multiplier, 3, 2}, "K");
      const Image image{options, 8, 9};
      auto truth = [&](auto& in, Indices i) {
        const std::int64_t channel = i[1] / multiplier, which = i[1] % multiplier;
        return summed(
            image, i[2], i[3], 1,
            [&](auto, auto y, auto x) {
              return in[0]({i[0], channel, y, x});
            },
            [&](auto, auto p, auto q) {
              return in[1]({channel, which, p, q});
            });
      };
      EXPECT_EQ(differs({X, K}, topi::depthwise_conv2d_nchw(X, K, options), truth), "")
          << multiplier;
    }
}

TEST(LibraryConvolution, NhwcDepthwiseConvolutionsComputeTheDefinition) {
  for (const int multiplier : {1, 2})
    for (const Options& options : kOptions) {
      te::Tensor X = te::placeholder({2, 8, 9, 3}, "X"),
                 K = te::placeholder({3, 2, 3, multiplier}, "K");
      const Image image{options, 8, 9};
      auto truth = [&](auto& in, Indices i) {
        const std::int64_t channel = i[3] / multiplier, which = i[3] % multiplier;
        return summed(
            image, i[1], i[2], 1,
            [&](auto, auto y, auto x) {
              return in[0]({i[0], y, x, channel});
            },
            [&](auto, auto p, auto q) {
              return in[1]({p, q, channel, which});
            });
      };
      EXPECT_EQ(differs({X, K}, topi::depthwise_conv2d_nhwc(X, K, options), truth), "")
          << multiplier;
    }
}

TEST(LibraryConvolution, OfGroups) {
  for (const Options& options : kOptions) {
    te::Tensor X = te::placeholder({2, 6, 8, 9}, "X"), K = te::placeholder({4, 3, 3, 2}, "K");
    const Image image{options, 8, 9};
    auto truth = [&](auto& in, Indices i) {
      return summed(
          image, i[2], i[3], 3,
          [&](auto c, auto y, auto x) {
            return in[0]({i[0], i[1] / 2 * 3 + c, y, x});
          },
          [&](auto c, auto p, auto q) {
            return in[1]({i[1], c, p, q});
          });
    };
    EXPECT_EQ(differs({X, K}, topi::group_conv2d_nchw(X, K, 2, options), truth), "");
  }
}

TEST(LibraryConvolution, NhwcConvolutionsComputeTheDefinition) {
  for (const Options& options : kOptions) {
    te::Tensor X = te::placeholder({2, 8, 9, 3}, "X"), K = te::placeholder({3, 2, 3, 4}, "K");
    const Image image{options, 8, 9};
    auto truth = [&](auto& in, Indices i) {
      return summed(
          image, i[1], i[2], 3,
          [&](auto c, auto y, auto x) {
            return in[0]({i[0], y, x, c});
          },
          [&](auto c, auto p, auto q) {
            return in[1]({p, q, c, i[3]});
          });
    };
    EXPECT_EQ(differs({X, K}, topi::conv2d_nhwc(X, K, options), truth), "");
  }
}

template <class F>
std::string refusal(F f) {
  try {
    f();
    return "";
  } catch (const TypeError& error) {
    return error.what();
  }
}

TEST(LibraryConvolution, RefusesWhatDoesNotFit) {
  te::Tensor X = te::placeholder({2, 6, 8, 9}, "X"), K = te::placeholder({4, 3, 3, 3}, "K");
  const std::string depthwise = refusal([&] { topi::depthwise_conv2d_nchw(X, K); });
  EXPECT_NE(depthwise.find("dimension 1 of `X` has extent 6"), std::string::npos) << depthwise;
  const std::string groups = refusal([&] { topi::group_conv2d_nchw(X, K, 4); });
  EXPECT_NE(groups.find("dimension 1 of `X` must be a constant multiple of the 4 groups"),
            std::string::npos)
      << groups;
  const std::string part = refusal([&] { topi::group_conv2d_nchw(X, K, 1); });
  EXPECT_NE(part.find("dimension 1 of `K` must have extent 6"), std::string::npos) << part;
  const std::string none = refusal([&] { topi::group_conv2d_nchw(X, K, 0); });
  EXPECT_NE(none.find("groups must be positive"), std::string::npos) << none;
  const std::string side = refusal([&] { topi::conv2d_nhwc(X, K); });
  EXPECT_NE(side.find("dimension 3 of `X` has extent 9"), std::string::npos) << side;
  EXPECT_NE(side.find("library_test.cpp"), std::string::npos) << side;
}

// ---- schedules ----------------------------------------------------------------------------------

TEST(CpuWindows, DepthwiseOfAnyWindows) {
  for (const auto& [width, size, stride, dilation, padding] :
       std::vector<std::tuple<int, int, int, int, int>>{{56, 3, 1, 1, 1},
                                                        {17, 3, 2, 1, 1},
                                                        {35, 5, 1, 2, 4},
                                                        {9, 7, 1, 1, 0},
                                                        {27, 5, 2, 1, 1}}) {
    te::Tensor X = te::placeholder({2, 3, 11, width}, "X"),
               K = te::placeholder({3, 1, size, size}, "K"),
               Bias = te::placeholder({3, 1, 1}, "Bias");
    te::Tensor Y = topi::depthwise_conv2d_nchw(X, K,
                                               {.stride = {stride, stride},
                                                .dilation = {dilation, dilation},
                                                .padding = {padding, padding, padding, padding}});
    te::Tensor Z = topi::relu(topi::add(Y, Bias));
    EXPECT_EQ(scheduled_differs(Y, {X, K, Y}), "") << width;
    EXPECT_EQ(scheduled_differs(Z, {X, K, Bias, Z}), "") << width;
  }
}

TEST(CpuWindows, ScheduledNhwcDepthwiseConvolutionsAreRight) {
  for (const auto& [channels, width, size, stride, dilation, padding, multiplier] :
       std::vector<std::tuple<int, int, int, int, int, int, int>>{{16, 12, 3, 1, 1, 1, 1},
                                                                  {19, 9, 3, 2, 1, 1, 1},
                                                                  {3, 9, 5, 1, 2, 4, 1},
                                                                  {24, 7, 7, 1, 1, 0, 1},
                                                                  {9, 6, 5, 2, 1, 2, 2}}) {
    te::Tensor X = te::placeholder({1, 7, width, channels}, "X"),
               K = te::placeholder({size, size, channels, multiplier}, "K"),
               Bias = te::placeholder({channels * multiplier}, "Bias");
    te::Tensor Y = topi::depthwise_conv2d_nhwc(topi::relu(X), K,
                                               {.stride = {stride, stride},
                                                .dilation = {dilation, dilation},
                                                .padding = {padding, padding, padding, padding}});
    te::Tensor Z = topi::relu(topi::add(Y, Bias));
    EXPECT_EQ(scheduled_differs(Z, {X, K, Bias, Z}, {.compile_c = false}), "") << channels;
  }
  te::Tensor X = te::placeholder({2, 4, 5, 16}, "X"), K = te::placeholder({3, 3, 16, 1}, "K");
  te::Tensor Y = topi::depthwise_conv2d_nhwc(X, K, {.padding = {1, 1, 1, 1}});
  EXPECT_EQ(scheduled_differs(Y, {X, K, Y}), "");
}

TEST(CpuWindows, ScheduledNhwcPoolsAreRight) {
  te::Tensor X = te::placeholder({2, 12, 13, 19}, "X");
  for (const int stride : {1, 2}) {
    const topi::PoolOptions options{
        .stride = {stride, stride}, .padding = {1, 1, 1, 1}, .layout = topi::Layout::Nhwc};
    te::Tensor M = topi::max_pool2d(X, {3, 3}, options), A = topi::avg_pool2d(X, {2, 2}, options);
    EXPECT_EQ(scheduled_differs(M, {X, M}), "") << stride;
    EXPECT_EQ(scheduled_differs(A, {X, A}), "") << stride;
  }
  te::Tensor whole = topi::avg_pool2d(X, {12, 13}, {.layout = topi::Layout::Nhwc});
  EXPECT_EQ(scheduled_differs(whole, {X, whole}), "");
}

// Reading the matrix of a product as an image moves no element, so no copy is needed.
TEST(CpuWindows, PaddingAndReshapesBeforeNhwcWindowsAreNotStored) {
  te::Tensor A = te::placeholder({63, 8}, "A"), B = te::placeholder({8, 16}, "B"),
             K = te::placeholder({3, 3, 16, 1}, "K");
  te::Tensor image = topi::reshape(topi::matmul(A, B), {1, 7, 9, 16});
  te::Tensor Y = topi::depthwise_conv2d_nhwc(image, K, {.padding = {1, 1, 1, 1}});
  const te::Schedule s = te::create_schedule(Y);
  topi::schedule(s, {Y}, cpu_targets()[1]);
  EXPECT_EQ(compare_with_default(s, {A, B, K, Y}, {.compile_c = false}), "");
  std::ostringstream text;
  text << lower(s, {A, B, K, Y});
  EXPECT_EQ(text.str().find("allocate(T_pad"), std::string::npos) << text.str();
  EXPECT_EQ(text.str().find("allocate(T_reshape"), std::string::npos) << text.str();
}

// Results of few columns are computed as vectors of channels.
TEST(CpuWindows, ShortRowsOfManyChannelsAreRight) {
  for (const auto& [channels, height, width, size, stride, padding] :
       std::vector<std::tuple<int, int, int, int, int, int>>{
           {16, 7, 7, 5, 1, 2}, {19, 7, 6, 7, 2, 3}, {33, 7, 7, 7, 1, 0}, {20, 8, 14, 5, 3, 1}}) {
    te::Tensor X = te::placeholder({1, channels, height, width}, "X"),
               K = te::placeholder({channels, 1, size, size}, "K"),
               Bias = te::placeholder({channels, 1, 1}, "Bias");
    const std::array<int, 4> sides{padding, padding, padding, padding};
    te::Tensor Y = topi::depthwise_conv2d_nchw(topi::relu(X), K,
                                               {.stride = {stride, stride}, .padding = sides});
    te::Tensor Z = topi::relu(topi::add(Y, Bias));
    EXPECT_EQ(scheduled_differs(Z, {X, K, Bias, Z}, {.compile_c = false}), "") << channels;
    const topi::PoolOptions options{.stride = {stride, stride}, .padding = sides};
    te::Tensor M = topi::max_pool2d(X, {size, size}, options),
               A = topi::avg_pool2d(X, {size, size}, options);
    EXPECT_EQ(scheduled_differs(M, {X, M}), "") << channels;
    EXPECT_EQ(scheduled_differs(A, {X, A}, {.compile_c = false}), "") << channels;
  }
}

TEST(CpuWindows, PoolsWhoseColumnsAreSeparated) {
  for (const int stride : {2, 3})
    for (const int padding : {0, 2}) {
      te::Tensor X = te::placeholder({1, 2, 13, 24}, "X");
      const topi::PoolOptions options{.stride = {stride, stride},
                                      .padding = {padding, padding, padding, padding}};
      te::Tensor M = topi::max_pool2d(X, {7, 7}, options), A = topi::avg_pool2d(X, {7, 7}, options);
      EXPECT_EQ(scheduled_differs(M, {X, M}), "") << stride << ", " << padding;
      EXPECT_EQ(scheduled_differs(A, {X, A}), "") << stride << ", " << padding;
    }
}

TEST(CpuWindows, Pools) {
  te::Tensor X = te::placeholder({2, 3, 12, 35}, "X");
  for (const int stride : {1, 2}) {
    const topi::PoolOptions options{.stride = {stride, stride}, .padding = {1, 1, 1, 1}};
    te::Tensor M = topi::max_pool2d(X, {3, 3}, options), A = topi::avg_pool2d(X, {2, 2}, options);
    EXPECT_EQ(scheduled_differs(M, {X, M}), "") << stride;
    EXPECT_EQ(scheduled_differs(A, {X, A}), "") << stride;
  }
}

TEST(CpuWindows, OfImagesWhoseSizesOnlyTheCallKnows) {
  Var n = te::size_var("n");
  te::Tensor I = te::placeholder({n, n, n, n}, "I"), L = te::placeholder({3, 3, n, 1}, "L");
  te::Tensor D = topi::depthwise_conv2d_nhwc(I, L, {.padding = {1, 1, 1, 1}});
  EXPECT_EQ(scheduled_differs(D, {n, I, L, D}, {.compile_c = false}), "");
  te::Tensor X = te::placeholder({1, 2, n, n}, "X"), K = te::placeholder({2, 1, 3, 3}, "K");
  te::Tensor Y = topi::depthwise_conv2d_nchw(X, K, {.padding = {1, 1, 1, 1}});
  EXPECT_EQ(scheduled_differs(Y, {n, X, K, Y}), "");
  te::Tensor P = topi::max_pool2d(X, {5, 5}, {.stride = {2, 2}, .padding = {2, 2, 2, 2}});
  EXPECT_EQ(scheduled_differs(P, {n, X, P}), "");
}

TEST(CpuWindows, RefusesWhatIsNone) {
  te::Tensor A = te::placeholder({4, 4}, "A");
  EXPECT_THROW(topi::cpu::schedule_windows(topi::relu(A), cpu_targets()[0]), ScheduleError);
}

TEST(CpuConvolution, OfGroupsAndOfChannelsSideBySide) {
  for (const auto& [out, in] : {std::pair(64, 6), {10, 4}}) {
    te::Tensor X = te::placeholder({2, in, 9, 17}, "X"),
               K = te::placeholder({out, in / 2, 3, 3}, "K");
    te::Tensor Y = topi::group_conv2d_nchw(X, K, 2, {.padding = {1, 1, 1, 1}});
    EXPECT_EQ(scheduled_differs(Y, {X, K, Y}), "") << out;
    te::Tensor I = te::placeholder({2, 9, 17, in}, "I"), L = te::placeholder({3, 3, in, out}, "L"),
               Bias = te::placeholder({out}, "Bias");
    te::Tensor Z = topi::relu(
        topi::add(topi::conv2d_nhwc(I, L, {.stride = {1, 2}, .padding = {1, 1, 1, 1}}), Bias));
    EXPECT_EQ(scheduled_differs(Z, {I, L, Bias, Z}), "") << out;
  }
}

/// A convolution of 3 x 3 with bias and relu whose rows have so many results, for 32 registers of
/// 512 bits.
tir::IRModule layer(int width, int filters, const LowerOptions& options) {
  te::Tensor X = te::placeholder({1, 16, 9, width + 2}, "X"),
             K = te::placeholder({filters, 16, 3, 3}, "K"),
             Bias = te::placeholder({filters, 1, 1}, "Bias");
  te::Tensor Y = topi::relu(topi::add(topi::conv2d_nchw(X, K), Bias), "Y");
  tir::TargetFacts target = Target("llvm").facts();
  target.vector_registers = {.bits = 512, .count = 32, .for_sums = 16};
  return lower(topi::cpu::schedule_conv2d(Y, target), {X, K, Bias, Y}, options);
}

std::string loops_of_layer(int width) {
  std::ostringstream text;
  text << layer(width, 32, {.simple_mode = true});
  return text.str();
}

TEST(CpuConvolution, SumsAreMappedOnAsVectorsOfFilters) {
  const std::string text = loops_of_layer(14);
  // In the place of the sums.
  EXPECT_NE(text.find("= max((T_conv2d_nchw_1[ramp("), std::string::npos) << text;
}

TEST(CpuConvolution, BlocksOfFiltersThatAreNotFullAreSummedUpWhole) {
  bool is_guarded = false;
  std::int64_t loops = 0;
  walk(layer(14, 40, {}).functions.at("main").body, [&](const tir::For& loop) {
    if (loop.var.name() != "kh") return;
    ++loops;
    walk(loop.body, [&](const tir::If&) { is_guarded = true; });
  });
  EXPECT_FALSE(is_guarded);
  EXPECT_EQ(loops, 1);
}

TEST(CpuConvolution, AnOddNumberOfVectorsOfFiltersIsTakenOneByOne) {
  std::ostringstream text;
  text << layer(14, 48, {.simple_mode = true});
  // Three vectors, and not four, of 16 channels by 3 x 3.
  EXPECT_NE(text.str().find("allocate(K.global: Pointer(global float32x16), float32x16, [432])"),
            std::string::npos)
      << text.str();
}

TEST(CpuConvolution, TakesAnyNumberOfFilters) {
  for (const int filters : {17, 40}) {
    te::Tensor X = te::placeholder({1, 5, 7, 9}, "X"), K = te::placeholder({filters, 5, 3, 3}, "K"),
               Bias = te::placeholder({filters, 1, 1}, "Bias");
    te::Tensor Y = topi::conv2d_nchw(X, K, {.padding = {1, 1, 1, 1}});
    te::Tensor Z = topi::relu(topi::add(Y, Bias));
    EXPECT_EQ(scheduled_differs(Y, {X, K, Y}), "") << filters;
    EXPECT_EQ(scheduled_differs(Z, {X, K, Bias, Z}), "") << filters;
  }
}

TEST(CpuConvolution, TilesLeaveRegistersForTheInputsOfTheNextColumn) {
  // Places of 32 filters: of rows of 14 two tiles, of rows of 20 four, and none is wider than
  // seven.
  for (const auto& [width, sums] : {std::pair(14, "[224]"), {20, "[160]"}}) {
    const std::string text = loops_of_layer(width);
    const std::string tile = "allocate(T_conv2d_nchw: Pointer(local float32), float32, ";
    EXPECT_NE(text.find(tile + sums), std::string::npos) << text;
  }
}

// ---- Winograd's convolution ---------------------------------------------------------------------

// Winograd's convolution beside the direct one in plain C++, its schedules for processors, and the
// choice of the faster form.

using te::Tensor;
using topi::WinogradOptions;

Tensor images(const std::vector<te::Expr>& shape, DataType type = Float(32)) {
  return te::placeholder(shape, "X", type);
}
Tensor kernels(const te::Expr& filters, const te::Expr& channels, DataType type = Float(32)) {
  return te::placeholder({filters, channels, 3, 3}, "K", type);
}

Tensor nhwc_images(const std::vector<te::Expr>& shape, DataType type = Float(32)) {
  return te::placeholder({shape[0], shape[2], shape[3], shape[1]}, "X", type);
}
Tensor nhwc_kernels(const te::Expr& filters, const te::Expr& channels, DataType type = Float(32)) {
  return te::placeholder({3, 3, channels, filters}, "K", type);
}

/// An element of the convolution, by its definition.
Truth direct(const std::array<int, 4>& padding) {
  return [padding](const Elements& in, Indices i) {
    const Element &x = in[0], &kernel = in[1];
    double sum = 0;
    for (std::int64_t c = 0; c < x.extent(1); ++c)
      for (std::int64_t p = 0; p < 3; ++p)
        for (std::int64_t q = 0; q < 3; ++q) {
          const std::int64_t row = i[2] + p - padding[0], column = i[3] + q - padding[1];
          if (row < 0 || row >= x.extent(2) || column < 0 || column >= x.extent(3)) continue;
          sum += x({i[0], c, row, column}) * kernel({i[1], c, p, q});
        }
    return sum;
  };
}

// In double precision, whose rounding is far below what a wrong factor or place would change.
TEST(Winograd, IsTheConvolution) {
  constexpr double kRounding = 1e-11;
  for (const int tile : {2, 4})
    for (const auto& [height, width] : {std::pair(8, 8), {9, 11}, {3, 6}})
      for (const std::array<int, 4>& padding :
           {std::array<int, 4>{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 0, 1, 3}}) {
        const Tensor X = images({2, 3, height, width}, Float(64)), K = kernels(2, 3, Float(64));
        const Tensor Y = topi::conv2d_winograd_nchw(
            X, K, {.tile = tile, .padding = padding, .channel_multiple = 4});
        EXPECT_EQ(differs({X, K}, Y, direct(padding), {.tolerance = kRounding, .compile = false}),
                  "")
            << tile << ": " << height << " x " << width << ", padding " << padding[0];
      }
}

TEST(Winograd, NhwcFormIsTheConvolution) {
  constexpr double kRounding = 1e-11;
  const std::array<int, 4> padding{2, 0, 1, 3};
  for (const int tile : {2, 4}) {
    const Tensor X = nhwc_images({2, 3, 9, 11}, Float(64)), K = nhwc_kernels(2, 3, Float(64));
    const Tensor Y =
        topi::conv2d_winograd_nhwc(X, K, {.tile = tile, .padding = padding, .channel_multiple = 4});
    const Truth truth = [&](const Elements& in, Indices i) {
      double sum = 0;
      for (std::int64_t c = 0; c < 3; ++c)
        for (std::int64_t p = 0; p < 3; ++p)
          for (std::int64_t q = 0; q < 3; ++q) {
            const std::int64_t row = i[1] + p - padding[0], column = i[2] + q - padding[1];
            if (row < 0 || row >= 9 || column < 0 || column >= 11) continue;
            sum += in[0]({i[0], row, column, c}) * in[1]({p, q, c, i[3]});
          }
      return sum;
    };
    EXPECT_EQ(differs({X, K}, Y, truth, {.tolerance = kRounding, .compile = false}), "") << tile;
  }
}

/// The root mean square of the error of 16 channels of numbers from -1 to 1, as a part of that of
/// the results.
double rounding_of(int tile) {
  constexpr int kChannels = 16, kSize = 8, kFilters = 4, kPlaces = kSize - 2;
  const Tensor X = images({1, kChannels, kSize, kSize}), K = kernels(kFilters, kChannels);
  const Tensor Y = topi::conv2d_winograd_nchw(X, K, {.tile = tile, .channel_multiple = 4});
  const runtime::Module module = build(te::create_schedule(Y), {X, K, Y}, Target("llvm"));
  std::mt19937 random(1);
  std::uniform_real_distribution<float> numbers(-1, 1);
  const auto fill = [&](const runtime::NDArray& array, int count) {
    for (int n = 0; n < count; ++n) array.data<float>()[n] = numbers(random);
  };
  const auto x = runtime::NDArray::zeros({1, kChannels, kSize, kSize}, Float(32)),
             kernel = runtime::NDArray::zeros({kFilters, kChannels, 3, 3}, Float(32)),
             y = runtime::NDArray::zeros({1, kFilters, kPlaces, kPlaces}, Float(32));
  fill(x, kChannels * kSize * kSize);
  fill(kernel, kFilters * kChannels * 9);
  module["main"](x, kernel, y);
  double error = 0, size = 0;
  for (int n = 0; n < kFilters * kPlaces * kPlaces; ++n) {
    const int filter = n / kPlaces / kPlaces, row = n / kPlaces % kPlaces, column = n % kPlaces;
    double sum = 0;
    for (int term = 0; term < kChannels * 9; ++term) {
      const int c = term / 9, p = term / 3 % 3, q = term % 3;
      sum += double{x.data<float>()[(c * kSize + row + p) * kSize + column + q]} *
             double{kernel.data<float>()[filter * kChannels * 9 + term]};
    }
    error += std::pow(y.data<float>()[n] - sum, 2);
    size += std::pow(sum, 2);
  }
  return std::sqrt(error / size);
}

// Measured: 2^-22.5 and 2^-19.8 of float32, whose numbers are 2^-24 apart from what they stand for.
TEST(Winograd, RoundsTilesOf2AsSumsAndTilesOf4SomeBitsMore) {
  EXPECT_LT(rounding_of(2), std::ldexp(1, -21));
  EXPECT_LT(rounding_of(4), std::ldexp(1, -18));
}

// ---- schedules ----------------------------------------------------------------------------------

/// With so much of a second cache.
std::string scheduled_differs_with(int l2, const Tensor& out,
                                   const std::vector<LowerArgument>& args) {
  std::vector<tir::TargetFacts> targets = cpu_targets();
  for (tir::TargetFacts& target : targets) target.caches.l2 = l2;
  return scheduled_differs(out, args, {.compile_c = false, .build = {.opt_level = 3}}, targets);
}
std::string scheduled_results_differ(const Tensor& out, const std::vector<LowerArgument>& args) {
  return scheduled_differs_with(512 << 10, out, args);
}

std::string check(const std::vector<te::Expr>& shape, int filters, const WinogradOptions& options,
                  int l2 = 512 << 10) {
  const Tensor X = images(shape), K = kernels(filters, shape[1]);
  const Tensor Y = topi::conv2d_winograd_nchw(X, K, options);
  const Tensor I = nhwc_images(shape), L = nhwc_kernels(filters, shape[1]);
  const Tensor Z = topi::relu(topi::conv2d_winograd_nhwc(I, L, options));
  return scheduled_differs_with(l2, Y, {X, K, Y}) + scheduled_differs_with(l2, Z, {I, L, Z});
}

TEST(CpuWinograd, TakesBlocksOfTiles) {
  // 3 x 5 tiles of 4 are more than 8 filters.
  EXPECT_EQ(check({2, 8, 12, 20}, 8, {.padding = {1, 1, 1, 1}, .channel_multiple = 8}), "");
}

TEST(CpuWinograd, TakesBlocksOfFilters) {
  // 2 x 2 tiles are fewer than 20 filters.
  EXPECT_EQ(check({1, 4, 7, 8}, 20, {.padding = {1, 1, 1, 1}}), "");
}

TEST(CpuWinograd, TakesTilesOf2) {
  EXPECT_EQ(check({1, 3, 9, 10}, 5, {.tile = 2, .padding = {1, 0, 0, 1}}), "");
}

TEST(CpuWinograd, TakesRowsOfWhichTheCacheHoldsParts) {
  // Each tile has 36 positions by 8 channels and 8 filters: seven tiles, of eleven in a row.
  EXPECT_EQ(check({1, 8, 6, 46}, 8, {.channel_multiple = 8}, 7 * 36 * 16 * 4), "");
}

TEST(CpuWinograd, TakesChannelsThatAreNotFilledUp) {
  EXPECT_EQ(check({1, 5, 9, 18}, 3, {.channel_multiple = 1}), "");
}

TEST(CpuWinograd, TakesImagesThatAreReadAsTheyLie) {
  EXPECT_EQ(check({1, 4, 10, 18}, 4, {.channel_multiple = 4}), "");
}

TEST(CpuWinograd, TakesBatchesThatOnlyTheCallKnows) {
  EXPECT_EQ(check({te::size_var("n"), 4, 10, 18}, 4, {.channel_multiple = 4}), "");
}

TEST(CpuWinograd, TakesExtentsOfZero) {
  EXPECT_EQ(check({0, 4, 10, 10}, 4, {.channel_multiple = 4}), "");
  EXPECT_EQ(check({1, 0, 6, 6}, 4, {.channel_multiple = 4}), "");
}

TEST(CpuWinograd, ComputesMapsOfTheConvolutionWithIt) {
  const Tensor X = images({1, 4, 9, 10}), K = kernels(4, 4), Bias = te::placeholder({4, 1, 1}, "B");
  const Tensor Y = topi::conv2d_winograd_nchw(X, K, {.padding = {1, 1, 1, 1}});
  const Tensor Z = topi::relu(topi::add(Y, Bias), "Z");
  EXPECT_EQ(scheduled_results_differ(Z, {X, K, Bias, Z}), "");
}

TEST(CpuWinograd, ComputesMapsOfTheNhwcFormWithIt) {
  const Tensor X = nhwc_images({1, 4, 9, 10}), K = nhwc_kernels(4, 4);
  const Tensor Y = topi::relu(topi::conv2d_winograd_nhwc(X, K, {.padding = {1, 1, 1, 1}}));
  EXPECT_EQ(scheduled_results_differ(Y, {X, K, Y}), "");
}

/// The names of the stages that are stored whole.
std::string roots(const Tensor& out) {
  std::string names;
  const te::Schedule s = topi::cpu::schedule_conv2d_winograd(out, cpu_targets()[1]);
  for (const te::Stage& stage : s.normalize().stages())
    if (!stage.op().as<te::Placeholder>() &&
        std::holds_alternative<te::AttachRoot>(stage.data().attach))
      names += stage.name() + " ";
  return names;
}

TEST(CpuWinograd, StoresWholeWhatIsSmaller) {
  const Tensor X = images({1, 16, 14, 14}), Few = kernels(8, 16), Many = kernels(48, 16);
  // 16 tiles.
  EXPECT_EQ(roots(topi::relu(topi::conv2d_winograd_nchw(
                                 X, Few, {.padding = {1, 1, 1, 1}, .channel_multiple = 8}),
                             "Y")),
            "T_pad T_conv2d_winograd_filters Y ");
  EXPECT_EQ(roots(topi::relu(topi::conv2d_winograd_nchw(X, Many, {.padding = {1, 1, 1, 1}}), "Y")),
            "T_pad T_conv2d_winograd_inputs Y ");
}

TEST(CpuWinograd, TakesTheImagesOfAnother) {
  const Tensor X = images({1, 4, 12, 12}), K = kernels(4, 4),
               L = te::placeholder({4, 4, 3, 3}, "L");
  const Tensor Y = topi::relu(topi::conv2d_winograd_nchw(X, K, {.channel_multiple = 4}));
  const Tensor Z = topi::conv2d_winograd_nchw(Y, L, {.channel_multiple = 4});
  EXPECT_EQ(scheduled_results_differ(Z, {X, K, L, Z}), "");
}

TEST(CpuWinograd, LeavesOperationsThatOthersReadAsTheyAre) {
  const Tensor X = images({1, 4, 10, 10}), K = kernels(4, 4);
  const Tensor Y = topi::conv2d_winograd_nchw(X, K, {.channel_multiple = 4});
  const Tensor P = topi::relu(Y.op().inputs().front(), "P");
  const te::Schedule s = te::create_schedule(std::vector<Tensor>{Y, P});
  topi::schedule(s, {Y, P}, cpu_targets()[0]);
  EXPECT_EQ(compare_with_default(s, {X, K, Y, P}, {.compile_c = false}), "");
}

TEST(CpuWinograd, RefusesWhatIsNone) {
  const Tensor X = images({1, 4, 10, 10}), K = kernels(4, 4);
  for (const Tensor& x : {topi::relu(X), topi::conv2d_nchw(X, K)}) try {
      topi::cpu::schedule_conv2d_winograd(x, cpu_targets()[0]);
      ADD_FAILURE() << "accepted";
    } catch (const ScheduleError& error) {
      EXPECT_NE(std::string(error.what()).find("topi::conv2d_winograd_nchw"), std::string::npos);
      EXPECT_NE(std::string(error.what()).find("library_test.cpp"), std::string::npos);
    }
}

// A row of 14 tiles is two times seven, by two vectors of filters; 14 sums of 16 lanes are 224.
TEST(CpuWinograd, SumsAreTilesThatLeaveNothingOver) {
  const Tensor X = images({1, 64, 56, 56}), K = kernels(64, 64);
  const Tensor Y = topi::conv2d_winograd_nchw(X, K, {.padding = {1, 1, 1, 1}});
  std::ostringstream text;
  text << lower(topi::cpu::schedule_conv2d_winograd(Y, cpu_targets()[1]), {X, K, Y});
  const std::string sums =
      "allocate(T_conv2d_winograd_products.local: Pointer(local float32), float32, [224])";
  EXPECT_NE(text.str().find(sums), std::string::npos) << text.str();
}

// ---- the choice ---------------------------------------------------------------------------------

std::string form(const std::vector<te::Expr>& shape, const te::Expr& filters,
                 const topi::ConvolutionOptions& options = {.padding = {1, 1, 1, 1}}) {
  const Tensor Y = topi::cpu::fastest_conv2d_nchw(images(shape), kernels(filters, shape[1]),
                                                  cpu_targets()[1], options);
  if (Y.op().tag() != topi::kConv2dWinogradNchw) return Y.op().tag();
  // {place, place, tile, channel}
  const Tensor products = Y.op().inputs()[0].op().inputs()[0].op().inputs()[0];
  return "tiles of " + std::to_string(*tir::constant_int(products.shape()[0]) - 2);
}

TEST(FastestConvolution, IsWinogradsWhereProductsAreMostOfTheWork) {
  EXPECT_EQ(form({1, 64, 56, 56}, 64), "tiles of 4");
  EXPECT_EQ(form({1, 512, 7, 7}, 512), "tiles of 4");
  EXPECT_EQ(form({te::size_var("n"), 64, 56, 56}, 64), "tiles of 4");
}

TEST(FastestConvolution, HasSmallTilesOfSmallImages) {
  EXPECT_EQ(form({1, 256, 4, 4}, 256), "tiles of 2");
}

TEST(FastestConvolution, IsDirectOfFewChannelsOrFilters) {
  EXPECT_EQ(form({1, 3, 224, 224}, 64), topi::kConv2dNchw);
  EXPECT_EQ(form({1, 64, 56, 56}, 3), topi::kConv2dNchw);
}

TEST(FastestConvolution, IsDirectWhereWinogradsIsNone) {
  EXPECT_EQ(form({1, 64, 56, 56}, 64, {.stride = {2, 2}}), topi::kConv2dNchw);
  EXPECT_EQ(form({1, 64, 56, 56}, 64, {.dilation = {2, 2}}), topi::kConv2dNchw);
  EXPECT_EQ(form({1, 64, 56, 56}, 64, {.out_dtype = Float(64)}), topi::kConv2dNchw);
  EXPECT_EQ(form({1, 64, te::size_var("n"), 56}, 64), topi::kConv2dNchw);
  const Tensor X = images({1, 64, 56, 56}, Int(8)), K = kernels(64, 64, Int(8));
  EXPECT_EQ(topi::cpu::fastest_conv2d_nchw(X, K, cpu_targets()[1]).op().tag(), topi::kConv2dNchw);
}

/// A convolution of `batch` images of 96 channels with five 1 x 1 kernels.
struct Pointwise {
  Tensor X, K, Y;
  Pointwise(int batch, const topi::ConvolutionOptions& options)
      : X(images({batch, 96, 5, 6})),
        K(te::placeholder({5, 96, 1, 1}, "K")),
        Y(topi::cpu::fastest_conv2d_nchw(X, K, cpu_targets()[1], options)) {}
};

TEST(FastestConvolution, IsAProductFor1x1KernelsAndManyChannels) {
  EXPECT_EQ(Pointwise(1, {}).Y.op().inputs()[0].op().tag(), topi::kMatmul);
  EXPECT_EQ(Pointwise(2, {}).Y.op().inputs()[0].op().tag(), topi::kBatchMatmul);
  EXPECT_EQ(Pointwise(1, {.padding = {0, 1, 0, 0}}).Y.op().tag(), topi::kConv2dNchw);
}

TEST(FastestConvolution, ProductHasTheValuesOfTheConvolution) {
  for (const int batch : {1, 3})
    for (const auto& [down, across] : {std::pair(1, 1), {2, 3}}) {
      const Pointwise p(batch, {.stride = {down, across}});
      const Truth truth = [down = down, across = across](const Elements& in, Indices i) {
        double sum = 0;
        for (std::int64_t c = 0; c < 96; ++c)
          sum += in[0]({i[0], c, i[2] * down, i[3] * across}) * in[1]({i[1], c, 0, 0});
        return sum;
      };
      EXPECT_EQ(differs({p.X, p.K}, p.Y, truth, {.tolerance = 1e-4}), "") << batch << ", " << down;
      EXPECT_EQ(scheduled_results_differ(p.Y, {p.X, p.K, p.Y}), "") << batch << ", " << down;
    }
}

TEST(FastestConvolution, NhwcFormIsChosenByTheSameExtents) {
  const auto tag = [](int height, int width, int channels, int filters) {
    return topi::cpu::fastest_conv2d_nhwc(nhwc_images({1, channels, height, width}),
                                          nhwc_kernels(filters, channels), cpu_targets()[1])
        .op()
        .tag();
  };
  EXPECT_EQ(tag(58, 58, 64, 64), topi::kConv2dWinogradNhwc);
  EXPECT_EQ(tag(226, 226, 3, 64), topi::kConv2dNhwc);
}

TEST(FastestConvolution, RefusesWhatConv2dNchwRefuses) {
  try {
    topi::cpu::fastest_conv2d_nchw(images({1, 64, 56, 56}), kernels(64, 32), cpu_targets()[1]);
    ADD_FAILURE() << "accepted";
  } catch (const TypeError& error) {
    EXPECT_NE(std::string(error.what()).find("topi::conv2d_nchw"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("library_test.cpp"), std::string::npos);
  }
}

// ---- running sums and products ------------------------------------------------------------------

// Running sums and products of the operator library, beside plain C++, and as topi::schedule
// arranges them.

/// The sum of the elements up to each, or before it.
auto running_sum(std::size_t along, bool exclusive) {
  return [=](auto& in, Indices i) {
    double sum = 0;
    std::vector<std::int64_t> at(i.begin(), i.end());
    for (at[along] = 0; at[along] < i[along] + (exclusive ? 0 : 1); ++at[along]) sum += in[0](at);
    return sum;
  };
}

TEST(LibraryScan, SumsAlongAnyDimension) {
  te::Tensor A = te::placeholder({3, 4, 5}, "A");
  for (const int axis : {0, 1, 2, -1})
    for (const bool exclusive : {false, true}) {
      const auto along = static_cast<std::size_t>(axis < 0 ? 2 : axis);
      const auto truth = running_sum(along, exclusive);
      EXPECT_EQ(differs({A}, topi::cumsum(A, axis, {.exclusive = exclusive}), truth), "")
          << axis << exclusive;
    }
}

TEST(LibraryScan, ProductsAndOtherTypes) {
  te::Tensor A = te::placeholder({6}, "A");
  auto truth = [](auto& in, Indices i) {
    double product = 1;
    for (std::int64_t k = 0; k < i[0]; ++k) product *= in[0]({k});
    return product;
  };
  EXPECT_EQ(differs({A}, topi::cumprod(A, 0, {.exclusive = true}), truth), "");
  te::Tensor B = te::placeholder({200}, "B", Int(8));
  const te::Tensor C = topi::cumsum(B, 0, {.dtype = Int(32), .name = "C"});
  EXPECT_EQ(C.dtype(), Int(32));
  EXPECT_EQ(C.op().name(), "C");
  EXPECT_EQ(compare_with_default(te::create_schedule(C), {B, C}), "");
}

TEST(LibraryScan, ScheduledByVectorsOfAStep) {
  Var n = te::size_var("n");
  for (const int axis : {0, 1}) {
    te::Tensor A = te::placeholder({n, 37}, "A"), B = topi::cumsum(A, axis);
    const te::Schedule s = te::create_schedule(B);
    topi::schedule(s, {B}, Target("llvm").facts());
    EXPECT_EQ(compare_with_default(s, {n, A, B}, {.symbols = {1, 2, 21}}), "") << axis;
  }
  // Element-wise stages of this size are divided among threads; the steps of a scan still run in
  // sequence.
  te::Tensor A = te::placeholder({300, 1000}, "A"), B = topi::cumsum(A, 0);
  const te::Schedule s = te::create_schedule(B);
  topi::schedule(s, {B}, Target("llvm").facts());
  EXPECT_EQ(compare_with_default(s, {A, B}, {.compile_c = false, .interpret = false}), "");
}

// ---- by blocks ----------------------------------------------------------------------------------

TEST(LibraryScan, BlocksSumAlongAnyDimension) {
  te::Tensor A = te::placeholder({3, 4, 5}, "A");
  for (const std::size_t along : {0, 1, 2})
    for (const bool exclusive : {false, true})
      for (const int block : {1, 2, 4, 9}) {
        const auto truth = running_sum(along, exclusive);
        const te::Tensor B =
            topi::cumsum(A, static_cast<int>(along), {.exclusive = exclusive, .block = block});
        EXPECT_EQ(differs({A}, B, truth, {.compile = false}), "")
            << along << exclusive << " " << block;
      }
}

TEST(LibraryScan, BlocksMultiplyAndCast) {
  te::Tensor A = te::placeholder({7}, "A");
  auto truth = [](auto& in, Indices i) {
    double product = 1;
    for (std::int64_t k = 0; k <= i[0]; ++k) product *= in[0]({k});
    return product;
  };
  EXPECT_EQ(differs({A}, topi::cumprod(A, 0, {.block = 3}), truth), "");
  te::Tensor B = te::placeholder({200}, "B", Int(8));
  EXPECT_EQ(
      differs({B}, topi::cumsum(B, 0, {.dtype = Int(32), .block = 16}), running_sum(0, false)), "");
}

TEST(LibraryScan, OfBlocksIsTheseOperations) {
  te::Tensor A = te::placeholder({100, 6}, "A");
  const te::Tensor B = topi::cumsum(A, 0, {.block = 32, .name = "B"});
  const te::Tensor of_blocks = B.op().inputs()[0], before = of_blocks.op().inputs()[0],
                   within = of_blocks.op().inputs()[1];
  EXPECT_EQ(B.op().tag(), topi::kCumulativeBlocks);
  EXPECT_EQ(of_blocks.name() + " " + before.name() + " " + within.name(),
            "B_of_blocks B_before B_within");
  // Four blocks, of which the last is not full.
  const auto extents = [](const te::Tensor& x) {
    std::vector<std::int64_t> all;
    for (const te::Expr& extent : x.shape()) all.push_back(*tir::constant_int(extent));
    return all;
  };
  EXPECT_EQ(extents(before), (std::vector<std::int64_t>{4, 6}));
  EXPECT_EQ(extents(within), (std::vector<std::int64_t>{4, 32, 6}));
}

std::string scheduled_blocks_differ(const te::Tensor& A, int axis,
                                    const topi::CumulativeOptions& options,
                                    std::vector<LowerArgument> args = {}) {
  std::string wrong;
  const te::Tensor B = topi::cumsum(A, axis, options);
  args.insert(args.end(), {A, B});
  for (const int bits : {128, 512}) {
    tir::TargetFacts target = Target("llvm").facts();
    target.vector_registers.bits = bits;
    target.cores = 4;
    const te::Schedule s = te::create_schedule(B);
    topi::schedule(s, {B}, target);
    wrong += compare_with_default(s, args, {.symbols = {1, 2, 77}});
  }
  return wrong;
}

TEST(LibraryScan, BlocksAreScheduledAlongTheLastDimension) {
  for (const bool exclusive : {false, true}) {
    EXPECT_EQ(scheduled_blocks_differ(te::placeholder({640}, "A"), 0,
                                      {.exclusive = exclusive, .block = 8}),
              "");
    EXPECT_EQ(scheduled_blocks_differ(te::placeholder({3, 77}, "A"), 1,
                                      {.exclusive = exclusive, .block = 8}),
              "");
  }
}

TEST(LibraryScan, BlocksAreScheduledAlongOtherDimensions) {
  EXPECT_EQ(scheduled_blocks_differ(te::placeholder({77, 19}, "A"), 0, {.block = 8}), "");
  EXPECT_EQ(scheduled_blocks_differ(te::placeholder({2, 40, 5}, "A"), 1, {.block = 8}), "");
}

TEST(LibraryScan, BlocksAreScheduledOfExtentsThatOnlyTheCallKnows) {
  Var n = te::size_var("n");
  EXPECT_EQ(scheduled_blocks_differ(te::placeholder({n}, "A"), 0, {.block = 8}, {n}), "");
}

TEST(LibraryScan, BlocksAreScheduledOfAMapAndReadByOne) {
  te::Tensor A = te::placeholder({200}, "A");
  te::Tensor B = topi::relu(topi::cumsum(topi::relu(A), 0, {.block = 8}));
  const te::Schedule s = te::create_schedule(B);
  topi::schedule(s, {B}, Target("llvm").facts());
  EXPECT_EQ(compare_with_default(s, {A, B}), "");
}

TEST(LibraryScan, RefusesBlocksWithoutElementsAndHugeOnes) {
  te::Tensor A = te::placeholder({30}, "A");
  for (const int block : {0, -1, (1 << 20) + 1}) try {
      topi::cumsum(A, 0, {.block = block});
      ADD_FAILURE() << "accepted";
    } catch (const TypeError& error) {
      EXPECT_NE(std::string(error.what())
                    .find("blocks are of 1 to 2^20 elements, got " + std::to_string(block)),
                std::string::npos)
          << error.what();
      EXPECT_NE(std::string(error.what()).find("library_test.cpp"), std::string::npos);
    }
}

TEST(LibraryScan, RefusesADimensionThatIsNotThere) {
  te::Tensor A = te::placeholder({3, 4}, "A");
  try {
    topi::cumsum(A, 2);
    ADD_FAILURE() << "accepted";
  } catch (const TypeError& error) {
    EXPECT_NE(std::string(error.what()).find("topi::cumsum `T_cumsum`"), std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("library_test.cpp"), std::string::npos);
  }
}

// ---- random graphs ------------------------------------------------------------------------------

// Random small graphs of the library's operations, inlined by what they are: every way to run them
// agrees with the default schedule run by the interpreter.

class RandomLibraryGraph {
 public:
  explicit RandomLibraryGraph(unsigned seed) : random_(seed) {
    keep(te::placeholder({below(3) + 1, below(4) + 2}, "A"));
    keep(te::placeholder({below(3) + 1, below(3) + 1, 4}, "B"));
    keep(te::placeholder({6}, "C"));
    args_.assign(tensors_.begin(), tensors_.end());
    args_.emplace_back(places_);
    for (int count = 2 + below(5); count > 0; --count) {
      try {
        add();
      } catch (const TypeError&) {
        // Shapes that do not go together.
      }
    }
    result_ = topi::negative(tensors_.back());
    args_.emplace_back(*result_);
  }

  te::Schedule inlined() {
    te::Schedule s = te::create_schedule(*result_);
    count_ = (below(2) == 0 ? te::auto_inline_injective(s) : te::auto_inline_broadcast(s)).size();
    return s;
  }
  std::size_t inlined_count() const { return count_; }
  const std::vector<LowerArgument>& args() const { return args_; }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  const te::Tensor& pick() {
    return tensors_[static_cast<std::size_t>(below(static_cast<int>(tensors_.size())))];
  }
  int axis_of(const te::Tensor& x) { return below(std::max(x.ndim(), 1)); }
  static int extent(const te::Tensor& x, int n) {
    return static_cast<int>(*tir::constant_int(x.shape()[static_cast<std::size_t>(n)]));
  }
  static int elements(const te::Tensor& x) {
    int count = 1;
    for (int n = 0; n < x.ndim(); ++n) count *= extent(x, n);
    return count;
  }
  void keep(te::Tensor x) {
    // Tensors that grow with every step would soon take all of the time.
    if (elements(x) <= 600) tensors_.push_back(std::move(x));
  }

  /// In two or three dimensions, of any extents that give as many elements.
  std::vector<Expr> shape_of(int count) {
    std::vector<Expr> shape;
    for (int dimensions = 1 + below(2); dimensions > 0; --dimensions) {
      std::vector<int> divisors;
      for (int d = 1; d <= count; ++d)
        if (count % d == 0) divisors.push_back(d);
      const int extent =
          divisors[static_cast<std::size_t>(below(static_cast<int>(divisors.size())))];
      shape.emplace_back(extent);
      count /= extent;
    }
    shape.emplace_back(count);
    return shape;
  }

  void add() {
    const te::Tensor x = pick(), y = pick();
    const int axis = axis_of(x);
    // A tensor of rank 0 has no dimension to be parted.
    switch (below(x.ndim() == 0 ? 9 : 15)) {
      case 0:
        return keep(x + y);
      case 1:
        return keep(x * 0.5f - y);
      case 2:
        return keep(topi::maximum(x, y));
      case 3:
        return keep(topi::relu(x));
      case 4:
        return keep(topi::transpose(x));
      case 5:
        return keep(topi::reshape(x, shape_of(elements(x))));
      case 6:
        return keep(topi::expand_dims(x, axis));
      case 7:
        return keep(topi::concatenate({x, y, x}, axis));
      case 8:
        return keep(topi::stack({x, y}, axis));
      case 9:
        return keep(topi::split(x, {extent(x, axis) / 2}, axis)[1]);
      case 10:
        return keep(topi::strided_slice(x, {-1}, {-99}, {-1}));
      case 11:
        return keep(topi::take(x, places_, axis));
      case 12:
        return keep(topi::pad(x, {1}, {0, 2}, 0.25f));
      case 13:
        return keep(topi::sum(x, {axis}, {.keepdims = below(2) == 0}));
      default:
        return keep(topi::cast(topi::argmax(x, {axis}), Float(32)));
    }
  }

  std::mt19937 random_;
  te::Tensor places_ = te::placeholder({2}, "Places", Int(32));
  std::vector<te::Tensor> tensors_;
  std::optional<te::Tensor> result_;
  std::vector<LowerArgument> args_;
  std::size_t count_ = 0;
};

TEST(LibraryRandomTest, InlinedGraphsComputeWhatTheDefaultScheduleComputes) {
  std::size_t inlined = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    RandomLibraryGraph graph(seed);
    const te::Schedule s = graph.inlined();
    EXPECT_EQ(compare_with_default(s, graph.args(), {.compile = seed < 30}), "") << "seed " << seed;
    inlined += graph.inlined_count();
  }
  EXPECT_GT(inlined, 200u);
}

// ---- BLAS ---------------------------------------------------------------------------------------

using runtime::NDArray;

/// Small integers, so that every order of a sum has the same result.
class Integers {
 public:
  int next() { return static_cast<int>(random_() % 7) - 3; }

 private:
  std::mt19937 random_{1};
};

/// A vector or a matrix in memory with gaps, whose other elements are to stay as they are.
template <class T>
class Strided {
 public:
  /// A vector. A negative stride begins at the end of the memory.
  Strided(std::int64_t n, std::int64_t stride, Integers& integers) : shape_{n}, strides_{stride} {
    fill(n * std::abs(stride) + 3, stride < 0 ? (n - 1) * -stride + 1 : 1, integers);
  }
  /// A matrix.
  Strided(std::int64_t m, std::int64_t n, std::int64_t row, Integers& integers)
      : shape_{m, n}, strides_{row, 1} {
    fill(m * row + 3, 1, integers);
  }

  NDArray array() {
    // The memory of an array without elements is not accessed.
    return NDArray::wrap(memory_.data() + std::max<std::int64_t>(first_, 0), shape_,
                         {.strides = strides_});
  }
  T& operator()(std::int64_t i) { return memory_.at(index(i * strides_[0])); }
  T& operator()(std::int64_t i, std::int64_t j) { return memory_.at(index(i * strides_[0] + j)); }
  const std::vector<T>& memory() const { return memory_; }

 private:
  void fill(std::int64_t size, std::int64_t first, Integers& integers) {
    first_ = first;
    for (std::int64_t n = 0; n < size; ++n) memory_.push_back(static_cast<T>(integers.next()));
  }
  std::size_t index(std::int64_t offset) const { return static_cast<std::size_t>(first_ + offset); }

  std::vector<std::int64_t> shape_, strides_;
  std::int64_t first_ = 0;
  std::vector<T> memory_;
};

/// Runs f with a value of each type and each kind of strides.
void for_each_kind(const std::function<void(DataType type, std::int64_t stride)>& f) {
  for (const DataType type : {Float(32), Float(64)})
    for (const std::int64_t stride : {1, 2, -1}) f(type, stride);
}

struct BlasTest : ::testing::Test {
  static inline const Target kTarget = Target("llvm -num-cores=2");
  static constexpr std::int64_t kLengths[] = {0, 1, 5, 16, 67, 997, 20011, 70001};
  static constexpr std::int64_t kSides[] = {0, 1, 3, 4, 7, 13, 31, 64, 67, 129, 401};

  runtime::Function compiled(const tir::PrimFunc& func) {
    const std::string name = func.attrs.global_symbol;
    return build(tir::IRModule{{{name, func}}}, kTarget)[name];
  }
  /// Compiles each routine once for each options.
  template <class Options>
  const runtime::Function& compiled(tir::PrimFunc (*routine)(const Options&,
                                                             const tir::TargetFacts&,
                                                             SourceLocation),
                                    const Options& options) {
    std::ostringstream key;
    key << reinterpret_cast<const void*>(routine) << options.dtype.str() << options.unit_strides
        << is_narrow;
    if constexpr (requires { options.transposed; }) key << options.transposed;
    if constexpr (requires { options.lower; }) key << options.lower << options.unit_diagonal;
    const auto found = functions_.find(key.str());
    if (found != functions_.end()) return found->second;
    const tir::TargetFacts facts = is_narrow ? cpu_targets()[0] : kTarget.facts();
    return functions_
        .emplace(key.str(), compiled(routine(options, facts, SourceLocation::current())))
        .first->second;
  }

  Integers integers;
  /// Whether routines are scheduled for narrow vectors and one core.
  bool is_narrow = false;

 private:
  std::map<std::string, runtime::Function> functions_;
};

template <class F>
void with_element_type(DataType type, const F& f) {
  if (type == Float(32))
    f(float());
  else
    f(double());
}

TEST_F(BlasTest, VectorsAreUpdated) {
  for_each_kind([&](DataType type, std::int64_t stride) {
    with_element_type(type, [&]<class T>(T) {
      const topi::blas::VectorOptions options{.dtype = type, .unit_strides = stride == 1};
      is_narrow = stride == 2;
      for (const std::int64_t n : kLengths) {
        SCOPED_TRACE(::testing::Message() << type.str() << " stride " << stride << " n " << n);
        Strided<T> x(n, stride, integers), y(n, stride == 2 ? -1 : stride, integers);
        Strided<T> expected_x = x, expected_y = y;
        for (std::int64_t i = 0; i < n; ++i) expected_y(i) += 2 * x(i);
        compiled(topi::blas::axpy, options)(2.0, x.array(), y.array());
        EXPECT_EQ(y.memory(), expected_y.memory());
        for (std::int64_t i = 0; i < n; ++i) {
          expected_x(i) = 3 * x(i) + 2 * y(i);
          expected_y(i) = 3 * y(i) - 2 * x(i);
        }
        compiled(topi::blas::rot, options)(x.array(), y.array(), 3.0, 2.0);
        EXPECT_EQ(x.memory(), expected_x.memory());
        EXPECT_EQ(y.memory(), expected_y.memory());
      }
    });
  });
}

TEST_F(BlasTest, VectorsAreReduced) {
  for_each_kind([&](DataType type, std::int64_t stride) {
    with_element_type(type, [&]<class T>(T) {
      const topi::blas::VectorOptions options{.dtype = type, .unit_strides = stride == 1};
      is_narrow = stride == 2;
      const NDArray result = NDArray::zeros({}, type), index = NDArray::zeros({}, Int(32));
      for (const std::int64_t n : kLengths) {
        SCOPED_TRACE(::testing::Message() << type.str() << " stride " << stride << " n " << n);
        Strided<T> x(n, stride, integers), y(n, stride == 2 ? -1 : stride, integers);
        double dot = 0, asum = 0, squares = 0;
        std::int32_t greatest = n == 0 ? -1 : 0;
        for (std::int64_t i = 0; i < n; ++i) {
          dot += x(i) * y(i);
          asum += std::abs(x(i));
          squares += x(i) * x(i);
          if (std::abs(x(i)) > std::abs(x(greatest))) greatest = static_cast<std::int32_t>(i);
        }
        compiled(topi::blas::dot, options)(x.array(), y.array(), result);
        EXPECT_EQ(result.data<T>()[0], dot);
        compiled(topi::blas::asum, options)(x.array(), result);
        EXPECT_EQ(result.data<T>()[0], asum);
        compiled(topi::blas::nrm2, options)(x.array(), result);
        EXPECT_EQ(result.data<T>()[0], static_cast<T>(std::sqrt(squares)));
        compiled(topi::blas::iamax, options)(x.array(), index);
        EXPECT_EQ(index.data<std::int32_t>()[0], greatest);
      }
    });
  });
}

TEST_F(BlasTest, ANormNeitherOverflowsNorUnderflows) {
  const auto norm = [&]<class T>(std::vector<T> values) {
    const NDArray result = NDArray::zeros({}, runtime::data_type_of<T>());
    compiled(topi::blas::nrm2, topi::blas::VectorOptions{.dtype = runtime::data_type_of<T>()})(
        NDArray::wrap(values.data(), {static_cast<std::int64_t>(values.size())}), result);
    return result.data<T>()[0];
  };
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  for (const double scale : {1e300, 1.0, 1e-160, 1e-300})
    EXPECT_NEAR(norm(std::vector<double>{3 * scale, -4 * scale, 0}) / scale, 5, 1e-12) << scale;
  for (const float scale : {1e37f, 1.0f, 1e-20f, 1e-37f})
    EXPECT_NEAR(norm(std::vector<float>{3 * scale, -4 * scale, 0}) / scale, 5, 1e-5) << scale;
  EXPECT_NEAR(norm(std::vector<double>{1e300, 1e-300, 1}) / 1e300, 1, 1e-12);
  EXPECT_EQ(norm(std::vector<double>{1, -kInfinite}), kInfinite);
  EXPECT_EQ(norm(std::vector<double>{5e-324}), 5e-324);
  EXPECT_TRUE(std::isnan(norm(std::vector<double>{kInfinite, NAN})));
  EXPECT_TRUE(std::isnan(norm(std::vector<float>{1, NAN})));
}

TEST_F(BlasTest, NanIsLessThanAnyNumberForIamax) {
  for (const std::int64_t n : {3, 100, 5000, 70001})
    for (const std::int64_t at : {std::int64_t{0}, n / 2, n - 1}) {
      std::vector<float> values(static_cast<std::size_t>(n), NAN);
      const NDArray index = NDArray::zeros({}, Int(32));
      const auto found = [&] {
        compiled(topi::blas::iamax, topi::blas::VectorOptions())(NDArray::wrap(values.data(), {n}),
                                                                 index);
        return index.data<std::int32_t>()[0];
      };
      EXPECT_EQ(found(), 0);
      values[static_cast<std::size_t>(at)] = 0;
      EXPECT_EQ(found(), at) << n;
      values.back() = -std::numeric_limits<float>::infinity();
      EXPECT_EQ(found(), n - 1);
    }
}

TEST_F(BlasTest, MatricesAreMultipliedAndUpdated) {
  for_each_kind([&](DataType type, std::int64_t stride) {
    with_element_type(type, [&]<class T>(T) {
      for (const bool transposed : {false, true}) {
        const topi::blas::MatrixOptions options{
            .dtype = type, .unit_strides = stride == 1, .transposed = transposed};
        is_narrow = stride == 2;
        for (const std::int64_t m : kSides)
          for (const std::int64_t n : {m, std::int64_t{5}, std::int64_t{1100}}) {
            SCOPED_TRACE(::testing::Message()
                         << type.str() << " stride " << stride << " transposed " << transposed
                         << ": " << m << " x " << n);
            Strided<T> A(m, n, n + stride * stride, integers);
            Strided<T> of_rows(m, stride, integers), of_columns(n, stride, integers);
            Strided<T>&y = transposed ? of_columns : of_rows,
            &x = transposed ? of_rows : of_columns;
            Strided<T> expected = y, expected_A = A;
            for (std::int64_t i = 0; i < (transposed ? n : m); ++i) expected(i) *= 3;
            for (std::int64_t i = 0; i < m; ++i)
              for (std::int64_t j = 0; j < n; ++j)
                expected(transposed ? j : i) += 2 * A(i, j) * x(transposed ? i : j);
            compiled(topi::blas::gemv, options)(2.0, A.array(), x.array(), 3.0, y.array());
            EXPECT_EQ(y.memory(), expected.memory());
            if (transposed) continue;
            for (std::int64_t i = 0; i < m; ++i)
              for (std::int64_t j = 0; j < n; ++j) expected_A(i, j) += 2 * y(i) * x(j);
            compiled(topi::blas::ger, options)(2.0, y.array(), x.array(), A.array());
            EXPECT_EQ(A.memory(), expected_A.memory());
          }
      }
    });
  });
}

/// An element of the matrix that a triangle stands for.
template <class T>
T element(Strided<T>& A, const topi::blas::TriangleOptions& options, bool is_symmetric,
          std::int64_t i, std::int64_t j) {
  if (options.transposed) std::swap(i, j);
  if (i == j) return options.unit_diagonal ? T{1} : A(i, i);
  if (options.lower == (j < i)) return A(i, j);
  return is_symmetric ? A(j, i) : T{0};
}

/// Runs f with all combinations of options of the triangle. Few of them have each type and stride.
void for_each_triangle(
    bool is_symmetric,
    const std::function<void(const topi::blas::TriangleOptions&, std::int64_t stride)>& f) {
  for (int bits = 0; bits < (is_symmetric ? 2 : 8); ++bits) {
    topi::blas::TriangleOptions options{
        .lower = (bits & 1) != 0, .transposed = (bits & 2) != 0, .unit_diagonal = (bits & 4) != 0};
    f(options, 1);
    options.dtype = Float(64);
    options.unit_strides = false;
    f(options, 2);
    f(options, -1);
    if (bits == 0) {
      options.unit_strides = true;
      f(options, 1);
      options.dtype = Float(32);
      options.unit_strides = false;
      f(options, 2);
      f(options, -3);
    }
  }
}

TEST_F(BlasTest, SymmetricMatricesAreMultipliedAndUpdated) {
  for_each_triangle(true, [&](const topi::blas::TriangleOptions& options, std::int64_t stride) {
    is_narrow = stride == 2;
    with_element_type(options.dtype, [&]<class T>(T) {
      for (const std::int64_t n : kSides) {
        SCOPED_TRACE(::testing::Message() << options.dtype.str() << " lower " << options.lower
                                          << " stride " << stride << " n " << n);
        Strided<T> A(n, n, n + 3, integers), x(n, stride, integers), y(n, stride, integers);
        Strided<T> expected = y, expected_A = A;
        for (std::int64_t i = 0; i < n; ++i) {
          expected(i) *= 3;
          for (std::int64_t j = 0; j < n; ++j)
            expected(i) += 2 * element(A, options, true, i, j) * x(j);
        }
        compiled(topi::blas::symv, options)(2.0, A.array(), x.array(), 3.0, y.array());
        EXPECT_EQ(y.memory(), expected.memory());
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j < n; ++j)
            if (i == j || options.lower == (j < i))
              expected_A(i, j) += 2 * (x(i) * y(j) + y(i) * x(j));
        compiled(topi::blas::syr2, options)(2.0, x.array(), y.array(), A.array());
        EXPECT_EQ(A.memory(), expected_A.memory());
      }
    });
  });
}

TEST_F(BlasTest, TrianglesAreMultipliedAndSolved) {
  for_each_triangle(false, [&](const topi::blas::TriangleOptions& options, std::int64_t stride) {
    is_narrow = stride == 2;
    with_element_type(options.dtype, [&]<class T>(T) {
      for (const std::int64_t n : kSides) {
        SCOPED_TRACE(::testing::Message()
                     << options.dtype.str() << " lower " << options.lower << " transposed "
                     << options.transposed << " unit_diagonal " << options.unit_diagonal
                     << " stride " << stride << " n " << n);
        Strided<T> A(n, n, n + 3, integers), x(n, stride, integers);
        // Elements of the other triangle, and those of a unit diagonal, are not read.
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j < n; ++j) {
            if (i == j) A(i, i) = options.unit_diagonal ? T(NAN) : T(i % 2 == 0 ? 2 : -1);
            if (i != j && options.lower != (j < i)) A(i, j) = T(NAN);
          }
        const Strided<T> given = x;
        Strided<T> expected = x;
        for (std::int64_t i = 0; i < n; ++i) {
          expected(i) = 0;
          for (std::int64_t j = 0; j < n; ++j)
            if (const T a = element(A, options, false, i, j); a != 0) expected(i) += a * x(j);
        }
        compiled(topi::blas::trmv, options)(A.array(), x.array());
        EXPECT_EQ(x.memory(), expected.memory());
        compiled(topi::blas::trsv, options)(A.array(), x.array());
        EXPECT_EQ(x.memory(), given.memory());
      }
    });
  });
}

TEST_F(BlasTest, AFactorOfZeroSkipsWhatItMultiplies) {
  for (const std::int64_t n : {3, 401}) {
    const auto nan = [&](std::vector<std::int64_t> shape) {
      return NDArray::full(std::move(shape), Float(32), NAN);
    };
    const auto ones = [&](std::vector<std::int64_t> shape) {
      return NDArray::full(std::move(shape), Float(32), 1);
    };
    const auto is_all = [](const NDArray& array, float value) {
      const std::vector<float> values = array.to_vector<float>();
      return std::ranges::all_of(values, [&](float x) { return x == value; });
    };
    const NDArray y = ones({n}), A = ones({n, n});
    compiled(topi::blas::axpy, topi::blas::VectorOptions())(0.0, nan({n}), y);
    compiled(topi::blas::ger, topi::blas::MatrixOptions())(0.0, nan({n}), y, A);
    compiled(topi::blas::syr2, topi::blas::TriangleOptions())(0.0, nan({n}), y, A);
    EXPECT_TRUE(is_all(y, 1) && is_all(A, 1)) << n;
    for (const bool transposed : {false, true}) {
      const auto& gemv =
          compiled(topi::blas::gemv, topi::blas::MatrixOptions{.transposed = transposed});
      const NDArray not_read = nan({n}), result = ones({n});
      gemv(0.0, nan({n, n}), nan({n}), 2.0, result);
      EXPECT_TRUE(is_all(result, 2)) << n;
      gemv(1.0, A, y, 0.0, not_read);
      EXPECT_TRUE(is_all(not_read, static_cast<float>(n))) << n;
    }
    const auto& symv = compiled(topi::blas::symv, topi::blas::TriangleOptions());
    const NDArray not_read = nan({n}), result = ones({n});
    symv(0.0, nan({n, n}), nan({n}), 2.0, result);
    symv(1.0, A, y, 0.0, not_read);
    EXPECT_TRUE(is_all(result, 2) && is_all(not_read, static_cast<float>(n))) << n;
  }
}

}  // namespace
}  // namespace tenon::testing

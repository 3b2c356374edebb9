// The operator library's neural networks, beside plain C++.
#include <gtest/gtest.h>

#include <cmath>

#include "tenon/topi/transformer.h"
#include "tests/common/numbers.h"

namespace tenon::testing {
namespace {

using Indices = std::span<const std::int64_t>;

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

}  // namespace
}  // namespace tenon::testing

// Norms, attention and gelu: what is declared, and what is refused.
#include "tenon/topi/transformer.h"

#include <gtest/gtest.h>

#include "tests/topi/misuse.h"
#include "tests/topi/text.h"

namespace tenon::topi {
namespace {

using te::placeholder;

struct TransformerTest : ::testing::Test {
  Tensor X = placeholder({4, 6}, "X"), G = placeholder({6}, "G"),
         I = placeholder({4, 6}, "I", Int(8));
  Tensor Q = placeholder({2, 3, 4}, "Q"), K = placeholder({2, 5, 4}, "K"),
         V = placeholder({2, 5, 7}, "V");
};

TEST_F(TransformerTest, AreNamedTaggedAndShaped) {
  EXPECT_EQ(gelu(X).op().name() + " " + gelu(X).op().tag(), "T_gelu elemwise");
  const Tensor N = layer_norm(X, G, G), R = rms_norm(X, G, 1e-5, "R"), O = attention(Q, K, V);
  EXPECT_EQ(N.op().name() + " " + N.op().tag(), "T_layer_norm layer_norm");
  EXPECT_EQ(R.op().name() + " " + R.op().tag(), "R rms_norm");
  EXPECT_EQ(O.op().name() + " " + O.op().tag(), "T_attention attention");
  EXPECT_EQ(shape(N), "4 6");
  EXPECT_EQ(shape(O), "2 3 7");
}

TEST_F(TransformerTest, TheScaleIsThatOfTheWidthUnlessSaid) {
  const auto power = [&](AttentionOptions options) {
    return element(attention(Q, K, V, std::move(options)).op().inputs()[1].op().inputs()[0]);
  };
  EXPECT_NE(power({}).find("0.5f"), std::string::npos) << power({});
  EXPECT_NE(power({.scale = 2.0}).find("2f"), std::string::npos) << power({.scale = 2.0});
}

TEST_F(TransformerTest, WhatDoesNotFitIsRefused) {
  EXPECT_TRUE(refuses([&] { gelu(I); }, {"topi::gelu", "`I`", "int8"}));
  EXPECT_TRUE(refuses([&] { layer_norm(X, placeholder({5}, "H"), G); },
                      {"topi::layer_norm", "dimension 1 of `X` has extent 6", "`H`"}));
  EXPECT_TRUE(refuses([&] { rms_norm(X, X); }, {"topi::rms_norm", "`X` must have one dimension"}));
  EXPECT_TRUE(refuses([&] { attention(X, K, V); }, {"topi::attention", "`X` must have 3"}));
  EXPECT_TRUE(refuses([&] { attention(Q, V, V); }, {"topi::attention", "dimension 2 of `Q`"}));
  EXPECT_TRUE(refuses([&] { attention(Q, K, Q); }, {"topi::attention", "dimension 1 of `K`"}));
  EXPECT_TRUE(refuses([&] { attention(Q, K, V, {.scale = -1.0}); }, {".scale must be positive"}));
  const Tensor n = placeholder({2, 3, te::var("w")}, "N");
  EXPECT_TRUE(refuses([&] { attention(n, n, n); }, {".scale must be given"}));
}

}  // namespace
}  // namespace tenon::topi

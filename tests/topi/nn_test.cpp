// Neural networks: what is declared, and what is refused.
#include "tenon/topi/nn.h"

#include <gtest/gtest.h>

#include <limits>

#include "tenon/topi/blas.h"
#include "tenon/topi/convolution.h"
#include "tenon/topi/transformer.h"
#include "tests/topi/misuse.h"
#include "tests/topi/text.h"

namespace tenon::topi {
namespace {

// ---- layers -------------------------------------------------------------------------------------

// Neural networks: what is declared, and what is refused.

using te::placeholder;

/// "T_pad injective": name and tag.
std::string title(const te::Operation& op) { return op.name() + " " + op.tag(); }

struct NnTest : ::testing::Test {
  Tensor A = placeholder({4, 6}, "A"), B = placeholder({6, 5}, "B"), W = placeholder({5, 6}, "W");
  Tensor Bias = placeholder({5}, "Bias"), I = placeholder({4, 6}, "I", Int(8));
  Tensor X = placeholder({2, 3, 8, 10}, "X"), K = placeholder({4, 3, 3, 3}, "K");
};

TEST_F(NnTest, ProductsAreNamedAndTagged) {
  EXPECT_EQ(title(matmul(A, B).op()), "T_matmul matmul");
  EXPECT_EQ(title(batch_matmul(placeholder({2, 3, 4}), placeholder({2, 4, 5})).op()),
            "T_batch_matmul batch_matmul");
  EXPECT_EQ(title(dense(A, W).op()), "T_dense dense");
  EXPECT_EQ(title(dense(A, W, Bias).op()), "T_add broadcast");
  EXPECT_EQ(matmul(A, B, {.name = "C"}).op().name(), "C");
}

TEST_F(NnTest, ProductsHaveTheTypeThatIsAskedFor) {
  const Tensor J = placeholder({6, 5}, "J", Int(8));
  EXPECT_EQ(matmul(I, J).dtype(), Int(8));
  EXPECT_EQ(matmul(I, J, {.out_dtype = Int(32)}).dtype(), Int(32));
  EXPECT_EQ(matmul(A, placeholder({6, 5}, "D", Float(64))).dtype(), Float(64));
}

TEST_F(NnTest, NhwcPoolsKeepTheChannels) {
  const Tensor image = placeholder({2, 8, 10, 3}, "image");
  EXPECT_EQ(shape(max_pool2d(image, {2, 3}, {.layout = Layout::Nhwc})), "2 7 8 3");
  EXPECT_EQ(shape(avg_pool2d(image, {3, 3}, {.stride = {2, 2}, .layout = Layout::Nhwc})),
            "2 3 4 3");
}

TEST_F(NnTest, NhwcDepthwiseConvolutionsMultiplyTheChannels) {
  const Tensor image = placeholder({2, 8, 10, 3}, "image");
  EXPECT_EQ(shape(depthwise_conv2d_nhwc(image, placeholder({3, 3, 3, 2}, "K"))), "2 6 8 6");
  EXPECT_TRUE(refuses(
      [&] {
        depthwise_conv2d_nhwc(image, placeholder({3, 3, 4, 1}, "M"));
      },
      {"topi::depthwise_conv2d_nhwc", "dimension 3 of `image` has extent 3",
       "dimension 2 of `M` has extent 4"}));
}

TEST_F(NnTest, ConvolutionsMayHaveNoFilters) {
  const Tensor none = placeholder({0, 1, 3, 3}, "none"), no_multiple = placeholder({3, 0, 3, 3});
  EXPECT_EQ(shape(group_conv2d_nchw(X, none, 3)), "2 0 6 8");
  EXPECT_EQ(shape(depthwise_conv2d_nchw(X, no_multiple)), "2 0 6 8");
}

TEST_F(NnTest, ProductsNeedWhatFits) {
  EXPECT_TRUE(
      refuses([&] { matmul(A, W); }, {"topi::matmul `T_matmul`", "dimension 1 of `A` has extent 6",
                                      "dimension 0 of `W` has extent 5"}));
  EXPECT_EQ(shape(matmul(A, W, {.transpose_b = true})), "4 5");
  EXPECT_TRUE(
      refuses([&] { matmul(A, Bias); }, {"topi::matmul", "`Bias` must have 2 dimensions, has 1"}));
  EXPECT_TRUE(refuses([&] { dense(A, B); }, {"topi::dense", "`A`", "`B`"}));
  EXPECT_TRUE(refuses([&] { dense(A, W, A); }, {"topi::dense", "`A` must have 1 dimension"}));
  EXPECT_TRUE(
      refuses([&] { dense(A, W, placeholder({4}, "V")); }, {"topi::dense", "`V` has extent 4"}));
  EXPECT_TRUE(refuses(
      [&] {
        batch_matmul(placeholder({2, 3, 4}, "P"), placeholder({3, 4, 5}, "Q"));
      },
      {"topi::batch_matmul", "dimension 0 of `P` has extent 2", "extent 3"}));
  EXPECT_TRUE(refuses([&] { batch_matmul(A, B); }, {"`A` must have 3 dimensions"}));
}

TEST_F(NnTest, SoftmaxIsFourOperations) {
  const te::Operation quotient = softmax(A).op(), power = quotient.inputs()[0].op(),
                      sum = quotient.inputs()[1].op(), greatest = power.inputs()[1].op();
  EXPECT_EQ(title(quotient), "T_softmax_norm softmax_output");
  EXPECT_EQ(title(power), "T_softmax_exp elemwise");
  EXPECT_EQ(title(sum), "T_softmax_expsum comm_reduce");
  EXPECT_EQ(title(greatest), "T_softmax_maxelem comm_reduce");
  EXPECT_TRUE(refuses([&] { softmax(A, 2); }, {"topi::softmax", "axis 2"}));
  EXPECT_TRUE(refuses([&] { softmax(I); }, {"topi::softmax", "floats", "int8"}));
}

TEST_F(NnTest, WindowsThatFitAreCounted) {
  EXPECT_EQ(shape(max_pool2d(X, {2, 3})), "2 3 7 8");
  EXPECT_EQ(shape(max_pool2d(X, {2, 3}, {.stride = {2, 4}})), "2 3 4 2");
  EXPECT_EQ(shape(avg_pool2d(X, {3, 3}, {.stride = {2, 2}, .padding = {1, 1, 1, 1}})), "2 3 4 5");
  EXPECT_EQ(shape(conv2d_nchw(X, K)), "2 4 6 8");
  EXPECT_EQ(
      shape(conv2d_nchw(X, K, {.stride = {2, 1}, .dilation = {2, 3}, .padding = {2, 0, 1, 2}})),
      "2 4 4 6");
}

TEST_F(NnTest, PaddingByWhatTheWindowTakesKeepsASymbolicExtent) {
  const tir::Var n = te::size_var("n");
  const Tensor P = placeholder({1, 3, n, 10}, "P");
  const Tensor C = conv2d_nchw(P, K, {.dilation = {2, 1}, .padding = {2, 1, 2, 1}});
  EXPECT_TRUE(C.shape()[2].same_as(n));
  EXPECT_EQ(shape(C), "1 4 n 10");
}

TEST_F(NnTest, WindowsOfAnySizeAreCounted) {
  const int far = std::numeric_limits<int>::max();
  EXPECT_TRUE(refuses(
      [&] {
        max_pool2d(X, {far, far}, {.padding = {far - 1, 0, far - 1, 0}});
      },
      {"topi::max_pool2d", "covers 2147483647 places of dimension 3"}));
  EXPECT_TRUE(refuses(
      [&] {
        conv2d_nchw(X, K, {.dilation = {far, far}});
      },
      {"covers 4294967295 places"}));
}

TEST_F(NnTest, WindowsAreNamedAndTagged) {
  const PoolOptions padded{.padding = {1, 1, 1, 1}};
  EXPECT_EQ(title(max_pool2d(X, {2, 2}, padded).op()), "T_max_pool2d pool_max");
  EXPECT_EQ(title(max_pool2d(X, {2, 2}, padded).op().inputs()[0].op()), "T_pad injective");
  EXPECT_EQ(title(avg_pool2d(X, {2, 2}).op()), "T_avg_pool2d elemwise");
  EXPECT_EQ(title(avg_pool2d(X, {2, 2}).op().inputs()[0].op()), "T_avg_pool2d_sum pool_sum");
  EXPECT_EQ(title(conv2d_nchw(X, K).op()), "T_conv2d_nchw conv2d_nchw");
}

TEST_F(NnTest, WindowsThatDoNotFitAreRefused) {
  EXPECT_TRUE(refuses(
      [&] {
        max_pool2d(A, {2, 2});
      },
      {"topi::max_pool2d", "`A` must have 4 dimensions"}));
  EXPECT_TRUE(refuses(
      [&] {
        max_pool2d(X, {9, 2});
      },
      {"covers 9 places of dimension 2", "which has 8"}));
  EXPECT_TRUE(refuses([&] { max_pool2d(X, {0, 2}); }, {"topi::max_pool2d", "an extent of 0"}));
  EXPECT_TRUE(refuses([&] { max_pool2d(X, {2, 2}, {.stride = {0, 1}}); }, {"stride", "0"}));
  EXPECT_TRUE(refuses(
      [&] {
        avg_pool2d(X, {2, 2}, {.padding = {0, 2, 0, 0}});
      },
      {"a padding of 2"}));
  EXPECT_TRUE(refuses(
      [&] {
        avg_pool2d(placeholder({1, 1, 4, 4}, "J", Int(32)), {2, 2});
      },
      {"floats", "int32"}));
  EXPECT_TRUE(refuses(
      [&] {
        conv2d_nchw(X, placeholder({4, 2, 3, 3}, "L"));
      },
      {"topi::conv2d_nchw", "dimension 1 of `X` has extent 3", "dimension 1 of `L` has extent 2"}));
  EXPECT_TRUE(refuses(
      [&] {
        conv2d_nchw(X, K, {.padding = {-1, 0, 0, 0}});
      },
      {"topi::conv2d_nchw", "-1"}));
  EXPECT_TRUE(refuses(
      [&] {
        conv2d_nchw(X, K, {.dilation = {4, 1}});
      },
      {"covers 9 places of dimension 2"}));
}

TEST_F(NnTest, OperationsCarryTheLine) {
  const auto expect_here = [](const Tensor& t, SourceLocation here = SourceLocation::current()) {
    EXPECT_EQ(t.op().where().line(), here.line()) << t.name();
    EXPECT_EQ(t.op().inputs()[0].op().where().line(), here.line()) << t.name();
  };
  expect_here(conv2d_nchw(X, K, {.padding = {1, 1, 1, 1}}));
  expect_here(softmax(A));
  expect_here(dense(A, W, Bias));
}

// ---- transformers -------------------------------------------------------------------------------

// Norms, attention and gelu: what is declared, and what is refused.

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

// ---- Winograd's convolution ---------------------------------------------------------------------

// Winograd's convolution: what is declared, and what is refused.

struct WinogradTest : ::testing::Test {
  Tensor X = placeholder({2, 5, 9, 10}, "X"), K = placeholder({7, 5, 3, 3}, "K");

  /// The tensors from the result back, along the first inputs of the operations.
  std::vector<Tensor> chain(Tensor last) const {
    std::vector<Tensor> all{last};
    while (!all.back().op().inputs().empty()) all.push_back(all.back().op().inputs().front());
    return all;
  }
};

TEST_F(WinogradTest, HasTheExtentsOfTheConvolution) {
  for (const int tile : {2, 4}) {
    EXPECT_EQ(shape(conv2d_winograd_nchw(X, K, {.tile = tile})), "2 7 7 8");
    EXPECT_EQ(shape(conv2d_winograd_nchw(X, K, {.tile = tile, .padding = {1, 0, 2, 3}})),
              "2 7 10 11");
  }
}

TEST_F(WinogradTest, NhwcErrorsNameTheDimensionsOfTheLayout) {
  const Tensor x = placeholder({1, 9, 9, 5}, "N");
  EXPECT_EQ(shape(conv2d_winograd_nhwc(x, placeholder({3, 3, 5, 7}, "M"))), "1 7 7 7");
  EXPECT_TRUE(refuses(
      [&] {
        conv2d_winograd_nhwc(x, placeholder({3, 5, 5, 7}, "M"));
      },
      {"topi::conv2d_winograd_nhwc", "dimension 1 of `M` must have extent 3"}));
  EXPECT_TRUE(refuses(
      [&] {
        conv2d_winograd_nhwc(x, placeholder({3, 3, 4, 7}, "M"));
      },
      {"dimension 3 of `N` has extent 5", "dimension 2 of `M` has extent 4"}));
}

TEST_F(WinogradTest, IsOperationsOfTheseNames) {
  std::string names;
  for (const Tensor& x : chain(conv2d_winograd_nchw(X, K, {.name = "Y"}))) names += x.name() + " ";
  EXPECT_EQ(names, "Y Y_results Y_result_rows Y_products Y_inputs Y_input_rows T_pad X ");
  EXPECT_EQ(conv2d_winograd_nchw(X, K).name(), "T_conv2d_winograd");
  EXPECT_EQ(conv2d_winograd_nchw(X, K).op().tag(), kConv2dWinogradNchw);
}

TEST_F(WinogradTest, CountsPlacesTilesAndWholeVectors) {
  // 7 x 8 results of each of two images are 2 x 2 tiles of 4 or 4 x 4 tiles of 2.
  const auto products = [&](WinogradOptions options) {
    return shape(chain(conv2d_winograd_nchw(X, K, options))[3]);
  };
  EXPECT_EQ(products({.tile = 4}), "6 6 8 16");
  EXPECT_EQ(products({.tile = 2}), "4 4 32 16");
  EXPECT_EQ(products({.channel_multiple = 4}), "6 6 8 8");
  EXPECT_EQ(products({.channel_multiple = 1}), "6 6 8 7");
}

TEST_F(WinogradTest, PadsOnlyWhatIsReadBeyondTheImages) {
  const Tensor whole = placeholder({1, 16, 10, 10}, "W"), kernel = placeholder({16, 16, 3, 3}, "L");
  EXPECT_TRUE(chain(conv2d_winograd_nchw(whole, kernel))[6].same_as(whole));
  EXPECT_EQ(chain(conv2d_winograd_nchw(X, K))[6].name(), "T_pad");
}

TEST_F(WinogradTest, TakesBatchesChannelsAndFiltersThatOnlyTheCallKnows) {
  const te::Var n = te::size_var("n"), c = te::size_var("c"), k = te::size_var("k");
  const Tensor x = placeholder({n, c, 9, 10}, "x"), kernel = placeholder({k, c, 3, 3}, "L");
  EXPECT_EQ(shape(conv2d_winograd_nchw(x, kernel)), "n k 7 8");
}

TEST_F(WinogradTest, NeedsKernelsOfThreeByThree) {
  EXPECT_TRUE(refuses(
      [&] {
        conv2d_winograd_nchw(X, placeholder({7, 5, 3, 5}, "L"));
      },
      {"topi::conv2d_winograd_nchw `T_conv2d_winograd`", "dimension 3 of `L` must have extent 3"}));
  const te::Var n = te::size_var("n");
  EXPECT_TRUE(refuses(
      [&] {
        conv2d_winograd_nchw(X, placeholder({7, 5, n, 3}, "L"));
      },
      {"dimension 2 of `L` must have extent 3"}));
}

TEST_F(WinogradTest, NeedsTensorsThatFit) {
  EXPECT_TRUE(refuses(
      [&] {
        conv2d_winograd_nchw(X, placeholder({7, 4, 3, 3}, "L"));
      },
      {"dimension 1 of `X` has extent 5", "dimension 1 of `L` has extent 4"}));
  EXPECT_TRUE(refuses(
      [&] {
        conv2d_winograd_nchw(placeholder({9, 10}, "A"), K);
      },
      {"`A` must have 4 dimensions, has 2"}));
  EXPECT_TRUE(refuses(
      [&] {
        conv2d_winograd_nchw(placeholder({1, 5, 2, 9}, "S"), K);
      },
      {"the window covers 3 places of dimension 2, which has 2"}));
}

TEST_F(WinogradTest, NeedsConstantHeightsAndWidths) {
  const te::Var n = te::size_var("n");
  EXPECT_TRUE(refuses(
      [&] {
        conv2d_winograd_nchw(placeholder({1, 5, 9, n}, "A"), K);
      },
      {"dimension 3 of `A` must be a constant"}));
}

TEST_F(WinogradTest, NeedsWideFloats) {
  for (const DataType type : {Int(32), Float(16), BFloat(16)})
    EXPECT_TRUE(refuses(
        [&] {
          conv2d_winograd_nchw(placeholder({1, 5, 9, 9}, "A", type),
                               placeholder({7, 5, 3, 3}, "L", type));
        },
        {"float32 or float64", type.str()}));
  EXPECT_TRUE(refuses(
      [&] {
        conv2d_winograd_nchw(X, placeholder({7, 5, 3, 3}, "L", Float(64)));
      },
      {"`X` is float32, `L` is float64"}));
}

TEST_F(WinogradTest, NeedsOptionsThatMakeSense) {
  EXPECT_TRUE(
      refuses([&] { conv2d_winograd_nchw(X, K, {.tile = 3}); }, {"tiles are of 2 or 4, got 3"}));
  EXPECT_TRUE(refuses([&] { conv2d_winograd_nchw(X, K, {.channel_multiple = 0}); },
                      {"channel_multiple is from 1 to 64, got 0"}));
  EXPECT_TRUE(refuses(
      [&] {
        conv2d_winograd_nchw(X, K, {.padding = {0, -1, 0, 0}});
      },
      {"the padding must not be negative, got -1"}));
}

// ---- BLAS ---------------------------------------------------------------------------------------

TEST(Blas, OtherTypesAreRefused) {
  const tir::TargetFacts cpu;
  EXPECT_TRUE(refuses([&] { blas::axpy({.dtype = Int(32)}, cpu); },
                      {"topi::blas::axpy", "float32 or float64, not int32"}));
  EXPECT_TRUE(refuses([&] { blas::trsv({.dtype = Float(16)}, cpu); },
                      {"topi::blas::trsv", "float32 or float64, not float16"}));
}

TEST(Blas, DevicesAreRefused) {
  const tir::TargetFacts device{.kind = tir::TargetKind::Cuda};
  EXPECT_THROW(blas::gemv({}, device), ScheduleError);
  EXPECT_THROW(blas::symv({}, device), ScheduleError);
}

}  // namespace
}  // namespace tenon::topi

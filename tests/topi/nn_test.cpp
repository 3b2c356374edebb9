// Neural networks: what is declared, and what is refused.
#include "tenon/topi/nn.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/topi/misuse.h"
#include "tests/topi/text.h"

namespace tenon::topi {
namespace {

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

}  // namespace
}  // namespace tenon::topi

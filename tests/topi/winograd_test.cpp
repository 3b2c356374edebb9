// Winograd's convolution: what is declared, and what is refused.
#include <gtest/gtest.h>

#include "tenon/topi/convolution.h"
#include "tests/topi/misuse.h"
#include "tests/topi/text.h"

namespace tenon::topi {
namespace {

using te::placeholder;

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

}  // namespace
}  // namespace tenon::topi

// Tensors side by side, and parts of tensors: what is declared, and what is refused.
#include "tenon/topi/parts.h"

#include <gtest/gtest.h>

#include "tests/topi/misuse.h"
#include "tests/topi/text.h"

namespace tenon::topi {
namespace {

using te::placeholder;
using tir::Expr;
using tir::Var;

struct PartsTest : ::testing::Test {
  Tensor A = placeholder({2, 3, 4}, "A"), B = placeholder({2, 3, 4}, "B"), S = placeholder({}, "S");
  Tensor Thin = placeholder({1, 5, 1}, "Thin"), I = placeholder({2, 3, 4}, "I", Int(32));
  Var n = te::size_var("n"), m = te::size_var("m");
  Tensor P = placeholder({n, 4}, "P");
};

TEST_F(PartsTest, TensorsSideBySideAreAlike) {
  EXPECT_EQ(shape(concatenate({A, B, A}, 1)), "2 9 4");
  EXPECT_EQ(shape(stack({A, B}, -1)), "2 3 4 2");
  EXPECT_EQ(shape(concatenate({P, P})), "(n + n) 4");
  EXPECT_TRUE(refuses(
      [&] {
        concatenate({A, I});
      },
      {"topi::concatenate", "`A` is float32", "`I` is int32"}));
  EXPECT_TRUE(refuses(
      [&] {
        concatenate({A, Thin}, 0);
      },
      {"`A` [2, 3, 4]", "`Thin` [1, 5, 1]", "dimension 0"}));
  EXPECT_TRUE(refuses([&] { stack({A, Thin}); }, {"topi::stack", "`A`", "`Thin`"}));
  EXPECT_TRUE(refuses([&] { concatenate({}); }, {"topi::concatenate", "no tensor"}));
}

TEST_F(PartsTest, PartsCoverTheDimension) {
  EXPECT_EQ(shape(split(A, {1, 3}, 2)[0]) + " / " + shape(split(A, {1, 3}, 2)[1]), "2 3 1 / 2 3 2");
  EXPECT_EQ(shape(split_sections(A, 2, -1)[1]), "2 3 2");
  EXPECT_TRUE(refuses([&] { split(A, {3, 1}, 2); }, {"topi::split", "must rise", "4"}));
  EXPECT_TRUE(refuses([&] { split(A, {5}, 2); }, {"topi::split", "must rise"}));
  EXPECT_TRUE(
      refuses([&] { split_sections(A, 2, 1); }, {"topi::split_sections", "2 parts", "extent 3"}));
  EXPECT_TRUE(refuses([&] { split_sections(A, 0, 1); }, {"topi::split_sections", "0 parts"}));
  EXPECT_TRUE(refuses([&] { split(P, {1}); }, {"topi::split", "extent n", "constant"}));
}

TEST_F(PartsTest, SlicesHaveBeginsAndEnds) {
  EXPECT_TRUE(refuses([&] { strided_slice(A, {0}, {1, 2}); }, {"1 begins", "2 ends"}));
  EXPECT_TRUE(refuses([&] { strided_slice(A, {0}, {1}, {0}); },
                      {"topi::strided_slice", "dimension 0 is 0"}));
  EXPECT_TRUE(refuses([&] { strided_slice(P, {0}, {1}); }, {"extent n", "constant"}));
  EXPECT_EQ(shape(strided_slice(A, {1, -2}, {9, -1})), "1 1 4");
}

TEST_F(PartsTest, IndicesAreIntegers) {
  const Tensor None = placeholder({0, 3}, "None");
  EXPECT_EQ(shape(take(A, I, 1)), "2 2 3 4 4");
  EXPECT_TRUE(refuses([&] { take(A, B); }, {"topi::take", "`A`", "`B`", "integers", "float32"}));
  EXPECT_TRUE(refuses([&] { take(None, I); }, {"topi::take", "dimension 0 has no elements"}));
}

TEST_F(PartsTest, PaddingIsCountedAndOfTheTensorsType) {
  EXPECT_EQ(shape(pad(A, {1, 0, 2}, {0, 1})), "3 4 6");
  EXPECT_EQ(shape(pad(P, {m}, {})), "(m + n) 4");
  EXPECT_TRUE(refuses([&] { pad(A, {-1}, {}); }, {"topi::pad", "dimension 0", "-1"}));
  EXPECT_TRUE(refuses([&] { pad(A, {1, 1, 1, 1}, {}); }, {"topi::pad", "4 ", "3 dimensions"}));
  EXPECT_TRUE(refuses([&] { pad(I, {1}, {}, 0.5f); }, {"topi::pad", "float32", "int32"}));
}

}  // namespace
}  // namespace tenon::topi

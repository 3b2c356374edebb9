// Elements in other places, tensors side by side and parts of tensors: what is declared, and what
// is refused.
#include "tenon/topi/transform.h"

#include <gtest/gtest.h>

#include "tenon/tir/expr.h"
#include "tenon/topi/parts.h"
#include "tests/topi/misuse.h"
#include "tests/topi/text.h"

namespace tenon::topi {
namespace {

// ---- elements in other places -------------------------------------------------------------------

// Elements in other places: what is declared, and what is refused.

using te::placeholder;
using tir::Expr;
using tir::Var;

struct TransformTest : ::testing::Test {
  Tensor A = placeholder({2, 3, 4}, "A"), B = placeholder({2, 3, 4}, "B"), S = placeholder({}, "S");
  Tensor Thin = placeholder({1, 5, 1}, "Thin"), I = placeholder({2, 3, 4}, "I", Int(32));
  Var n = te::size_var("n"), m = te::size_var("m");
  Tensor P = placeholder({n, 4}, "P");
};

TEST_F(TransformTest, NamesAndTags) {
  const std::vector<std::pair<Tensor, std::string>> cases = {
      {transpose(A), "T_transpose"},
      {reshape(A, {24}), "T_reshape"},
      {flatten(A), "T_flatten"},
      {expand_dims(A, 0), "T_expand_dims"},
      {squeeze(Thin), "T_squeeze"},
      {concatenate({A, B}), "T_concat"},
      {stack({A, B}), "T_stack"},
      {split(A, {1})[1], "T_split"},
      {split_sections(A, 2)[1], "T_split_sections"},
      {strided_slice(A, {0}, {1}), "T_strided_slice"},
      {take(A, I), "T_take"},
      {pad(A, {1}, {1}), "T_pad"}};
  for (const auto& [tensor, name] : cases)
    EXPECT_EQ(tensor.op().name() + " " + tensor.op().tag(), name + " injective");
}

TEST_F(TransformTest, OperationsCarryTheLine) {
  EXPECT_EQ(transpose(A).op().where().line(), SourceLocation::current().line());
}

TEST_F(TransformTest, TransposeReversesOrFollowsTheList) {
  EXPECT_EQ(shape(transpose(A)), "4 3 2");
  EXPECT_EQ(element(transpose(A)), "A[ax2, ax1, ax0]");
  EXPECT_EQ(element(transpose(A, {1, 2, 0})), "A[ax2, ax0, ax1]");
  EXPECT_EQ(shape(transpose(A, {0, -1, 1})), "2 4 3");
  EXPECT_EQ(element(transpose(S)), "S[]");
}

TEST_F(TransformTest, TransposeNeedsEveryDimensionOnce) {
  EXPECT_TRUE(refuses([&] { transpose(A, {0, 1}); }, {"topi::transpose", "`A`", "2 of 3"}));
  EXPECT_TRUE(refuses([&] { transpose(A, {0, 1, 1}); }, {"topi::transpose", "listed twice"}));
  EXPECT_TRUE(refuses([&] { transpose(A, {0, 1, 3}); }, {"topi::transpose", "axis 3"}));
}

TEST_F(TransformTest, ReshapeKeepsTheIndicesOfEqualFirstAndLastExtents) {
  const Tensor X = te::placeholder({n, 6, m}, "X");
  EXPECT_EQ(element(reshape(X, {n, 6, m})), "X[ax0, ax1, ax2]");
  EXPECT_EQ(element(reshape(X, {n, 2, 3, m})), "X[ax0, ((ax1*3) + ax2), ax3]");
  EXPECT_EQ(element(reshape(X, {1, n, 6, m})), "X[ax1, ax2, ax3]");
}

TEST_F(TransformTest, ReshapeComparesTheFactorsOfProducts) {
  EXPECT_EQ(element(reshape(P, {n * 4})), "P[floordiv(ax0, 4), floormod(ax0, 4)]");
  EXPECT_EQ(shape(reshape(placeholder({n * 6}, "A"), {3, n, 2})), "3 n 2");
  EXPECT_TRUE(refuses([&] { reshape(P, {n * 5}); }, {"[n, 4]", "[(n*5)]", "not known"}));
}

TEST_F(TransformTest, ReshapeKeepsTheNumberOfElements) {
  EXPECT_EQ(shape(reshape(P, {4, n})), "4 n");
  EXPECT_EQ(shape(reshape(P, {2, n, 2})), "2 n 2");
  EXPECT_EQ(reshape(S, {1, 1}).ndim(), 2);
  EXPECT_TRUE(refuses(
      [&] {
        reshape(A, {5, 5});
      },
      {"topi::reshape", "`A` [2, 3, 4]", "[5, 5]", "elements"}));
  EXPECT_TRUE(refuses([&] { reshape(P, {m, 4}); }, {"[n, 4]", "[m, 4]", "not known"}));
}

TEST_F(TransformTest, NumbersThatNeed64BitsHaveThem) {
  const Tensor Big = placeholder({2, 65536, 65536}, "Big");
  EXPECT_EQ(shape(flatten(Big)), "2 4294967296i64");
  EXPECT_EQ(shape(concatenate({Big, Big}, 1)), "2 131072 65536");
  const Tensor Long = placeholder({1 << 30}, "Long");
  EXPECT_EQ(shape(concatenate({Long, Long, Long})), "3221225472i64");
  EXPECT_EQ(shape(pad(Long, {1 << 30}, {})), "2147483648i64");
  // Between two shapes of extents that int32 holds, places are counted in int64.
  EXPECT_EQ(
      reshape(Big, {65536, 131072}).op().body()[0].as<tir::ProducerLoad>()->indices[0].dtype(),
      Int(64));
  EXPECT_EQ(reshape(A, {24}).op().body()[0].as<tir::ProducerLoad>()->indices[0].dtype(), Int(32));
}

TEST_F(TransformTest, NumbersPast64BitsAreRefused) {
  const int far = 1 << 30;
  const Tensor Long = placeholder({far, far}, "Long");
  EXPECT_TRUE(refuses([&] { reshape(A, {far, far, far, far}); }, {"topi::reshape", "elements"}));
  EXPECT_TRUE(refuses([&] { pad(Long, {std::int64_t{1} << 62}, {std::int64_t{1} << 62}); },
                      {"topi::pad", "more elements than 64 bits count"}));
  EXPECT_TRUE(refuses([&] { expand_dims(A, 0, 1 << 30); }, {"topi::expand_dims", "0 to 64"}));
}

TEST_F(TransformTest, ExpressionsWithoutAValueAreRefused) {
  Expr gone = n + 1;
  const Expr kept = std::move(gone);
  EXPECT_TRUE(refuses(
      [&] {
        reshape(A, {gone, 24});
      },
      {"topi::reshape", "extent 0", "moved from"}));
  EXPECT_TRUE(refuses(
      [&] {
        pad(A, {0, gone}, {});
      },
      {"topi::pad", "before dimension 1", "moved from"}));
}

TEST_F(TransformTest, DimensionsOfExtentOneComeAndGo) {
  EXPECT_EQ(shape(expand_dims(A, 1, 2)), "2 1 1 3 4");
  EXPECT_EQ(shape(expand_dims(A, -1)), "2 3 4 1");
  EXPECT_EQ(element(expand_dims(A, 1)), "A[ax0, ax2, ax3]");
  EXPECT_EQ(shape(squeeze(Thin)), "5");
  EXPECT_EQ(shape(squeeze(Thin, {-1})), "1 5");
  EXPECT_EQ(element(squeeze(Thin, {-1})), "Thin[ax0, ax1, 0]");
  EXPECT_TRUE(refuses([&] { squeeze(Thin, {1}); }, {"topi::squeeze", "dimension 1 has extent 5"}));
  EXPECT_TRUE(refuses([&] { expand_dims(A, 4); }, {"topi::expand_dims", "axis 4"}));
  EXPECT_TRUE(refuses([&] { expand_dims(A, 0, -1); }, {"topi::expand_dims", "not -1"}));
}

// ---- tensors side by side -----------------------------------------------------------------------

// Tensors side by side, and parts of tensors: what is declared, and what is refused.

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

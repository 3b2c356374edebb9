// Reductions of whole dimensions: what is declared, and what is refused.
#include "tenon/topi/reduction.h"

#include <gtest/gtest.h>

#include "tests/topi/misuse.h"
#include "tests/topi/text.h"

namespace tenon::topi {
namespace {

using te::placeholder;

/// "k0 k2"
std::string reduced(const Tensor& t) {
  std::string text;
  for (const te::IterVar& axis : t.op().reduce_axis())
    text += (text.empty() ? "" : " ") + axis.name();
  return text;
}

struct ReductionTest : ::testing::Test {
  Tensor A = placeholder({2, 3, 4}, "A"), T = placeholder({2, 3}, "T", Bool()),
         S = placeholder({}, "S");
};

TEST_F(ReductionTest, IsNamedAndTaggedAsTheReferenceDoes) {
  const te::Operation op = sum(A, {1}).op();
  EXPECT_EQ(op.name() + " " + op.tag(), "A_red comm_reduce");
  EXPECT_EQ(op.axis(0).name() + " " + op.axis(1).name(), "ax0 ax1");
  EXPECT_EQ(sum(A, {1}, {.name = "total"}).op().name(), "total");
}

TEST_F(ReductionTest, LeavesTheListedDimensionsOut) {
  EXPECT_EQ(shape(sum(A, {1})) + " / " + reduced(sum(A, {1})), "2 4 / k1");
  EXPECT_EQ(shape(max(A, {2, 0})) + " / " + reduced(max(A, {2, 0})), "3 / k0 k2");
  EXPECT_EQ(shape(min(A, {-1})) + " / " + reduced(min(A, {-1})), "2 3 / k2");
}

TEST_F(ReductionTest, NoneListedAreAll) {
  EXPECT_EQ(prod(A).ndim(), 0);
  EXPECT_EQ(reduced(prod(A)), "k0 k1 k2");
}

TEST_F(ReductionTest, KeepsThemWithExtentOne) {
  EXPECT_EQ(shape(sum(A, {1}, {.keepdims = true})), "2 1 4");
  EXPECT_EQ(shape(argmax(A, {}, {.keepdims = true})), "1 1 1");
}

TEST_F(ReductionTest, PositionsAreTwoOperations) {
  const te::Operation op = argmin(A, {2}, {.name = "least"}).op(), pairs = op.inputs().front().op();
  EXPECT_EQ(op.name() + " " + op.tag(), "least comm_reduce_idx");
  EXPECT_EQ(pairs.name() + " " + pairs.tag(), "least_temp comm_reduce_idx");
  EXPECT_EQ(op.output(0).dtype(), Int(32));
  EXPECT_EQ(pairs.output(1).dtype(), Float(32));
}

TEST_F(ReductionTest, PositionsInDimensionsOf64BitsHave64Bits) {
  const Tensor Wide = placeholder({tir::make_const(Int(64), 5)}, "Wide");
  EXPECT_EQ(argmax(Wide).dtype(), Int(64));
  EXPECT_EQ(argmax(placeholder({65536, 65536}, "Big")).dtype(), Int(64));
  EXPECT_EQ(argmax(placeholder({65536, 65536}, "Big"), {0}).dtype(), Int(32));
}

TEST_F(ReductionTest, OperationsCarryTheLine) {
  const Tensor B = argmax(A, {1});
  EXPECT_EQ(B.op().where().line(), SourceLocation::current().line() - 1);
  EXPECT_EQ(B.op().inputs()[0].op().where().line(), SourceLocation::current().line() - 2);
}

TEST_F(ReductionTest, DimensionsThatAreNotThereAreRefused) {
  EXPECT_TRUE(
      refuses([&] { sum(A, {3}); }, {"topi::sum `A_red`", "tensor `A` [2, 3, 4]", "axis 3"}));
  EXPECT_TRUE(refuses([&] { max(A, {-4}); }, {"topi::max", "axis -4"}));
  EXPECT_TRUE(refuses([&] { min(A, {1, -2}); }, {"topi::min", "dimension 1 is listed twice"}));
  EXPECT_TRUE(refuses([&] { sum(S); }, {"topi::sum", "`S`", "rank 0"}));
}

TEST_F(ReductionTest, TermsMustFit) {
  EXPECT_TRUE(refuses([&] { all(A, {0}); }, {"topi::all `A_red`", "Bool", "float32"}));
  EXPECT_TRUE(refuses([&] { argmax(T, {0}); }, {"topi::argmax", "`T`", "bool"}));
  EXPECT_TRUE(refuses([&] { sum(T, {0}); }, {"`T_red`", "use all or any"}));
  EXPECT_EQ(any(T, {0}).dtype(), Bool());
}

}  // namespace
}  // namespace tenon::topi

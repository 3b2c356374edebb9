// Functions of what depends only on constant inputs (BuildOptions::separate_constants).
#include <gtest/gtest.h>

#include "tenon/driver/build.h"
#include "tenon/runtime/ndarray.h"
#include "tenon/tir/make.h"

namespace tenon {
namespace {

using runtime::NDArray;
using tir::Expr;
using tir::Var;

const BuildOptions kSeparated = {.separate_constants = true};

std::vector<std::string> parameters(const tir::PrimFunc& func) {
  std::vector<std::string> names;
  for (const tir::BufferParam& array : func.buffers) names.push_back(array.declared->name);
  return names;
}

std::vector<std::int64_t> shape_of_last(const tir::PrimFunc& func) {
  std::vector<std::int64_t> shape;
  for (const tir::Expr& extent : func.buffers.back().declared->shape)
    shape.push_back(*tir::constant_int(extent));
  return shape;
}

/// Y = X + P, where P = W * 2 is a stage of its own.
struct Doubled {
  te::Tensor X = te::placeholder({4, 8}, "X"), W = te::constant_input({4, 8}, "W");
  te::Tensor P = te::compute(
      {4, 8}, {"i", "j"}, [&](Var i, Var j) { return W(i, j) * 2.0f; }, "P");
  te::Tensor Y = te::compute(
      {4, 8}, {"i", "j"}, [&](Var i, Var j) { return X(i, j) + P(i, j); }, "Y");
  te::Schedule s = te::create_schedule(Y);

  tir::IRModule lowered() const { return lower(s, {X, W, Y}, kSeparated); }

  /// Runs both functions with X = 1 and W = 3. Returns the elements of Y.
  std::vector<float> run() const {
    const tir::IRModule module = lowered();
    const runtime::Module lib = build(s, {X, W, Y}, Target("llvm"), kSeparated);
    const auto x = NDArray::full({4, 8}, Float(32), 1), w = NDArray::full({4, 8}, Float(32), 3),
               y = NDArray::full({4, 8}, Float(32), 0),
               p = NDArray::full(shape_of_last(module.functions.at("main")), Float(32), 0);
    lib["main_constants"](w, p);
    lib["main"](x, y, p);
    return {y.data<float>(), y.data<float>() + 32};
  }
};

TEST(SeparateConstants, GivesAStageOfAConstantItsOwnFunction) {
  const tir::IRModule module = Doubled().lowered();
  EXPECT_EQ(parameters(module.functions.at("main")), (std::vector<std::string>{"X", "Y", "P"}));
  EXPECT_EQ(parameters(module.functions.at("main_constants")),
            (std::vector<std::string>{"W", "P"}));
  EXPECT_EQ(Doubled().run(), std::vector<float>(32, 7));
}

TEST(SeparateConstants, OrdersTheSharedArraysLikeTheStagesThatComputeThem) {
  const te::Tensor X = te::placeholder({4}, "X");
  std::vector<te::Tensor> stages;
  std::vector<LowerArgument> args = {X};
  std::vector<std::string> expected = {"X", "Y"};
  for (int n = 0; n < 8; ++n) {
    const te::Tensor W = te::constant_input({4}, "W" + std::to_string(n));
    args.emplace_back(W);
    stages.push_back(te::compute(
        {4}, {"i"}, [&](Var i) { return W(i) * 2.0f; }, "P" + std::to_string(n)));
    expected.push_back("P" + std::to_string(n));
  }
  const te::Tensor Y = te::compute(
      {4}, {"i"},
      [&](Var i) {
        Expr sum = X(i);
        for (const te::Tensor& P : stages) sum = sum + P(i);
        return sum;
      },
      "Y");
  args.emplace_back(Y);
  const tir::IRModule module = lower(te::create_schedule(Y), args, kSeparated);
  EXPECT_EQ(parameters(module.functions.at("main")), expected);
}

TEST(SeparateConstants, AcceptsArraysThatAreAlignedLikeTheirElements) {
  const Doubled d;
  const runtime::Module lib = build(d.s, {d.X, d.W, d.Y}, Target("llvm"), kSeparated);
  const auto x = NDArray::full({4, 8}, Float(32), 1), w = NDArray::full({4, 8}, Float(32), 3),
             y = NDArray::full({4, 8}, Float(32), 0), longer = NDArray::full({33}, Float(32), 0);
  const NDArray p = longer.view({4, 8}, {8, 1}, 4);
  lib["main_constants"](w, p);
  lib["main"](x, y, p);
  EXPECT_EQ(y.data<float>()[31], 7);
}

TEST(SeparateConstants, IsOffUnlessRequested) {
  const Doubled d;
  EXPECT_EQ(lower(d.s, {d.X, d.W, d.Y}).functions.size(), 1u);
}

TEST(SeparateConstants, KeepsOneFunctionWithoutConstants) {
  const te::Tensor A = te::placeholder({4}, "A");
  const te::Tensor B = te::compute(
      {4}, {"i"}, [&](Var i) { return A(i) * 2.0f; }, "B");
  const te::Tensor C = te::compute(
      {4}, {"i"}, [&](Var i) { return B(i) + 1.0f; }, "C");
  EXPECT_EQ(lower(te::create_schedule(C), {A, C}, kSeparated).functions.size(), 1u);
}

TEST(SeparateConstants, KeepsAStageThatAlsoReadsAnotherInput) {
  const te::Tensor X = te::placeholder({4}, "X"), W = te::constant_input({4}, "W");
  const te::Tensor P = te::compute(
      {4}, {"i"}, [&](Var i) { return W(i) * X(i); }, "P");
  const te::Tensor Y = te::compute(
      {4}, {"i"}, [&](Var i) { return P(i) + P(3 - i); }, "Y");
  EXPECT_EQ(lower(te::create_schedule(Y), {X, W, Y}, kSeparated).functions.size(), 1u);
}

TEST(SeparateConstants, KeepsAStageInsideOfALoop) {
  const Doubled d;
  d.s[d.P].compute_at(d.s[d.Y], d.Y.op().axis(0));
  EXPECT_EQ(d.lowered().functions.size(), 1u);
}

TEST(SeparateConstants, KeepsAStageOfSymbolicShape) {
  const Var n = te::var("n");
  const te::Tensor X = te::placeholder({n}, "X"), W = te::constant_input({n}, "W");
  const te::Tensor P = te::compute(
      {n}, {"i"}, [&](Var i) { return W(i) * 2.0f; }, "P");
  const te::Tensor Y = te::compute(
      {n}, {"i"}, [&](Var i) { return P(i) + X(i); }, "Y");
  EXPECT_EQ(lower(te::create_schedule(Y), {X, W, Y}, kSeparated).functions.size(), 1u);
}

TEST(SeparateConstants, KeepsAConstantThatTheFunctionReadsItself) {
  const te::Tensor W = te::constant_input({4}, "W");
  const te::Tensor P = te::compute(
      {4}, {"i"}, [&](Var i) { return W(i) * 2.0f; }, "P");
  const te::Tensor Y = te::compute(
      {4}, {"i"}, [&](Var i) { return P(i) + W(3 - i); }, "Y");
  const tir::IRModule module = lower(te::create_schedule(Y), {W, Y}, kSeparated);
  EXPECT_EQ(parameters(module.functions.at("main")), (std::vector<std::string>{"W", "Y", "P"}));
}

TEST(SeparateConstants, KeepsAResultInTheArrayOfAConstant) {
  const te::Tensor W = te::constant_input({4}, "W");
  const te::Tensor Y = te::compute(
      {4}, {"i"}, [&](Var i) { return W(i) * 2.0f; }, "Y");
  const tir::Buffer both = tir::decl_buffer({4}, Float(32), {.name = "both"});
  BuildOptions options = kSeparated;
  options.binds = {{W, both}, {Y, both}};
  EXPECT_EQ(lower(te::create_schedule(Y), {W}, options).functions.size(), 1u);
}

TEST(SeparateConstants, SharesOnlyTheLastStageOfAChain) {
  const te::Tensor X = te::placeholder({4}, "X"), W = te::constant_input({4}, "W");
  const te::Tensor P = te::compute(
      {4}, {"i"}, [&](Var i) { return W(i) * 2.0f; }, "P");
  const te::Tensor Q = te::compute(
      {4}, {"i"}, [&](Var i) { return P(3 - i) + 1.0f; }, "Q");
  const te::Tensor Y = te::compute(
      {4}, {"i"}, [&](Var i) { return Q(i) + X(i); }, "Y");
  const tir::IRModule module = lower(te::create_schedule(Y), {X, W, Y}, kSeparated);
  EXPECT_EQ(parameters(module.functions.at("main_constants")),
            (std::vector<std::string>{"W", "Q"}));
}

TEST(SeparateConstants, FlattensMemoryWithPaddedStrides) {
  const Doubled d;
  // Rows of 8 elements at a distance of 16 k + 3.
  d.s[d.P].storage_align(d.P.op().axis(0), 16, 3);
  EXPECT_EQ(shape_of_last(d.lowered().functions.at("main")), (std::vector<std::int64_t>{4 * 19}));
  EXPECT_EQ(d.run(), std::vector<float>(32, 7));
}

}  // namespace
}  // namespace tenon

// Sizes and scalar arguments that put reads out of bounds: the call refuses them.
#include <gtest/gtest.h>
#include <tenon/tenon.h>

#include <limits>

namespace tenon {
namespace {

using runtime::NDArray;

const tir::Var n("n"), m("m");

NDArray zeros(std::int64_t count) { return NDArray::zeros({count}, Float(32), cpu(0)); }

TEST(ReadConditions, HoldForOffsetsThatExceedTheTypeOfTheSum) {
  for (const DataType type : {Int(32), Int(64)}) {
    const tir::Var first("first", type);
    te::Tensor A = te::placeholder({n}, "A");
    te::Tensor B = te::compute(
        {m}, {"i"}, [&](Var i) { return A(i + first); }, "B");
    const runtime::Module copy = build(te::create_schedule(B), {A, first, B}, Target("llvm"));
    const std::int64_t largest = type == Int(32) ? std::numeric_limits<std::int32_t>::max()
                                                 : std::numeric_limits<std::int64_t>::max();
    NDArray a = zeros(8), b = zeros(4);
    EXPECT_NO_THROW(copy["main"](a, 4, b));
    for (const std::int64_t start : {largest, largest - 1, std::int64_t{5}, std::int64_t{-1}})
      EXPECT_THROW(copy["main"](a, start, b), RuntimeError) << start;
  }
}

TEST(ReadConditions, HoldForABufferThatDoesNotBroadcast) {
  te::Tensor A = te::placeholder({n}, "A");
  te::Tensor B = te::compute(
      {m}, {"i"}, [&](Var i) { return A(i); }, "B");
  const tir::Buffer compact = tir::decl_buffer({n}, Float(32), {.name = "compact", .strides = {1}});
  const runtime::Module copy =
      build(te::create_schedule(B), {A, B}, Target("llvm"), {.binds = {{A, compact}}});
  NDArray one = zeros(1), many = zeros(10);
  EXPECT_THROW(copy["main"](one, many), RuntimeError);
  EXPECT_NO_THROW(copy["main"](many, one));
}

TEST(ReadConditions, LeaveOutStagesThatTheCallSkips) {
  const tir::Var flag("flag");
  te::Tensor A = te::placeholder({n}, "A"), bias = te::placeholder({m}, "bias");
  te::Tensor T = te::compute(
      {n}, {"i"}, [&](Var i) { return bias(i) * 2.0f; }, "T");
  te::Tensor B = te::compute(
      {n}, {"i"}, [&](Var i) { return tir::if_then_else(flag > 0, A(i) + T(i), A(i)); }, "B");
  const runtime::Module add = build(te::create_schedule(B), {A, bias, flag, B}, Target("llvm"));
  NDArray a = zeros(8), nothing = zeros(0), b = zeros(8);
  EXPECT_NO_THROW(add["main"](a, nothing, 0, b));
  EXPECT_THROW(add["main"](a, nothing, 1, b), RuntimeError);
}

}  // namespace
}  // namespace tenon

// Programs to misuse: a chain of stages, and a tensor intrinsic with its code.
//
//   struct ChainTest : Chain {};
//   TEST_F(ChainTest, Factors) { refused([&] { s[C].split(k, 0); }, {"split", "`k`", "`C`", "0"}); }
#pragma once

#include <tenon/tenon.h>

#include "tenon/tir/stmt.h"
#include "tests/common/refusal.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {

/// A -> B = A + 1 -> C = row sums of B -> D = 2 * C, and what is expected of primitives on them.
struct Chain : ::testing::Test {
  te::Tensor A = te::placeholder({16, 16}, "A");
  te::IterVar k = te::reduce_axis({0, 16}, "k");
  te::Tensor B = te::compute(
      {16, 16}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  te::Tensor C = te::compute(
      {16}, {"i"}, [&](Var i) { return te::sum(B(i, k), {k}); }, "C");
  te::Tensor D = te::compute(
      {16}, {"i"}, [&](Var i) { return C(i) * 2.0f; }, "D");
  te::Schedule s = te::create_schedule(D);
  std::vector<LowerArgument> args = {A, D};

  /// At the call, with the schedule left as it was.
  void refused(const std::function<void()>& primitive, const std::vector<std::string>& parts,
               SourceLocation where = SourceLocation::current()) {
    EXPECT_TRUE(leaves_alone(s, args, [&] {
      EXPECT_TRUE(refuses<ScheduleError>(primitive, parts, where));
    })) << where.line();
  }
  void refused_by_lower(const std::vector<std::string>& parts,
                        SourceLocation where = SourceLocation::current()) {
    EXPECT_TRUE(refuses<Error>([&] { lower(s, args, {}, where); }, parts, where)) << where.line();
  }
};

/// The intrinsic to[x] = from[x] + 1 of n floats, wherever they lie. Its code is a part of it, so
/// the interpreter can run it as well.
inline te::TensorIntrin add_one(int n) {
  te::Tensor from = te::placeholder({n}, "from");
  te::Tensor to = te::compute(
      {n}, {"x"}, [&](Var x) { return from(x) + 1.0f; }, "to");
  auto view = [](const te::Tensor& tensor) {
    return tir::decl_buffer(
        tensor.shape(), tensor.dtype(),
        {.name = tensor.name(), .strides = {Var("stride")}, .offset_factor = 1});
  };
  auto body = [n](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) {
    tir::IRBuilder ib;
    ib.for_range(0, n, "x", [&](Var x) {
      ib.emit(tir::make_store(outs[0], tir::make_load(ins[0], {x}) + 1.0f, {x}));
    });
    return te::TensorIntrinBody{.body = ib.get()};
  };
  return te::decl_tensor_intrin(to.op(), body, {.binds = {{from, view(from)}, {to, view(to)}}});
}

}  // namespace tenon::testing

// Tensor intrinsics declared or called as they cannot be: refused there, before any schedule.
#include <gtest/gtest.h>

#include "tenon/tir/stmt.h"
#include "tests/common/refusal.h"

namespace tenon::testing {
namespace {

using Buffers = std::span<const tir::Buffer>;

struct IntrinsicDeclarationTest : ::testing::Test {
  te::Tensor A = te::placeholder({8, 16}, "A");
  te::Tensor a = te::placeholder({16}, "a");
  te::Tensor c = te::compute(
      {16}, {"x"}, [&](Var x) { return a(x) * 2.0f; }, "c");

  static te::TensorIntrinBody call_f(Buffers ins, Buffers outs) {
    return {.body = tir::make_evaluate(
                call_extern(Int(32), "f", ins[0].access_ptr("r"), outs[0].access_ptr("w")))};
  }
  static void refused(const std::function<void()>& use, const std::vector<std::string>& parts,
                      SourceLocation where = SourceLocation::current()) {
    EXPECT_TRUE(refuses<TypeError>(use, parts, where)) << where.line();
  }
};

TEST_F(IntrinsicDeclarationTest, OneOperationOnPlaceholders) {
  te::Tensor twice = te::compute(
      {16}, {"x"}, [&](Var x) { return c(x) + 1.0f; }, "twice");
  refused([&] { te::decl_tensor_intrin(twice.op(), call_f, {.name = "op"}); },
          {"`op`", "`c`", "computed"});
  refused([&] { te::decl_tensor_intrin(a.op(), call_f, {.name = "op"}); },
          {"`op`", "`a`", "not a compute"});
}

TEST_F(IntrinsicDeclarationTest, CodeOnItsOwnBuffers) {
  refused([&] { te::decl_tensor_intrin(c.op(), nullptr, {.name = "op"}); },
          {"`op`", "empty function"});
  const tir::Buffer nowhere = tir::decl_buffer({4}, Float(32), {.name = "nowhere"});
  const Stmt store = tir::make_store(nowhere, Expr(1.0f), {Expr(0)});
  refused(
      [&] {
        te::decl_tensor_intrin(
            c.op(), [&](Buffers, Buffers) { return te::TensorIntrinBody{.body = store}; },
            {.name = "op"});
      },
      {"`op`", "`nowhere`"});
  const tir::Buffer b = tir::decl_buffer({16}, Float(32), {.name = "b"});
  refused(
      [&] {
        te::decl_tensor_intrin(c.op(), call_f, {.binds = {{a, b}, {a, b}}, .name = "op"});
      },
      {"`op`", "`a`", "two buffers"});
}

TEST_F(IntrinsicDeclarationTest, CallsOnRegions) {
  const te::TensorIntrin op =
      te::decl_tensor_intrin(c.op(), call_f, {.name = "op", .scalar_params = {Var("p")}});
  te::Tensor ints = te::placeholder({16}, "ints", Int(32));
  const te::IterVar k = te::reduce_axis({0, 4}, "k");
  using Regions = std::vector<te::TensorRegion>;
  const te::TensorRegion row = A.region({0, Range(0, 16)});
  refused([&] { op(Regions{}, {.scalars = {1}}); }, {"`op`", "1 tensors", "0"});
  refused([&] { op(Regions{row, row}, {.scalars = {1}}); }, {"`op`", "1 tensors", "2"});
  refused([&] { op(Regions{ints.region({Range(0, 16)})}, {.scalars = {1}}); },
          {"`op`", "int32", "float32"});
  refused([&] { op(Regions{row}); }, {"`op`", "1 scalars", "0"});
  refused([&] { op(Regions{row}, {.scalars = {2.5f}}); }, {"`op`", "`p`", "int32", "float32"});
  refused([&] { op(Regions{row}, {.reduce_axis = {k}, .scalars = {1}}); },
          {"`op`", "`k`", "no update"});
  EXPECT_NO_THROW(op(Regions{row}, {.scalars = {1}}));
}

}  // namespace
}  // namespace tenon::testing

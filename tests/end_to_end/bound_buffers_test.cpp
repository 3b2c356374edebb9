// Buffers of the user's in place of those that lower makes: where and how the elements lie.
#include <gtest/gtest.h>
#include <tenon/tenon.h>

#include <cmath>

namespace tenon::testing {
namespace {

using runtime::NDArray;

/// Doubles an array that is declared so.
struct BoundBufferTest : ::testing::Test {
  Var n = te::size_var("n");
  NDArray memory = NDArray::random({64, 64}, Float(32));

  void doubles(std::vector<Expr> shape, tir::BufferOptions options, const NDArray& in,
               SourceLocation where = SourceLocation::current()) const {
    te::Tensor A = te::placeholder(shape, "A");
    te::Tensor C = te::compute(
        shape, [&](std::span<const Var> at) { return A(at) * 2.0f; }, "C");
    const tir::Buffer b = tir::decl_buffer(shape, Float(32), std::move(options));
    const runtime::Module mod =
        build(te::create_schedule(C), {b, C}, Target("llvm"), {.binds = {{A, b}}, .opt_level = 1});
    const NDArray out = NDArray::full(in.shape(), Float(32), NAN);
    mod["main"](in, out);
    std::vector<float> expected = in.to_vector<float>();
    for (float& element : expected) element *= 2;
    EXPECT_EQ(out.to_vector<float>(), expected) << where.line();
  }
};

TEST_F(BoundBufferTest, ElementsLieApart) {
  const NDArray apart = memory.view({8, 4}, {64, 2});
  doubles({8, 4}, {.strides = {64, 2}}, apart);
  doubles({8, 4}, {.strides = {te::var("s"), te::var("t")}}, apart);
  doubles({n, 4}, {.strides = {te::var("s"), 2}}, apart);
  const Var both("both");
  doubles({8, 8}, {.strides = {both, both}}, memory.view({8, 8}, {1, 1}));
}

TEST_F(BoundBufferTest, RowsMayBeOneRow) {
  doubles({n, 4}, {.kind = tir::BufferKind::AutoBroadcast}, memory.view({8, 4}, {0, 1}));
  doubles({n, 4}, {.kind = tir::BufferKind::AutoBroadcast}, memory.view({1, 4}, {0, 1}));
  doubles({n, 4}, {.kind = tir::BufferKind::AutoBroadcast}, memory.view({8, 4}, {64, 3}));
}

TEST_F(BoundBufferTest, ElementsBeginFurtherOn) {
  const NDArray later = memory.view({8, 4}, {4, 1}, 64);
  doubles({8, 4}, {}, later);
  doubles({8, 4}, {.offset_factor = 16}, later);
  doubles({8, 4}, {.data_alignment = 4, .offset_factor = 1}, memory.view({8, 4}, {4, 1}, 4));
}

TEST_F(BoundBufferTest, MemoryHasTwoDimensions) {
  doubles({8, 4}, {.axis_separators = {1}}, memory.view({8, 4}, {4, 1}));
}

}  // namespace
}  // namespace tenon::testing

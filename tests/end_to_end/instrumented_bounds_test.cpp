// Code that checks every access: right programs run as they do without, wrong ones stop before they
// read.
#include <gtest/gtest.h>

#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

const BuildOptions kInstrumented = {.instrument_bounds = true, .opt_level = 1};

TEST(InstrumentedTest, RanksOfZero) {
  te::Tensor a = te::placeholder({}, "a"), K = te::placeholder({10}, "K");
  te::IterVar k = te::reduce_axis({0, 10}, "k");
  te::Tensor S = te::compute(
      {}, {}, [&] { return te::sum(K(k) * a(), {k}); }, "S");
  te::Tensor T = te::compute(
      {}, {}, [&] { return S() + a(); }, "T");
  EXPECT_EQ(compare_with_default(te::create_schedule(T), {a, K, T}, {.build = kInstrumented}), "");
}

TEST(InstrumentedTest, TilesCachesAndVectorsOfEverySize) {
  Var n = te::size_var("n"), m = te::size_var("m");
  te::Tensor A = te::placeholder({n, m}, "A"), B = te::placeholder({m, n}, "B");
  te::IterVar k = te::reduce_axis({0, m}, "k");
  te::Tensor C = te::compute(
      {n, n}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, k) * B(k, j), {k}); }, "C");
  te::Schedule s = te::create_schedule(C);
  te::Tensor tile = s.cache_write(C, "local");
  const auto tiles = s[C].tile(s[C].axis(0), s[C].axis(1), 4, 8);
  s[C].parallel(tiles.x_outer).vectorize(tiles.y_inner);
  s[tile].compute_at(s[C], tiles.y_outer);
  s[tile]
      .reorder({s[tile].reduce_axis(0), s[tile].axis(0), s[tile].axis(1)})
      .vectorize(s[tile].axis(1));
  // An array of one element has strides of 0.
  EXPECT_EQ(
      compare_with_default(s, {A, B, C}, {.symbols = {0, 1, 4, 8, 13}, .build = kInstrumented}),
      "");
}

TEST(InstrumentedTest, ElementsThatAreVectors) {
  Var n = te::size_var("n");
  te::Tensor A = te::placeholder({n}, "A", Float(32, 4));
  te::Tensor B = te::compute(
      {n}, {"i"}, [&](Var i) { return A(n - 1 - i) * 2.0f; }, "B");
  te::Schedule s = te::create_schedule(B);
  s[B].vectorize(s[B].split(s[B].axis(0), 4).inner);
  EXPECT_EQ(compare_with_default(s, {A, B}, {.symbols = {1, 8, 11}, .build = kInstrumented}), "");
  // The first element behind the last, which is not proved.
  te::Tensor C = te::compute(
      {n}, {"i"}, [&](Var i) { return A(max(i + 1, 0)) * 2.0f; }, "C");
  const runtime::Module mod = build(te::create_schedule(C), {A, C}, Target("llvm"), kInstrumented);
  const runtime::NDArray a = runtime::NDArray::random({5}, Float(32, 4)),
                         c = runtime::NDArray::zeros({5}, Float(32, 4));
  EXPECT_THROW(mod["main"](a, c), RuntimeError);
}

TEST(InstrumentedTest, AStoreOutsideStopsTheProgram) {
  te::Tensor I = te::placeholder({4}, "I", Int(32));
  te::Tensor B = te::extern_op(
      {4}, {I},
      [](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) -> te::ExternResult {
        tir::IRBuilder ib;
        auto index = ib.buffer_ptr(ins[0]), b = ib.buffer_ptr(outs[0]);
        ib.for_range(0, 4, "i", [&](Var i) { b[Expr(index[i])] = i.astype(Float(32)); });
        return ib.get();
      },
      "B", {.dtype = Float(32)});
  const runtime::Module mod = build(te::create_schedule(B), {I, B}, Target("llvm"), kInstrumented);
  const runtime::NDArray b = runtime::NDArray::zeros({4}, Float(32));
  mod["main"](runtime::NDArray::from(std::vector<int>{3, 2, 1, 0}, {4}), b);
  EXPECT_EQ(b.to_vector<float>(), (std::vector<float>{3, 2, 1, 0}));
  for (int outside : {-1, 4, 1 << 30})
    EXPECT_THROW(mod["main"](runtime::NDArray::from(std::vector<int>{0, outside, 1, 2}, {4}), b),
                 RuntimeError);
}

/// The second half of a double buffer is inside as well.
TEST(InstrumentedTest, DoubleBuffersAreTwiceAsLarge) {
  te::Tensor A = te::placeholder({12}, "A");
  te::Tensor B = te::compute(
      {12, 3}, {"i", "j"}, [&](Var i, Var j) { return A(i) + j.astype(Float(32)); }, "B");
  te::Schedule s = te::create_schedule(B);
  te::Tensor copy = s.cache_read(A, "local", {B});
  s[copy].compute_at(s[B], s[B].axis(0)).double_buffer();
  EXPECT_EQ(compare_with_default(s, {A, B}, {.build = kInstrumented}), "");
}

}  // namespace
}  // namespace tenon::testing

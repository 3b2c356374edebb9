// Memory that stands outside of a parallel loop and that each iteration fills for itself.
#include <gtest/gtest.h>
#include <tenon/tenon.h>

#include "tests/common/refusal.h"

namespace tenon::testing {
namespace {

/// Each of many iterations fills four elements, works on them for a while and sums them up.
TEST(ParallelMemory, EachIterationHasItsOwn) {
  const int count = 4096, rounds = 200;
  te::Tensor A = te::placeholder({count}, "A");
  te::Tensor B = te::extern_op(
      {count}, {A},
      [&](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) -> te::ExternResult {
        tir::IRBuilder ib;
        auto a = ib.buffer_ptr(ins[0]), b = ib.buffer_ptr(outs[0]);
        auto own = ib.allocate(Float(32), {4}, "own");
        ib.for_range(0, count, "i",
                     [&](Var i) {
                       ib.for_range(0, 4, "j", [&](Var j) { own[j] = a[i] + j.astype(Float(32)); });
                       ib.for_range(0, rounds, "r", [&](Var) {
                         ib.for_range(0, 4, "j", [&](Var j) { own[j] = own[3 - j] + 1.0f; });
                       });
                       b[i] = own[0] + own[1] + own[2] + own[3];
                     },
                     {.kind = ForKind::Parallel});
        return ib.get();
      },
      "B", {.dtype = Float(32)});
  const runtime::Module mod = build(te::create_schedule(B), {A, B}, Target("llvm"));
  const auto a = runtime::NDArray::zeros({count}, Float(32));
  for (int n = 0; n < count; ++n) a.data<float>()[n] = static_cast<float>(n % 1000);
  std::vector<float> expected;
  for (int n = 0; n < count; ++n) {
    float own[4];
    for (int j = 0; j < 4; ++j) own[j] = a.data<float>()[n] + static_cast<float>(j);
    for (int r = 0; r < rounds; ++r)
      for (int j = 0; j < 4; ++j) own[j] = own[3 - j] + 1.0f;
    expected.push_back(own[0] + own[1] + own[2] + own[3]);
  }
  for (const int threads : {1, 2, 4}) {
    runtime::set_num_threads(threads);
    const auto b = runtime::NDArray::zeros({count}, Float(32));
    mod["main"](a, b);
    EXPECT_EQ(b.to_vector<float>(), expected) << threads << " threads";
  }
  runtime::set_num_threads(0);
}

/// A parallel loop that counts in memory from outside of it, which nobody fills in the loop.
TEST(ParallelMemory, ThatNoIterationFillsIsRefused) {
  const int count = 16;
  te::Tensor A = te::placeholder({count}, "A");
  te::Tensor B = te::extern_op(
      {count}, {A},
      [&](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) -> te::ExternResult {
        tir::IRBuilder ib;
        auto a = ib.buffer_ptr(ins[0]), b = ib.buffer_ptr(outs[0]);
        auto own = ib.allocate(Float(32), {4}, "own");
        ib.for_range(0, count, "i",
                     [&](Var i) {
                       own[floormod(i, 4)] = own[floormod(i, 4)] + a[i];
                       b[i] = own[floormod(i, 4)];
                     },
                     {.kind = ForKind::Parallel});
        return ib.get();
      },
      "B", {.dtype = Float(32)});
  EXPECT_TRUE(refuses<LowerError>(
      [&] {
        build(te::create_schedule(B), {A, B}, Target("llvm"));
      },
      {"parallel loop over `i`", "own["}));
}

}  // namespace
}  // namespace tenon::testing

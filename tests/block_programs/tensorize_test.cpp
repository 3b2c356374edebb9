// Tensorized block programs, compiled: the numbers are those of plain loops.
#include <gtest/gtest.h>
#include <tenon/tenon.h>

#include "tests/common/block_intrinsics.h"

namespace tenon::s_tir {
namespace {

runtime::NDArray filled(std::vector<std::int64_t> shape, int seed) {
  auto array = runtime::NDArray::zeros(std::move(shape), Float(32));
  float* at = array.data<float>();
  for (std::int64_t n = 0; n < array.num_elements(); ++n)
    at[n] = static_cast<float>((n * seed) % 7 - 3);
  return array;
}

TEST(Tensorized, AProductOfTilesInLanes) {
  testing::register_tile_product("compiled_4x4", 4, 4, 4);
  const tir::IRModule mod = parse_script(testing::kSmallProduct);
  const std::string name = mod.functions.begin()->first;
  Schedule sch(mod);
  const auto loops = sch.get_loops(sch.get_block("C", name));
  const auto i = sch.split(loops[0], {std::nullopt, 4}), j = sch.split(loops[1], {std::nullopt, 4});
  const auto k = sch.split(loops[2], {std::nullopt, 4});
  sch.reorder({i[0], j[0], k[0], i[1], j[1], k[1]});
  sch.tensorize(i[1], "compiled_4x4");
  const auto A = filled({16, 12}, 3), B = filled({12, 8}, 5), C = filled({16, 8}, 1);
  build(sch.mod(), Target("llvm"))[name](A, B, C);
  const float *a = A.data<float>(), *b = B.data<float>(), *c = C.data<float>();
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 8; ++column) {
      float sum = 0;  // Small whole numbers: exact.
      for (int n = 0; n < 12; ++n) sum += a[row * 12 + n] * b[n * 8 + column];
      EXPECT_EQ(c[row * 8 + column], sum) << row << " " << column;
    }
}

}  // namespace
}  // namespace tenon::s_tir

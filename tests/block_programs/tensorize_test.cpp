// Tensorized block programs, compiled: the numbers are those of plain loops.
#include <gtest/gtest.h>
#include <tenon/tenon.h>

#include "tenon/s_tir/tensor_intrin.h"

namespace tenon::s_tir {
namespace {

const char* const kDescription = R"(
@T.prim_func
def main(A: T.Buffer[(4, 4), "float32"], B: T.Buffer[(4, 4), "float32"], C: T.Buffer[(4, 4), "float32"]) -> None:
    for i, j, k in T.grid(4, 4, 4):
        with T.block("update"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)";

/// Rows in lanes, the reduction outermost.
const char* const kLanes = R"(
@T.prim_func
def main(A: T.Buffer[(4, 4), "float32"], B: T.Buffer[(4, 4), "float32"], C: T.Buffer[(4, 4), "float32"]) -> None:
    for k, i in T.grid(4, 4):
        for j in T.vectorized(4):
            with T.block("lanes"):
                vk = T.axis.opaque(4, k)
                vi = T.axis.opaque(4, i)
                vj = T.axis.opaque(4, j)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)";

const char* const kProduct = R"(
@T.prim_func
def main(A: T.Buffer[(16, 12), "float32"], B: T.Buffer[(12, 8), "float32"], C: T.Buffer[(16, 8), "float32"]) -> None:
    for i, j, k in T.grid(16, 8, 12):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)";

tir::PrimFunc function(const char* text) { return parse_script(text).functions.begin()->second; }

runtime::NDArray filled(std::vector<std::int64_t> shape, int seed) {
  auto array = runtime::NDArray::zeros(std::move(shape), Float(32));
  float* at = array.data<float>();
  for (std::int64_t n = 0; n < array.num_elements(); ++n)
    at[n] = static_cast<float>((n * seed) % 7 - 3);
  return array;
}

TEST(Tensorized, AProductOfTilesInLanes) {
  register_tensor_intrin("compiled_4x4", function(kDescription), function(kLanes),
                         {.override_existing = true});
  const tir::IRModule mod = parse_script(kProduct);
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

// Buffers of block programs keep what an iteration stores for as long as later ones load it.
#include <gtest/gtest.h>
#include <tenon/tenon.h>

#include "tenon/s_tir/script.h"
#include "tenon/tooling/check_functions.h"

namespace tenon::s_tir {
namespace {

/// Whether the lowered function computes what the blocks say.
bool keeps_its_values(const std::string& script) {
  const tir::PrimFunc func = parse_script(script).functions.at("main");
  return check_functions(func, lower(func, {.name = "main"}).functions.at("main")).fine();
}

TEST(BlockBuffers, KeepWhatAConditionStoresInOneIteration) {
  EXPECT_TRUE(keeps_its_values(R"(
@T.prim_func
def main(A: T.Buffer[4, "float32"], D: T.Buffer[4, "float32"]) -> None:
    B = T.alloc_buffer([4], dtype="float32")
    for i, j in T.grid(2, 4):
        with T.block("B"):
            vj = T.axis.spatial(4, j)
            T.where(i < 1)
            B[vj] = A[vj] * T.float32(2)
        with T.block("D"):
            vj = T.axis.spatial(4, j)
            D[vj] = B[vj] + T.float32(1)
)"));
}

TEST(BlockBuffers, KeepWhatIsStoredBehindTheLoad) {
  EXPECT_TRUE(keeps_its_values(R"(
@T.prim_func
def main(A: T.Buffer[(4, 4), "float32"], D: T.Buffer[(4, 4), "float32"]) -> None:
    B = T.alloc_buffer([4], dtype="float32")
    for i in T.serial(4):
        for j in T.serial(2):
            with T.block("W"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vj] = A[vi, vj]
        for j in T.serial(4):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = T.if_then_else(0 < vi or vj < 2, B[vj], T.float32(0), dtype="float32")
        for j in T.serial(2):
            with T.block("V"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vj + 2] = A[vi, vj + 2]
)"));
}

TEST(BlockBuffers, KeepWhatALaterIterationOfAnInnerLoopStores) {
  EXPECT_TRUE(keeps_its_values(R"(
@T.prim_func
def main(A: T.Buffer[(4, 8), "float32"], D: T.Buffer[(4, 8), "float32"]) -> None:
    B = T.alloc_buffer([8], dtype="float32")
    for i in T.serial(4):
        for j in T.serial(8):
            with T.block("W"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vj] = A[vi, vj]
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = T.if_then_else(0 < vi or 4 <= vj, B[7 - vj], T.float32(0), dtype="float32")
)"));
}

// src/codegen/llvm/llvm_faults.md: SROA.
TEST(ReversedStores, FillAnArrayThatIsReadAsOneVector) {
  const tir::IRModule program = parse_script(R"(
@T.prim_func
def main(A: T.Buffer[(8, 4), "float32"], C: T.Buffer[(8, 4), "float32"]) -> None:
    B = T.alloc_buffer([8, 4], dtype="float32")
    for i, j in T.grid(8, 4):
        with T.block("B"):
            vi = T.axis.spatial(8, 7 - i)
            vj = T.axis.spatial(4, 3 - j)
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(8, 4):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj]
)");
  const auto a = runtime::NDArray::random({8, 4}, Float(32));
  const auto c = runtime::NDArray::zeros({8, 4}, Float(32));
  build(program, Target("llvm"))["main"](a, c);
  for (int n = 0; n < 32; ++n) EXPECT_EQ(c.data<float>()[n], 2 * a.data<float>()[n]) << n;
}

}  // namespace
}  // namespace tenon::s_tir

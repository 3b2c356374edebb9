// Checks which elements a consumer's instances read, and the consumer after the producer was
// inlined.
#include <gtest/gtest.h>

#include "tenon/s_tir/schedule.h"
#include "tenon/s_tir/script.h"
#include "tenon/tir/compare.h"
#include "tests/s_tir/interpreted.h"
#include "tests/s_tir/refusal.h"

namespace tenon::s_tir {
namespace {

TEST(ReverseComputeInline, ThroughIndicesThatAreDigits) {
  const tir::IRModule mod = parse_script(R"(
@T.prim_func
def main(A: T.Buffer[(4, 6), "float32"], C: T.Buffer[(3, 8), "float32"]) -> None:
    B = T.alloc_buffer([4, 6], dtype="float32")
    for i, j in T.grid(4, 6):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(3, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[(vi * 8 + vj) // 6, (vi * 8 + vj) % 6] + T.float32(1)
)");
  const std::string name = mod.functions.begin()->first;
  Schedule sch(mod);
  sch.reverse_compute_inline(sch.get_block("C", name));
  EXPECT_EQ(print_script(sch.mod()).find("B = T.alloc_buffer"), std::string::npos);
  EXPECT_EQ(first_other_result(mod.functions.at(name), sch.mod().functions.at(name)), "");
}

TEST(ComputeInline, ReachesReadersInBlocksWhoseOuterBlocksDoNotListTheBuffer) {
  const tir::IRModule mod = parse_script(R"(
@T.prim_func
def main(A: T.Buffer[(1, 16), "float32"], B: T.Buffer[(1, 16), "float32"]) -> None:
    for i, j in T.grid(1, 16):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
)");
  const std::string name = mod.functions.begin()->first;
  Schedule sch(mod);
  sch.blockize(sch.get_loops(sch.get_block("B", name))[1]);
  sch.blockize(sch.get_loops(sch.get_block("B_o", name))[0]);
  sch.cache_read(sch.get_block("B", name), 0, "global");
  sch.compute_inline(sch.get_block("A_global", name));
  EXPECT_EQ(print_script(sch.mod()).find("A_global"), std::string::npos);
  EXPECT_EQ(first_other_result(mod.functions.at(name), sch.mod().functions.at(name)), "");
}

TEST(ComputeInline, ReplacesReadsInTheValuesOfIterators) {
  const tir::IRModule mod = parse_script(R"(
@T.prim_func
def main(A: T.Buffer[4, "int32"], C: T.Buffer[4, "int32"]) -> None:
    B = T.alloc_buffer([4], dtype="int32")
    for i in T.serial(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            B[vi] = A[vi] * 3
    for i in T.serial(4):
        with T.block("C"):
            vi = T.axis.spatial(4, B[i] % 4)
            T.reads()
            T.writes(C[vi])
            C[vi] = 1
)");
  Schedule sch(mod);
  sch.compute_inline(sch.get_block("B"));
  EXPECT_NE(print_script(sch.mod()).find("T.axis.spatial(4, A[i] * 3 % 4)"), std::string::npos);
}

/// Rows that are not elements of `B` must be written as well.
/// Blocks b and c, which have the given lines and statements.
tir::IRModule producer_and_consumer(const std::string& producer, const std::string& consumer) {
  return parse_script(R"(
@T.prim_func
def main(A: T.Buffer[8, "int32"], O: T.Buffer[8, "int32"]) -> None:
    B = T.alloc_buffer([8], dtype="int32")
    for i in T.serial(8):
        with T.block("b"):
            v = T.axis.spatial(8, i)
            )" + producer +
                      R"(
    for i in T.serial(8):
        with T.block("c"):
            v = T.axis.spatial(8, i)
            )" + consumer +
                      "\n");
}

TEST(ComputeInline, AnElementWrapsInAnIndexThoughItsValueHasNoData) {
  Schedule sch(producer_and_consumer("B[v] = v * 2 + 9",
                                     "O[v] = A[T.min(T.max(B[v] * 576383424, 0), 7)] + B[v]"));
  const tir::PrimFunc before = sch.mod().functions.begin()->second;
  sch.compute_inline(sch.get_block("b"));
  const std::string text = print_script(sch.mod());
  EXPECT_NE(text.find("T.reinterpret(v * 2 + 9, dtype=\"int32\") * 576383424"), std::string::npos)
      << text;
  EXPECT_NE(text.find("] + (v * 2 + 9)"), std::string::npos) << text;
  EXPECT_EQ(print_script(parse_script(text)), text);
  EXPECT_EQ(first_other_result(before, sch.mod().functions.begin()->second), "");
}

const char* const kMatch =
    "M = T.match_buffer(A[0:8], [8], dtype=\"int32\", offset_factor=1)\n            ";

TEST(ComputeInline, RefusesABlockThatDeclaresBuffers) {
  Schedule sch(producer_and_consumer(kMatch + std::string("B[v] = M[v] + 1"), "O[v] = B[v] * 2"));
  EXPECT_NE(refusal([&] {
              sch.compute_inline(sch.get_block("b"));
            }).find("block `b` declares buffer `M`, which exists only inside of it"),
            std::string::npos);
  sch.reverse_compute_inline(sch.get_block("c"));
}

TEST(ReverseComputeInline, RefusesABlockThatDeclaresBuffers) {
  Schedule sch(
      producer_and_consumer("B[v] = A[v] + 1", kMatch + std::string("O[v] = B[v] * M[v]")));
  EXPECT_NE(refusal([&] {
              sch.reverse_compute_inline(sch.get_block("c"));
            }).find("block `c` declares buffer `M`, which exists only inside of it"),
            std::string::npos);
  sch.compute_inline(sch.get_block("b"));
}

TEST(ReverseComputeInline, RefusesInstancesThatReadNothing) {
  for (const char* row : {"vi - 1", "vi"}) {
    const std::string condition = std::string("0 <= ") + row + " and " + row + " < 4";
    const tir::IRModule mod = parse_script(
        std::string("@T.prim_func\ndef main(A: T.Buffer[4, \"float32\"], C: T.Buffer[6, "
                    "\"float32\"]) -> None:\n"
                    "    B = T.alloc_buffer([4], dtype=\"float32\")\n"
                    "    for i in T.serial(4):\n"
                    "        with T.block(\"B\"):\n"
                    "            vi = T.axis.spatial(4, i)\n"
                    "            B[vi] = A[vi] * T.float32(2)\n"
                    "    for i in T.serial(6):\n"
                    "        with T.block(\"C\"):\n"
                    "            vi = T.axis.spatial(6, i)\n"
                    "            C[vi] = T.if_then_else(") +
        condition + ", B[" + row + "], T.float32(0), dtype=\"float32\")\n");
    Schedule sch(mod);
    EXPECT_NE(refusal([&] {
                sch.reverse_compute_inline(sch.get_block("C", mod.functions.begin()->first));
              }).find("would not run"),
              std::string::npos)
        << row;
  }
}

/// Every other element is read: the others would be written somewhere.
TEST(ReverseComputeInline, RefusesElementsThatNothingReads) {
  const tir::IRModule mod = parse_script(R"(
@T.prim_func
def main(A: T.Buffer[8, "float32"], C: T.Buffer[4, "float32"]) -> None:
    B = T.alloc_buffer([8], dtype="float32")
    for i in T.serial(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] * T.float32(2)
    for i in T.serial(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            C[vi] = B[vi * 2] + T.float32(1)
)");
  Schedule sch(mod);
  EXPECT_NE(refusal([&] {
              sch.reverse_compute_inline(sch.get_block("C", mod.functions.begin()->first));
            }).find("not provably all are read"),
            std::string::npos);
}

/// Extents of regions that the inlined indices brought in, in the form that their text has.
TEST(ComputeInline, RegionsOfABlockizedReaderParseToThemselves) {
  const tir::IRModule mod = parse_script(R"(
@T.prim_func
def main(A: T.Buffer[(8, 8), "float32"], C: T.Buffer[(8, 6), "float32"]) -> None:
    B = T.alloc_buffer([8, 8], dtype="float32")
    for i, j in T.grid(8, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[(vi * 8 + vj) // 8, (vi * 8 + vj) % 8]
    for i, j in T.grid(8, 6):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + B[vi, vj + 1] + B[vi, vj + 2]
)");
  Schedule sch(mod);
  sch.compute_inline(sch.get_block("B"));
  sch.blockize(sch.get_loops(sch.get_block("C"))[1]);
  const tir::IRModule again = parse_script(print_script(sch.mod()));
  EXPECT_TRUE(tir::structural_equal(again.functions.at("main"), sch.mod().functions.at("main")))
      << print_script(sch.mod());
}

TEST(ComputeInline, RefusesAValueThatTheInitOfTheReaderOverwrites) {
  Schedule sch(parse_script(R"(
@T.prim_func
def main(O: T.Buffer[1, "int32"]) -> None:
    B = T.alloc_buffer([1], dtype="int32")
    for i in T.serial(1):
        with T.block("B"):
            vi = T.axis.spatial(1, i)
            B[vi] = O[vi]
    for i, k in T.grid(1, 1):
        with T.block("O"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                O[vi] = 0
            O[vi] = O[vi] + B[vi]
)"));
  EXPECT_NE(refusal([&] { sch.compute_inline(sch.get_block("B")); }).find("`O` writes O[i]"),
            std::string::npos);
}

}  // namespace
}  // namespace tenon::s_tir

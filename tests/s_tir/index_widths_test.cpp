// Checks programs whose loops and iterators have indices of different types.
#include <gtest/gtest.h>

#include "tenon/tir/verify.h"
#include "tests/s_tir/refusal.h"
#include "tests/s_tir/scheduled.h"

namespace tenon::s_tir {
namespace {

void expect_same_results(const Scheduled& sch) {
  EXPECT_EQ(sch.first_other(), "") << sch.script();
  EXPECT_TRUE(tir::verify(sch.func(), tir::Form::Blocks).empty()) << sch.script();
  EXPECT_EQ(print_script(parse_script(sch.script())), sch.script());
}

TEST(IndexWidths, BlockizeKeepsTheTypeOfIteratorsWithoutOuterLoops) {
  for (const std::size_t loop : {0, 1}) {
    Scheduled sch(R"(
@T.prim_func
def main(A: T.Buffer[(4, 6), "int32"], C: T.Buffer[4, "int32"]) -> None:
    for i, k in T.grid(T.int64(4), T.int64(6)):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + A[vi, vk]
)");
    sch->blockize(sch.loop("C", loop));
    EXPECT_PRED2(contains, sch.script(), "T.axis.reduce(T.int64(1), T.int64(0))");
    expect_same_results(sch);
  }
}

TEST(IndexWidths, LoopsOfNarrowSizesHaveIndicesThatDoNotWrap) {
  const tir::IRModule module = parse_script(R"(
@T.prim_func
def main(a: T.handle, c: T.handle, n: T.uint8) -> None:
    A = T.match_buffer(a, [n * T.uint8(2)], dtype="int32")
    C = T.match_buffer(c, [n * T.uint8(2)], dtype="int32")
    for i in T.serial(n * T.uint8(2)):
        with T.block("C"):
            vi = T.axis.spatial(n * T.uint8(2), i)
            T.where(i < T.cast(n * T.uint8(2), "int32"))
            C[vi] = A[vi] + 1
)");
  EXPECT_TRUE(tir::verify(module.functions.at("main"), tir::Form::Blocks).empty());
  EXPECT_EQ(print_script(module).find("T.uint8(2)"), std::string::npos) << print_script(module);
}

/// A producer with int32 iterators, and a consumer with int64 iterators.
std::string two_widths(const std::string& read) {
  return R"(
@T.prim_func
def main(A: T.Buffer[(4, 4), "int32"], C: T.Buffer[(4, 4), "int32"]) -> None:
    B = T.alloc_buffer([4, 4], dtype="int32")
    for i, j in T.grid(4, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * 10 + vi * 4 + vj
    for i, j in T.grid(T.int64(4), T.int64(4)):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = )" +
         read + R"( * T.cast(vi * T.int64(3) + vj, "int32")
)";
}

TEST(IndexWidths, ProducerAndConsumerMayDiffer) {
  using StepOf = void (*)(Scheduled&);
  const StepOf steps[] = {
      [](Scheduled& sch) { sch->compute_inline(sch.block("B")); },
      [](Scheduled& sch) { sch->reverse_compute_inline(sch.block("C")); },
      [](Scheduled& sch) { sch->compute_at(sch.block("B"), sch.loop("C", 0)); },
      [](Scheduled& sch) { sch->compute_at(sch.block("B"), sch.loop("C", 1)); },
      [](Scheduled& sch) { sch->reverse_compute_at(sch.block("C"), sch.loop("B", 0)); },
      [](Scheduled& sch) { sch->reverse_compute_at(sch.block("C"), sch.loop("B", 1)); },
      [](Scheduled& sch) { sch->cache_read(sch.block("C"), 0, "global"); },
      [](Scheduled& sch) {
        sch->transform_layout(sch.block("B"), 0, "write", [](tir::Var i, tir::Var j) {
          return std::vector<tir::Expr>{tir::floordiv(i, 2), tir::floormod(i, 2) * 4 + j};
        });
      },
  };
  for (const StepOf step : steps)
    for (const char* read : {"B[vi, vj]", "B[T.int64(3) - vi, vj]"}) {
      Scheduled sch(two_widths(read));
      step(sch);
      expect_same_results(sch);
    }
}

TEST(IndexWidths, ConsumersOfDifferentWidthsMayReadOneProducer) {
  Scheduled sch(R"(
@T.prim_func
def main(A: T.Buffer[(4, 4), "int32"], C: T.Buffer[(4, 4), "int32"], D: T.Buffer[(4, 4), "int32"]) -> None:
    B = T.alloc_buffer([4, 4], dtype="int32")
    for i, j in T.grid(4, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * 10
    for i in T.serial(T.int64(4)):
        for j in T.serial(T.int64(4)):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj]
        for j in T.serial(4):
            with T.block("D"):
                vi = T.axis.spatial(4, T.Cast("int32", i))
                vj = T.axis.spatial(4, j)
                D[vi, vj] = B[vi, vj]
)");
  sch->compute_at(sch.block("B"), sch.loop("C", 0));
  expect_same_results(sch);
}

TEST(IndexWidths, MergeReductionTakesAnInitOfAnotherWidth) {
  Scheduled sch(R"(
@T.prim_func
def main(A: T.Buffer[(4, 6), "int32"], C: T.Buffer[4, "int32"]) -> None:
    for i in T.serial(4):
        with T.block("C_init"):
            vi = T.axis.spatial(4, i)
            C[vi] = vi * 3
    for i, k in T.grid(T.int64(4), T.int64(6)):
        with T.block("C_update"):
            vi, vk = T.axis.remap("SR", [i, k])
            C[vi] = C[vi] + A[vi, vk]
)");
  EXPECT_PRED2(contains,
               refusal([&] { sch->merge_reduction(sch.block("C_init"), sch.block("C_update")); }),
               "do not write the same elements");
}

TEST(IndexWidths, AMultipleOfACastSumIsCached) {
  Scheduled sch(R"(
@T.prim_func
def main(A: T.Buffer[(6, 4), "int32"], B: T.Buffer[24, "int32"]) -> None:
    for o in T.serial(T.int64(3)):
        for i, j in T.grid(T.int64(2), T.int64(4)):
            with T.block("B"):
                vo, vi, vj = T.axis.remap("SSS", [o, i, j])
                B[T.cast(vo * T.int64(2) + vi, "int32") * 4 + T.cast(vj, "int32")] = A[vo * T.int64(2) + vi, vj]
        for e in T.serial(8):
            with T.block("C"):
                ve = T.axis.spatial(24, T.cast(o * T.int64(2), "int32") * 4 + e)
                A[ve // 4, ve % 4] = B[ve] + 1
)");
  sch->cache_write(sch.block("B"), 0, "global");
  expect_same_results(sch);
}

}  // namespace
}  // namespace tenon::s_tir

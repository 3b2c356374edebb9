// Steps that the reference refuses without need, takes on trust, or gets wrong: each line of the
// list works, with the numbers of the program before it, or is refused with the reason.
#include <gtest/gtest.h>

#include "tenon/s_tir/schedule.h"
#include "tenon/s_tir/script.h"
#include "tests/s_tir/interpreted.h"

namespace tenon::s_tir {
namespace {

/// A product of matrices with the negative elements set to zero.
const char* const kProduct = R"(
@tvm.script.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer[(6, 10), "float32"], B: T.Buffer[(10, 9), "float32"], C: T.Buffer[(6, 9), "float32"]) -> None:
        Y = T.alloc_buffer([6, 9], dtype="float32")
        for i, j, k in T.grid(6, 9, 10):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(6, 9):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.max(Y[vi, vj], T.float32(0))
)";

/// A sum whose loop is declared spatial.
const char* const kMislabelled = R"(
@tvm.script.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer[(6, 9), "float32"], Y: T.Buffer[6, "float32"]) -> None:
        for i, k in T.grid(6, 9):
            with T.block("Y"):
                vi, vk = T.axis.remap("SS", [i, k])
                with T.init():
                    Y[vi] = T.float32(0)
                Y[vi] = Y[vi] + A[vi, vk]
)";

/// A predicate from below.
const char* const kFromBelow = R"(
@tvm.script.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer[12, "float32"], Y: T.Buffer[12, "float32"]) -> None:
        for i in T.serial(14):
            with T.block("Y"):
                vi = T.axis.spatial(12, i - 2)
                T.where(i >= 2)
                Y[vi] = A[vi]
)";

/// Sums of rows that a block has computed.
const char* const kSumsOfRows = R"(
@tvm.script.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer[(6, 9), "float32"], Y: T.Buffer[6, "float32"]) -> None:
        B = T.alloc_buffer([6, 9], dtype="float32")
        for i, j in T.grid(6, 9):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
        for i, k in T.grid(6, 9):
            with T.block("Y"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    Y[vi] = T.float32(0)
                Y[vi] = Y[vi] + B[vi, vk]
)";

/// Sums that are computed over and over.
const char* const kRepeated = R"(
@tvm.script.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer[(6, 9), "float32"], Y: T.Buffer[6, "float32"]) -> None:
        for p, i, k in T.grid(4, 6, 9):
            with T.block("Y"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    Y[vi] = T.float32(0)
                Y[vi] = Y[vi] + A[vi, vk]
)";

/// A sum of a row for each of its elements.
const char* const kSumForEachElement = R"(
@tvm.script.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer[(6, 9), "float32"], C: T.Buffer[(6, 9), "float32"]) -> None:
        Y = T.alloc_buffer([6], dtype="float32")
        for i, j in T.grid(6, 9):
            for k in T.serial(9):
                with T.block("Y"):
                    vi, vk = T.axis.remap("SR", [i, k])
                    with T.init():
                        Y[vi] = T.float32(0)
                    Y[vi] = Y[vi] + A[vi, vk]
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj] - Y[vi]
)";

struct Pitfall {
  const char* name;
  const char* program;
  /// After `b0` and its loops `l1, l2, ...` are taken.
  const char* steps;
  /// Part of the refusal; empty where the steps work.
  const char* refusal = "";
};

void PrintTo(const Pitfall& pitfall, std::ostream* out) { *out << pitfall.name; }

const Pitfall kPitfalls[] = {
    {"ParallelAfterDecomposing", kProduct,
     "b4 = sch.decompose_reduction(block=b0, loop=l3)\nsch.parallel(loop=l1)"},
    {"VectorizeAfterDecomposing", kProduct,
     "sch.reorder(l1, l3, l2)\nb4 = sch.decompose_reduction(block=b0, loop=l3)\n"
     "sch.vectorize(loop=l2)"},
    {"ParallelOfAReduction", kProduct, "sch.parallel(loop=l3)",
     "parallel: loop `k` around block `Y` runs over the reduction iterator `vk`"},
    {"BlocksOfThreadsForAReduction", kProduct, "sch.bind(loop=l3, thread_axis=\"blockIdx.x\")",
     "bind: loop `k` around block `Y` runs over the reduction iterator `vk`"},
    {"SpatialLabelOfAReduction", kMislabelled, "sch.parallel(loop=l2)",
     "parallel: loop `k` around block `Y`: its iterations would race: one writes Y[i], and `Y` "
     "writes Y[i] in another"},
    {"ReorderThatKeepsTheOrderOfAMislabelledReduction", kMislabelled, "sch.reorder(l2, l1)"},
    {"ParallelRepetitionsOfASum", kRepeated, "sch.parallel(loop=l1)",
     "parallel: loop `p` around block `Y`: its iterations would race: one writes Y[i]"},
    {"ThreadsThatRepeatASum", kRepeated, "sch.bind(loop=l1, thread_axis=\"threadIdx.x\")",
     "bind: loop `p` around block `Y`: its iterations would race: one writes Y[i]"},
    {"ASumBelowAParallelLoopOfItsParts", kSumsOfRows,
     "b3 = sch.get_block(name=\"B\", func_name=\"main\")\nl4, l5 = sch.get_loops(block=b3)\n"
     "sch.parallel(loop=l5)\n"
     "sch.reverse_compute_at(block=b0, loop=l5, preserve_unit_loops=False)",
     "reverse_compute_at: loop `j` around block `B` runs over the reduction iterator `vk`"},
    {"ASumBelowAParallelLoopOfItsRows", kSumsOfRows,
     "b3 = sch.get_block(name=\"B\", func_name=\"main\")\nl4, l5 = sch.get_loops(block=b3)\n"
     "sch.parallel(loop=l4)\n"
     "sch.reverse_compute_at(block=b0, loop=l4, preserve_unit_loops=False)"},
    {"ThreadsThatRepeatASumInMemoryOfAll", kSumForEachElement,
     "sch.bind(loop=l2, thread_axis=\"threadIdx.x\")",
     "bind: loop `j` around block `Y`: its iterations would race: one writes Y[i]"},
    {"ThreadsThatRepeatASumInMemoryOfTheirOwn", kSumForEachElement,
     "sch.set_scope(block=b0, buffer_index=0, storage_scope=\"local\")\n"
     "sch.bind(loop=l2, thread_axis=\"threadIdx.x\")"},
    // Each iteration has memory of its own: nothing outside of the loop uses it.
    {"ParallelIterationsThatRepeatASum", kSumForEachElement, "sch.parallel(loop=l2)"},
    {"ABlockOfRepetitionsOfASum", kRepeated, "b4 = sch.blockize(loop=l1)",
     "blockize: in front of loop `p` around block `Y`, the init of block `Y` would run too early: it "
     "writes Y[i], and `Y` writes Y[i]"},
    {"OneThreadIndexTwice", kProduct,
     "sch.bind(loop=l1, thread_axis=\"threadIdx.x\")\nsch.bind(loop=l2, "
     "thread_axis=\"threadIdx.x\")"},
    {"PredicateFromBelow", kFromBelow,
     "l2, l3 = sch.split(loop=l1, factors=[None, 4], preserve_unit_iters=True)\n"
     "sch.reorder(l3, l2)"},
    {"SplitOfABoundLoop", kProduct,
     "sch.bind(loop=l1, thread_axis=\"blockIdx.x\")\n"
     "l4, l5 = sch.split(loop=l1, factors=[None, 2], preserve_unit_iters=True)",
     "split: loop `i` around block `Y` is bound to blockIdx.x; split it before it is bound"},
    {"SplitOfANotedLoop", kProduct,
     "sch.annotate(block_or_loop=l1, ann_key=\"note\", ann_val=1)\n"
     "l4, l5 = sch.split(loop=l1, factors=[None, 2], preserve_unit_iters=True)",
     "split: loop `i` around block `Y` has the annotation `note`"},
    {"ImperfectSplitThenRFactor", kProduct,
     "l4, l5 = sch.split(loop=l3, factors=[None, 4], preserve_unit_iters=True)\n"
     "b6 = sch.rfactor(loop=l4, factor_axis=0)"},
    {"ImperfectSplitThenRFactorOfTheInner", kProduct,
     "l4, l5 = sch.split(loop=l3, factors=[None, 4], preserve_unit_iters=True)\n"
     "b6 = sch.rfactor(loop=l5, factor_axis=2)"},
    {"PartialResultsThatNeverBegin", kProduct,
     "l4, l5 = sch.split(loop=l3, factors=[4, 4], preserve_unit_iters=True)\n"
     "b6 = sch.rfactor(loop=l4, factor_axis=0)",
     "rfactor: with the predicate (((k_0*4) + k_1) < 10), some iterations of loop `k_0`"},
    {"ImperfectSplitThenDecomposeAndBlockize", kProduct,
     "l4, l5 = sch.split(loop=l2, factors=[None, 4], preserve_unit_iters=True)\n"
     "sch.reorder(l1, l4, l3, l5)\nb6 = sch.decompose_reduction(block=b0, loop=l3)\n"
     "b7 = sch.blockize(loop=l5)",
     "blockize: the values of the iterators of block `Y_update` cannot be divided"},
    {"AnInitAboveALoopThatRepeats", kProduct,
     "b4 = sch.get_block(name=\"C\", func_name=\"main\")\nl5, l6 = sch.get_loops(block=b4)\n"
     "l7, l8 = sch.split(loop=l6, factors=[None, 4], preserve_unit_iters=True)\n"
     "sch.compute_at(block=b0, loop=l8, preserve_unit_loops=True)\n"
     "l9, l10, l11, l12, l13, l14 = sch.get_loops(block=b0)\n"
     "b15 = sch.decompose_reduction(block=b0, loop=l14)"},
    {"ConsumerBelowItsProducerTwice", kProduct,
     "l4, l5 = sch.split(loop=l2, factors=[None, 4], preserve_unit_iters=True)\n"
     "sch.reorder(l1, l4, l3, l5)\n"
     "b6 = sch.get_block(name=\"C\", func_name=\"main\")\n"
     "sch.reverse_compute_at(block=b6, loop=l1, preserve_unit_loops=False)\n"
     "l7, l8 = sch.get_loops(block=b6)\n"
     "l9, l10 = sch.split(loop=l8, factors=[None, 5], preserve_unit_iters=True)\n"
     "sch.reverse_compute_at(block=b6, loop=l4, preserve_unit_loops=False)"},
    // It runs once for every part of the sum, and the last time with all of it.
    {"ConsumerBelowALoopOfTheSum", kProduct,
     "b4 = sch.get_block(name=\"C\", func_name=\"main\")\n"
     "sch.reorder(l3, l1, l2)\n"
     "sch.reverse_compute_at(block=b4, loop=l1, preserve_unit_loops=False)"},
    {"AnInitInTheMiddleOfItsSum", kProduct,
     "sch.reorder(l3, l1, l2)\nb4 = sch.decompose_reduction(block=b0, loop=l1)",
     "the init would run again in the middle of the sum"},
};

class Pitfalls : public testing::TestWithParam<Pitfall> {};

TEST_P(Pitfalls, WorkOrAreRefusedWithTheReason) {
  const Pitfall& pitfall = GetParam();
  const tir::IRModule mod = parse_script(pitfall.program);
  Schedule sch(mod);
  const std::size_t loops = sch.get_loops(sch.get_block("Y")).size();
  sch = Schedule(mod);
  std::string trace = "b0 = sch.get_block(name=\"Y\", func_name=\"main\")\nl1";
  for (std::size_t n = 2; n <= loops; ++n) trace += ", l" + std::to_string(n);
  trace += std::string(loops == 1 ? "," : "") + " = sch.get_loops(block=b0)\n" + pitfall.steps;
  std::string refusal;
  try {
    sch.apply_trace(parse_trace(trace));
  } catch (const ScheduleError& error) {
    refusal = error.sentence();
  }
  if (*pitfall.refusal) {
    EXPECT_NE(refusal.find(pitfall.refusal), std::string::npos) << refusal;
    return;
  }
  EXPECT_EQ(refusal, "");
  EXPECT_EQ(first_other_result(mod.functions.at("main"), sch.mod().functions.at("main")), "")
      << print_script(sch.mod());
}

INSTANTIATE_TEST_SUITE_P(All, Pitfalls, testing::ValuesIn(kPitfalls),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tenon::s_tir

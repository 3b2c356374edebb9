// Checks what the schedules of the tutorials do to the loops if no TVM 0.9 text shows it: lines in
// their order.
#include <gtest/gtest.h>

#include <vector>

#include "run_tutorial.h"

namespace {

/// The text below the heading "=== name...", up to the next heading.
std::string section_of(const std::string& text, const std::string& name) {
  const std::size_t heading = text.find("=== " + name);
  if (heading == std::string::npos) return "";
  const std::size_t start = text.find('\n', heading);
  return text.substr(start, text.find("\n=== ", start) - start);
}

/// The first of the parts that does not follow the ones before it; empty if all do.
std::string first_missing(const std::string& text, const std::vector<std::string>& parts) {
  std::size_t at = 0;
  for (const std::string& part : parts) {
    at = text.find(part, at);
    if (at == std::string::npos) return part;
    at += part.size();
  }
  return "";
}

struct Structure {
  const char* fact;
  const char* program;
  const char* section;
  /// In this order.
  std::vector<std::string> parts;
};

void PrintTo(const Structure& structure, std::ostream* out) { *out << structure.fact; }

class TutorialStructure : public testing::TestWithParam<Structure> {};

TEST_P(TutorialStructure, Holds) {
  const Outcome run = run_tutorial(GetParam().program, "--size=64");
  ASSERT_EQ(run.status, 0) << run.err;
  const std::string text = section_of(run.out, GetParam().section);
  ASSERT_NE(text, "") << run.out;
  EXPECT_EQ(first_missing(text, GetParam().parts), "") << text;
}

INSTANTIATE_TEST_SUITE_P(
    Tutorials, TutorialStructure,
    testing::Values(
        Structure{"AMinimumOfSumsKeepsAVectorOverTheReduction",
                  "reductions",
                  "min",
                  {"for (k: int32, 0, 64)", "[ramp(", ", 1, 8)] = min("}},
        Structure{"AWhereIsAGuardOfTheUpdateAlone",
                  "reductions",
                  "where",
                  {"B[i] = 0f32", "for (k: int32, 0, 64)", "if (k <= i)", "B[i] = (B[i] + A["}},
        Structure{"AnOwnReducerStartsAtItsIdentity",
                  "reductions",
                  "your own",
                  {"B[i] = 0", "for (k: int32, 0, 64)", "B[i] = @tir.bitwise_xor(B[i], A["}},
        Structure{"PartialSumsOfARowLieInOneVector",
                  "parallel_reduction",
                  "in a vector",
                  {"for (ax0: int32, 0, 64) \"parallel\"",
                   "allocate(B.rf: Pointer(global float32), float32, [16])",
                   "= broadcast(0f32, 16)", "for (k.outer: int32, 0, 8)", "A[ramp(",
                   "B[ax0] = 0f32", "for (k.inner.v: int32, 0, 16)"}},
        Structure{"BlocksRunInParallelWithAVectorOfTheirOwn",
                  "parallel_reduction",
                  "in parallel",
                  {"for (ax0: int32, 0, 8) \"parallel\"",
                   "allocate(B.rf.rf: Pointer(global float32), float32, [16])",
                   "for (k.inner.outer: int32, 0, 32)", "for (k.outer.v: int32, 0, 8)",
                   "B[0] = (B[0] + B.rf_1[k.outer.v])"}},
        Structure{"AStageInsideOfAnUpdateIsOneElement",
                  "scan",
                  "two states",
                  {"allocate(Pull: Pointer(global float32), float32, [1])",
                   "for (history.idx: int32, 0, 63)", "for (b_2: int32, 0, 16)",
                   "for (b_3: int32, 0, 16)", "Pull_1"}},
        Structure{
            "StrandsHavePairsOfTheirOwn",
            "argmax",
            "strands",
            {"allocate(T.rf.v0: Pointer(global int32), int32, [8])",
             "allocate(T.rf.v1: Pointer(global float32), float32, [8])", "for (ax0: int32, 0, 64)",
             "for (k.outer: int32, 0, 8)", "for (k.inner.v: int32, 0, 8)"}},
        Structure{"BothOutputsAreStoredInOneLoop",
                  "argmax",
                  "two outputs",
                  {"for (i.outer: int32, 0, 8)", " + B[", " - B["}},
        Structure{"ARoutineStandsBetweenItsInputAndItsReader",
                  "extern_call",
                  "a routine",
                  {"Negated_1: Buffer", "@tir.call_extern(\"tutorial_sort_rows\"", "Doubled["}},
        Structure{"SoftmaxKeepsOneRow",
                  "softmax",
                  "by rows",
                  {"for (i: int32, 0, 64) \"parallel\"",
                   "allocate(Largest: Pointer(global float32), float32, [1])",
                   "allocate(Power: Pointer(global float32), float32, [64])",
                   "allocate(Sum: Pointer(global float32), float32, [1])", "max(Largest_1[0]",
                   "@tir.exp(", "Sum_1[0] + ", "Y["}},
        Structure{"ARollingBlurKeepsThreeRows",
                  "blur",
                  "rolling",
                  {"allocate(across: Pointer(global float32x16), float32x16, [12])",
                   "for (y: int32, 0, 64)", "across_1", "down["}},
        Structure{"AParallelStripOfABlurKeepsItsOwnRows",
                  "blur",
                  "strips",
                  {"for (y.outer: int32, 0, 2) \"parallel\"",
                   "allocate(across: Pointer(global float32x16), float32x16, [136])"}},
        Structure{"ThePanelOfBIsCopiedOncePerColumnOfTiles",
                  "caches",
                  "cache_read",
                  {"for (j.outer: int32, 0, 2)", "for (ax0: int32, 0, 64)", "B.global_1",
                   "for (i.outer: int32, 0, 8)", "C.local_1"}},
        Structure{"SumsOfEightFiltersAreRegisters",
                  "convolution",
                  "in registers",
                  {"for (y_1: int32, 0, 64) \"parallel\"",
                   "allocate(Out.local: Pointer(local float32x16), float32x16, [8])"}},
        Structure{"AttentionKeepsTheScoresOfEightQueries",
                  "attention",
                  "in blocks",
                  {"for (i.outer: int32, 0, 8) \"parallel\"",
                   "allocate(Score: Pointer(global float32), float32, [512])"}},
        Structure{
            "ASharedTileHasPaddedRows",
            "device_kernel",
            "through shared memory",
            {"allocate(A.shared: Pointer(shared float32), float32, [1056])", "threadIdx.y*33"}},
        Structure{"OnlyReductionsAreLeftBesideTheResult",
                  "whole_tensors",
                  "inlined",
                  {"allocate(Total: Pointer(global float32), float32, [64])",
                   "allocate(Squares: Pointer(global float32), float32, [64])", "Total_1[",
                   "Squares_1[", "T_add["}},
        Structure{"SumsOfARowAreComputedWithTheRow",
                  "whole_tensors",
                  "by rows",
                  {"for (ax0: int32, 0, 64) \"parallel\"",
                   "allocate(Total: Pointer(global float32), float32, [1])",
                   "allocate(Squares: Pointer(global float32), float32, [1])", "T_add["}},
        Structure{
            "ALayerInOneExpressionIsRefused",
            "fully_connected",
            "in one expression",
            {"`OneExpression`", "a reduction must be the whole body", "fully_connected.cpp:"}},
        Structure{
            "TheProductIsComputedInsideOfTheLayer",
            "fully_connected",
            "fused",
            {"for (i: int32, 0, 64) \"parallel\"",
             "allocate(Product: Pointer(global float32), float32, [1])", "W[ramp(", "Y[i] = max("}},
        Structure{"ASplitAxisCannotBeVectorized",
                  "tile_sizes",
                  "tile 32, vectorized, as it is often",
                  {"vectorize of axis `j` of stage `C`", "already been split", "`j.outer`",
                   "`j.inner`", "tile_sizes.cpp:"}},
        Structure{"EightSumsGoThroughTheWholeReduction",
                  "tile_sizes",
                  "tile 32 x 8, vectorized",
                  {"broadcast(0f32, 8)", "for (k: int32, 0, 64)", ", 1, 8)]"}},
        Structure{"PackedRowsHaveNoStrides",
                  "symbolic_shapes",
                  "packed rows",
                  {"[n, m], [])", "for (i: int32, 0, n) \"parallel\"", "floordiv((m + 7), 8)"}},
        Structure{"AScalarIsAParameter",
                  "symbolic_shapes",
                  "a scalar",
                  {"primfn(A_1: handle, shift: int32, B_1: handle)", " + shift)"}}),
    [](const auto& info) { return std::string(info.param.fact); });

TEST(SymbolicShapes, NoTextDependsOnASize) {
  EXPECT_EQ(run_tutorial("symbolic_shapes", "--size=5").out, run_tutorial("symbolic_shapes").out);
}

}  // namespace

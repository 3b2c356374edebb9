// The texts of the tutorials, and the loops where no text shows them.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "run_tutorial.h"
#include "tenon_test_paths.h"

namespace {

// ---- texts --------------------------------------------------------------------------------------

// The tutorials print whole TVM 0.9 texts, except for blank lines and trailing spaces.

std::string without_blanks(const std::string& text) {
  std::istringstream in(text);
  std::string result;
  for (std::string line; std::getline(in, line);) {
    line.erase(line.find_last_not_of(" \t") + 1);
    if (!line.empty()) result += line + '\n';
  }
  return result;
}

std::string golden(const std::string& file) {
  std::ifstream in(TENON_GOLDEN_DIR "/" + file);
  if (!in) throw std::runtime_error("no golden text " + file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The texts below headings "=== name ===", by name up to its first colon.
std::map<std::string, std::string> sections(const std::string& text) {
  std::istringstream in(text);
  std::map<std::string, std::string> result;
  std::string* current = nullptr;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("=== ")) {
      current = &result[line.substr(4, std::min(line.find(':'), line.rfind(" ===")) - 4)];
    } else if (current) {
      *current += line + '\n';
    }
  }
  return result;
}

/// A text of the probes, below its heading "===== name".
std::string probe(const std::string& file, const std::string& name) {
  std::istringstream in(golden("probes/" + file + ".txt"));
  std::string text;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    const bool is_heading = line.starts_with("===== ") || line.starts_with("----- ");
    if (is_heading) {
      inside = line == "===== " + name;
    } else if (inside) {
      text += line + '\n';
    }
  }
  if (text.empty()) throw std::runtime_error("no text " + name + " in " + file);
  return text;
}

class PrimitiveText : public testing::TestWithParam<const char*> {};

TEST_P(PrimitiveText, IsTheKnownOne) {
  const Outcome run = run_tutorial(GetParam());
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(without_blanks(run.out),
            without_blanks(golden(std::string("primitives/") + GetParam() + ".txt")));
}

TEST_P(PrimitiveText, IsWhatEmitSimplePrints) {
  EXPECT_EQ(run_tutorial(GetParam(), "--emit=simple").out, run_tutorial(GetParam()).out);
}

INSTANTIATE_TEST_SUITE_P(Tutorials, PrimitiveText,
                         testing::Values("01_cache_read", "02_cache_write", "03_set_scope",
                                         "04_storage_align", "05_compute_at", "06_compute_inline",
                                         "07_compute_root", "08_fuse", "09_split", "10_reorder",
                                         "11_tile", "12_unroll", "13_vectorize", "14_bind",
                                         "15_parallel", "16_pragma", "17_prefetch", "18_tensorize",
                                         "19_rfactor", "20_set_store_predicate", "21_create_group"),
                         [](const auto& info) { return std::string(info.param); });

TEST(LadderText, OfTheCoursesStepsIsTheKnownOne) {
  const auto known = sections(golden("ladder/seed003_lower.txt"));
  const Outcome run = run_tutorial("matmul_ladder", "--emit=simple");
  ASSERT_EQ(run.status, 0) << run.err;
  const auto printed = sections(run.out);
  EXPECT_EQ(printed.size(), 10u);
  EXPECT_EQ(without_blanks(printed.at("naive")), without_blanks(known.at("003 naive 1024")));
  EXPECT_EQ(without_blanks(printed.at("reordered")), without_blanks(known.at("003 steps 1-3")));
  EXPECT_EQ(without_blanks(printed.at("unrolled")), without_blanks(known.at("003 steps 1-6")));
}

TEST(LadderText, OfTheLoopStructuresIsTheKnownOne) {
  const auto known = sections(golden("ladder/seed003_lower.txt"));
  const auto printed = sections(run_tutorial("loop_structures").out);
  ASSERT_EQ(printed.size(), 3u);
  for (const auto& [name, text] : printed)
    EXPECT_EQ(without_blanks(text), without_blanks(known.at(name)));
}

TEST(LadderText, OfAddReluIsTheKnownOne) {
  const auto known = sections(golden("ladder/seed003_lower.txt"));
  EXPECT_EQ(without_blanks(run_tutorial("add_relu").out), without_blanks(known.at("003 add+relu")));
}

TEST(LadderText, OfTheConvolutionAsDeclaredIsTheKnownOne) {
  const auto known = sections(golden("ladder/seed003_lower.txt"));
  const std::string printed = run_tutorial("conv2d").out;
  const std::string declared = printed.substr(0, printed.find("---------cutting line---------"));
  EXPECT_EQ(without_blanks(declared), without_blanks(known.at("003 conv2d")));
}

// ---- operations ---------------------------------------------------------------------------------

struct Section {
  const char* program;
  const char* options;
  /// The heading of the section in the program's text.
  const char* name;
  const char* probe_file;
  const char* probe;
};

void PrintTo(const Section& section, std::ostream* out) {
  *out << section.program << ", " << section.name;
}

class OperationText : public testing::TestWithParam<Section> {};

TEST_P(OperationText, IsTheKnownOne) {
  const Section& section = GetParam();
  const Outcome run = run_tutorial(section.program, section.options);
  ASSERT_EQ(run.status, 0) << run.err;
  const auto printed = sections(run.out);
  ASSERT_TRUE(printed.contains(section.name)) << run.out;
  EXPECT_EQ(without_blanks(printed.at(section.name)),
            without_blanks(probe(section.probe_file, section.probe)));
}

INSTANTIATE_TEST_SUITE_P(
    Tutorials, OperationText,
    testing::Values(Section{"argmax", "--size=8", "pairs", "p2", "argmax"},
                    Section{"reductions", "--size=100", "init", "p5", "init"},
                    Section{"parallel_reduction", "--size=64", "factored", "p3", "rfactor cpu"},
                    Section{"parallel_reduction", "--size=64", "across threads", "p3",
                            "rfactor gpu"},
                    Section{"scan", "", "one state", "p3", "scan"},
                    Section{"scan", "", "on threads", "p6", "scan gpu"},
                    Section{"symbolic_shapes", "", "tiles", "p1", "tile symbolic"},
                    Section{"symbolic_shapes", "", "a sum", "p1", "reduce symbolic"},
                    Section{"symbolic_shapes", "", "strided", "p5", "binds"}));

// ---- structure ----------------------------------------------------------------------------------

// Checks what the schedules of the tutorials do to the loops if no TVM 0.9 text shows it: lines in
// their order.

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

// ---- known mistakes -----------------------------------------------------------------------------

// Programs that are commonly shown with a mistake: they print TVM 0.9 text, build refuses them with
// the reason, and a corrected schedule of each computes the right numbers.

struct Mistake {
  const char* program;
  /// Words of the line that says why build refuses the schedule.
  std::vector<std::string> refused;
  /// How the corrected schedule's line begins.
  const char* corrected;
};

void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.program; }

/// The line of a text that has this beginning; empty if there is no such line.
std::string line_of(const std::string& text, const std::string& beginning) {
  const std::size_t at = ("\n" + text).find("\n" + beginning);
  return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
}

class KnownMistake : public testing::TestWithParam<Mistake> {};

TEST_P(KnownMistake, IsRefusedWithTheReasonAndTheCorrectedProgramIsRight) {
  const Outcome run = run_tutorial(GetParam().program, "--check");
  EXPECT_EQ(run.status, 0) << run.err;
  const std::string refused = line_of(run.out, "check after: refused; ");
  for (const std::string& words : GetParam().refused)
    EXPECT_NE(refused.find(words), std::string::npos) << refused << " has no " << words;
  EXPECT_NE(line_of(run.out, GetParam().corrected), "") << run.out;
}

TEST_P(KnownMistake, HasNoCode) {
  const Outcome run = run_tutorial(GetParam().program, "--emit=asm");
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.err.find("after: "), std::string::npos) << run.err;
}

INSTANTIATE_TEST_SUITE_P(
    Tutorials, KnownMistake,
    testing::Values(
        Mistake{"14_bind",
                {"axis `k.outer` of stage `B`", "bound to blockIdx.x", "rfactor", "14_bind.cpp:"},
                "check threads of one block: right; 1 element of S"},
        Mistake{"15_parallel",
                {"axis `l` of stage `B`", "race for the result", "rfactor", "15_parallel.cpp:"},
                "check rows in parallel: right; 64 elements of B"},
        Mistake{"17_prefetch",
                {"legacy_prefetch_index", "rows and columns exchanged", "17_prefetch.cpp:"},
                "check the address that is meant: right; 64 elements of B"},
        Mistake{"20_set_store_predicate",
                {"variable `threadIdx.x`", "no loop is bound", "20_set_store_predicate.cpp:"},
                "check thread 0 stores: right; 1 element of B"},
        Mistake{"21_create_group",
                {"`F` is an output of the schedule", "would be lost", "21_create_group.cpp:"},
                "check with F as the result: right; 64 elements of F"}),
    [](const auto& info) { return std::string(info.param.program); });

// Both schedules compute the right number on a GPU; they are not valid host code.
TEST(KnownMistakes, ComputeAtBindsThreadsThatACpuDoesNotHave) {
  const Outcome code = run_tutorial("05_compute_at", "--emit=asm");
  EXPECT_EQ(code.status, 1);
  EXPECT_NE(code.err.find("of stage `B` is bound to `threadIdx.x`, which a CPU does not have"),
            std::string::npos)
      << code.err;
  const Outcome run = run_tutorial("05_compute_at", "--check");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(line_of(run.out, "check one thread stores: right; 1 element of B"), "") << run.out;
}

// Nothing in the known program starts the sums: it is right on zeros, and the one beside it on
// NaNs.
TEST(KnownMistakes, TensorizeNeedsAResetToBeRightOnAnyContents) {
  const Outcome run = run_tutorial("18_tensorize", "--check");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(line_of(run.out, "check after: right; "), "") << run.out;
  EXPECT_NE(line_of(run.out, "check with reset and update: right; "), "") << run.out;
}

}  // namespace

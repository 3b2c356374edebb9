// Block programs as loops: the lowered loops to the character, and the buffers that they keep.
#include <gtest/gtest.h>
#include <tenon/tenon.h>
#include <tenon/tooling/check_functions.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "tenon/s_tir/schedule.h"
#include "tenon/s_tir/script.h"
#include "tenon/tir/walk.h"
#include "tenon/tooling/check_functions.h"
#include "tenon_test_paths.h"

namespace tenon::s_tir {
namespace {

// ---- random programs ----------------------------------------------------------------------------

// Block programs after schedules, lowered: the loops to the character, blank lines and trailing
// spaces aside.

std::string file_text(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// Without blank lines and trailing spaces.
std::string normalized(const std::string& text) {
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    while (!line.empty() && line.back() == ' ') line.pop_back();
    if (!line.empty()) result += line + "\n";
  }
  return result;
}

constexpr const char* kCarried =
    "the reference allocates a sum inside of the loop that carries it, and relies on finding the "
    "same memory again";
constexpr const char* kRaces = "in the reference's loops threads race for the sums of a reduction";
constexpr const char* kNoProgram = "the reference lost what a name stands for";
constexpr const char* kLostGuard = "the reference lost the guard of a split that does not divide";

/// Programs whose text differs from the reference's, and why.
const std::map<std::string, const char*> kDepartures = {{"0130", kCarried},
                                                        {"0165", kNoProgram},
                                                        {"0206", kLostGuard},
                                                        {"0050", kRaces},
                                                        {"0150", kRaces}};

class BlockLoops : public testing::TestWithParam<std::string> {};

std::filesystem::path path_of(const std::string& number, const char* end) {
  return std::filesystem::path(TENON_GOLDEN_DIR) / "blocks" / "random" / (number + end);
}

tir::IRModule module_before(const std::string& number) {
  return parse_script(file_text(path_of(number, ".in.txt")));
}

tir::IRModule module_after(const std::string& number) {
  Schedule sch(module_before(number));
  sch.apply_trace(parse_trace(file_text(path_of(number, ".trace.txt"))));
  return sch.mod();
}

TEST_P(BlockLoops, AreThoseOfTheReference) {
  const std::string& number = GetParam();
  if (kDepartures.contains(number)) GTEST_SKIP() << kDepartures.at(number);
  std::ostringstream text;
  for (const auto& [name, func] : module_after(number).functions)
    text << lower(func, {.simple_mode = true, .name = name});
  EXPECT_EQ(normalized(text.str()), normalized(file_text(path_of(number, ".loops.txt"))));
}

/// In 0050, other statements are inside of the loop that the threads share.
TEST(BlockLoopsOfThreads, ThatRaceForASumReduceTogetherOrAreRefused) {
  const tir::PrimFunc after = lower(module_after("0150").functions.at("main")).functions.at("main");
  EXPECT_TRUE(check_functions(module_before("0150").functions.at("main"), after).fine());
  EXPECT_THROW(lower(module_after("0050").functions.at("main")), LowerError);
}

/// Pairs of elements that two iterations compute: what the first leaves is still there in the
/// second.
TEST(BlockLoopsMemory, ElementsOfEarlierIterationsAreKept) {
  const tir::PrimFunc func = parse_script(R"(
@T.prim_func
def main(A: T.Buffer[8, "float32"], C: T.Buffer[4, "float32"]) -> None:
    T.func_attr({"global_symbol": "main", "tir.noalias": True})
    B = T.alloc_buffer([8], dtype="float32")
    for i in T.serial(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] * T.float32(2)
        with T.block("C"):
            vi = T.axis.spatial(4, i // 2)
            C[vi] = B[vi * 2] + B[vi * 2 + 1]
)")
                                 .functions.at("main");
  EXPECT_TRUE(check_functions(func, lower(func).functions.at("main")).fine());
  EXPECT_TRUE(check_functions(func, func, {.target = Target("llvm")}).fine());
}

TEST(BlockLoopsMemory, AViewStandsWhereItsMemoryIs) {
  const tir::PrimFunc func = parse_script(R"(
@T.prim_func
def main(A: T.Buffer[(8, 6), "float32"], C: T.Buffer[(8, 6), "float32"]) -> None:
    T.func_attr({"global_symbol": "main", "tir.noalias": True})
    B = T.alloc_buffer([8, 6], dtype="float32")
    for i in T.serial(4):
        with T.block("rows"):
            vi = T.axis.spatial(4, i)
            T.reads(A[vi * 2 : vi * 2 + 2, 0 : 6])
            T.writes(B[vi * 2 : vi * 2 + 2, 0 : 6])
            rows = T.match_buffer(B[vi * 2 : vi * 2 + 2, 0 : 6], [2, 6], dtype="float32", offset_factor=1)
            for r, c in T.grid(2, 6):
                with T.block("element"):
                    vr, vc = T.axis.remap("SS", [r, c])
                    rows[vr, vc] = A[vi * 2 + vr, vc]
    for i, j in T.grid(8, 6):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj]
)")
                                 .functions.at("main");
  EXPECT_TRUE(check_functions(func, lower(func).functions.at("main")).fine());
}

std::vector<std::string> numbers() {
  std::vector<std::string> result;
  for (int n = 0; n < 293; ++n) {
    std::string number = std::to_string(n);
    number.insert(0, 4 - number.size(), '0');
    if (std::filesystem::exists(path_of(number, ".loops.txt"))) result.push_back(number);
  }
  return result;
}

INSTANTIATE_TEST_SUITE_P(All, BlockLoops, testing::ValuesIn(numbers()),
                         [](const auto& info) { return info.param; });

TEST(BlockBuffers, AreAsLargeAsTheirShapeWhereLoopsNeverRun) {
  const tir::IRModule mod = parse_script(R"(
@T.prim_func
def main(A: T.Buffer[17, "int32"], C: T.Buffer[17, "int32"]) -> None:
    T.func_attr({"global_symbol": "main"})
    B = T.alloc_buffer([17], dtype="int32")
    for i in T.serial(17):
        with T.block("B"):
            vi = T.axis.spatial(17, i)
            B[vi] = A[vi]
    for i in T.serial(2):
        with T.block("C"):
            vi = T.axis.spatial(2, i)
            C[vi] = B[vi]
    for i, k in T.grid(0, 2147483647):
        with T.block("D"):
            vi = T.axis.spatial(1, i)
            vk = T.axis.spatial(12, k)
            C[vi] = B[vk + 1]
)");
  const tir::PrimFunc& func = mod.functions.at("main");
  tir::walk(lower(func).functions.at("main").body,
            [](const tir::Allocate& n) { EXPECT_EQ(constant_int(n.extents.front()), 17); });
}

/// Each lane has an element, counted from the beginning of the loop.
TEST(BlockBuffers, OfLanesAreCountedFromTheBeginningOfTheLoop) {
  const tir::IRModule mod = parse_script(R"(
@T.prim_func
def main(A: T.Buffer[16, "int32"], C: T.Buffer[16, "int32"]) -> None:
    T.func_attr({"global_symbol": "main"})
    B = T.alloc_buffer([16], dtype="int32", scope="local")
    for i in T.vectorized(3, 11):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            B[vi] = A[vi] + 1
        with T.block("C"):
            vi = T.axis.spatial(16, i)
            C[vi] = B[vi] * 2
)");
  const tir::IRModule lowered = lower(mod.functions.at("main"));
  tir::walk(lowered.functions.at("main").body, [](const tir::Store& store) {
    if (store.buffer->name != "B") return;
    const tir::Ramp* lanes = store.indices.front().as<tir::Ramp>();
    EXPECT_EQ(constant_int(lanes ? lanes->base : store.indices.front()), 0);
  });
}

// ---- programs of the first pages ----------------------------------------------------------------

// The lowered loops of the first pages' programs, each under the script that it is lowered from.

/// The lines under a heading of tests/golden/data/blocks/<file>.
std::string section(const std::string& file, const std::string& heading) {
  std::ifstream in(std::filesystem::path(TENON_GOLDEN_DIR) / "blocks" / file);
  std::string text;
  bool is_inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("====="))
      is_inside = line == "===== " + heading;
    else if (is_inside && line != "<EOF>")
      text += line + "\n";
  }
  EXPECT_FALSE(text.empty()) << heading;
  return text;
}

/// A script's handle of `A` is `A_handle` or `var_A` in the reference, depending on where the
/// function comes from, which a script does not say; and a map of handles is listed in the order of
/// their addresses.
std::string comparable(const std::string& text) {
  std::istringstream lines(std::regex_replace(text, std::regex("var_(\\w+)"), "$1_handle"));
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    while (!line.empty() && line.back() == ' ') line.pop_back();
    if (line.empty()) continue;
    if (line.starts_with("  preflattened_buffer_map")) {
      const std::regex entry("\\w+_handle: \\w+: Buffer\\([^)]*\\)");
      std::vector<std::string> entries(
          std::sregex_token_iterator(line.begin(), line.end(), entry, 0), {});
      std::sort(entries.begin(), entries.end());
      line = "  preflattened_buffer_map";
      for (const std::string& one : entries) line += " " + one;
    }
    result += line + "\n";
  }
  return result;
}

struct LoweredText {
  const char* name;
  const char* file;
  const char* script;
  /// Empty: behind the script, under the same heading.
  const char* loops;
};

void PrintTo(const LoweredText& text, std::ostream* out) { *out << text.name; }

const LoweredText kTexts[] = {
    {"FirstPage", "seed000.txt", "decompose_reduction(Y, k)",
     "lowered (text printer, simple_mode)"},
    {"FirstPageBefore", "seed000.txt", "original", "lowered original"},
    {"ImperfectSplit", "prims.txt", "imperfect split 24", ""},
    {"KindsOfLoops", "prims.txt", "parallel/vectorize/unroll/annotate", ""},
    {"Caches", "prims.txt", "cache_read + compute_at", ""},
};

class LoweredTexts : public testing::TestWithParam<LoweredText> {};

TEST_P(LoweredTexts, AreThoseOfTheReference) {
  const auto& [name, file, heading, loops] = GetParam();
  const std::string text = section(file, heading);
  // A trace may stand between the two.
  const std::size_t begin = text.find("@main = primfn");
  const std::string script = text.substr(0, std::min(begin, text.find("\nb0 = ")));
  const std::string known = *loops ? section(file, loops) : text.substr(begin);
  std::ostringstream own;
  for (const auto& [global, func] : parse_script(script).functions)
    own << lower(func, {.simple_mode = true});
  EXPECT_EQ(comparable(own.str()), comparable(known));
}

INSTANTIATE_TEST_SUITE_P(All, LoweredTexts, testing::ValuesIn(kTexts),
                         [](const auto& info) { return std::string(info.param.name); });

// ---- kept values --------------------------------------------------------------------------------

// Buffers of block programs keep what an iteration stores for as long as later ones load it.

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

TEST(BlockBuffers, MayHaveASizeThatTheirBlocksIteratorsDetermine) {
  EXPECT_TRUE(keeps_its_values(R"(
@T.prim_func
def main(A: T.Buffer[(4, 8), "int32"], D: T.Buffer[4, "int32"]) -> None:
    for i in T.serial(4):
        with T.block("o"):
            vi = T.axis.spatial(4, 3 - i)
            R = T.alloc_buffer([vi + 1], dtype="int32")
            W = T.match_buffer(A[vi, 0 : vi + 1], [vi + 1], dtype="int32", offset_factor=1)
            R[vi] = W[vi]
            D[vi] = R[vi] + 1
)"));
}

TEST(BlockBuffers, BeginAtNoElementThatAConditionProtects) {
  // The box of L must not begin at idx[i]: idx[6] does not exist, so `build` would refuse it.
  EXPECT_NO_THROW(build(parse_script(R"(
@T.prim_func
def main(A: T.Buffer[8, "int32"], idx: T.Buffer[6, "int32"], C: T.Buffer[8, "int32"]) -> None:
    for i in T.serial(8):
        with T.block("O"):
            v = T.axis.reduce(6, i)
            T.where(i < 6)
            L = T.alloc_buffer([8], dtype="int32")
            for j in T.serial(1):
                with T.block("L"):
                    w = T.axis.spatial(8, idx[v] + j)
                    L[w] = w + A[w]
            for j in T.serial(1):
                with T.block("C"):
                    w = T.axis.spatial(8, idx[v] + j)
                    C[w] = L[w] * 2
)")));
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

// Block programs after schedules, lowered: the loops to the character, blank lines and trailing
// spaces aside.
#include <gtest/gtest.h>
#include <tenon/tenon.h>
#include <tenon/tooling/check_functions.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "tenon/s_tir/schedule.h"
#include "tenon/s_tir/script.h"
#include "tenon/tir/walk.h"
#include "tenon_test_paths.h"

namespace tenon::s_tir {
namespace {

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

}  // namespace
}  // namespace tenon::s_tir

// Loops bound to a thread index that a loop around them is bound to already: the threads share the
// iterations where that is right, and each of them runs them all where it is not.
#include <gtest/gtest.h>
#include <tenon/tenon.h>
#include <tenon/tooling/check_functions.h>

#include "tests/block_programs/any_size.h"

namespace tenon::s_tir {
namespace {

tir::PrimFunc function(const std::string& body) {
  return parse_script(
             "@T.prim_func\ndef main(A: T.Buffer[(8, 6), \"float32\"], C: T.Buffer[(8, 6), "
             "\"float32\"]) -> None:\n"
             "    T.func_attr({\"global_symbol\": \"main\", \"tir.noalias\": True})\n" +
             body)
      .functions.at("main");
}

std::string lowered_text(const tir::PrimFunc& func) {
  std::ostringstream text;
  text << lower(func, {.simple_mode = true});
  return text.str();
}

/// The program and its loops compute the same as the program without threads.
void expect_right(const tir::PrimFunc& func) {
  const tir::PrimFunc plain = function(
      "    for i, j in T.grid(8, 6):\n"
      "        with T.block(\"C\"):\n"
      "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
      "            C[vi, vj] = A[vi, vj] * T.float32(2)\n");
  EXPECT_TRUE(check_functions(plain, func).fine());
  EXPECT_TRUE(check_functions(plain, lower(func).functions.at("main")).fine())
      << lowered_text(func);
}

std::string doubled(const std::string& from) {
  return "                with T.block(\"C\"):\n"
         "                    vi, vj = T.axis.remap(\"SS\", [i, j])\n"
         "                    C[vi, vj] = " +
         from + " * T.float32(2)\n";
}

TEST(NestedThreads, AThreadRunsAllIterationsOfALoopThatNeedsIt) {
  for (const bool is_outer_longer : {true, false}) {
    const std::string rows = "T.thread_binding(8, thread=\"threadIdx.x\"):\n";
    const std::string columns = "T.thread_binding(6, thread=\"threadIdx.x\"):\n";
    expect_right(
        function((is_outer_longer ? "    for i in " + rows + "            for j in " + columns
                                  : "    for j in " + columns + "            for i in " + rows) +
                 doubled("A[vi, vj]")));
  }
}

TEST(NestedThreads, NestedBlockAxesGiveSerialResults) {
  expect_right(
      function("    for i in T.thread_binding(8, thread=\"blockIdx.x\"):\n"
               "            for j in T.thread_binding(6, thread=\"blockIdx.x\"):\n" +
               doubled("A[vi, vj]")));
}

/// Virtual threads are others each time.
TEST(NestedThreads, VirtualThreadsInsideOfVirtualThreads) {
  expect_right(
      function("    for i in T.thread_binding(8, thread=\"vthread.x\"):\n"
               "            for j in T.thread_binding(6, thread=\"vthread.x\"):\n" +
               doubled("A[vi, vj]")));
}

/// Rows of A, copied by `count` threads to memory of the given scope, column by column.
std::string copied_rows(const std::string& scope, int threads, int row = 6) {
  return "    R = T.alloc_buffer([8, 6], dtype=\"float32\", scope=\"" + scope +
         "\")\n"
         "    for i in T.thread_binding(8, thread=\"blockIdx.x\"):\n"
         "        for j in T.thread_binding(" +
         std::to_string(threads) +
         ", thread=\"threadIdx.x\"):\n"
         "            for ax in T.thread_binding(" +
         std::to_string(row) +
         ", thread=\"threadIdx.x\"):\n"
         "                with T.block(\"R\"):\n"
         "                    vi, vj = T.axis.remap(\"SS\", [i, ax])\n"
         "                    R[vi, vj] = A[vi, vj]\n";
}

const char* const kOfOtherThreads =
    "            with T.block(\"C\"):\n"
    "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
    "                C[vi, 5 - vj] = R[vi, 5 - vj] * T.float32(2)\n";

TEST(NestedThreads, ThreadsShareWhatIsForAllOfThem) {
  const tir::PrimFunc func = function(copied_rows("shared", 6) + kOfOtherThreads);
  expect_right(func);
  EXPECT_EQ(lowered_text(func).find("for (ax"), std::string::npos) << lowered_text(func);
}

TEST(NestedThreads, AThreadFillsMemoryOfItsOwn) {
  const tir::PrimFunc func = function(copied_rows("local", 6) + kOfOtherThreads);
  expect_right(func);
  EXPECT_NE(lowered_text(func).find("for (ax: int32, 0, 6)"), std::string::npos)
      << lowered_text(func);
}

/// Three threads copy six elements.
TEST(NestedThreads, FewThreadsDoAllOfALongerLoop) {
  const tir::PrimFunc func = function(copied_rows("shared", 3) +
                                      "            for j_1 in T.serial(2):\n"
                                      "                with T.block(\"C\"):\n"
                                      "                    vi = T.axis.spatial(8, i)\n"
                                      "                    vj = T.axis.spatial(6, j * 2 + j_1)\n"
                                      "                    C[vi, vj] = R[vi, vj] * T.float32(2)\n");
  expect_right(func);
}

TEST(NestedThreads, LoopsBesideEachOtherKeepTheirThreads) {
  const tir::PrimFunc func = function(
      "    R = T.alloc_buffer([8, 6], dtype=\"float32\", scope=\"shared\")\n"
      "    for i in T.thread_binding(8, thread=\"blockIdx.x\"):\n"
      "        for ax in T.thread_binding(6, thread=\"threadIdx.x\"):\n"
      "            with T.block(\"R\"):\n"
      "                vi, vj = T.axis.remap(\"SS\", [i, ax])\n"
      "                R[vi, vj] = A[vi, vj]\n"
      "        for j_0 in T.thread_binding(3, thread=\"threadIdx.x\"):\n"
      "            for j_1 in T.serial(2):\n"
      "                with T.block(\"C\"):\n"
      "                    vi = T.axis.spatial(8, i)\n"
      "                    vj = T.axis.spatial(6, j_0 * 2 + j_1)\n"
      "                    C[vi, vj] = R[vi, vj] * T.float32(2)\n");
  expect_right(func);
  const std::string text = lowered_text(func);
  EXPECT_EQ(text.find("for (ax"), std::string::npos) << text;
  EXPECT_EQ(text.find("for (j_0"), std::string::npos) << text;
}

/// Binds in two steps of a schedule.
TEST(NestedThreads, ASumUnderTwoBindingsOfOneIndex) {
  const tir::IRModule mod = parse_script(
      "@T.prim_func\ndef main(A: T.Buffer[(3, 6, 5), \"float32\"], S: T.Buffer[(3, 6), "
      "\"float32\"]) -> None:\n"
      "    T.func_attr({\"global_symbol\": \"main\", \"tir.noalias\": True})\n"
      "    for i, j, k in T.grid(3, 6, 5):\n"
      "        with T.block(\"S\"):\n"
      "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
      "            with T.init():\n"
      "                S[vi, vj] = T.float32(0)\n"
      "            S[vi, vj] = S[vi, vj] + A[vi, vj, vk]\n");
  Schedule sch(mod);
  const std::vector<LoopRV> loops = sch.get_loops(sch.get_block("S"));
  sch.bind(loops[0], "threadIdx.y");
  sch.bind(loops[1], "threadIdx.y");
  const tir::PrimFunc &before = mod.functions.at("main"), &after = sch.mod().functions.at("main");
  EXPECT_TRUE(check_functions(before, after).fine());
  EXPECT_TRUE(check_functions(before, lower(after).functions.at("main")).fine());
}

TEST(ThreadExtents, MayBeSizesThatAreKnownWhenTheProgramRuns) {
  const tir::IRModule mod = twice_of_any_size();
  Schedule sch(mod);
  const std::vector<LoopRV> loops = sch.get_loops(sch.get_block("C"));
  const std::vector<LoopRV> parts = sch.split(sch.fuse(loops), {std::nullopt, 8});
  sch.bind(parts[0], "blockIdx.x");
  sch.bind(parts[1], "threadIdx.x");
  const tir::PrimFunc& after = sch.mod().functions.at("main");
  EXPECT_TRUE(check_functions(mod.functions.at("main"), lower(after).functions.at("main")).fine())
      << lowered_text(after);
}

TEST(ThreadExtents, OfVirtualThreadsAreConstants) {
  Schedule sch(twice_of_any_size());
  sch.bind(sch.get_loops(sch.get_block("C"))[0], "vthread.x");
  EXPECT_THROW(lower(sch.mod().functions.at("main")), LowerError);
}

TEST(ThreadExtents, AreThoseOfAllThreadsOfAKernel) {
  EXPECT_THROW(lower(function("    for i in T.thread_binding(8, thread=\"blockIdx.x\"):\n"
                              "        for j in T.thread_binding(i, thread=\"threadIdx.x\"):\n"
                              "            with T.block(\"C\"):\n"
                              "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                              "                C[vi, vj] = A[vi, vj]\n")),
               LowerError);
}

}  // namespace
}  // namespace tenon::s_tir

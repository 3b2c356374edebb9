// Block programs whose loops are bound to threads.
#include <gtest/gtest.h>
#include <tenon/tenon.h>
#include <tenon/tooling/check_functions.h>

#include "tenon/interp/evaluate.h"
#include "tenon/s_tir/schedule.h"
#include "tenon/s_tir/script.h"
#include "tenon/tir/expr.h"

namespace tenon::s_tir {
namespace {

/// C = 2 A, of `n` by 4 elements.
inline tir::IRModule twice_of_any_size() {
  return parse_script(R"(
@T.prim_func
def main(a: T.handle, c: T.handle, n: T.int32) -> None:
    T.func_attr({"global_symbol": "main", "tir.noalias": True})
    A = T.match_buffer(a, [n, 4], dtype="float32")
    C = T.match_buffer(c, [n, 4], dtype="float32")
    for i, j in T.grid(n, 4):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] * T.float32(2)
)");
}

// ---- nested threads -----------------------------------------------------------------------------

// Loops bound to a thread index that a loop around them is bound to already: the threads share the
// iterations where that is right, and each of them runs them all where it is not.

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

TEST(NestedThreads, AThreadRunsAllIterationsOnARegionOfItsOwn) {
  expect_right(function(R"(
    for i in T.thread_binding(8, thread="threadIdx.x"):
        with T.block("row"):
            vi = T.axis.spatial(8, i)
            T.reads(A[vi, 0 : 6])
            T.writes(C[vi, 0 : 6])
            from_row = T.match_buffer(A[vi : vi + 1, 0 : 6], [1, 6], dtype="float32", offset_factor=1)
            to_row = T.match_buffer(C[vi : vi + 1, 0 : 6], [1, 6], dtype="float32", offset_factor=1)
            for j in T.thread_binding(6, thread="threadIdx.x"):
                with T.block("C"):
                    vj = T.axis.spatial(6, j)
                    to_row[0, vj] = from_row[0, vj] * T.float32(2)
)"));
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

// ---- reductions ---------------------------------------------------------------------------------

// Reductions of block programs over loops that are bound to threads: the loops compute what the
// blocks computed before any thread was bound, without races, or the program is refused.

constexpr int kRows = 6;

/// S[i] = combination over k of A[i, k], and C[i, j] = A[i, j] - S[i].
tir::PrimFunc program(int columns, tir::BinaryOp op = tir::BinaryOp::Add) {
  const Expr identity = op == tir::BinaryOp::Max ? tir::min_value(Int(32)) : Expr(0);
  FuncBuilder f("main");
  auto A = f.param({kRows, columns}, "A", Int(32)), C = f.param({kRows, columns}, "C", Int(32));
  auto S = f.alloc({kRows}, "S", Int(32));
  f.grid({kRows, columns}, {"i", "k"}, [&](Var i, Var k) {
    f.block("S", f.remap("SR", {i, k}, {"vi", "vk"}), [&](Var vi, Var vk) {
      f.init([&] { S[{vi}] = identity; });
      S[{vi}] = tir::make_binary(op, Expr(S[{vi}]), Expr(A[{vi, vk}]));
    });
  });
  f.grid({kRows, columns}, {"i", "j"}, [&](Var i, Var j) {
    f.block("C", f.remap("SS", {i, j}, {"vi", "vj"}), [&](Var vi, Var vj) {
      C[{vi, vj}] = A[{vi, vj}] - S[{vi}];
    });
  });
  return f.get();
}

std::vector<std::int32_t> results(const tir::PrimFunc& func, int columns) {
  const auto count = static_cast<std::size_t>(kRows * columns);
  std::vector<std::int32_t> in(count), out(count, -77);
  for (std::size_t n = 0; n < count; ++n) in[n] = static_cast<std::int32_t>(n * n * 31 % 1009);
  const std::vector<tir::HostValue> args = {tir::HostArray{in.data(), Int(32), {kRows, columns}},
                                            tir::HostArray{out.data(), Int(32), {kRows, columns}}};
  tir::evaluate(func, args, {.check_races = true});
  return out;
}

tir::PrimFunc lowered(const tir::PrimFunc& func) { return lower(func).functions.at("main"); }

Schedule scheduled(const tir::PrimFunc& func) { return Schedule(tir::IRModule{{{"main", func}}}); }

/// The lowered text, after its numbers are found right.
std::string checked(const tir::PrimFunc& before, const Schedule& sch, int columns) {
  const tir::PrimFunc after = lowered(sch.mod().functions.at("main"));
  EXPECT_EQ(results(after, columns), results(before, columns)) << sch.mod();
  std::ostringstream text;
  text << after;
  return text.str();
}

bool reduces_together(const std::string& text) {
  return text.find("tvm_thread_allreduce") != std::string::npos;
}

/// Both stages of a row in one block of threads.
void bind_rows(Schedule& sch) {
  sch.set_scope(sch.get_block("S"), 0, "shared");
  const LoopRV row = sch.get_loops(sch.get_block("C"))[0];
  sch.bind(row, "blockIdx.x");
  sch.compute_at(sch.get_block("S"), row);
}

TEST(ThreadReductions, EachThreadHasOneElement) {
  const tir::PrimFunc func = program(16);
  Schedule sch = scheduled(func);
  bind_rows(sch);
  sch.bind(sch.get_loops(sch.get_block("S")).back(), "threadIdx.x");
  sch.bind(sch.get_loops(sch.get_block("C")).back(), "threadIdx.x");
  const std::string text = checked(func, sch, 16);
  EXPECT_TRUE(reduces_together(text)) << text;
  EXPECT_EQ(text.find("normal_reduce_temp0"), std::string::npos) << text;
}

/// Columns that the threads divide, and not.
TEST(ThreadReductions, EachThreadSumsAPartFirst) {
  for (int columns : {32, 30, 5}) {
    for (bool inner : {true, false}) {
      const tir::PrimFunc func = program(columns);
      Schedule sch = scheduled(func);
      bind_rows(sch);
      for (const char* name : {"S", "C"}) {
        const LoopRV loop = sch.get_loops(sch.get_block(name)).back();
        const auto parts =
            inner ? sch.split(loop, {std::nullopt, 8}) : sch.split(loop, {8, std::nullopt});
        sch.bind(parts[inner ? 1 : 0], "threadIdx.x");
      }
      const std::string text = checked(func, sch, columns);
      EXPECT_TRUE(reduces_together(text)) << text;
    }
  }
}

TEST(ThreadReductions, AMaximumStartsFromTheLeastValue) {
  const tir::PrimFunc func = program(30, tir::BinaryOp::Max);
  Schedule sch = scheduled(func);
  bind_rows(sch);
  for (const char* name : {"S", "C"})
    sch.bind(sch.split(sch.get_loops(sch.get_block(name)).back(), {std::nullopt, 8})[1],
             "threadIdx.x");
  EXPECT_TRUE(reduces_together(checked(func, sch, 30)));
}

/// Rows are threads of another dimension, 4 at a time: 6 rows leave two of them without a row,
/// which come to the reduction as well.
TEST(ThreadReductions, RowsOfThreadsReduceByThemselves) {
  const tir::PrimFunc func = program(32);
  Schedule sch = scheduled(func);
  for (const char* name : {"S", "C"}) {
    const std::vector<LoopRV> loops = sch.get_loops(sch.get_block(name));
    sch.bind(sch.split(loops[0], {std::nullopt, 4})[1], "threadIdx.y");
    sch.bind(sch.split(loops[1], {std::nullopt, 8})[1], "threadIdx.x");
  }
  const std::string text = checked(func, sch, 32);
  EXPECT_TRUE(reduces_together(text)) << text;
}

TEST(ThreadReductions, TwoDimensionsOfThreadsReduceTogether) {
  const tir::PrimFunc func = program(32);
  Schedule sch = scheduled(func);
  bind_rows(sch);
  for (const char* name : {"S", "C"}) {
    const auto parts = sch.split(sch.get_loops(sch.get_block(name)).back(), {2, 4, 4});
    sch.bind(parts[0], "threadIdx.y");
    sch.bind(parts[2], "threadIdx.x");
  }
  const std::string text = checked(func, sch, 32);
  EXPECT_NE(text.find("threadIdx.y, threadIdx.x, dtype=handle"), std::string::npos) << text;
}

// ---- refused ----

std::string refusal(const tir::PrimFunc& func) {
  try {
    lower(func);
  } catch (const LowerError& error) {
    return error.sentence();
  }
  return "not refused";
}

/// A sum over 4 x 8 columns with the given loops around its block.
std::string refusal_of_loops(const std::string& loops, const std::string& init = "",
                             const std::string& value = "S[vi] + A[vi, vk]") {
  std::string text = R"(
@T.prim_func
def main(A: T.Buffer[(6, 32), "int32"], S: T.Buffer[(6,), "int32"]) -> None:
    T.func_attr({"global_symbol": "main", "tir.noalias": True})
)";
  std::istringstream lines(loops);
  std::string indent = "    ";
  for (std::string line; std::getline(lines, line); indent += "    ") text += indent + line + "\n";
  text += indent + "with T.block(\"S\"):\n";
  indent += "    ";
  text += indent + "vi = T.axis.spatial(6, i)\n";
  text += indent + "vk = T.axis.reduce(32, k_0 * 8 + k_1)\n";
  if (init.empty()) text += indent + "with T.init():\n" + indent + "    S[vi] = 0\n";
  text += indent + "S[vi] = " + value + "\n";
  return refusal(parse_script(text).functions.at("main"));
}

TEST(ThreadReductions, BlocksOfThreadsCannotReduceTogether) {
  EXPECT_NE(refusal_of_loops("for i in T.serial(6):\n"
                             "for k_0 in T.thread_binding(4, thread=\"blockIdx.x\"):\n"
                             "for k_1 in T.serial(8):")
                .find("block `S` reduces over loop `k_0`, which is bound to `blockIdx.x`, across "
                      "which threads cannot reduce; rfactor it first"),
            std::string::npos);
}

TEST(ThreadReductions, ASpatialLoopInsideIsNamed) {
  EXPECT_NE(refusal_of_loops("for k_0 in T.serial(4):\n"
                             "for k_1 in T.thread_binding(8, thread=\"threadIdx.x\"):\n"
                             "for i in T.serial(6):")
                .find("and the spatial loop `i` is inside of the reduction; reorder it outwards"),
            std::string::npos);
}

TEST(ThreadReductions, VirtualThreadsAroundAreNamed) {
  EXPECT_NE(refusal_of_loops("for i in T.thread_binding(6, thread=\"vthread.x\"):\n"
                             "for k_0 in T.serial(4):\n"
                             "for k_1 in T.thread_binding(8, thread=\"threadIdx.x\"):")
                .find("inside of the virtual thread `vthread.x`"),
            std::string::npos);
}

TEST(ThreadReductions, AConditionOfSomeThreadsIsNamed) {
  EXPECT_NE(refusal_of_loops("for i in T.thread_binding(6, thread=\"threadIdx.y\"):\n"
                             "if i < 5:\n"
                             "for k_0 in T.serial(4):\n"
                             "for k_1 in T.thread_binding(8, thread=\"threadIdx.x\"):")
                .find("under a condition that holds only for some threads"),
            std::string::npos);
}

TEST(ThreadReductions, WhatIsNoKnownCombinationIsRefused) {
  EXPECT_NE(refusal_of_loops("for i, k_0 in T.grid(6, 4):\n"
                             "for k_1 in T.thread_binding(8, thread=\"threadIdx.x\"):",
                             "", "S[vi] - A[vi, vk]")
                .find("is not a sum, product, minimum or maximum that starts from its identity"),
            std::string::npos);
}

/// Columns for one value each, and for several, the last threads one less.
TEST(ThreadReductions, AnUpdateAddsToWhatItsInitLeft) {
  for (const int columns : {8, 30}) {
    const tir::PrimFunc func =
        program(columns, columns == 8 ? tir::BinaryOp::Add : tir::BinaryOp::Max);
    Schedule sch = scheduled(func);
    const std::vector<LoopRV> loops = sch.get_loops(sch.get_block("S"));
    sch.bind(sch.split(loops[1], {std::nullopt, 8})[1], "threadIdx.x");
    sch.decompose_reduction(sch.get_block("S"), loops[0]);
    EXPECT_TRUE(reduces_together(checked(func, sch, columns)));
  }
}

TEST(ThreadReductions, AnUpdateThatIsNoKnownCombinationIsRefused) {
  EXPECT_NE(refusal_of_loops("for i, k_0 in T.grid(6, 4):\n"
                             "for k_1 in T.thread_binding(8, thread=\"threadIdx.x\"):",
                             "none", "S[vi] - A[vi, vk]")
                .find("is not a sum, product, minimum or maximum; leave that loop serial"),
            std::string::npos);
}

/// Two stages in one kernel, the sum over 8 of 16 threads.
TEST(ThreadReductions, AllThreadsOfADimensionComeToIt) {
  const tir::PrimFunc func = program(16);
  Schedule sch = scheduled(func);
  bind_rows(sch);
  sch.bind(sch.split(sch.get_loops(sch.get_block("S")).back(), {std::nullopt, 8})[1],
           "threadIdx.x");
  sch.bind(sch.get_loops(sch.get_block("C")).back(), "threadIdx.x");
  EXPECT_NE(refusal(sch.mod().functions.at("main")).find("runs on 8 of the 16 threads"),
            std::string::npos);
}

// ---- devices ------------------------------------------------------------------------------------

// Block programs whose loops are bound to threads, run on OpenCL's device where there is one.

/// A product of matrices of `n` by `n` elements.
tir::IRModule product(int n) {
  FuncBuilder f("main");
  auto A = f.param({n, n}, "A"), B = f.param({n, n}, "B"), C = f.param({n, n}, "C");
  f.grid({n, n, n}, {"i", "j", "k"}, [&](Var i, Var j, Var k) {
    f.block("C", f.remap("SSR", {i, j, k}, {"vi", "vj", "vk"}), [&](Var vi, Var vj, Var vk) {
      f.init([&] { C[{vi, vj}] = 0.0f; });
      C[{vi, vj}] = C[{vi, vj}] + A[{vi, vk}] * B[{vk, vj}];
    });
  });
  return tir::IRModule{{{"main", f.get()}}};
}

/// A tile of 8 by 8 for each block of threads, which load their parts of A and B together.
Schedule tiled_in_shared_memory(const tir::IRModule& mod) {
  Schedule sch(mod);
  const BlockRV C = sch.get_block("C");
  const auto loops = sch.get_loops(C);
  const auto i = sch.split(loops[0], {std::nullopt, 8}), j = sch.split(loops[1], {std::nullopt, 8}),
             k = sch.split(loops[2], {std::nullopt, 8});
  sch.reorder({i[0], j[0], i[1], j[1], k[0], k[1]});
  sch.bind(i[0], "blockIdx.y");
  sch.bind(j[0], "blockIdx.x");
  sch.bind(i[1], "threadIdx.y");
  sch.bind(j[1], "threadIdx.x");
  for (const int input : {0, 1}) {
    const BlockRV copy = sch.cache_read(C, input, "shared");
    sch.compute_at(copy, k[0], {.preserve_unit_loops = true});
    const auto own = sch.get_loops(copy);
    sch.bind(own[own.size() - 2], "threadIdx.y");
    sch.bind(own.back(), "threadIdx.x");
  }
  sch.reverse_compute_at(sch.cache_write(C, 0, "local"), j[1], {.preserve_unit_loops = true});
  sch.decompose_reduction(C, k[0]);
  return sch;
}

void expect_right_on_device(const tir::IRModule& mod, const Schedule& sch) {
  const tir::PrimFunc &before = mod.functions.at("main"), &after = sch.mod().functions.at("main");
  EXPECT_TRUE(check_functions(before, lower(after).functions.at("main")).fine());
  if (!opencl(0).exists()) GTEST_SKIP() << opencl(0).why_missing();
  EXPECT_TRUE(check_functions(before, after, {.target = Target("opencl")}).fine());
}

TEST(BlocksOnDevices, AProductWhoseThreadsLoadTilesTogether) {
  const tir::IRModule mod = product(32);
  const Schedule sch = tiled_in_shared_memory(mod);
  std::ostringstream text;
  text << lower(sch.mod().functions.at("main"), {.simple_mode = true});
  // No thread copies a tile alone.
  EXPECT_EQ(text.str().find("for (ax"), std::string::npos) << text.str();
  expect_right_on_device(mod, sch);
}

TEST(BlocksOnDevices, SumsOfThreadsTogether) {
  const tir::IRModule mod = product(32);
  Schedule sch(mod);
  const auto loops = sch.get_loops(sch.get_block("C"));
  const auto k = sch.split(loops[2], {std::nullopt, 8});
  sch.bind(sch.fuse({loops[0], loops[1]}), "blockIdx.x");
  sch.bind(k[1], "threadIdx.x");
  expect_right_on_device(mod, sch);
}

/// Both loops of a sum's elements are of one thread index: each thread has all of a row.
TEST(BlocksOnDevices, OneThreadIndexTwice) {
  const tir::IRModule mod = product(16);
  Schedule sch(mod);
  const auto loops = sch.get_loops(sch.get_block("C"));
  sch.bind(loops[0], "threadIdx.x");
  sch.bind(loops[1], "threadIdx.x");
  expect_right_on_device(mod, sch);
}

TEST(BlocksOnDevices, ASizeThatIsKnownWhenTheProgramRuns) {
  const tir::IRModule mod = twice_of_any_size();
  Schedule sch(mod);
  const auto parts = sch.split(sch.fuse(sch.get_loops(sch.get_block("C"))), {std::nullopt, 8});
  sch.bind(parts[0], "blockIdx.x");
  sch.bind(parts[1], "threadIdx.x");
  expect_right_on_device(mod, sch);
}

}  // namespace
}  // namespace tenon::s_tir

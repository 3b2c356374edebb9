// Reductions of block programs over loops that are bound to threads: the loops compute what the
// blocks computed before any thread was bound, without races, or the program is refused.
#include <gtest/gtest.h>
#include <tenon/tenon.h>

#include "tenon/interp/evaluate.h"
#include "tenon/s_tir/schedule.h"
#include "tenon/s_tir/script.h"
#include "tenon/tir/expr.h"

namespace tenon::s_tir {
namespace {

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

}  // namespace
}  // namespace tenon::s_tir

// Checks the contents of a view: the statement of each instruction, the stages' lines, the buffers.
#include <gtest/gtest.h>
#include <tenon/tenon.h>

#include <algorithm>

#include "tenon/codegen/assembler_listing.h"
#include "tenon/inspect/loop_page.h"

namespace tenon {
namespace {

/// A processor whose instructions the tests know by name.
const Target kTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=haswell");

/// C = A B of n x n.
struct Product {
  explicit Product(int n)
      : A(te::placeholder({n, n}, "A")),
        B(te::placeholder({n, n}, "B")),
        k(te::reduce_axis({0, n}, "k")),
        C(te::compute(
            {n, n}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, k) * B(k, j), {k}); },
            "C")),
        s(te::create_schedule({C})) {}

  std::vector<LowerArgument> args() const { return {A, B, C}; }

  te::Tensor A, B;
  te::IterVar k;
  te::Tensor C;
  te::Schedule s;
};

void tile(const Product& p) {
  auto [io, jo, ii, ji] = p.s[p.C].tile(p.s[p.C].axis(0), p.s[p.C].axis(1), 4, 8);
  p.s[p.C].reorder({io, jo, p.s[p.C].reduce_axis(0), ii, ji}).unroll(ii).vectorize(ji).parallel(io);
}

using Kind = LoopView::Instruction::Kind;

std::vector<std::string> texts(const std::vector<LoopView::Instruction>& code) {
  std::vector<std::string> result;
  for (const auto& each : code) result.push_back(each.text);
  return result;
}

/// The page shows the code that runs: to know the lines of instructions changes none of them.
TEST(LoopView, ShowsTheCodeThatIsBuilt) {
  for (const bool tiles : {false, true}) {
    const Product p(64);
    if (tiles) tile(p);
    const LoopView view = view_loops(p.s, p.args(), kTarget);
    std::vector<std::string> built;
    for (const auto& line :
         codegen::list_assembler(compile(p.s, p.args(), kTarget).source("asm")).lines)
      built.push_back(line.text);
    EXPECT_EQ(texts(view.code), built);
  }
}

/// Two stages that are told apart by their instructions.
TEST(LoopView, AnInstructionIsPartOfTheStageThatItComputes) {
  te::Tensor A = te::placeholder({1024}, "A");
  te::Tensor B = te::compute(
      {1024}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  te::Tensor C = te::compute(
      {1024}, {"i"}, [&](Var i) { return B(1023 - i) * 3.0f; }, "C");
  const LoopView view = view_loops(te::create_schedule({C}), {A, C}, kTarget);
  std::vector<std::string> seen;
  for (const auto& each : view.code) {
    if (each.kind != Kind::Instruction || each.stmt < 0) continue;
    const int stage = view.stmts[static_cast<std::size_t>(each.stmt)].stage;
    if (each.text.starts_with("vadd") || each.text.starts_with("vmul")) {
      ASSERT_GE(stage, 0) << each.text;
      seen.push_back(view.stages[static_cast<std::size_t>(stage)].name + each.text.substr(0, 4));
    }
  }
  std::ranges::sort(seen);
  const auto end = std::ranges::unique(seen).begin();
  EXPECT_EQ(std::vector<std::string>(seen.begin(), end),
            (std::vector<std::string>{"Bvadd", "Cvmul"}));
}

TEST(LoopView, EveryFusedMultiplyAddIsInTheReduction) {
  const Product p(64);
  tile(p);
  const LoopView view = view_loops(p.s, p.args(), kTarget);
  const auto loop = std::ranges::find_if(view.stmts, [&](const LoopView::Stmt& each) {
    return view.lines[static_cast<std::size_t>(each.first - 1)].find("for (k") != std::string::npos;
  });
  ASSERT_NE(loop, view.stmts.end());
  int count = 0;
  for (const auto& each : view.code) {
    if (!each.text.starts_with("vfmadd")) continue;
    ++count;
    ASSERT_GE(each.stmt, 0);
    const LoopView::Stmt& stmt = view.stmts[static_cast<std::size_t>(each.stmt)];
    EXPECT_TRUE(loop->first <= stmt.first && stmt.last <= loop->last) << each.text;
  }
  EXPECT_GE(count, 4);  // a row each, in vectors of the register's eight elements
}

TEST(LoopView, KnowsWhatKindOfLoopEachIs) {
  const Product p(64);
  tile(p);
  const LoopView view = view_loops(p.s, p.args(), kTarget);
  EXPECT_EQ(view.stmts.at(0).kind, LoopView::Stmt::Kind::Parallel);
  EXPECT_EQ(view.stmts.at(1).kind, LoopView::Stmt::Kind::Serial);
}

TEST(LoopView, AStageHasTheLineThatDeclaresIt) {
  te::Tensor A = te::placeholder({8}, "A");
  const int line = __LINE__ + 1;
  te::Tensor B = te::compute(
      {8}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  const LoopView view = view_loops(te::create_schedule({B}), {A, B}, kTarget);
  ASSERT_EQ(view.stages.size(), 1u);
  EXPECT_EQ(view.stages[0].line, "loop_view_test.cpp:" + std::to_string(line));
  EXPECT_TRUE(view.stages[0].source.starts_with("te::Tensor B = te::compute("))
      << view.stages[0].source;
}

TEST(LoopView, BuffersHaveWhatIsNeededAndWhatIsAllocated) {
  te::Tensor A = te::placeholder({64}, "A");
  te::Tensor B = te::compute(
      {64}, {"i"}, [&](Var i) { return A(i) * 2.0f; }, "B");
  te::Tensor C = te::compute(
      {62}, {"i"}, [&](Var i) { return B(i) + B(i + 2); }, "C");
  te::Schedule s = te::create_schedule({C});
  auto [outer, inner] = s[C].split(s[C].axis(0), 31);
  s[B].compute_at(s[C], outer);
  s[B].double_buffer();
  const LoopView view = view_loops(s, {A, C}, kTarget);
  ASSERT_EQ(view.buffers.size(), 3u);
  EXPECT_EQ(view.buffers[0].place, "argument");
  EXPECT_EQ(view.buffers[0].bytes, "256");
  const LoopView::Buffer& b = view.buffers[2];
  EXPECT_EQ(b.name, "B");
  EXPECT_EQ(b.place, "C, at i.outer");
  EXPECT_EQ(b.required, "[33 by C]");
  EXPECT_EQ(b.allocated, "[33]");
  EXPECT_EQ(b.bytes, "132");
  EXPECT_EQ(b.memory_bytes, "264");  // twice
}

TEST(LoopView, OfWhatBuildRefusesTheLoopsAndTheReason) {
  const Product p(16);
  p.s[p.C].parallel(p.s[p.C].reduce_axis(0));
  const LoopView view = view_loops(p.s, p.args(), kTarget);
  EXPECT_NE(view.refused.find("rfactor"), std::string::npos) << view.refused;
  EXPECT_FALSE(view.lines.empty());
  EXPECT_TRUE(view.code.empty());
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// The first line of the statement that a line of code belongs to.
std::string line_of(const LoopView& view, const LoopView::Instruction& code) {
  const LoopView::Stmt& stmt = view.stmts.at(static_cast<std::size_t>(code.stmt));
  return view.lines.at(static_cast<std::size_t>(stmt.first - 1));
}

/// Every line of code with this in it is of a statement with that.
void expect_all(const LoopView& view, const std::string& in_code, const std::string& in_loops) {
  int count = 0;
  for (const LoopView::Instruction& each : view.code) {
    if (each.text.find(in_code) == std::string::npos || each.stmt < 0) continue;
    ++count;
    EXPECT_NE(line_of(view, each).find(in_loops), std::string::npos)
        << each.text << " is of " << line_of(view, each);
  }
  EXPECT_GT(count, 0) << in_code << " in\n" << joined(texts(view.code));
}

TEST(LoopView, CIsTheTextThatIsBuilt) {
  const Product p(64);
  tile(p);
  const LoopView view = view_loops(p.s, p.args(), Target("c"));
  EXPECT_EQ(view.language, "c");
  EXPECT_EQ(joined(texts(view.code)), compile(p.s, p.args(), Target("c")).source("c"));
}

/// The body of the parallel loop is a function of its own in C.
TEST(LoopView, ALineOfCIsOfTheStatementThatItComputes) {
  const Product p(64);
  tile(p);
  const LoopView view = view_loops(p.s, p.args(), Target("c"));
  expect_all(view, "for (int32_t k = 0", "for (k");
  expect_all(view, "parallel_for(", "for (i.outer");
  for (const LoopView::Instruction& each : view.code)
    if (each.text.find("B[") != std::string::npos) {
      ASSERT_GE(each.stmt, 0) << each.text;
      EXPECT_NE(line_of(view, each).find("B["), std::string::npos) << line_of(view, each);
    }
}

TEST(LoopView, KernelsHaveTheirLoopsBesideTheirSource) {
  te::Tensor A = te::placeholder({1024}, "A");
  te::Tensor B = te::compute(
      {1024}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  te::Tensor C = te::compute(
      {1024}, {"i"}, [&](Var i) { return B(1023 - i) * 3.0f; }, "C");
  te::Schedule s = te::create_schedule({C});
  for (const te::Tensor& t : {B, C}) {
    auto [outer, inner] = s[t].split(s[t].axis(0), 64);
    s[t].bind(outer, te::thread_axis("blockIdx.x")).bind(inner, te::thread_axis("threadIdx.x"));
  }
  const LoopView view = view_loops(s, {A, C}, Target("opencl"));
  EXPECT_EQ(view.language, "opencl");
  EXPECT_EQ(joined(texts(view.code)), compile(s, {A, C}, Target("opencl")).source("opencl"));
  // A kernel for each stage, under its name.
  EXPECT_EQ(view.lines.at(0), "@main_kernel0:");
  EXPECT_NE(joined(view.lines).find("@main_kernel1:"), std::string::npos);
  ASSERT_EQ(view.stages.size(), 2u);
  for (const LoopView::Instruction& each : view.code) {
    if (each.stmt < 0) continue;
    const int stage = view.stmts.at(static_cast<std::size_t>(each.stmt)).stage;
    if (each.text.find("3.0f") == std::string::npos) continue;
    ASSERT_GE(stage, 0);
    EXPECT_EQ(view.stages.at(static_cast<std::size_t>(stage)).name, "C");
  }
  expect_all(view, "3.0f", "3");
  expect_all(view, "1.0f", "1");
}

constexpr const char* kBlocks = R"(
@tvm.script.ir_module
class Module:
    @T.prim_func
    def relu(A: T.Buffer[(128,), "float32"], C: T.Buffer[(128,), "float32"]) -> None:
        T.func_attr({"global_symbol": "relu", "tir.noalias": True})
        Y = T.alloc_buffer([128], dtype="float32")
        for i in T.serial(128):
            with T.block("Y"):
                vi = T.axis.spatial(128, i)
                Y[vi] = A[127 - vi] + T.float32(1)
        for i in T.serial(128):
            with T.block("C"):
                vi = T.axis.spatial(128, i)
                C[vi] = T.max(Y[127 - vi], T.float32(0))
)";

TEST(LoopView, BlockProgramsHaveTheirCode) {
  const LoopView view = view_loops(s_tir::parse_script(kBlocks), kTarget);
  std::vector<std::string> stages;
  for (const LoopView::Stage& each : view.stages) stages.push_back(each.name + each.line);
  EXPECT_EQ(stages, (std::vector<std::string>{"Y", "C"}));
  expect_all(view, "vmaxps", "C[");
  expect_all(view, "vaddps", "Y[");
  std::vector<std::string> buffers;
  for (const LoopView::Buffer& each : view.buffers)
    buffers.push_back(each.name + " " + each.allocated + " " + each.bytes);
  EXPECT_EQ(buffers, (std::vector<std::string>{"A [128] 512", "C [128] 512", "Y [128] 512"}));
}

TEST(LoopView, OfBlockProgramsThatBuildRefusesTheLoopsAndTheReason) {
  // Threads of a device, on a processor.
  s_tir::Schedule sch(s_tir::parse_script(kBlocks));
  sch.bind(sch.get_loops(sch.get_block("C", "relu"))[0], "threadIdx.x");
  const LoopView view = view_loops(sch.mod(), kTarget);
  EXPECT_FALSE(view.refused.empty());
  EXPECT_FALSE(view.lines.empty());
  EXPECT_TRUE(view.code.empty());
}

TEST(LoopView, WithAProfileStagesHaveTheirTimes) {
  const Product p(64);
  const runtime::Module module = build(p.s, p.args(), Target("llvm"), {.profile = true});
  const auto a = runtime::NDArray::random({64, 64}, Float(32));
  const auto c = runtime::NDArray::empty({64, 64}, Float(32));
  module["main"](a, a, c);
  const Profile profile = profile_of(module);
  const LoopView view = view_loops(p.s, p.args(), Target("llvm"), {}, profile);
  ASSERT_EQ(view.stages.size(), 1u);
  EXPECT_EQ(view.stages[0].seconds, profile.stages.at(0).seconds);
  EXPECT_EQ(view.stages[0].share, profile.stages.at(0).share);
}

}  // namespace
}  // namespace tenon

// A block schedule with a random choice, and a search among the outcomes.
//
// sample_perfect_tile draws the tile of loop j: two factors with the product 128, the inner one at
// most 16. Each of five attempts draws a tile, builds the function, checks it and times it. The
// trace of an attempt records the tile. The trace of the fastest attempt is then replayed on the
// original program. With --emit=html the attempts become a page.
#include <tenon/tenon.h>
#include <tenon/tooling/check.h>

#include <cstdio>
#include <iostream>

#include "tutorials/common/block_programs.h"

using namespace tenon;

namespace {

constexpr int kSize = 128;

const char* const kProgram = R"(
@tvm.script.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer[(128, 128), "float32"],
            B: T.Buffer[(128, 128), "float32"],
            C: T.Buffer[(128, 128), "float32"]) -> None:
        T.func_attr({"global_symbol": "main", "tir.noalias": True})
        for i, j, k in T.grid(128, 128, 128):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = 0.0
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)";

s_tir::Schedule stochastic_schedule(s_tir::Schedule sch) {
  const s_tir::BlockRV C = sch.get_block("C", "main");
  const std::vector<s_tir::LoopRV> loops = sch.get_loops(C);
  const std::vector<s_tir::ExprRV> factors = sch.sample_perfect_tile(loops[1], {.n = 2});
  const std::vector<s_tir::LoopRV> parts = sch.split(loops[1], factors);
  sch.reorder({loops[0], parts[0], loops[2], parts[1]});
  sch.decompose_reduction(C, loops[2]);
  return sch;
}

}  // namespace

int main(int argc, char** argv) {
  BlockSteps steps(argc, argv, "stochastic_mm");
  runtime::set_num_threads(1);
  const tir::IRModule mod = s_tir::parse_script(kProgram);
  const auto a = runtime::NDArray::random({kSize, kSize}, Float(32), {.seed = 1});
  const auto b = runtime::NDArray::random({kSize, kSize}, Float(32), {.seed = 2});
  const auto c = runtime::NDArray::zeros({kSize, kSize}, Float(32));
  const auto expected = runtime::NDArray::zeros({kSize, kSize}, Float(32));
  build(mod, Target("llvm"))["main"](a, b, expected);

  std::optional<s_tir::Trace> best;
  double best_time = 0;
  for (int attempt = 0; attempt < 5; ++attempt) {
    const s_tir::Schedule sch = stochastic_schedule(
        s_tir::Schedule(mod, {.seed = static_cast<std::uint64_t>(attempt) + 1}));
    if (steps.is_page()) {
      steps.show("attempt " + std::to_string(attempt), sch.mod());
      continue;
    }
    const runtime::Module lib = build(sch.mod(), Target("llvm"));
    lib["main"](a, b, c);
    if (!compare(c, expected).fine()) {
      std::cerr << "attempt " << attempt << " is WRONG\n";
      return 1;
    }
    const double time =
        lib["main"].time_evaluator(cpu(0), {.number = 10, .repeat = 3})(a, b, c).mean;
    std::printf("=====Attempt %d, time-cost: %.3f ms====\n", attempt, time * 1e3);
    std::fflush(stdout);
    std::cout << sch.trace() << '\n' << std::flush;
    if (best && time >= best_time) continue;
    best = sch.trace();
    best_time = time;
  }

  if (steps.is_page()) return steps.print_page();
  s_tir::Schedule sch(mod);
  sch.apply_trace(*best);
  std::cout << "===== the best\n" << s_tir::print_script(sch.mod());
  return 0;
}

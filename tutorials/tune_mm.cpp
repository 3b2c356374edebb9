// Lesson 16. Tuning: the tuner searches for the schedule of a matrix product.
//
//   tune_mm [--trials=64] [--work-dir=FOLDER] [--report=PAGE.html] [--save=TUNED.cpp]
//
// The tuner runs twice, for a product of 128 x 128 x 128 on one core. First the space is written by
// hand: the only choice is the tile of loop j. Then the default rules generate the space. The tuner
// compiles, checks and times candidates; its log goes to standard error. At the end, the best
// schedule of each run is built and timed again, as a user would do it.
//
// --report draws the measurements, --page shows loops and machine code before and after, and --save
// writes the best schedule as a C++ program. --help has all options.
#include <iostream>

#include "tutorials/common/tuning.h"

using namespace tenon;

namespace {

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

void stochastic_schedule_mm(s_tir::Schedule& sch) {
  const s_tir::BlockRV C = sch.get_block("C", "main");
  const std::vector<s_tir::LoopRV> loops = sch.get_loops(C);
  const std::vector<s_tir::ExprRV> j_factors = sch.sample_perfect_tile(loops[1], {.n = 2});
  const std::vector<s_tir::LoopRV> j = sch.split(loops[1], j_factors);
  sch.reorder({loops[0], j[0], loops[2], j[1]});
  sch.decompose_reduction(C, loops[2]);
}

}  // namespace

int main(int argc, char** argv) {
  const TuningArguments arguments = parse_tuning_arguments(argc, argv);
  tune::TuneOptions options = arguments.options();
  options.mod = s_tir::parse_script(kProgram);

  std::cout << "===== a space by hand\n" << std::flush;
  tune::TuneOptions by_hand = options;
  by_hand.space = tune::schedule_fn(stochastic_schedule_mm);
  const int status = show_best(options.mod, tune::tune_tir(by_hand), arguments);

  std::cout << "===== the default space\n" << std::flush;
  return status | show_best(options.mod, tune::tune_tir(options), arguments);
}

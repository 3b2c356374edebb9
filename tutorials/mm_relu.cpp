// Lesson 15. Block programs: a matrix product followed by relu.
//
//   for i, j, k: block Y: Y[vi, vj] += A[vi, vk] * B[vk, vj]
//   for i, j:    block C: C[vi, vj] = max(Y[vi, vj], 0)
//
// A block program is a function: loops around blocks with named iterators, as in TVM's TensorIR.
// s_tir::Schedule transforms this function one step at a time. Here j is split, k moves outside the
// inner part of j, C moves into the loop that computes its elements of Y, and the initialization of
// the sum becomes a separate block. The program prints the script after each step, and then the
// trace of all steps, which can be replayed on another program.
//
// At the end, the functions before and after the steps run, are compared with plain C++ and timed.
// The option --emit=html makes a page of the steps with the machine code of each.
#include <tenon/tenon.h>

#include <iostream>

#include "tutorials/common/block_programs.h"

using namespace tenon;

namespace {

constexpr int kSize = 128;

const char* const kProgram = R"(
@tvm.script.ir_module
class Module:
    @T.prim_func
    def mm_relu(A: T.Buffer[(128, 128), "float32"],
            B: T.Buffer[(128, 128), "float32"],
            C: T.Buffer[(128, 128), "float32"]) -> None:
        T.func_attr({"global_symbol": "mm_relu", "tir.noalias": True})
        Y = T.alloc_buffer([128, 128], dtype="float32")
        for i, j, k in T.grid(128, 128, 128):
            with T.block("Y"):
                vi = T.axis.spatial(128, i)
                vj = T.axis.spatial(128, j)
                vk = T.axis.reduce(128, k)
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(128, 128):
            with T.block("C"):
                vi = T.axis.spatial(128, i)
                vj = T.axis.spatial(128, j)
                C[vi, vj] = T.max(Y[vi, vj], T.float32(0))
)";

}  // namespace

int main(int argc, char** argv) {
  BlockSteps steps(argc, argv, "mm_relu");
  const tir::IRModule mod = s_tir::parse_script(kProgram);
  steps.show("original", mod);

  s_tir::Schedule sch(mod);
  const s_tir::BlockRV Y = sch.get_block("Y", "mm_relu");
  const std::vector<s_tir::LoopRV> loops = sch.get_loops(Y);
  const std::vector<s_tir::LoopRV> parts = sch.split(loops[1], {std::nullopt, 4});
  steps.show("split j", sch.mod());

  sch.reorder({parts[0], loops[2], parts[1]});
  steps.show("reorder", sch.mod());

  sch.reverse_compute_at(sch.get_block("C", "mm_relu"), parts[0]);
  steps.show("reverse_compute_at", sch.mod());

  sch.decompose_reduction(Y, loops[2]);
  steps.show("decompose_reduction", sch.mod());
  if (steps.is_page()) return steps.print_page();
  std::cout << "===== trace\n" << sch.trace() << '\n';

  // Replay the trace on the original program.
  s_tir::Schedule again(mod);
  again.apply_trace(s_tir::parse_trace(sch.trace().text()));
  const bool is_same = s_tir::print_script(again.mod()) == s_tir::print_script(sch.mod());
  std::cerr << "the trace, replayed: " << (is_same ? "the same program" : "ANOTHER PROGRAM")
            << '\n';

  runtime::set_num_threads(1);
  const runtime::Module before = build(mod, Target("llvm"));
  const runtime::Module after = build(sch.mod(), Target("llvm"));
  const ReluProduct product(kSize);
  bool is_right = is_same;
  for (const auto& [name, lib] : {std::pair("plain", before), {"transformed", after}}) {
    const bool is_fine = product.is_right(lib["mm_relu"]);
    const auto c = runtime::NDArray::empty({kSize, kSize}, Float(32), cpu(0));
    const runtime::Timing time =
        lib["mm_relu"].time_evaluator(cpu(0), {.number = 10, .repeat = 5})(product.a, product.b, c);
    std::cerr << name << ": " << (is_fine ? "right" : "WRONG") << ", " << time.median << " sec\n";
    is_right = is_right && is_fine;
  }
  return is_right ? 0 : 1;
}

// create_prim_func: tensor expressions become a block program.
//
//   for i0, i1, i2: block Y: Y[i, j] += A[i, k] * B[k, j]
//   for i0, i1:     block C: C[i, j] = max(Y[i, j], 0)
//
// A block program can come from a script (as in mm_relu), from a builder in C++, or from tensor
// expressions. Each stage becomes a block whose iterators have the names of the axes of the stage.
// This program makes the same function with the builder and from tensor expressions. It prints both
// scripts, tests that they are structurally equal, and compares the result of the compiled function
// with plain C++.
#include <tenon/tenon.h>
#include <tenon/tir/compare.h>

#include <iostream>

#include "tutorials/common/block_programs.h"

using namespace tenon;

namespace {

constexpr int kSize = 128;

tir::PrimFunc from_tensor_expressions() {
  const te::Tensor A = te::placeholder({kSize, kSize}, "A");
  const te::Tensor B = te::placeholder({kSize, kSize}, "B");
  const te::IterVar k = te::reduce_axis({0, kSize}, "k");
  const te::Tensor Y = te::compute(
      {kSize, kSize}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, k) * B(k, j), {k}); },
      "Y");
  // The maximum of two values, not a reduction.
  const te::Tensor C = te::compute(
      {kSize, kSize}, {"i", "j"}, [&](Var i, Var j) { return te::max(Y(i, j), 0); }, "C");
  return te::create_prim_func({A, B, C}, {.name = "mm_relu"});
}

tir::PrimFunc from_builder() {
  s_tir::FuncBuilder f("mm_relu");
  auto A = f.param({kSize, kSize}, "A");
  auto B = f.param({kSize, kSize}, "B");
  auto C = f.param({kSize, kSize}, "C");
  auto Y = f.alloc({kSize, kSize}, "Y");
  f.grid({kSize, kSize, kSize}, {"i", "j", "k"}, [&](Var i, Var j, Var k) {
    f.block("Y", f.remap("SSR", {i, j, k}, {"vi", "vj", "vk"}), [&](Var vi, Var vj, Var vk) {
      f.init([&] { Y[{vi, vj}] = 0.0f; });
      Y[{vi, vj}] = Y[{vi, vj}] + A[{vi, vk}] * B[{vk, vj}];
    });
  });
  f.grid({kSize, kSize}, {"i", "j"}, [&](Var i, Var j) {
    f.block("C", f.remap("SS", {i, j}, {"vi", "vj"}), [&](Var vi, Var vj) {
      C[{vi, vj}] = max(Y[{vi, vj}], 0.0f);
    });
  });
  return f.get();
}

}  // namespace

int main(int argc, char** argv) {
  BlockSteps steps(argc, argv, "create_prim_func");
  const tir::PrimFunc expressions = from_tensor_expressions();
  const tir::PrimFunc built = from_builder();
  const tir::IRModule mod{{{"mm_relu", expressions}}};
  steps.show("from tensor expressions", mod);
  steps.show("by the builder", {{{"mm_relu", built}}});
  if (steps.is_page()) return steps.print_page();

  // The names differ, the structure does not.
  const bool is_same = tir::structural_equal(expressions, built);
  std::cerr << "both functions: " << (is_same ? "structurally equal" : "DIFFERENT") << '\n';

  const bool is_right = ReluProduct(kSize).is_right(build(mod, Target("llvm"))["mm_relu"]);
  std::cerr << "mm_relu: " << (is_right ? "right" : "WRONG") << '\n';
  return is_same && is_right ? 0 : 1;
}

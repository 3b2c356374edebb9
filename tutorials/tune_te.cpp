// Tunes tensor expressions that have no schedule.
//
//   tune_te [--size=1024] [--trials=200] [--threads=1] [--target=opencl]
//
// create_prim_func turns max(A B + bias, 0) into a block program. The default rules generate the
// search space from it, and the tuner searches this space.
#include <iostream>

#include "tutorials/common/tuning.h"

using namespace tenon;

int main(int argc, char** argv) {
  const TuningArguments arguments = parse_tuning_arguments(argc, argv, {.size = 256});
  const int n = arguments.size;
  const te::Tensor A = te::placeholder({n, n}, "A"), B = te::placeholder({n, n}, "B");
  const te::Tensor bias = te::placeholder({n}, "bias");
  const te::IterVar k = te::reduce_axis({0, n}, "k");
  const te::Tensor C = te::compute(
      {n, n}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, k) * B(k, j), {k}); }, "C");
  const te::Tensor D = te::compute(
      {n, n}, {"i", "j"}, [&](Var i, Var j) { return te::max(C(i, j) + bias(j), 0.0f); }, "D");

  tune::TuneOptions options = arguments.options();
  options.mod = {{{"main", te::create_prim_func({A, B, bias, D})}}};
  return show_best(options.mod, tune::tune_tir(options), arguments);
}

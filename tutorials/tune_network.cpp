// Tunes a network of three layers as a whole.
//
//   tune_network [--size=256] [--trials=192] [--work-dir=FOLDER] [--page=PAGE.html]
//
// The first two layers are equal, so they are one task with weight 2. The tuner gives the next
// trials to the task that promises the largest gain for the network. At the end the tuned layers
// run in order, and their result is compared with that of the untuned network.
#include <tenon/tooling/check.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>

#include "tenon/tir/expr.h"
#include "tutorials/common/tuning.h"

using namespace tenon;

namespace {

/// max(X W^T + bias, 0)
te::Tensor layer(const te::Tensor& x, const te::Tensor& weight, const te::Tensor& bias) {
  return topi::relu(topi::dense(x, weight, bias));
}

/// Runs the pieces in order. `arrays` has the array of each buffer; the function adds arrays for
/// the results of pieces that other pieces read.
void run(const tune::Division& parts, const std::vector<runtime::Module>& libs,
         std::map<const tir::BufferNode*, runtime::NDArray>& arrays) {
  for (const tune::TaskStep& step : parts.steps) {
    std::vector<runtime::Argument> call;
    for (const tir::Buffer& buffer : step.arguments) {
      runtime::NDArray::Shape shape;
      for (const Expr& extent : buffer->shape) shape.push_back(*tir::constant_int(extent));
      const auto entry =
          arrays.try_emplace(buffer.get(), runtime::NDArray::zeros(shape, buffer->dtype));
      call.emplace_back(entry.first->second);
    }
    libs[step.task]["main"].call(call);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const TuningArguments arguments = parse_tuning_arguments(argc, argv, {.size = 256, .trials = 96});
  const int n = arguments.size, classes = 16;
  const te::Tensor X = te::placeholder({n, n}, "X");
  const te::Tensor W0 = te::placeholder({n, n}, "W0"), b0 = te::placeholder({n}, "b0");
  const te::Tensor W1 = te::placeholder({n, n}, "W1"), b1 = te::placeholder({n}, "b1");
  const te::Tensor W2 = te::placeholder({classes, n}, "W2"), b2 = te::placeholder({classes}, "b2");
  const te::Tensor Y = layer(layer(layer(X, W0, b0), W1, b1), W2, b2);
  const tir::IRModule whole = {{{"main", te::create_prim_func({X, W0, b0, W1, b1, W2, b2, Y})}}};

  const tune::Division parts = tune::divided(whole);
  tune::TuneOptions options = arguments.options();
  // Short rounds, so that each task has several.
  const int rounds = 4 * static_cast<int>(parts.tasks.size());
  options.num_trials_per_iter = std::clamp(options.max_trials_global / rounds, 1, 16);
  const tune::Database database = tune::tune_tasks(parts.tasks, options);

  std::vector<runtime::Module> libs;
  std::vector<TunedProgram> programs;
  double before = 0, after = 0;
  for (const tune::Task& task : parts.tasks) {
    const auto sch = tune::apply_best(task.mod, database, options.target);
    if (!sch) {
      std::cerr << "no candidate of task `" << task.name << "` could be measured\n";
      return 1;
    }
    libs.push_back(build(sch->mod(), options.target));
    programs.push_back({.name = task.name, .before = task.mod, .best = sch->mod()});
    const std::vector<runtime::NDArray> arrays = random_arrays(task.mod);
    const std::vector<runtime::Argument> call(arrays.begin(), arrays.end());
    const auto time = [&](const runtime::Module& lib) {
      return task.weight *
             lib["main"].time_evaluator(cpu(0), {.min_repeat_ms = 50}).evaluate(call).median;
    };
    before += time(build(task.mod, options.target));
    after += time(libs.back());
    std::cout << "task `" << task.name << "`, weight " << task.weight << "\n";
  }

  write_page(programs, arguments);

  // Compare the pieces with the whole network before tuning.
  const std::vector<runtime::NDArray> own = random_arrays(whole);
  build(whole, options.target)["main"].call(std::vector<runtime::Argument>(own.begin(), own.end()));
  std::map<const tir::BufferNode*, runtime::NDArray> arrays;
  const tir::PrimFunc& func = whole.functions.at("main");
  for (std::size_t p = 0; p + 1 < own.size(); ++p)
    arrays.emplace(func.buffers[p].buffer.get(), own[p]);
  run(parts, libs, arrays);
  if (!compare(arrays.at(func.buffers.back().buffer.get()), own.back()).fine()) {
    std::cout << "the tuned network computes something else\n";
    return 1;
  }
  std::printf("the network: %.3f ms unscheduled, %.3f ms tuned, and the same numbers\n",
              before * 1e3, after * 1e3);
  return 0;
}

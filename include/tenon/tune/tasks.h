// A program of many operations, taken apart into tasks that are tuned by themselves.
//
//   tir::IRModule network = {{{"main", te::create_prim_func({X, W1, W2, Y})}}};
//   tune::Division parts = tune::divided(network);
//   tune::Database database = tune::tune_tasks(parts.tasks, options);
//   parts.steps      // call function `main` of tasks[step.task] with these buffers, one step after the other
#pragma once

#include "tenon/tune/tune.h"

namespace tenon::tune {

/// A call of a task's function.
struct TaskStep {
  std::size_t task;
  /// In the order of the function's parameters; those of the whole program have its parameters'
  /// names, the others are results between the steps.
  std::vector<tir::Buffer> arguments;
};

struct Division {
  /// No two are equal; a weight is how many steps are of the task.
  std::vector<Task> tasks;
  /// In the order in which they run.
  std::vector<TaskStep> steps;
};

/// Each reduction with the elementwise operations behind it that alone read its result, and with
/// those before it that nothing else reads. Names of blocks lose the numbers that told layers apart
/// ("T_dense_1"), so that equal layers are one task. TypeError: a module that is no block program
/// of one function.
Division divided(const tir::IRModule& whole);

}  // namespace tenon::tune

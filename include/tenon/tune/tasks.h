// Division of a program with many operations into tasks that are tuned separately.
//
//   tir::IRModule network = {{{"main", te::create_prim_func({X, W1, W2, Y})}}};
//   tune::Division parts = tune::divided(network);
//   tune::Database database = tune::tune_tasks(parts.tasks, options);
//   parts.steps      // to run: call `main` of tasks[step.task] with step.arguments, step by step
#pragma once

#include "tenon/tune/tune.h"

namespace tenon::tune {

/// A call of a task's function.
struct TaskStep {
  std::size_t task;
  /// The arguments in the order of the function's parameters. Parameters of the whole program keep
  /// their names; the others are intermediate results.
  std::vector<tir::Buffer> arguments;
};

struct Division {
  /// Distinct tasks. A task's weight is the number of its steps.
  std::vector<Task> tasks;
  /// The steps in execution order.
  std::vector<TaskStep> steps;
};

/// Divides the program. A task consists of a reduction, the elementwise operations after it if they
/// are its only readers, and the elementwise operations before it that have no other reader.
/// Numbers that distinguish layers are removed from block names ("T_dense_1"), so that equal layers
/// form one task. TypeError unless the module is a block program of one function.
Division divided(const tir::IRModule& whole);

}  // namespace tenon::tune

// Parallel loops inside a persistent parallel region: each task of the region executes its share.
#pragma once

#include <optional>

#include "tenon/tir/stmt.h"

namespace tenon::codegen {

/// The variables of a task in a parallel region, of type int32: its number, and the number of
/// tasks.
struct Task {
  tir::Var id{"task", Int(32)}, count{"num_tasks", Int(32)};
  /// Whether task t executes the iterations t, t + num_tasks, t + 2 * num_tasks, ... Otherwise each
  /// task executes a contiguous range.
  bool is_strided = false;
};

/// Returns a serial loop over the iterations of `loop` that one task executes. If the task is not
/// strided, the loop runs over a contiguous range:
///
///   for i in parallel(min, extent):   =>   for i in from .. min(from + share, end):
///
/// If it is strided, the loop is: for k in 0 .. n: i = min + task + k * num_tasks. The result
/// contains the same node `loop.body`.
tir::Stmt share_of_task(const tir::For& loop, const Task& task);

/// Returns the task for the body of a pragma: `task`, made strided if the pragma requests it.
/// LowerError for a pragma on parallel regions if `task` is nullopt, that is, outside all regions.
std::optional<Task> task_inside(const tir::Attr& pragma, std::optional<Task> task);

}  // namespace tenon::codegen

// Parallel loops inside a persistent parallel region: each task of the region executes its share.
#pragma once

#include <optional>

#include "tenon/tir/stmt.h"

namespace tenon::codegen {

/// The int32 variables of a task of a region: its number, and the number of tasks.
struct Task {
  tir::Var id{"task", Int(32)}, count{"num_tasks", Int(32)};
  /// Whether tasks take iterations cyclically rather than a range each.
  bool is_strided = false;
};

/// Returns the iterations of `loop` that one task executes, as a serial loop:
///
///   for i in parallel(min, extent):   =>   for i in from .. min(from + share, end):
///
/// or, if strided, for k in 0 .. n: i = min + task + k * num_tasks. `loop.body` remains the same
/// node.
tir::Stmt share_of_task(const tir::For& loop, const Task& task);

/// Returns the task in the body of a pragma, which may make it strided. Throws LowerError for a
/// pragma on parallel regions outside any region.
std::optional<Task> task_inside(const tir::Attr& pragma, std::optional<Task> task);

}  // namespace tenon::codegen

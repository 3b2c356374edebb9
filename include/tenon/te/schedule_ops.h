// schedule_ops generates the loop program of a frozen schedule, on multi-dimensional buffers.
//
//   te::StageGraph graph = te::freeze(s);
//   tir::PrimFunc func = te::schedule_ops(graph, te::infer_bound(graph), {A, B, C});
//
// Every stage becomes a loop nest inside the loop that it is attached to, before that loop's own
// computation. Each tensor has one buffer named after it: the argument's, or one defined by a
// Realize. Expressions are constant-folded but not simplified.
#pragma once

#include "tenon/te/infer_bound.h"
#include "tenon/tir/function.h"

namespace tenon::te {

/// A parameter of the function: an array for a tensor, an array with a user-declared buffer, or a
/// scalar.
using FunctionArgument = std::variant<Tensor, tir::Buffer, Var>;

/// Options of the generated function.
struct FunctionOptions {
  Name name = "main";
  /// Buffers to use for tensors. A tensor that is not listed gets a compact buffer.
  std::vector<std::pair<Tensor, tir::Buffer>> binds = {};
  /// Debug mode for intrinsics. In addition to each intrinsic call, the function runs the loops
  /// that the call replaces. It throws RuntimeError at the first element that differs. Slow.
  bool check_intrinsics = false;
};

/// Generates the function. ScheduleError for a placeholder that is read but is not an argument, and
/// for a duplicate argument.
tir::PrimFunc schedule_ops(const StageGraph& graph, const Bounds& bounds,
                           const std::vector<FunctionArgument>& arguments,
                           const FunctionOptions& options = {},
                           SourceLocation where = SourceLocation::current());

/// Generates only the statements. They do not define the buffers of placeholders.
Stmt schedule_ops(const StageGraph& graph, const Bounds& bounds);
/// Generates only the statements. ScheduleError unless `bounds` are the bounds of this schedule in
/// its current state.
Stmt schedule_ops(const Schedule& schedule, const Bounds& bounds,
                  SourceLocation where = SourceLocation::current());

// Variant of schedule_ops for printing TVM 0.9 text. A stage that is read only under a condition
// that is constant during the call is computed unconditionally.
//
//   B[i] = if_then_else(flag, X[i], A[i])   // compiled code computes X only `if flag`

tir::PrimFunc schedule_ops_as_text(const StageGraph& graph, const Bounds& bounds,
                                   const std::vector<FunctionArgument>& arguments,
                                   const FunctionOptions& options, SourceLocation where);

// The loop program with the buffer of each tensor, for tools that inspect it.

/// The buffers of all tensors that have their own memory, including arguments; producers first.
using TensorBuffers = std::vector<std::pair<OutputOf<StageId>, tir::Buffer>>;

/// Makes the function before transform_layout takes effect: each buffer has the dimensions of its
/// tensor. Throws the errors of schedule_ops.
std::pair<tir::PrimFunc, TensorBuffers> make_loop_program(
    const StageGraph& graph, const Bounds& bounds, const std::vector<FunctionArgument>& arguments,
    SourceLocation where);

}  // namespace tenon::te

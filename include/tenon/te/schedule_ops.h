// schedule_ops: the loop program of a frozen schedule, on multi-dimensional buffers.
//
//   te::StageGraph graph = te::freeze(s);
//   tir::PrimFunc func = te::schedule_ops(graph, te::infer_bound(graph), {A, B, C});
//
// Every stage becomes a loop nest, placed inside the loop that it is attached to, in front of what
// that loop computes. Each tensor has one buffer: the argument's, or one that a Realize makes,
// named after the tensor. Nothing is simplified beyond what building an expression folds.
#pragma once

#include "tenon/te/infer_bound.h"
#include "tenon/tir/function.h"

namespace tenon::te {

/// A parameter of the function: an array for a tensor, an array as the user declared it, or a
/// scalar.
using FunctionArgument = std::variant<Tensor, tir::Buffer, Var>;

/// What the function is called, and what stands for its tensors.
struct FunctionOptions {
  Name name = "main";
  /// Buffers for tensors, in place of compact ones.
  std::vector<std::pair<Tensor, tir::Buffer>> binds = {};
  /// Each call of a tensor intrinsic runs beside loops that compute what it declares; the first
  /// element that differs is a RuntimeError. For finding mistakes in intrinsics: slow.
  bool check_intrinsics = false;
};

/// Throws ScheduleError for a placeholder that is read but is no argument, and for an argument
/// given twice.
tir::PrimFunc schedule_ops(const StageGraph& graph, const Bounds& bounds,
                           const std::vector<FunctionArgument>& arguments,
                           const FunctionOptions& options = {},
                           SourceLocation where = SourceLocation::current());

/// The statements alone; tensors from outside have buffers that nothing declares.
Stmt schedule_ops(const StageGraph& graph, const Bounds& bounds);
/// `bounds` are infer_bound of this schedule; ScheduleError for those of another, or of this one
/// before it was changed.
Stmt schedule_ops(const Schedule& schedule, const Bounds& bounds,
                  SourceLocation where = SourceLocation::current());

}  // namespace tenon::te

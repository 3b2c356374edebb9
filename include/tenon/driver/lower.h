// lower translates a schedule to a loop program. Each of its steps can also be called separately.
//
//   std::cout << lower(s, {A, B, C}, {.simple_mode = true});
//
//   te::StageGraph graph = te::freeze(s);
//   te::Bounds bounds = te::infer_bound(graph);
//   tir::PrimFunc loops = te::schedule_ops(graph, bounds, ...);        // multi-dimensional
//   tir::PrimFunc lowered = lowering::run_pipeline(loops, ...);
#pragma once

#include "tenon/lower/pipeline.h"
#include "tenon/te/schedule_ops.h"

#pragma GCC visibility push(default)

namespace tenon {

/// A parameter of the function: a tensor, a user-declared buffer or a scalar.
using LowerArgument = te::FunctionArgument;

/// Callback for a finished step and its duration.
using StepListener = std::function<void(std::string_view step, double seconds)>;

/// The regions of stages that are computed and stored.
enum class Bounds : std::uint8_t {
  /// The bounds of infer_bound, as in TVM 0.9 text.
  Default,
  /// The bounds of infer_exact_bound (te/exact_bound.h). Never larger than Default, and smaller
  /// where loops overshoot their axis, where padding exceeds a tensor, and where an element of an
  /// index tensor selects a row. `te::bounds_report` shows the difference.
  Exact,
};

/// Options of lower. All are optional.
struct LowerOptions {
  /// Disables loop partitioning, and nothing else. TVM 0.9 text is printed in this mode.
  bool simple_mode = false;
  Name name = "main";
  /// User-declared buffers for tensors.
  std::vector<std::pair<te::Tensor, tir::Buffer>> binds = {};
  /// Checks unproved accesses at run time: those that `explain` lists as not proved. A failed check
  /// is a RuntimeError with tensor, index, extent and the line of the operation.
  bool instrument_bounds = false;
  Bounds bounds = Bounds::Default;
  /// Runs the loops that each tensor intrinsic replaces next to it and compares the results. The
  /// first element that differs is a RuntimeError. Floats may differ as reordered sums do.
  bool check_intrinsics = false;
  /// All other options of the passes.
  lowering::PassOptions passes = {};
  /// Called after each step before the passes: "freeze", "infer-bound", "schedule-ops".
  StepListener on_step = {};
};

/// Lowers a schedule. ScheduleError, BoundError or LowerError with the stage, the axis and the
/// user's line. Warnings (te/warnings.h) are printed to stderr, once per schedule.
tir::IRModule lower(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                    const LowerOptions& options = {},
                    SourceLocation where = SourceLocation::current());

/// Options of lower for a function; see LowerOptions.
struct LowerFunctionOptions {
  bool simple_mode = false;
  /// Name of the result. Nullopt: the function's own.
  std::optional<std::string> name = std::nullopt;
  bool instrument_bounds = false;
  lowering::PassOptions passes = {};
};

/// Lowers a loop program on multi-dimensional buffers, made by create_prim_func, schedule_ops or
/// lower_to_loops, or by hand with tir::decl_buffer and tir::IRBuilder. LowerError for a malformed
/// function, and for one that is already lowered.
tir::IRModule lower(const tir::PrimFunc& func, const LowerFunctionOptions& options = {},
                    SourceLocation where = SourceLocation::current());

/// Returns the loop program before all passes: one For per loop, multi-dimensional buffers.
tir::PrimFunc lower_to_loops(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                             const LowerOptions& options = {},
                             SourceLocation where = SourceLocation::current());

}  // namespace tenon

#pragma GCC visibility pop

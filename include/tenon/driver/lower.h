// lower: from a schedule to the loop program, in the steps of the compiler's picture, each callable
// by itself.
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

/// A parameter of the function: a tensor, a buffer of the user's, or a scalar.
using LowerArgument = te::FunctionArgument;

/// Told of a step that has been made, and how long it took.
using StepListener = std::function<void(std::string_view step, double seconds)>;

/// How much of every stage is computed and kept.
enum class Bounds : std::uint8_t {
  /// As infer_bound says: the regions that known texts show.
  Default,
  /// As infer_exact_bound says (te/exact_bound.h): never more than Default, and less where loops
  /// go beyond the end of what they compute, where padding goes beyond a tensor, and where the
  /// element of an index tensor picks a row. `te::bounds_report` shows the difference.
  Exact,
};

/// How a schedule is lowered; nothing of it need be given.
struct LowerOptions {
  /// Leaves out loop partition (and nothing else), as the known texts do.
  bool simple_mode = false;
  Name name = "main";
  /// Buffers of the user's for tensors.
  std::vector<std::pair<te::Tensor, tir::Buffer>> binds = {};
  /// Checks at run time every access that is not proved to lie inside of its tensor: the call
  /// throws a RuntimeError with tensor, index, extent and the line of the operation. What `explain`
  /// lists as not proved is checked.
  bool instrument_bounds = false;
  Bounds bounds = Bounds::Default;
  /// Runs every tensor intrinsic beside the loops that it declares itself to be, and compares: the
  /// call throws a RuntimeError with the first element that differs. Floats may differ as reordered
  /// sums do.
  bool check_intrinsics = false;
  /// Every other switch of the passes.
  lowering::PassOptions passes = {};
  /// Called after each step before the passes: "freeze", "infer-bound", "schedule-ops".
  StepListener on_step = {};
};

/// Throws ScheduleError, BoundError or LowerError with the stage, the axis and the user's line.
/// What the schedule is accepted with and yet deserves a word about (te/warnings.h) goes to the
/// standard error, once for a schedule.
tir::IRModule lower(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                    const LowerOptions& options = {},
                    SourceLocation where = SourceLocation::current());

/// As LowerOptions, for a function that a user brings.
struct LowerFunctionOptions {
  bool simple_mode = false;
  /// Not given: the function's own.
  std::optional<std::string> name = std::nullopt;
  bool instrument_bounds = false;
  lowering::PassOptions passes = {};
};

/// A loop program on multi-dimensional buffers: of create_prim_func, schedule_ops or
/// lower_to_loops, or made by hand of tir::decl_buffer and tir::IRBuilder. Throws LowerError for a
/// function that is malformed, with what is wrong, and for one that lower has made already.
tir::IRModule lower(const tir::PrimFunc& func, const LowerFunctionOptions& options = {},
                    SourceLocation where = SourceLocation::current());

/// The loop program before any pass: one For per loop, multi-dimensional buffers.
tir::PrimFunc lower_to_loops(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                             const LowerOptions& options = {},
                             SourceLocation where = SourceLocation::current());

}  // namespace tenon

#pragma GCC visibility pop

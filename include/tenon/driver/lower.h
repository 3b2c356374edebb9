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

namespace tenon {

/// A parameter of the function: a tensor, a buffer of the user's, or a scalar.
using LowerArgument = te::FunctionArgument;

/// Called with each finished step and its duration.
using StepListener = std::function<void(std::string_view step, double seconds)>;

/// How much of every stage is computed and kept.
enum class Bounds : std::uint8_t {
  /// The regions of infer_bound, as in TVM 0.9 text.
  Default,
  /// The regions of infer_exact_bound (te/exact_bound.h): never more than Default, and less where
  /// loops overrun what they compute, where padding exceeds a tensor, and where an element of an
  /// index tensor selects a row. `bounds_report` shows the difference.
  Exact,
};

/// Options of lower, build and compile. Every field has a default.
struct BuildOptions {
  /// Prints TVM 0.9 text: omits loop partition and the passes that TVM does not have. Only lower
  /// uses it; code is never generated from that text.
  bool simple_mode = false;
  /// The name of the function made from a schedule. A function given to `lower` keeps its own name
  /// unless this is given; those of a module always do.
  Name name = Name::by_default("main");
  /// Buffers that the caller declared for tensors.
  std::vector<std::pair<te::Tensor, tir::Buffer>> binds = {};
  /// Shared libraries in which extern functions are looked up.
  std::vector<std::string> link = {};
  /// Permits reassociation of floating sums and reciprocals instead of divisions.
  bool fast_math = false;
  /// Checks, at run time, every access that is not proved in bounds: the call throws a RuntimeError
  /// with tensor, index, extent and the line of the operation. `explain` lists these accesses.
  bool instrument_bounds = false;
  Bounds bounds = Bounds::Default;
  /// Runs every tensor intrinsic and the loops that it declares, and compares: the call throws a
  /// RuntimeError with the first element that differs. Floats may differ as reordered sums do.
  bool check_intrinsics = false;
  bool allow_parallel_reduction_race = false;
  /// The alignment in bytes that the memory of every array argument must have, a power of two. 0:
  /// that of its elements. A bound buffer with a `data_alignment` requires that one.
  int argument_alignment = 0;
  /// Whether the compiler rearranges serial loops for a CPU: interchanges, jams and vectorizes
  /// them. true: in all stages. false: in none, so that the code runs the loops of the schedule.
  /// Not given: in stages without any schedule, and in those marked by Stage::autotune_loops.
  /// Functions that no te::Schedule made count as unscheduled. Registers, vector widths and
  /// instructions are the compiler's choice in either case.
  std::optional<bool> autotune_loops = std::nullopt;
  /// LLVM's optimization level, 0 to 3.
  int opt_level = 3;
  /// Adds comments to C, OpenCL C and CUDA C that name the stage of each loop nest and its
  /// declaration: "// C, matmul.cpp:14".
  bool stage_comments = false;
  /// Times each stage's loops (driver/profile.h). For CPUs, by LLVM.
  bool profile = false;
  /// All other switches of the passes.
  lowering::PassOptions passes = {};
  /// Called after each step that is not a pass: "freeze", "infer-bound", "schedule-ops",
  /// "emit-llvm", "optimize-llvm", "generate-code", "load"; for C "emit-c", "load".
  StepListener on_step = {};
  /// Called with each warning about the schedule (te/warnings.h), once per schedule. Not given:
  /// warnings go to standard error.
  std::function<void(const std::string&)> on_warning = {};
};
using LowerOptions = BuildOptions;

/// The lowered loop program of a schedule. Throws ScheduleError, BoundError or LowerError with the
/// stage, the axis and the user's line.
tir::IRModule lower(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                    const LowerOptions& options = {},
                    SourceLocation where = SourceLocation::current());

/// Lowers a block program, or a loop program over multi-dimensional buffers as create_prim_func,
/// schedule_ops, lower_to_loops and tir::IRBuilder make them. Throws LowerError for a malformed
/// function and for one that is lowered already.
tir::IRModule lower(const tir::PrimFunc& func, const LowerOptions& options = {},
                    SourceLocation where = SourceLocation::current());

/// The loop program before any pass: one For per loop, multi-dimensional buffers.
tir::PrimFunc lower_to_loops(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                             const LowerOptions& options = {},
                             SourceLocation where = SourceLocation::current());

}  // namespace tenon

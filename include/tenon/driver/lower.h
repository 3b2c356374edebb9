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

namespace tenon {

/// A parameter of the function: a tensor, a user-declared buffer or a scalar.
using LowerArgument = te::FunctionArgument;

/// Callback for a finished step and its duration.
using StepListener = std::function<void(std::string_view step, double seconds)>;

/// The method of inferring the region that a stage computes and stores.
enum class Bounds : std::uint8_t {
  /// The bounds of infer_bound, as in TVM 0.9 text.
  Default,
  /// The bounds of infer_exact_bound (te/infer_bound.h). Never larger than Default, and smaller
  /// where loops overshoot their axis, where padding exceeds a tensor, and where an element of an
  /// index tensor selects a row. `te::bounds_report` shows the difference.
  Exact,
};

/// Options of lower, build and compile. All are optional.
struct BuildOptions {
  /// Prints TVM 0.9 text: omits loop partition and the passes that TVM does not have. Only lower
  /// uses it; code is never generated from that text.
  bool simple_mode = false;
  /// The name of a function made from a schedule. A function passed to `lower` keeps its own name
  /// unless this is set; functions of a module always do.
  Name name = Name::by_default("main");
  /// User-declared buffers for tensors.
  std::vector<std::pair<te::Tensor, tir::Buffer>> binds = {};
  /// Shared libraries that define extern functions.
  std::vector<std::string> link = {};
  /// Allows reassociation of float sums and reciprocals for divisions.
  bool fast_math = false;
  /// Checks unproved accesses at run time: those that `explain` lists as not proved. A failed check
  /// is a RuntimeError with tensor, index, extent and the line of the operation.
  bool instrument_bounds = false;
  Bounds bounds = Bounds::Default;
  /// Checks each tensor intrinsic at run time: also runs the loops that it replaces, and compares
  /// the results. RuntimeError for the first element that differs. Floats may differ as much as
  /// sums that are added in another order.
  bool check_intrinsics = false;
  bool allow_parallel_reduction_race = false;
  /// Required alignment in bytes of the memory of every array argument, a power of two. 0: the
  /// alignment of the elements. The `data_alignment` of a bound buffer takes precedence.
  int argument_alignment = 0;
  /// Whether the compiler may interchange, jam and vectorize serial loops of CPU functions. true:
  /// in all stages. false: in none, so that loops run exactly as scheduled. Nullopt: in unscheduled
  /// stages and those that request it (Stage::autotune_loops). Functions that do not come from a
  /// te::Schedule count as unscheduled. In every case the compiler chooses registers, vector widths
  /// and instructions.
  std::optional<bool> autotune_loops = std::nullopt;
  /// Whether stages that depend only on inputs declared by te::constant_input, such as packed
  /// weights, are moved to a separate function, `<name>_constants`. The arrays of these stages are
  /// the last parameters of both functions. The main function loses the parameters for constant
  /// inputs that only `<name>_constants` reads. Applies only to schedules. Stages inside loops, and
  /// stages of symbolic shape, are not moved.
  bool separate_constants = false;
  /// Optimization level, 0 to 3.
  int opt_level = 3;
  /// Tiered compilation: build returns unoptimized code after a few milliseconds, and a thread
  /// compiles the optimized code, which later calls run as soon as it is loaded. Floats may differ
  /// between the two in the last bits, because only optimized code fuses multiplications and
  /// additions. Module::get_source and save wait for the optimized code. Applies to code that LLVM
  /// compiles for CPUs, without `profile`; other builds and code from the cache have one tier.
  bool tiered = false;
  /// Whether C, OpenCL C and CUDA C text has comments that name the stage of the loops and its
  /// declaration: "// C, matmul.cpp:14".
  bool stage_comments = false;
  /// Measures the time of each stage's loops; see driver/profile.h. Only for CPUs, compiled by
  /// LLVM.
  bool profile = false;
  /// Whether build and compile look for the code in the user's cache (`$XDG_CACHE_HOME/tenon` or
  /// `~/.cache/tenon`, at most 256 MiB) and store it there. Caches only code that LLVM compiles for
  /// CPUs. With `link`, `profile`, `on_step`, `on_pass` or imported sources, nothing is cached.
  bool cache = true;
  /// All other options of the passes.
  lowering::PassOptions passes = {};
  /// Called after each step other than a pass: "freeze", "infer-bound", "schedule-ops",
  /// "emit-llvm", "optimize-llvm", "generate-code", "load"; for C "emit-c", "load".
  StepListener on_step = {};
  /// Receives each warning about the schedule (te/warnings.h), once per schedule. Empty: warnings
  /// are printed to stderr.
  std::function<void(const std::string&)> on_warning = {};
};
using LowerOptions = BuildOptions;

/// Lowers a schedule. ScheduleError, BoundError or LowerError with the stage, the axis and the
/// user's line.
tir::IRModule lower(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                    const LowerOptions& options = {},
                    SourceLocation where = SourceLocation::current());

/// Lowers a block program, or a loop program on multi-dimensional buffers, made by
/// create_prim_func, schedule_ops, lower_to_loops or tir::IRBuilder. LowerError for a malformed
/// function, and for one that is already lowered.
tir::IRModule lower(const tir::PrimFunc& func, const LowerOptions& options = {},
                    SourceLocation where = SourceLocation::current());

/// Returns the loop program before all passes: one For per loop, multi-dimensional buffers.
tir::PrimFunc lower_to_loops(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                             const LowerOptions& options = {},
                             SourceLocation where = SourceLocation::current());

}  // namespace tenon

// Profiling probes: calls around the loops of stages that report the stage being computed
// (runtime/profiler.h).
//
//   for i in 0..64:             tenon_profile_enter(C)
//     for j: B[j] = ...    ->   for i in 0..64:
//     for j: C[i, j] = ...        tenon_profile_enter(B)
//                                 for j: B[j] = ...
//                                 tenon_profile_leave(B)
//                                 for j: C[i, j] = ...
//                               tenon_profile_leave(C)
//
// A loop belongs to the stage that it stores last; earlier stores in it compute the inputs of that
// stage. Probes are placed outside the loops of a single stage, so that inner loops do not become
// slower.
#pragma once

#include <optional>
#include <vector>

#include "tenon/driver/build_watcher.h"
#include "tenon/driver/profile.h"
#include "tenon/runtime/profiler.h"
#include "tenon/tir/stored_stages.h"

namespace tenon::driver {

/// The function with probes and the stages that they report.
struct StageProbes {
  tir::PrimFunc func;
  std::vector<tir::NotedStage> stages;
  /// How the time of a stage is measured. A stage that is not timed separately is part of the time
  /// of stage `counted_in`; -1 is the function itself. `counted_in` is nullopt if no code of the
  /// stage remains.
  struct Place {
    bool is_timed = false;
    std::optional<int> counted_in = std::nullopt;
  };
  std::vector<Place> places;
};

/// Adds probes to a function that is ready for code generation. Stage n becomes region
/// `first_region + n`. A stage inside another stage's loops is timed only if each execution of its
/// loops is provably long compared with the probes: some thousand operations. Loops of unknown
/// extent count as short.
StageProbes probe_stages(const tir::PrimFunc& func, int first_region);

// The work of every stage in one call of a function: operations, bytes and stores, counted from its
// loops.
//
//   stage_work(func)[1]->operations          // 2 * 64 * 64 * 64 for C of a product of 64 x 64
//
// The count is exact for loops of constant extent whose guards concern at most 65,536 iterations,
// which are enumerated. Other guards are assumed to hold.

/// The work of one stage in one call.
struct StageWork {
  /// Arithmetic operations on values, per lane: sums, products, comparisons and similar; a math
  /// function counts as one, a fused multiply-add as two. Index arithmetic and conversions do not
  /// count.
  double operations = 0;
  double bytes_read = 0, bytes_written = 0;
  /// Elements stored to the stage's first buffer.
  double stores = 0;
};

/// Returns the work of every stage in tir::StoredStages of the function. An entry is nullopt if the
/// work depends on sizes known only at run time, or if C functions or intrinsics perform it.
/// Precondition: the function is flat or lowered.
std::vector<std::optional<StageWork>> stage_work(const tir::PrimFunc& func);

}  // namespace tenon::driver

namespace tenon {

// A build with profiling: it adds probes to functions between lowering and code generation, and
// records the steps of the compiler.
//
//   ProfiledBuild profiled;
//   const BuildOptions watched = profiled.watch(options);         // records the compiler's steps
//   ready = profiled.add(lowered, ready);                         // probes around stages' loops
//   profiled.set_up(compile_options);

/// A function with its profiler regions: consecutive regions for its stages from `first_region` on,
/// followed by a region for the function itself.
struct ProfiledFunction {
  std::string name;
  int first_region;
  std::vector<tir::NotedStage> stages;
  std::vector<driver::StageProbes::Place> places;
  std::vector<std::optional<driver::StageWork>> work;

  int own_region() const { return first_region + static_cast<int>(stages.size()); }
};

/// A profiler with the meaning of its regions.
struct StageProfiler : runtime::Profiler {
  StageProfiler(std::size_t regions, std::vector<ProfiledFunction> functions)
      : Profiler(regions), functions(std::move(functions)) {}

  const std::vector<ProfiledFunction> functions;
  std::vector<CompileStep> steps;
};

class ProfiledBuild : public BuildWatcher {
 public:
  /// Returns the options with listeners that record steps and passes. They refer to this object.
  BuildOptions watch(BuildOptions options);
  /// Returns `ready` with probes, to be compiled. The work of its stages is counted in `lowered`.
  tir::PrimFunc add(const tir::PrimFunc& lowered, const tir::PrimFunc& ready) override;
  void set_up(codegen::CompileOptions& options) override { options.profiling = profiling(); }
  /// Completes the record after the last step.
  void finish();

 private:
  codegen::Profiling profiling();
  void note(std::string_view step, double seconds);

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::vector<CompileStep> steps_;
  std::vector<ProfiledFunction> functions_;
  int regions_ = 0;
  std::shared_ptr<StageProfiler> profiler_;
};

}  // namespace tenon

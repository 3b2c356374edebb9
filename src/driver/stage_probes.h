// Adds profiling probes to a function. Probes are calls around the loops of stages that report
// which stage is being computed (runtime/profiler.h).
//
//    for i in 0..64:             tenon_profile_enter(C)
//      for j: B[j] = ...    ->   for i in 0..64:
//      for j: C[i, j] = ...        tenon_profile_enter(B)
//                                  for j: B[j] = ...
//                                  tenon_profile_leave(B)
//                                  for j: C[i, j] = ...
//                                tenon_profile_leave(C)
//
//  A loop belongs to the stage that it stores to last, because earlier stores compute inputs of that
//  stage. If a loop nest computes only one stage, the probes are placed outside of the nest, so that
//  its inner loops do not become slower.
#pragma once

#include <optional>
#include <vector>

#include "tenon/driver/build_watcher.h"
#include "tenon/driver/profile.h"
#include "tenon/runtime/profiler.h"
#include "tenon/tir/stored_stages.h"

namespace tenon {

/// A function and its profiler regions. The regions of its stages are numbered consecutively from
/// `first_region`. They are followed by a region for the function itself.
struct ProfiledFunction {
  std::string name;
  int first_region;
  std::vector<tir::StageLine> stages;
  /// For each stage, the stage whose time includes its time: the stage itself if it is timed
  /// separately, -1 for the function itself. Nullopt if all code of the stage was removed.
  std::vector<std::optional<int>> counted_in;
  /// See stage_work.
  std::vector<std::optional<StageProfile::Work>> work = {};

  int own_region() const { return first_region + static_cast<int>(stages.size()); }
};

/// Adds probes to a function that is ready for code generation. Returns the function with probes,
/// and its ProfiledFunction, whose `work` is empty. Stage n is reported as region `first_region +
/// n`. A stage inside the loops of another stage gets probes only if one execution of its loops
/// takes much longer than a pair of probes: by estimate, kMinWork expression nodes or more. A loop
/// of unknown extent is assumed to have kUnknownExtent iterations.
std::pair<tir::PrimFunc, ProfiledFunction> probe_stages(const tir::PrimFunc& func,
                                                        int first_region);

// Counts the work of every stage in one call of a function: operations, bytes and stores.
//
//    stage_work(func)[1]->operations          // 2 * 64 * 64 * 64 for C of a product of 64 x 64
//
//  The count is exact for loops of constant extent. The iterations of guarded loops are enumerated, up
//  to 65,536. Guards of longer loops are assumed to hold.

/// Returns the work of every stage that tir::StoredStages finds in the function. An entry is
/// nullopt if the work depends on sizes that are known only at run time, or if the stage calls C
/// functions or intrinsics. A fused multiply-add counts as two operations; conversions do not
/// count. Precondition: the function is flat or lowered.
std::vector<std::optional<StageProfile::Work>> stage_work(const tir::PrimFunc& func);

// A build with profiling. It adds probes to functions between lowering and code generation, and
// records the steps of the compiler.
//
//    ProfiledBuild build(options);
//    compile(..., build.options(), build.watcher());    // records the steps, adds the probes
//    build.finish();

/// A profiler, with the functions that its regions belong to and the steps of the compiler.
struct StageProfiler : runtime::Profiler {
  StageProfiler(std::size_t regions, std::vector<ProfiledFunction> functions)
      : Profiler(regions), functions(std::move(functions)) {}

  const std::vector<ProfiledFunction> functions;
  std::vector<CompileStep> steps;
};

class ProfiledBuild {
 public:
  /// Has no effect on the build unless `options.profile` is set.
  explicit ProfiledBuild(const BuildOptions& options);
  ProfiledBuild(const ProfiledBuild&) = delete;
  /// Returns the options, with listeners that record the steps and passes of the compiler.
  const BuildOptions& options() const { return options_; }
  /// Returns an observer that adds probes; null without profiling.
  const BuildWatcher* watcher() const { return options_.profile ? &watcher_ : nullptr; }
  /// Completes the record. Called after the last step of the compiler.
  void finish();

 private:
  /// Returns `ready` with probes. `ready` is the function that is compiled. The work of its stages
  /// is counted in `lowered`, an earlier form of it.
  tir::PrimFunc add(const tir::PrimFunc& lowered, const tir::PrimFunc& ready);
  /// Sets the profiler and the regions of the functions.
  void set_profiler(codegen::CompileOptions& options);
  void note(std::string_view step, double seconds);

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  // The listeners and the observer refer to this object.
  BuildOptions options_;
  const BuildWatcher watcher_ = {
      .add = std::bind_front(&ProfiledBuild::add, this),
      .set_profiler = std::bind_front(&ProfiledBuild::set_profiler, this)};
  std::vector<CompileStep> steps_;
  std::vector<ProfiledFunction> functions_;
  int regions_ = 0;
  std::shared_ptr<StageProfiler> profiler_;
};

}  // namespace tenon

// A build with profiling: it adds probes to functions between lowering and code generation, and
// records the steps of the compiler.
//
//   ProfiledBuild profiled;
//   const BuildOptions watched = profiled.watch(options);         // records the compiler's steps
//   ready = profiled.add(lowered, ready);                         // probes around stages' loops
//   profiled.set_up(compile_options);
#pragma once

#include "driver/stage_probes.h"
#include "tenon/driver/build_watcher.h"
#include "tenon/driver/profile.h"
#include "tenon/runtime/profiler.h"

namespace tenon {

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

// A build whose functions are timed: what happens to them between lowering and code, and what is
// noted meanwhile.
//
//   ProfiledBuild profiled;
//   const BuildOptions watched = profiled.watch(options);         // the compiler's steps are noted
//   ready = profiled.add(lowered, ready);                         // probes around stages' loops
//   profiled.set_up(compile_options);
#pragma once

#include "driver/stage_probes.h"
#include "driver/stage_work.h"
#include "tenon/driver/build_watcher.h"
#include "tenon/driver/profile.h"
#include "tenon/runtime/profiler.h"

namespace tenon {

/// A function's stages are regions from `first_region` on, the function itself follows them.
struct ProfiledFunction {
  std::string name;
  int first_region;
  std::vector<tir::NotedStage> stages;
  std::vector<lowering::StageProbes::Place> places;
  std::vector<std::optional<lowering::StageWork>> work;

  int own_region() const { return first_region + static_cast<int>(stages.size()); }
};

/// What the regions of a profiler mean.
struct StageProfiler : runtime::Profiler {
  StageProfiler(std::size_t regions, std::vector<ProfiledFunction> functions)
      : Profiler(regions), functions(std::move(functions)) {}

  const std::vector<ProfiledFunction> functions;
  std::vector<CompileStep> steps;
};

class ProfiledBuild : public BuildWatcher {
 public:
  /// The same, with steps and passes noted. Valid as long as this lives.
  BuildOptions watch(BuildOptions options);
  /// The function as it is to be compiled: `ready` with probes. `lowered` is what the loops' work
  /// is counted in.
  tir::PrimFunc add(const tir::PrimFunc& lowered, const tir::PrimFunc& ready) override;
  void set_up(codegen::CompileOptions& options) override { options.profiling = profiling(); }
  /// When all steps have been made.
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

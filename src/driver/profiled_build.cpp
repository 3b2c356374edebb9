#include "driver/profiled_build.h"

namespace tenon {

void ProfiledBuild::note(std::string_view step, double seconds) {
  const std::chrono::duration<double> end = std::chrono::steady_clock::now() - start_;
  steps_.push_back({std::string(step), end.count() - seconds, seconds});
}

BuildOptions ProfiledBuild::watch(BuildOptions options) {
  options.on_step = [this, users = options.on_step](std::string_view step, double seconds) {
    note(step, seconds);
    if (users) users(step, seconds);
  };
  options.passes.on_pass =
      [this, users = options.passes.on_pass](const lowering::PassOptions::PassReport& report) {
        note(report.pass, report.seconds);
        if (users) users(report);
      };
  return options;
}

namespace {

/// Returns the work of `stages`, counted in the `lowered` loops. Stages are matched by buffer,
/// because they come from a later form of the function. Without stage notes, that form may have
/// more stages, namely buffers that passes have added.
std::vector<std::optional<driver::StageWork>> work_of(const std::vector<tir::NotedStage>& stages,
                                                      const tir::PrimFunc& lowered) {
  const tir::StoredStages known(lowered);
  const std::vector<std::optional<driver::StageWork>> work = driver::stage_work(lowered);
  std::vector<std::optional<driver::StageWork>> result(stages.size());
  for (std::size_t n = 0; n < stages.size(); ++n)
    if (const std::optional<int> same = known.stage_of(stages[n].buffer))
      result[n] = work[static_cast<std::size_t>(*same)];
  return result;
}

}  // namespace

tir::PrimFunc ProfiledBuild::add(const tir::PrimFunc& lowered, const tir::PrimFunc& ready) {
  driver::StageProbes probes = driver::probe_stages(ready, regions_);
  std::vector<std::optional<driver::StageWork>> work = work_of(probes.stages, lowered);
  functions_.push_back({.name = ready.attrs.global_symbol,
                        .first_region = regions_,
                        .stages = std::move(probes.stages),
                        .places = std::move(probes.places),
                        .work = std::move(work)});
  regions_ = functions_.back().own_region() + 1;
  return std::move(probes.func);
}

codegen::Profiling ProfiledBuild::profiling() {
  codegen::Profiling result;
  for (const ProfiledFunction& each : functions_)
    result.functions.emplace(each.name, each.own_region());
  profiler_ =
      std::make_shared<StageProfiler>(static_cast<std::size_t>(regions_), std::move(functions_));
  result.profiler = profiler_;
  return result;
}

void ProfiledBuild::finish() { profiler_->steps = std::move(steps_); }

}  // namespace tenon

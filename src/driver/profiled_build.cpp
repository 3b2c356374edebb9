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

tir::PrimFunc ProfiledBuild::add(const tir::PrimFunc& lowered, const tir::PrimFunc& ready) {
  lowering::StageProbes probes = lowering::probe_stages(ready, regions_);
  functions_.push_back({.name = ready.attrs.global_symbol,
                        .first_region = regions_,
                        .stages = std::move(probes.stages),
                        .places = std::move(probes.places),
                        .work = lowering::stage_work(lowered)});
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

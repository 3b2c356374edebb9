#include "tenon/driver/profile.h"

#include <algorithm>

#include "driver/profiled_build.h"
#include "tenon/runtime/module_impl.h"

namespace tenon {

namespace {

StageProfiler& profiler_of(const runtime::Module& module, const char* asked,
                           const SourceLocation& where) {
  auto* profiler = dynamic_cast<StageProfiler*>(module.impl()->profiler().get());
  if (!profiler)
    throw RuntimeError(std::string(asked) + ": the module was not built with `profile`; " +
                           "build(..., {.profile = true}) does that",
                       where);
  return *profiler;
}

/// The measurements of one region: the sum over all threads, and each thread's own.
struct Measured {
  runtime::Profiler::Region sum;
  std::vector<StageProfile::OnThread> threads;
};

class Reader {
 public:
  explicit Reader(const StageProfiler& profiler)
      : profiler_(profiler), tick_(profiler.seconds_per_tick()) {}

  Profile read() {
    for (const ProfiledFunction& function : profiler_.functions) add(function);
    double total = 0;
    for (const FunctionProfile& each : profile_.functions) total += each.other_seconds;
    for (const StageProfile& each : profile_.stages) total += each.seconds;
    for (StageProfile& each : profile_.stages) each.share = total > 0 ? each.seconds / total : 0;
    profile_.peak_workspace = profiler_.peak_workspace();
    profile_.compile_steps = profiler_.steps;
    add_events();
    return std::move(profile_);
  }

 private:
  double seconds(runtime::Ticks ticks) const { return static_cast<double>(ticks) * tick_; }

  Measured measured(int region) const {
    Measured result;
    for (std::size_t n = 0; n < profiler_.threads().size(); ++n) {
      const auto& one = profiler_.threads()[n]->regions[static_cast<std::size_t>(region)];
      result.sum.calls += one.calls;
      result.sum.parts += one.parts;
      result.sum.work += one.work;
      result.sum.elapsed += one.elapsed;
      result.sum.waiting += one.waiting;
      if (one.calls + one.parts > 0)
        result.threads.push_back({static_cast<int>(n), seconds(one.work), one.calls + one.parts});
    }
    return result;
  }

  void add(const ProfiledFunction& function) {
    const Measured own = measured(function.own_region());
    profile_.functions.push_back({.name = function.name,
                                  .calls = own.sum.calls,
                                  .elapsed = seconds(own.sum.elapsed),
                                  .other_seconds = seconds(own.sum.work)});
    names_.resize(static_cast<std::size_t>(function.own_region()) + 1);
    names_.back() = function.name;
    for (std::size_t n = 0; n < function.stages.size(); ++n) {
      const tir::NotedStage& stage = function.stages[n];
      names_[static_cast<std::size_t>(function.first_region) + n] = stage.name;
      StageProfile result;
      result.function = function.name;
      result.name = stage.name;
      result.line = stage.line;
      const driver::StageProbes::Place& place = function.places[n];
      if (!place.is_timed) {
        if (!place.counted_in) continue;  // No code of the stage remains.
        result.counted_in = *place.counted_in < 0
                                ? function.name
                                : function.stages[static_cast<std::size_t>(*place.counted_in)].name;
      } else {
        const Measured times = measured(function.first_region + static_cast<int>(n));
        result.calls = times.sum.calls;
        result.seconds = seconds(times.sum.work);
        result.elapsed = seconds(times.sum.elapsed);
        result.waiting = seconds(times.sum.waiting);
        result.threads = times.threads;
      }
      if (const auto& work = function.work[n]) {
        result.work = StageProfile::Work{.operations = work->operations,
                                         .bytes_read = work->bytes_read,
                                         .bytes_written = work->bytes_written};
        if (stage.stores && *stage.stores > 0)
          result.work->recomputation = work->stores / static_cast<double>(*stage.stores);
      }
      profile_.stages.push_back(std::move(result));
    }
  }

  void add_events() {
    std::optional<runtime::Ticks> first;
    for (const auto& thread : profiler_.threads())
      for (const auto& event : thread->events)
        if (!first || event.begin < *first) first = event.begin;
    for (std::size_t n = 0; n < profiler_.threads().size(); ++n) {
      profile_.events_left_out += profiler_.threads()[n]->dropped_events;
      for (const auto& event : profiler_.threads()[n]->events)
        profile_.events.push_back({.name = names_[static_cast<std::size_t>(event.region)],
                                   .thread = static_cast<int>(n),
                                   .is_part = event.is_part,
                                   .begin = seconds(event.begin - *first),
                                   .seconds = seconds(event.end - event.begin)});
    }
  }

  const StageProfiler& profiler_;
  const double tick_;
  /// The names of the regions.
  std::vector<std::string> names_;
  Profile profile_;
};

}  // namespace

Profile profile_of(const runtime::Module& module, SourceLocation where) {
  return Reader(profiler_of(module, "profile_of", where)).read();
}

void reset_profile(const runtime::Module& module, SourceLocation where) {
  profiler_of(module, "reset_profile", where).reset();
}

}  // namespace tenon

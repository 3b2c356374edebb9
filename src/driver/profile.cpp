#include "tenon/driver/profile.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "driver/stage_probes.h"
#include "tenon/driver/text.h"
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

double seconds_of(runtime::Ticks ticks, double tick) { return static_cast<double>(ticks) * tick; }

/// Returns the measurements of one region, without its names. `tick` is the length of a clock tick
/// in seconds.
StageProfile measured(const StageProfiler& profiler, int region, double tick) {
  runtime::Profiler::Region sum;
  StageProfile result;
  for (std::size_t n = 0; n < profiler.threads().size(); ++n) {
    const auto& one = profiler.threads()[n]->regions[static_cast<std::size_t>(region)];
    sum.calls += one.calls;
    sum.work += one.work;
    sum.elapsed += one.elapsed;
    sum.waiting += one.waiting;
    if (one.calls + one.parts > 0)
      result.threads.push_back(
          {static_cast<int>(n), seconds_of(one.work, tick), one.calls + one.parts});
  }
  result.calls = sum.calls;
  result.seconds = seconds_of(sum.work, tick);
  result.elapsed = seconds_of(sum.elapsed, tick);
  result.waiting = seconds_of(sum.waiting, tick);
  return result;
}

void add(const ProfiledFunction& function, const StageProfiler& profiler, double tick,
         Profile& profile) {
  const StageProfile own = measured(profiler, function.own_region(), tick);
  profile.functions.push_back({function.name, own.calls, own.elapsed, own.seconds});
  for (std::size_t n = 0; n < function.stages.size(); ++n) {
    const std::optional<int> counted_in = function.counted_in[n];
    if (!counted_in) continue;  // all code of the stage was removed
    const bool is_timed = *counted_in == static_cast<int>(n);
    StageProfile result;
    if (is_timed) result = measured(profiler, function.first_region + static_cast<int>(n), tick);
    result.function = function.name;
    result.name = function.stages[n].name;
    result.line = function.stages[n].line;
    if (!is_timed)
      result.counted_in = *counted_in < 0
                              ? function.name
                              : function.stages[static_cast<std::size_t>(*counted_in)].name;
    result.work = function.work[n];
    profile.stages.push_back(std::move(result));
  }
}

void add_events(const StageProfiler& profiler, double tick, Profile& profile) {
  // The names of the regions, which are numbered in this order.
  std::vector<std::string> names;
  for (const ProfiledFunction& function : profiler.functions) {
    for (const tir::StageLine& stage : function.stages) names.push_back(stage.name);
    names.push_back(function.name);
  }
  std::optional<runtime::Ticks> first;
  for (const auto& thread : profiler.threads())
    for (const auto& event : thread->events)
      if (!first || event.begin < *first) first = event.begin;
  for (std::size_t n = 0; n < profiler.threads().size(); ++n) {
    profile.events_left_out += profiler.threads()[n]->dropped_events;
    for (const auto& event : profiler.threads()[n]->events)
      profile.events.push_back({.name = names[static_cast<std::size_t>(event.region)],
                                .thread = static_cast<int>(n),
                                .is_part = event.is_part,
                                .begin = seconds_of(event.begin - *first, tick),
                                .seconds = seconds_of(event.end - event.begin, tick)});
  }
}

/// Returns the time of all stages and functions.
double total_seconds(const Profile& profile) {
  double total = 0;
  for (const FunctionProfile& each : profile.functions) total += each.other_seconds;
  for (const StageProfile& each : profile.stages) total += each.seconds;
  return total;
}

}  // namespace

Profile profile_of(const runtime::Module& module, SourceLocation where) {
  const StageProfiler& profiler = profiler_of(module, "profile_of", where);
  const double tick = profiler.seconds_per_tick();
  Profile profile;
  for (const ProfiledFunction& function : profiler.functions)
    add(function, profiler, tick, profile);
  const double total = total_seconds(profile);
  for (StageProfile& each : profile.stages) each.share = total > 0 ? each.seconds / total : 0;
  profile.peak_workspace = profiler.peak_workspace();
  profile.compile_steps = profiler.steps;
  add_events(profiler, tick, profile);
  return profile;
}

void reset_profile(const runtime::Module& module, SourceLocation where) {
  profiler_of(module, "reset_profile", where).reset();
}

// Formats a profile as a table, as JSON and as a trace of events.

namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json optional(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// Serializes JSON. Names may be arbitrary bytes; invalid UTF-8 is replaced.
std::string text_of(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// Returns the time of each thread in milliseconds, as "0.84+0.79".
std::string threads_text(const StageProfile& stage) {
  std::string text;
  for (const StageProfile::OnThread& each : stage.threads)
    text += (text.empty() ? "" : "+") + formatted("%.3g", each.seconds * 1e3);
  return text;
}

double calls_of(const Profile& profile, const std::string& function) {
  for (const FunctionProfile& each : profile.functions)
    if (each.name == function) return static_cast<double>(each.calls);
  return 0;
}

/// Returns a rate in units of 10^9 per second: the quantity per call, divided by the elapsed time
/// of the stage per call.
std::string rate(const Profile& profile, const StageProfile& stage, double per_call) {
  if (stage.elapsed <= 0) return "-";
  return formatted("%.1f", per_call * calls_of(profile, stage.function) / stage.elapsed / 1e9);
}

std::vector<std::string> row_of(const Profile& profile, const StageProfile& stage) {
  std::vector<std::string> row{stage.name, stage.line};
  if (stage.counted_in) {
    row.insert(row.end(), {"-", "in " + *stage.counted_in, "-", "-", "-", "-", "-"});
  } else {
    row.insert(
        row.end(),
        {std::to_string(stage.calls), formatted("%.4g", stage.seconds * 1e3),
         formatted("%.1f %%", stage.share * 100), formatted("%.4g", stage.elapsed * 1e3),
         formatted("%.3g", stage.waiting * 1e3),
         stage.work ? rate(profile, stage, stage.work->operations) : "-",
         stage.work ? rate(profile, stage, stage.work->bytes_read + stage.work->bytes_written)
                    : "-"});
  }
  row.push_back(stage.work && stage.work->recomputation
                    ? formatted("%.2f", *stage.work->recomputation)
                    : "-");
  row.push_back(stage.threads.size() > 1 ? threads_text(stage) : "");
  return row;
}

Json json_of(const StageProfile& stage) {
  Json threads = Json::array();
  for (const StageProfile::OnThread& each : stage.threads)
    threads.push_back({{"thread", each.thread}, {"seconds", each.seconds}, {"runs", each.runs}});
  Json work = nullptr;
  if (stage.work)
    work = {{"operations", stage.work->operations},
            {"bytes_read", stage.work->bytes_read},
            {"bytes_written", stage.work->bytes_written},
            {"recomputation", optional(stage.work->recomputation)}};
  return {{"function", stage.function},
          {"name", stage.name},
          {"line", stage.line},
          {"counted_in", optional(stage.counted_in)},
          {"calls", stage.calls},
          {"seconds", stage.seconds},
          {"share", stage.share},
          {"elapsed", stage.elapsed},
          {"waiting", stage.waiting},
          {"threads", threads},
          {"work", work}};
}

/// Returns the event that names a process or thread.
Json name_event(const char* what, int process, int thread, const std::string& name) {
  return {
      {"name", what}, {"ph", "M"}, {"pid", process}, {"tid", thread}, {"args", {{"name", name}}}};
}

/// Returns the event of a time interval. The trace format uses microseconds.
Json interval(const std::string& name, const char* category, int process, int thread, double begin,
              double seconds) {
  return {{"name", name},  {"cat", category},   {"ph", "X"},           {"pid", process},
          {"tid", thread}, {"ts", begin * 1e6}, {"dur", seconds * 1e6}};
}

}  // namespace

std::string Profile::json() const {
  Json all = {{"functions", Json::array()},
              {"stages", Json::array()},
              {"peak_workspace", peak_workspace},
              {"compile_steps", Json::array()}};
  for (const FunctionProfile& each : functions)
    all["functions"].push_back({{"name", each.name},
                                {"calls", each.calls},
                                {"elapsed", each.elapsed},
                                {"other_seconds", each.other_seconds}});
  for (const StageProfile& each : stages) all["stages"].push_back(json_of(each));
  for (const CompileStep& each : compile_steps)
    all["compile_steps"].push_back(
        {{"name", each.name}, {"begin", each.begin}, {"seconds", each.seconds}});
  return text_of(all);
}

std::string Profile::chrome_trace() const {
  constexpr int kCompiler = 1, kProgram = 2;
  Json list = Json::array();
  list.push_back(name_event("process_name", kCompiler, 0, "compiler"));
  for (const CompileStep& step : compile_steps)
    list.push_back(interval(step.name, "compile", kCompiler, 0, step.begin, step.seconds));
  list.push_back(name_event("process_name", kProgram, 0, "program"));
  int threads = 0;
  for (const RunEvent& event : events) threads = std::max(threads, event.thread + 1);
  for (int thread = 0; thread < threads; ++thread)
    list.push_back(name_event("thread_name", kProgram, thread, "thread " + std::to_string(thread)));
  for (const RunEvent& event : events)
    list.push_back(interval(event.name, event.is_part ? "part" : "stage", kProgram, event.thread,
                            event.begin, event.seconds));
  return text_of({{"traceEvents", list}, {"displayTimeUnit", "ns"}});
}

std::ostream& operator<<(std::ostream& out, const Profile& profile) {
  std::vector<std::vector<std::string>> table = {{"stage", "where", "calls", "ms", "share",
                                                  "elapsed", "waiting", "Gop/s", "GB/s", "computed",
                                                  "ms on each thread"}};
  const double total = total_seconds(profile);
  for (const FunctionProfile& function : profile.functions) {
    for (const StageProfile& stage : profile.stages)
      if (stage.function == function.name) table.push_back(row_of(profile, stage));
    table.push_back({function.name, "beside stages", std::to_string(function.calls),
                     formatted("%.4g", function.other_seconds * 1e3),
                     formatted("%.1f %%", total > 0 ? function.other_seconds / total * 100 : 0),
                     formatted("%.4g", function.elapsed * 1e3), "-", "-", "-", "-", ""});
  }
  print_table(out, table, 2);
  out << "temporaries: " << profile.peak_workspace
      << " bytes at the peak, in addition to those on the stack\n";
  return out;
}

void ProfiledBuild::note(std::string_view step, double seconds) {
  const std::chrono::duration<double> end = std::chrono::steady_clock::now() - start_;
  steps_.push_back({std::string(step), end.count() - seconds, seconds});
}

ProfiledBuild::ProfiledBuild(const BuildOptions& options) : options_(options) {
  if (!options.profile) return;
  options_.on_step = [this, users = options.on_step](std::string_view step, double seconds) {
    note(step, seconds);
    if (users) users(step, seconds);
  };
  options_.passes.on_pass =
      [this, users = options.passes.on_pass](const lowering::PassOptions::PassReport& report) {
        note(report.pass, report.seconds);
        if (users) users(report);
      };
}

namespace {

/// Returns the work of each stage, counted in the loops of `lowered`. `stages` come from a later
/// form of the function, so they are matched by buffer. If the function has no notes about its
/// stages, buffers that passes have added count as stages in the later form.
std::vector<std::optional<StageProfile::Work>> work_of(const std::vector<tir::StageLine>& stages,
                                                       const tir::PrimFunc& lowered) {
  const tir::StoredStages known(lowered);
  const std::vector<std::optional<StageProfile::Work>> work = stage_work(lowered);
  std::vector<std::optional<StageProfile::Work>> result(stages.size());
  for (std::size_t n = 0; n < stages.size(); ++n)
    if (const std::optional<int> same = known.stage_of(stages[n].buffer))
      result[n] = work[static_cast<std::size_t>(*same)];
  return result;
}

}  // namespace

tir::PrimFunc ProfiledBuild::add(const tir::PrimFunc& lowered, const tir::PrimFunc& ready) {
  auto [func, function] = probe_stages(ready, regions_);
  function.work = work_of(function.stages, lowered);
  regions_ = function.own_region() + 1;
  functions_.push_back(std::move(function));
  return func;
}

void ProfiledBuild::set_profiler(codegen::CompileOptions& options) {
  for (const ProfiledFunction& each : functions_)
    options.profiled_functions.emplace(each.name, each.own_region());
  profiler_ =
      std::make_shared<StageProfiler>(static_cast<std::size_t>(regions_), std::move(functions_));
  options.profiler = profiler_;
}

void ProfiledBuild::finish() {
  if (profiler_) profiler_->steps = std::move(steps_);
}

}  // namespace tenon

#include "tenon/driver/profile.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <ostream>

#include "driver/stage_probes.h"
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

  /// Returns the measurements of one region: the sum over all threads, and the values of each
  /// thread.
  std::pair<runtime::Profiler::Region, std::vector<StageProfile::OnThread>> measured(
      int region) const {
    runtime::Profiler::Region sum;
    std::vector<StageProfile::OnThread> threads;
    for (std::size_t n = 0; n < profiler_.threads().size(); ++n) {
      const auto& one = profiler_.threads()[n]->regions[static_cast<std::size_t>(region)];
      sum.calls += one.calls;
      sum.parts += one.parts;
      sum.work += one.work;
      sum.elapsed += one.elapsed;
      sum.waiting += one.waiting;
      if (one.calls + one.parts > 0)
        threads.push_back({static_cast<int>(n), seconds(one.work), one.calls + one.parts});
    }
    return {sum, std::move(threads)};
  }

  void add(const ProfiledFunction& function) {
    const runtime::Profiler::Region own = measured(function.own_region()).first;
    profile_.functions.push_back({.name = function.name,
                                  .calls = own.calls,
                                  .elapsed = seconds(own.elapsed),
                                  .other_seconds = seconds(own.work)});
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
        if (!place.counted_in) continue;  // all code of the stage was removed
        result.counted_in = *place.counted_in < 0
                                ? function.name
                                : function.stages[static_cast<std::size_t>(*place.counted_in)].name;
      } else {
        const auto [sum, threads] = measured(function.first_region + static_cast<int>(n));
        result.calls = sum.calls;
        result.seconds = seconds(sum.work);
        result.elapsed = seconds(sum.elapsed);
        result.waiting = seconds(sum.waiting);
        result.threads = threads;
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
  /// The name of each region.
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

// Formats a profile as a table, as JSON and as a trace of events.

namespace {

using Json = nlohmann::ordered_json;

std::string number(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

/// Serializes JSON. Names may be arbitrary bytes; invalid UTF-8 is replaced.
std::string text_of(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// A text table. Each column is as wide as its widest entry. The first `texts` columns are
/// left-aligned, the others are right-aligned.
class Table {
 public:
  Table(std::size_t texts, std::vector<std::string> heads) : texts_(texts) {
    add(std::move(heads));
  }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  /// Adds a line of text without columns below the rows that were added before.
  void note(std::string text) { rows_.push_back({std::move(text)}); }

  void print(std::ostream& out) const {
    std::vector<std::size_t> widths(rows_.front().size());
    for (const auto& row : rows_)
      for (std::size_t n = 0; row.size() > 1 && n < row.size(); ++n)
        widths[n] = std::max(widths[n], row[n].size());
    for (const auto& row : rows_) {
      std::string line;
      for (std::size_t n = 0; n < row.size(); ++n) {
        const std::string padding(row.size() > 1 ? widths[n] - row[n].size() : 0, ' ');
        line += (n == 0 ? "" : "  ") + (n < texts_ ? row[n] + padding : padding + row[n]);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      out << line << '\n';
    }
  }

 private:
  std::size_t texts_;
  std::vector<std::vector<std::string>> rows_;
};

/// Returns the time of each thread in milliseconds, as "0.84+0.79".
std::string threads_text(const StageProfile& stage) {
  std::string text;
  for (const StageProfile::OnThread& each : stage.threads)
    text += (text.empty() ? "" : "+") + number("%.3g", each.seconds * 1e3);
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
  return number("%.1f", per_call * calls_of(profile, stage.function) / stage.elapsed / 1e9);
}

std::vector<std::string> row_of(const Profile& profile, const StageProfile& stage) {
  std::vector<std::string> row{stage.name, stage.line};
  if (stage.counted_in) {
    row.insert(row.end(), {"-", "in " + *stage.counted_in, "-", "-", "-", "-", "-"});
  } else {
    row.insert(row.end(), {std::to_string(stage.calls), number("%.4g", stage.seconds * 1e3),
                           number("%.1f %%", stage.share * 100),
                           number("%.4g", stage.elapsed * 1e3), number("%.3g", stage.waiting * 1e3),
                           stage.work ? rate(profile, stage, stage.work->operations) : "-",
                           stage.work ? rate(profile, stage,
                                             stage.work->bytes_read + stage.work->bytes_written)
                                      : "-"});
  }
  row.push_back(stage.work && stage.work->recomputation ? number("%.2f", *stage.work->recomputation)
                                                        : "-");
  row.push_back(stage.threads.size() > 1 ? threads_text(stage) : "");
  return row;
}

Json json_of(const StageProfile& stage) {
  Json threads = Json::array();
  for (const StageProfile::OnThread& each : stage.threads)
    threads.push_back({{"thread", each.thread}, {"seconds", each.seconds}, {"runs", each.runs}});
  Json work = nullptr;
  if (stage.work) {
    work = {{"operations", stage.work->operations},
            {"bytes_read", stage.work->bytes_read},
            {"bytes_written", stage.work->bytes_written},
            {"recomputation", nullptr}};
    if (stage.work->recomputation) work["recomputation"] = *stage.work->recomputation;
  }
  Json result = {{"function", stage.function},
                 {"name", stage.name},
                 {"line", stage.line},
                 {"counted_in", nullptr},
                 {"calls", stage.calls},
                 {"seconds", stage.seconds},
                 {"share", stage.share},
                 {"elapsed", stage.elapsed},
                 {"waiting", stage.waiting},
                 {"threads", threads},
                 {"work", work}};
  if (stage.counted_in) result["counted_in"] = *stage.counted_in;
  return result;
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
  Table table(2, {"stage", "where", "calls", "ms", "share", "elapsed", "waiting", "Gop/s", "GB/s",
                  "computed", "ms on each thread"});
  double total = 0;
  for (const FunctionProfile& each : profile.functions) total += each.other_seconds;
  for (const StageProfile& each : profile.stages) total += each.seconds;
  for (const FunctionProfile& function : profile.functions) {
    for (const StageProfile& stage : profile.stages)
      if (stage.function == function.name) table.add(row_of(profile, stage));
    table.add({function.name, "beside stages", std::to_string(function.calls),
               number("%.4g", function.other_seconds * 1e3),
               number("%.1f %%", total > 0 ? function.other_seconds / total * 100 : 0),
               number("%.4g", function.elapsed * 1e3), "-", "-", "-", "-", ""});
  }
  table.print(out);
  out << "temporaries: " << profile.peak_workspace
      << " bytes at the peak, in addition to those on the stack\n";
  return out;
}

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

/// Returns the work of each stage, counted in the loops of `lowered`. `stages` come from a later
/// form of the function, so they are matched by buffer. If the function has no notes about its
/// stages, buffers that passes have added count as stages in the later form.
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

void ProfiledBuild::set_up(codegen::CompileOptions& options) {
  for (const ProfiledFunction& each : functions_)
    options.profiled_functions.emplace(each.name, each.own_region());
  profiler_ =
      std::make_shared<StageProfiler>(static_cast<std::size_t>(regions_), std::move(functions_));
  options.profiler = profiler_;
}

void ProfiledBuild::finish() { profiler_->steps = std::move(steps_); }

}  // namespace tenon

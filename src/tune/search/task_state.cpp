#include "tune/search/task_state.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <iostream>

#include "tenon/tir/buffer.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/ops.h"

namespace tenon::tune {

// ---- the log ------------------------------------------------------------------------------------

namespace {

const char* name_of(LogLevel level) {
  switch (level) {
    case LogLevel::Debug:
      return "DEBUG";
    case LogLevel::Info:
      return "INFO";
    case LogLevel::Warning:
      return "WARNING";
  }
  internal_error("unknown level");
}

std::string now() {
  const std::time_t time = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm local{};
  localtime_r(&time, &local);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local);
  return text;
}

}  // namespace

Log::Log(std::function<void(LogLevel, const std::string&)> own, const std::filesystem::path& folder)
    : own_(std::move(own)) {
  if (folder.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  file_.open(folder / "tuning.log", std::ios::app);
}

void Log::line(LogLevel level, const std::string& text) {
  const std::string whole = now() + " [" + name_of(level) + "] " + text + "\n";
  if (file_.is_open()) file_ << whole << std::flush;
  if (own_)
    own_(level, text);
  else
    std::cerr << whole << std::flush;
}

// ---- tasks --------------------------------------------------------------------------------------

namespace {

/// The version of Tenon, which is part of each record.
constexpr const char* kVersion = "0.1";

std::vector<std::string> argument_texts(const tir::IRModule& mod) {
  std::vector<std::string> result;
  for (const auto& [name, func] : mod.functions)
    for (const tir::BufferParam& array : func.buffers) {
      std::string text;
      for (const tir::Expr& extent : array.declared->shape)
        text += (text.empty() ? "" : ", ") + std::to_string(tir::constant_int(extent).value_or(-1));
      result.push_back(array.declared->dtype.str() + "[" + text + "]");
    }
  return result;
}

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", seconds);
  return text;
}

std::vector<s_tir::Trace> design_traces(const Task& task, const TuneOptions& options,
                                        std::uint64_t seed) {
  std::vector<s_tir::Trace> result;
  for (const s_tir::Schedule& design : options.space.designs(task.mod, options.target, seed))
    result.push_back(without_postproc(design.trace()));
  if (result.empty())
    throw ScheduleError("tuning: the space of task `" + task.name + "` has no designs");
  return result;
}

}  // namespace

TaskState::TaskState(const Task& task, std::size_t index, const TuneOptions& options)
    : task_(task),
      target_(options.target),
      measure_options_(options.measure),
      fleet_(options.fleet),
      conditions_(Conditions::of(options.target)),
      arguments_(argument_texts(task.mod)),
      maker_(std::make_unique<CandidateMaker>(
          task.mod, options.target,
          options.postprocessors.value_or(default_postprocessors(options.target)))) {
  if (fleet_) fleet_task_ = fleet_->begin(task.mod, target_, measure_options_);
  if (!fleet_task_.processor.empty())
    conditions_.processor = fleet_task_.processor;
  else
    measurer_ = std::make_unique<Measurer>(task.mod, target_, measure_options_);
  const std::uint64_t seed = Random::stream(options.seed, {index}).next();
  search_ =
      std::make_unique<Search>(*maker_, design_traces(task, options, seed), options.search, seed);
  row_ = {.name = task.name, .flops = estimate_flops(task.mod), .weight = task.weight};
}

std::string TaskState::recall(const Database& database) {
  std::size_t refused = 0;
  for (const Record& record : database.records(task_.mod)) {
    if (!record.conditions.are_like(conditions_)) continue;
    std::optional<Candidate> candidate;
    try {
      candidate = maker_->replayed(record.trace);
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the trace of a stranger
    }
    if (candidate)
      count(*candidate, record.measurement.is_valid() ? std::optional(record.measurement.median())
                                                      : std::nullopt);
    else
      ++refused;
  }
  end_round();
  if (row_.trials + static_cast<int>(refused) == 0) return "";
  std::string text = std::to_string(row_.trials) + " record(s) of the database count as trials";
  if (row_.seconds) text += ", the best with " + seconds_text(*row_.seconds * 1e6) + " us";
  if (refused > 0)
    text += "; " + std::to_string(refused) + " record(s) have traces that are refused";
  return text;
}

void TaskState::count(const Candidate& candidate, std::optional<double> seconds) {
  if (seconds) row_.seconds = std::min(row_.seconds.value_or(*seconds), *seconds);
  ++row_.trials;
  search_->tell(candidate, seconds);
  told_.emplace_back(candidate.schedule.mod(), seconds);
}

void TaskState::measure(const std::vector<Candidate>& candidates, const Say& say,
                        const OnMeasured& on_measured) {
  std::vector<tir::IRModule> mods;
  std::vector<std::size_t> left;
  for (const Candidate& candidate : candidates) {
    left.push_back(mods.size());
    mods.push_back(candidate.schedule.mod());
  }
  const std::string samples = std::to_string(mods.size()) + " sample(s) to ";
  say(LogLevel::Info, "[task_scheduler.cc:193] Sending " + samples + "builder");
  if (!measurer_ && !measure_by_fleet(mods, say, on_measured, left)) return;
  measure_here(mods, left, say, on_measured);
}

/// Measures the candidates on the fleet. Returns false if all are measured, or if `on_measured` has
/// ended the batch. Otherwise returns true, and `left` contains the candidates that no worker could
/// measure.
bool TaskState::measure_by_fleet(const std::vector<tir::IRModule>& mods, const Say& say,
                                 const OnMeasured& on_measured, std::vector<std::size_t>& left) {
  say(LogLevel::Info,
      "[task_scheduler.cc:195] Sending " + std::to_string(mods.size()) + " sample(s) to runner");
  bool is_ended = false;
  const Fleet::Lot lot =
      fleet_->measure(fleet_task_, mods, [&](std::optional<std::size_t> n, const Measurement& m) {
        is_ended = is_ended || !on_measured(n, m);
        return !is_ended;
      });
  for (const std::string& note : lot.notes) say(LogLevel::Warning, note);
  if (lot.build_seconds > 0)
    say(LogLevel::Info, std::to_string(mods.size()) + " compiled in " +
                            seconds_text(lot.build_seconds) + " s on " +
                            std::to_string(fleet_->workers(fleet_task_)) + " process(es), by " +
                            seconds_text(lot.build_cpu_seconds / lot.build_seconds) + " core(s)");
  std::erase_if(left, [&](std::size_t n) { return lot.measurements[n].has_value(); });
  if (is_ended || left.empty()) return false;
  if (Conditions::of(target_).processor != conditions_.processor)
    throw RuntimeError(
        "tuning: all measuring processes are lost, and this process has another processor; their "
        "measurements are kept");
  say(LogLevel::Warning, "all measuring processes are lost; this process continues alone");
  measurer_ = std::make_unique<Measurer>(task_.mod, target_, measure_options_);
  return true;
}

void TaskState::measure_here(const std::vector<tir::IRModule>& mods,
                             const std::vector<std::size_t>& which, const Say& say,
                             const OnMeasured& on_measured) {
  std::vector<tir::IRModule> chosen;
  for (const std::size_t n : which) chosen.push_back(mods[n]);
  const std::vector<Build> builds = measurer_->build(chosen);
  // Returns if the user has pressed Ctrl-C. It also ends programs that a build runs, so a failed
  // build does not mean that the candidate is invalid.
  if (!on_measured(std::nullopt, {})) return;
  say(LogLevel::Info,
      "[task_scheduler.cc:195] Sending " + std::to_string(chosen.size()) + " sample(s) to runner");
  measurer_->run(builds, [&](std::size_t n, const Measurement& measurement) {
    return on_measured(which[n], measurement);
  });
}

void TaskState::tell(const Candidate& candidate, const Measurement& measurement,
                     Database& database) {
  std::optional<double> seconds;
  if (measurement.is_valid()) seconds = measurement.median();
  count(candidate, seconds);
  database.add(task_.mod, {.trace = candidate.schedule.trace(),
                           .measurement = measurement,
                           .conditions = conditions_,
                           .arguments = arguments_,
                           .predicted = candidate.predicted,
                           .version = kVersion});
}

void TaskState::end_round() {
  if (row_.seconds) history_.push_back(*row_.seconds);
}

std::vector<Lesson> TaskState::lessons() const {
  std::vector<Lesson> result;
  for (const auto& [mod, seconds] : told_)
    result.push_back({mod, seconds ? *row_.seconds / *seconds : 0});
  return result;
}

double TaskState::gain() const {
  if (row_.is_done) return 0;
  // Tasks without a measured candidate have priority.
  if (history_.empty()) return row_.flops * row_.weight;
  constexpr std::size_t kWindow = 3;
  constexpr double kPast = 0.2;
  const std::size_t back = std::min(kWindow, history_.size() - 1);
  const double now = history_.back();
  const double saved =
      back == 0 ? now : (history_[history_.size() - 1 - back] - now) / static_cast<double>(back);
  const double left = now / static_cast<double>(history_.size());
  return row_.weight * (kPast * saved + (1 - kPast) * left);
}

}  // namespace tenon::tune

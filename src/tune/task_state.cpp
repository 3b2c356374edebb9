#include "tune/task_state.h"

#include <algorithm>

#include "tenon/tir/ops.h"

namespace tenon::tune {

namespace {

/// Of the project; a record says what compiled it.
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
      conditions_(Conditions::of(options.target)),
      arguments_(argument_texts(task.mod)),
      maker_(std::make_unique<CandidateMaker>(
          task.mod, options.target,
          options.postprocessors.value_or(default_postprocessors(options.target)))),
      measurer_(std::make_unique<Measurer>(task.mod, options.target, options.measure)) {
  const std::uint64_t seed = Random::stream(options.seed, {index}).next();
  search_ =
      std::make_unique<Search>(*maker_, design_traces(task, options, seed), options.search, seed);
  row_ = {.name = task.name, .flops = estimate_flops(task.mod), .weight = task.weight};
}

void TaskState::recall(const Database& database) {
  for (const Record& record : database.records(task_.mod, maker_->target()))
    if (const auto candidate = maker_->replayed(record.trace))
      search_->tell(*candidate, record.measurement.is_valid()
                                    ? std::optional(record.measurement.median())
                                    : std::nullopt);
}

void TaskState::tell(const Candidate& candidate, const Measurement& measurement,
                     Database& database) {
  std::optional<double> seconds;
  if (measurement.is_valid()) seconds = measurement.median();
  if (seconds) row_.seconds = std::min(row_.seconds.value_or(*seconds), *seconds);
  ++row_.trials;
  search_->tell(candidate, seconds);
  told_.push_back({candidate.schedule.mod(), seconds});
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
  for (const Told& told : told_)
    result.push_back({told.mod, told.seconds ? *row_.seconds / *told.seconds : 0});
  return result;
}

double TaskState::gain() const {
  if (row_.is_done) return 0;
  // Nothing of it runs yet: whatever is found is gained.
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

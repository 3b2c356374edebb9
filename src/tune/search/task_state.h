// One task while it is tuned: its candidates, what was measured of them, and what time it is worth.
#pragma once

#include <memory>

#include "tenon/tune/task_table.h"
#include "tune/search/log.h"
#include "tune/search/search.h"

namespace tenon::tune {

class TaskState {
 public:
  /// Designs are made, and the program before scheduling is run, here or by the fleet. `index`: of
  /// the task among all.
  TaskState(const Task& task, std::size_t index, const TuneOptions& options);

  const TaskRow& row() const { return row_; }
  void set_done() { row_.is_done = true; }
  /// Who measures, with processors; of a fleet.
  const std::vector<std::string>& fleet_notes() const { return fleet_task_.notes; }

  /// Counts what the database has of this task, measured under like conditions, as trials of this
  /// run. Returns a line for the log about what it found; empty if there is nothing.
  std::string recall(const Database& database);
  std::optional<std::vector<Candidate>> next(std::size_t count, CostModel& model) {
    return search_->next(count, model);
  }
  /// What is said of a round: warnings, and other lines.
  using Say = std::function<void(LogLevel, const std::string&)>;
  /// Called with each result as it arrives, and asked with nothing every now and then; false ends
  /// it.
  using OnMeasured = Fleet::OnMeasured;
  /// Compiles and runs the candidates. `on_measured` may be told of them in any order.
  void measure(const std::vector<Candidate>& candidates, const Say& say,
               const OnMeasured& on_measured);
  /// Records what was measured of a candidate.
  void tell(const Candidate& candidate, const Measurement& measurement, Database& database);
  void end_round();
  /// The data that the model may learn from: all measurements, of this run or recalled.
  std::vector<Lesson> lessons() const;

  /// Seconds of the whole that another round may save: what the last rounds saved, and, as that may
  /// soon change, a share of what is left that shrinks with the rounds (Ansor's scheduler).
  double gain() const;

 private:
  struct Observed {
    tir::IRModule mod;
    /// None: it failed.
    std::optional<double> seconds;
  };

  /// Counts a trial: a candidate and its time, if it has one.
  void count(const Candidate& candidate, std::optional<double> seconds);
  bool measure_by_fleet(const std::vector<tir::IRModule>& mods, const Say& say,
                        const OnMeasured& on_measured, std::vector<std::size_t>& left);
  void measure_here(const std::vector<tir::IRModule>& mods, const std::vector<std::size_t>& which,
                    const Say& say, const OnMeasured& on_measured);

  Task task_;
  Target target_;
  MeasureOptions measure_options_;
  std::shared_ptr<Fleet> fleet_;
  Fleet::Task fleet_task_;
  Conditions conditions_;
  std::vector<std::string> arguments_;
  std::unique_ptr<CandidateMaker> maker_;
  /// None while a fleet measures.
  std::unique_ptr<Measurer> measurer_;
  std::unique_ptr<Search> search_;
  std::vector<Observed> told_;
  /// The least time after each round.
  std::vector<double> history_;
  TaskRow row_;
};

}  // namespace tenon::tune

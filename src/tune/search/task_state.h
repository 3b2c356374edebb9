// The log of tuning: lines with time and level, on stderr and in a file.
//
//   2025-04-10 13:50:43 [INFO] [task_scheduler.cc:159] Initializing Task #0: "main"
//
// The texts, including the locations in brackets, are those of TVM's task scheduler, so that
// scripts for its logs work.
#pragma once

#include <fstream>
#include <memory>

#include "tenon/tune/task_table.h"
#include "tenon/tune/tune.h"
#include "tune/search/search.h"

namespace tenon::tune {

class Log {
 public:
  /// `own` receives the lines instead of stderr. The file is created in `folder`, if it is not
  /// empty. If that fails, logging continues without the file.
  Log(std::function<void(LogLevel, const std::string&)> own, const std::filesystem::path& folder);

  void info(const std::string& text) { line(LogLevel::Info, text); }
  void debug(const std::string& text) { line(LogLevel::Debug, text); }
  void warning(const std::string& text) { line(LogLevel::Warning, text); }
  void line(LogLevel level, const std::string& text);

 private:
  std::function<void(LogLevel, const std::string&)> own_;
  std::ofstream file_;
};

// The state of one task during tuning: its candidates, their measurements, and its expected gain.

class TaskState {
 public:
  /// Makes the designs, and runs the unscheduled program, here or on the fleet. `index` is the
  /// task's number.
  TaskState(const Task& task, std::size_t index, const TuneOptions& options);

  const TaskRow& row() const { return row_; }
  void set_done() { row_.is_done = true; }
  /// Lines about the fleet's workers and their processors; empty without a fleet.
  const std::vector<std::string>& fleet_notes() const { return fleet_task_.notes; }

  /// Counts the database's records of this task under equal conditions as trials of this run.
  /// Returns a line for the log, or "" if there are no such records.
  std::string recall(const Database& database);
  std::optional<std::vector<Candidate>> next(std::size_t count, CostModel& model) {
    return search_->next(count, model);
  }
  /// Receives warnings and other lines about a round.
  using Say = std::function<void(LogLevel, const std::string&)>;
  /// Receives each result as it arrives, and nullopt at intervals. Returning false ends the batch.
  using OnMeasured = Fleet::OnMeasured;
  /// Compiles and runs the candidates. `on_measured` may receive them in any order.
  void measure(const std::vector<Candidate>& candidates, const Say& say,
               const OnMeasured& on_measured);
  /// Records the measurement of a candidate.
  void tell(const Candidate& candidate, const Measurement& measurement, Database& database);
  void end_round();
  /// Returns the training data for the model: all measurements of this run and those recalled.
  std::vector<Lesson> lessons() const;

  /// Returns the expected gain of another round, in seconds of the whole program: a mean of the
  /// gain in the last rounds and of a fraction of the remaining time that decreases with the number
  /// of rounds (Ansor's scheduler).
  double gain() const;

 private:
  struct Observed {
    tir::IRModule mod;
    /// The time; nullopt if the candidate failed.
    std::optional<double> seconds;
  };

  /// Counts a trial of a candidate, with its time if it has one.
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
  /// Null if a fleet measures.
  std::unique_ptr<Measurer> measurer_;
  std::unique_ptr<Search> search_;
  std::vector<Observed> told_;
  /// The best time after each round.
  std::vector<double> history_;
  TaskRow row_;
};

}  // namespace tenon::tune

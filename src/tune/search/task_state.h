// The log of tuning. Each line has a time and a level, and is written to stderr and to a file.
//
//    2025-04-10 13:50:43 [INFO] [task_scheduler.cc:159] Initializing Task #0: "main"
//
//  The texts are those of TVM's task scheduler, including the locations in brackets, so that scripts
//  that parse its logs still work.
#pragma once

#include <fstream>
#include <memory>

#include "tenon/tune/task_table.h"
#include "tenon/tune/tune.h"
#include "tune/search/search.h"

namespace tenon::tune {

class Log {
 public:
  /// If `own` is set, it receives the lines instead of stderr. The log file is created in `folder`;
  /// an empty folder means no file. If the file cannot be created, logging continues without it.
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
  /// Makes the designs and runs the unscheduled program, on this machine or on the fleet. `index`
  /// is the number of the task.
  TaskState(const Task& task, std::size_t index, const TuneOptions& options);

  const TaskRow& row() const { return row_; }
  void set_done() { row_.is_done = true; }
  /// Returns lines for the log about the fleet's workers and their processors. Empty without a
  /// fleet.
  const std::vector<std::string>& fleet_notes() const { return fleet_task_.notes; }

  /// Adds the database's records of this task to the trials of this run, if they were measured
  /// under equal conditions. Returns a line for the log, or "" if there are no such records.
  std::string recall(const Database& database);
  std::optional<std::vector<Candidate>> next(std::size_t count, CostModel& model) {
    return search_->next(count, model);
  }
  /// A function that receives warnings and other log lines.
  using Say = std::function<void(LogLevel, const std::string&)>;
  /// A function that receives each result as it arrives. It is also called with nullopt at
  /// intervals. It ends the batch by returning false.
  using OnMeasured = Fleet::OnMeasured;
  /// Compiles and runs the candidates. `on_measured` receives the results in any order.
  void measure(const std::vector<Candidate>& candidates, const Say& say,
               const OnMeasured& on_measured);
  /// Records the measurement of a candidate.
  void tell(const Candidate& candidate, const Measurement& measurement, Database& database);
  void end_round();
  /// Returns the training data for the model: the measurements of this run and the recalled
  /// records.
  std::vector<Lesson> lessons() const;

  /// Returns the expected gain of another round, in seconds of the whole program. It is a mean of
  /// two estimates: the gain in the last rounds, and a fraction of the remaining time that
  /// decreases with the number of rounds (Ansor's scheduler).
  double gain() const;

 private:
  /// Counts a trial of a candidate. `seconds` is nullopt if the candidate failed.
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
  /// The measurer of this process. Null if a fleet measures.
  std::unique_ptr<Measurer> measurer_;
  std::unique_ptr<Search> search_;
  /// The programs of the candidates and their times; nullopt if a candidate failed.
  std::vector<std::pair<tir::IRModule, std::optional<double>>> told_;
  /// The best time after each round, in seconds.
  std::vector<double> history_;
  TaskRow row_;
};

}  // namespace tenon::tune

// One task while it is tuned: its candidates, what was measured of them, and what time it is worth.
#pragma once

#include <memory>

#include "tenon/tune/task_table.h"
#include "tune/log.h"
#include "tune/search.h"

namespace tenon::tune {

class TaskState {
 public:
  /// Designs are made, and the program before scheduling is run. `index`: of the task among all.
  TaskState(const Task& task, std::size_t index, const TuneOptions& options);

  const TaskRow& row() const { return row_; }
  void set_done() { row_.is_done = true; }
  Measurer& measurer() { return *measurer_; }

  /// What the database has of this task is not measured again.
  void recall(const Database& database);
  std::optional<std::vector<Candidate>> next(std::size_t count, CostModel& model) {
    return search_->next(count, model);
  }
  /// Records what was measured of a candidate.
  void tell(const Candidate& candidate, const Measurement& measurement, Database& database);
  void end_round();
  /// What the model may learn from: everything measured in this run.
  std::vector<Lesson> lessons() const;

  /// Seconds of the whole that another round may save: what the last rounds saved, and, as that may
  /// soon change, a share of what is left that shrinks with the rounds (Ansor's scheduler).
  double gain() const;

 private:
  struct Told {
    tir::IRModule mod;
    /// None: it failed.
    std::optional<double> seconds;
  };

  Task task_;
  Conditions conditions_;
  std::vector<std::string> arguments_;
  std::unique_ptr<CandidateMaker> maker_;
  std::unique_ptr<Measurer> measurer_;
  std::unique_ptr<Search> search_;
  std::vector<Told> told_;
  /// The least time after each round.
  std::vector<double> history_;
  TaskRow row_;
};

}  // namespace tenon::tune

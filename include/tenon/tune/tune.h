// Tuning: takes a program and a space of schedules, and returns a database of measured schedules.
//
//   tune::Database database = tune::tune_tir({
//       .mod = mod,
//       .target = "llvm --num-cores=1",
//       .max_trials_global = 64,
//       .num_trials_per_iter = 64,
//       .space = tune::schedule_fn(stochastic_schedule),      // left out: the default rules
//       .work_dir = ".temp/tune_tmp",
//   });
//   std::optional<s_tir::Schedule> sch = tune::apply_best(mod, database, "llvm --num-cores=1");
//
// The results of every candidate are compared with those of the given program before its time
// counts. The same seed tries the same candidates, regardless of the number of workers, provided
// that the measurements lead the model to the same order.
#pragma once

#include <functional>

#include "tenon/tune/cost_model.h"
#include "tenon/tune/database.h"
#include "tenon/tune/fleet.h"
#include "tenon/tune/postprocessors.h"
#include "tenon/tune/space.h"

namespace tenon::tune {

/// A program to tune, which may be a part of a larger program.
struct Task {
  std::string name = "main";
  tir::IRModule mod;
  /// Number of times that the larger program contains this one.
  int weight = 1;
};

/// Options of the search between measurements.
struct SearchOptions {
  /// Minimum number of candidates sampled for a round.
  int population = 128;
  int generations = 4;
  /// Fraction of the population that is derived from the best measured candidates.
  double share_of_best = 0.2;
  double mutation_probability = 0.85;
  /// Fraction of a round that consists of small variations of the fastest measured candidates, from
  /// 0 to 1.
  double share_of_neighbours = 0.3;
  /// Fraction of a round that is chosen at random instead of by the model.
  double epsilon = 0.05;
  /// Number of consecutive rounds without new candidates after which a task ends.
  int empty_rounds_before_stop = 5;
  /// Threads that replay traces; 0: one per physical core.
  int workers = 0;
};

/// The importance of a line of the log.
enum class LogLevel : unsigned char { Debug, Info, Warning };

/// Options of tuning.
struct TuneOptions {
  tir::IRModule mod;
  Target target = Target("llvm");
  /// Maximum number of candidates to measure, including those of earlier runs in `work_dir`.
  int max_trials_global = 64;
  int num_trials_per_iter = 64;
  Space space = post_order_apply();
  /// The database's folder, with the log in `logs`. Existing records of the program under equal
  /// conditions count as trials, so that tuning resumes. Empty: nothing is stored on disk.
  std::filesystem::path work_dir = {};
  std::string task_name = "main";
  std::uint64_t seed = 0;
  MeasureOptions measure = {};
  SearchOptions search = {};
  /// Workers that compile and run candidates; null: this process and its worker program. If all
  /// workers are lost, this process continues alone, provided that its processor is the same.
  std::shared_ptr<Fleet> fleet = nullptr;
  /// Applied to every candidate. Nullopt: the default_postprocessors of the target.
  std::optional<std::vector<Postprocessor>> postprocessors = std::nullopt;
  /// The cost model. Null: boosted trees if this build has them, else the random model.
  std::shared_ptr<CostModel> cost_model = nullptr;
  /// Receives the lines of the log with their level, without the time. Empty: the log goes to
  /// stderr, with the time of each line.
  std::function<void(LogLevel, const std::string&)> log = {};
  /// Whether Ctrl-C (SIGINT) ends the round, keeps the measurements and returns.
  bool stop_on_interrupt = true;
};

/// Tunes a program. TypeError unless the module is a block program of one function with arrays of
/// constant shape. A failed candidate yields a record with the reason, not an exception.
Database tune_tir(const TuneOptions& options);

/// Tunes several programs under one budget, which is spent where it improves the total most.
/// Ignores `mod` and `task_name` of the options. Equal tasks are tuned once, with the sum of their
/// weights.
Database tune_tasks(const std::vector<Task>& tasks, const TuneOptions& options);

/// Merges equal programs into one task, with the sum of their weights and the name of the first.
std::vector<Task> merged(const std::vector<Task>& tasks);

}  // namespace tenon::tune

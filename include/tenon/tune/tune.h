// Tuning: a program and a space of schedules for it in, a database of measured schedules out.
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
// Every candidate's numbers are compared with those of the program as it is given before its time
// counts. The same seed tries the same candidates, whatever the number of workers, as long as the
// model orders them by what was measured alike.
#pragma once

#include <functional>

#include "tenon/tune/cost_model.h"
#include "tenon/tune/database.h"
#include "tenon/tune/fleet.h"
#include "tenon/tune/postprocessors.h"
#include "tenon/tune/space.h"

namespace tenon::tune {

/// A program of a larger whole.
struct Task {
  std::string name = "main";
  tir::IRModule mod;
  /// How often it occurs there.
  int weight = 1;
};

/// How candidates are found between measurements.
struct SearchOptions {
  /// Candidates drawn anew for a round, at least.
  int population = 128;
  int generations = 4;
  /// Of the population, what comes from the best that were measured.
  double share_of_best = 0.2;
  double mutation_probability = 0.85;
  /// Of a round, what differs little from the fastest that were measured: 0 to 1.
  double share_of_neighbours = 0.3;
  /// Of a round, what is chosen at random and not by the model.
  double epsilon = 0.05;
  /// A task ends with this many rounds in a row that find nothing new.
  int empty_rounds_before_stop = 5;
  /// Threads that replay traces; 0: physical cores.
  int workers = 0;
};

/// How much a line of the log matters.
enum class LogLevel : unsigned char { Debug, Info, Warning };

/// What is tuned, for which target, and how long.
struct TuneOptions {
  tir::IRModule mod;
  Target target = Target("llvm");
  /// Candidates measured in all, those of earlier runs in `work_dir` included.
  int max_trials_global = 64;
  int num_trials_per_iter = 64;
  Space space = post_order_apply();
  /// The database's folder; `logs` in it has the log. Records of the program that are there already
  /// and were measured under like conditions count as trials: tuning goes on from them. Empty:
  /// nothing is kept on disk.
  std::filesystem::path work_dir = {};
  std::string task_name = "main";
  std::uint64_t seed = 0;
  MeasureOptions measure = {};
  SearchOptions search = {};
  /// Who compiles and runs the candidates; null: this process and its worker program. With the
  /// last of the fleet gone it goes on alone, where its processor is theirs.
  std::shared_ptr<Fleet> fleet = nullptr;
  /// None: default_postprocessors of the target.
  std::optional<std::vector<Postprocessor>> postprocessors = std::nullopt;
  /// Null: boosted trees where this build has them, else the random model.
  std::shared_ptr<CostModel> cost_model = nullptr;
  /// Lines of the log, with level and without time. Empty: with time, to the standard error.
  std::function<void(LogLevel, const std::string&)> log = {};
  /// Ctrl-C (SIGINT) ends the round, keeps what was measured and returns.
  bool stop_on_interrupt = true;
};

/// TypeError: a module that is no block program of one function with arrays of constant shape. A
/// candidate that fails is a record with its reason, never an exception.
Database tune_tir(const TuneOptions& options);

/// Several programs under one budget: time goes to the task of which the whole gains most. `mod`
/// and `task_name` of the options are not looked at; equal tasks are tuned once, with the sum of
/// their weights.
Database tune_tasks(const std::vector<Task>& tasks, const TuneOptions& options);

/// Equal programs as one task, with the sum of their weights, named after the first.
std::vector<Task> merged(const std::vector<Task>& tasks);

}  // namespace tenon::tune

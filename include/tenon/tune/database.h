// The database of measurements, stored in files of JSON lines.
//
//   tune::Database database(".temp/tune_tmp");
//   std::optional<tune::Record> best = database.best(mod, Target("llvm -num-cores=1"));
//   std::optional<s_tir::Schedule> sch = tune::apply_best(mod, database, target);
//
// The folder has two files, each with one object per line: database_workload.json has the programs
// (as scripts), and database_tuning_record.json their measurements. A line is appended with a
// single write under a lock, so that several tuners can share a folder. A truncated or malformed
// line is skipped with a warning; the next write starts a new line.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tenon/driver/target.h"
#include "tenon/s_tir/schedule.h"
#include "tenon/tune/measure.h"

namespace tenon::tune {

/// The conditions of a measurement. Only times under equal conditions are comparable.
struct Conditions {
  /// The target as given: "llvm -num-cores=1".
  std::string target;
  /// The resolved target: "llvm, znver4, 512-bit vectors".
  std::string processor;
  int threads = 1;

  static Conditions of(const Target& target);
  /// Whether processor and number of threads are equal, regardless of how the target was written.
  bool are_like(const Conditions& other) const {
    return processor == other.processor && threads == other.threads;
  }
};

struct Record {
  /// The trace, including sampling decisions and postprocessing steps.
  s_tir::Trace trace;
  Measurement measurement;
  Conditions conditions;
  /// The arguments in order: "float32[128, 128]".
  std::vector<std::string> arguments = {};
  /// The cost model's score before the measurement; larger is better.
  std::optional<double> predicted = std::nullopt;
  /// The version of Tenon that compiled the candidate.
  std::string version = {};
};

class Database {
 public:
  /// Makes a database in memory.
  Database();
  /// Opens a database in a folder, which is created if necessary. `warn` receives a message with
  /// file, line number and reason for each line that cannot be read; without it, messages go to
  /// stderr. RuntimeError if the folder cannot be created or a file cannot be read.
  explicit Database(const std::filesystem::path& folder,
                    const std::function<void(const std::string&)>& warn = {});
  // Moves are copies, so that a handle is never empty.
  Database(const Database&) = default;
  Database& operator=(const Database&) = default;

  /// Adds a record to memory and to the file. A record that cannot be written (for example because
  /// the disk is full) stays in memory, and the next write tries again; see unwritten().
  void add(const tir::IRModule& workload, const Record& record);
  /// Retries failed writes. Returns whether everything is written.
  bool flush();
  std::size_t unwritten() const;
  /// Returns the system's message for the failed write; empty if everything is written.
  std::string write_error() const;
  /// Returns the number of lines that could not be read when the folder was opened.
  std::size_t damaged_lines() const;

  /// Returns the records of a program under the target's conditions, in insertion order.
  std::vector<Record> records(const tir::IRModule& workload, const Target& target) const;
  /// Returns the records of a program under all conditions.
  std::vector<Record> records(const tir::IRModule& workload) const;
  std::vector<tir::IRModule> workloads() const;
  /// Returns the record with the smallest median.
  std::optional<Record> best(const tir::IRModule& workload, const Target& target) const;
  /// Returns the successful records for the target, ordered by median.
  std::vector<Record> fastest_first(const tir::IRModule& workload, const Target& target) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Applies the best recorded trace for the module and target. Nullopt if there is no record. A
/// trace that is refused, for example because another version of Tenon recorded it, is skipped in
/// favour of the next best. ScheduleError if all are refused.
std::optional<s_tir::Schedule> apply_best(const tir::IRModule& mod, const Database& database,
                                          const Target& target,
                                          SourceLocation where = SourceLocation::current());
/// Applies the best recorded trace after the steps of `sch`, whose current module is the program
/// that was tuned.
std::optional<s_tir::Schedule> apply_best(const s_tir::Schedule& sch, const Database& database,
                                          const Target& target,
                                          SourceLocation where = SourceLocation::current());

}  // namespace tenon::tune

// What was measured, kept in files of JSON lines.
//
//   tune::Database database(".temp/tune_tmp");
//   std::optional<tune::Record> best = database.best(mod, Target("llvm -num-cores=1"));
//   std::optional<s_tir::Schedule> sch = tune::apply_best(mod, database, target);
//
// Two files in the folder, of which each line is an object by itself: database_workload.json has
// the programs (as scripts), database_tuning_record.json what was measured of them. Lines are
// appended under a lock and with one write each, so that several tuners may share a folder; a line
// that was cut off (the machine went down) or that is malformed is skipped with a warning, and the
// next one starts on a line of its own.
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

/// Where and how a candidate ran. Times of unlike conditions are never compared.
struct Conditions {
  /// As given: "llvm -num-cores=1".
  std::string target;
  /// What the target was here: "llvm, znver4, 512-bit vectors".
  std::string processor;
  int threads = 1;

  static Conditions of(const Target& target);
  /// The same processor and threads, however the target was written.
  bool are_like(const Conditions& other) const {
    return processor == other.processor && threads == other.threads;
  }
};

struct Record {
  /// With the samples' decisions and the steps of the post-processors.
  s_tir::Trace trace;
  Measurement measurement;
  Conditions conditions;
  /// Of the arguments, in order: "float32[128, 128]".
  std::vector<std::string> arguments = {};
  /// What the cost model made of it before it was measured; larger is better.
  std::optional<double> predicted = std::nullopt;
  /// The version of Tenon that compiled it.
  std::string version = {};
};

class Database {
 public:
  /// In memory.
  Database();
  /// In a folder, which is made where it is not there. A line that cannot be read is skipped with a
  /// warning that names its file, its number and the reason; without `warn` it goes to the standard
  /// error. RuntimeError: a folder that cannot be made, files that cannot be read.
  explicit Database(const std::filesystem::path& folder,
                    const std::function<void(const std::string&)>& warn = {});

  /// Kept from now on, here and in the file. What the file does not take (a full disk) is kept here
  /// and tried again with the next: see unwritten.
  void add(const tir::IRModule& workload, const Record& record);
  /// Tries again to write what could not be written. True: all is written.
  bool flush();
  std::size_t unwritten() const;
  /// Why, as the system says it; empty where all is written.
  std::string write_error() const;
  /// Lines that could not be read when the folder was opened.
  std::size_t damaged_lines() const;

  /// Of a program, those measured under like conditions, in the order in which they were added.
  std::vector<Record> records(const tir::IRModule& workload, const Target& target) const;
  /// All of a program, whatever the conditions.
  std::vector<Record> records(const tir::IRModule& workload) const;
  std::vector<tir::IRModule> workloads() const;
  /// The record of the least median.
  std::optional<Record> best(const tir::IRModule& workload, const Target& target) const;
  /// The measured records for the target, by median.
  std::vector<Record> fastest_first(const tir::IRModule& workload, const Target& target) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// The module with the best trace that the database has for it and the target; nullopt: it has
/// none. A trace that is refused, for example because it was recorded by another version of Tenon,
/// is passed over for the next best. ScheduleError: all of them are refused.
std::optional<s_tir::Schedule> apply_best(const tir::IRModule& mod, const Database& database,
                                          const Target& target);
/// The best steps behind those of the schedule, whose module is the program that was tuned.
std::optional<s_tir::Schedule> apply_best(const s_tir::Schedule& sch, const Database& database,
                                          const Target& target);

}  // namespace tenon::tune

// The options of the tutorials on tuning, and the measurement of the best schedule.
#pragma once

#include <tenon/tenon.h>
#include <tenon/tune/export.h>
#include <tenon/tune/ranks.h>
#include <tenon/tune/report.h>
#include <tenon/tune/task_table.h>
#include <tenon/tune/tasks.h>
#include <tenon/tune/tune.h>

#include "tutorials/common/block_programs.h"

/// --size, --trials, --threads, --target, --work-dir, --seed, --report, --page, --save
struct TuningArguments {
  int size = 128;
  int trials = 64;
  int threads = 1;
  /// The folder for the records of all measurements. Empty: they are not kept.
  std::string work_dir = {};
  std::uint64_t seed = 0;
  /// Files to write: the page of tune::report, the page with the loops before and after
  /// (driver/loop_page.h), and the program of tune::program_text. Empty: not written.
  std::string report = {};
  std::string page = {};
  std::string save = {};
  /// The processes that measure, under mpirun.
  std::shared_ptr<tenon::tune::Fleet> ranks = nullptr;

  /// The target of a device, such as "opencl". Empty: this processor.
  std::string device = {};

  /// The target of `device`, or "llvm --num-cores=N" for N threads.
  tenon::Target target() const;
  /// The options of the search. The caller sets the program.
  tenon::tune::TuneOptions options() const;
};

/// Prints the usage and exits with status 0 for --help, with status 2 if an option is unknown.
/// Under mpirun, all processes but the first measure candidates from here on, and exit when the
/// first one ends.
TuningArguments parse_tuning_arguments(int argc, char** argv, TuningArguments defaults = {});

/// Prints the best trace, and its time here and in the database. Returns 1 if nothing was measured,
/// else 0.
int show_best(const tenon::tir::IRModule& mod, const tenon::tune::Database& database,
              const TuningArguments& arguments);

/// A program before and after tuning.
struct TunedProgram {
  std::string name;
  tenon::tir::IRModule before, best;
};
/// Writes the page of loops and machine code, if --page is given.
void write_page(const std::vector<TunedProgram>& programs, const TuningArguments& arguments);

// What the tutorials on tuning share: their options, and the best schedule timed as a user would.
#pragma once

#include <tenon/tenon.h>
#include <tenon/tune/export.h>
#include <tenon/tune/ranks.h>
#include <tenon/tune/report.h>
#include <tenon/tune/task_table.h>
#include <tenon/tune/tasks.h>
#include <tenon/tune/tune.h>

#include "tutorials/common/random_arrays.h"

/// --size, --trials, --threads, --target, --work-dir, --seed, --report, --page, --save
struct TuningArguments {
  int size = 128;
  int trials = 64;
  int threads = 1;
  /// Empty: nothing is kept.
  std::string work_dir = {};
  std::uint64_t seed = 0;
  /// Files for the page of tune::report, for one with the loops of the program before and after
  /// (driver/loop_page.h), and for tune::program_text. Empty: none.
  std::string report = {};
  std::string page = {};
  std::string save = {};
  /// Under mpirun, the processes that measure.
  std::shared_ptr<tenon::tune::Fleet> ranks = nullptr;

  /// A device's target, such as "opencl"; empty: this processor.
  std::string device = {};

  /// The device's, or "llvm --num-cores=1" with the threads.
  tenon::Target target() const;
  /// What all of the tutorials ask for; the program is filled in.
  tenon::tune::TuneOptions options() const;
};

/// Prints the usage and exits with 0 for --help, with 2 for what is none of the options. Under
/// mpirun all but the first process measure from here on, and exit when that one ends.
TuningArguments parse_tuning_arguments(int argc, char** argv, TuningArguments defaults = {});

/// The best trace, and its time beside the database's; the exit status: 1 if nothing was measured.
int show_best(const tenon::tir::IRModule& mod, const tenon::tune::Database& database,
              const TuningArguments& arguments);

/// A program and the best one found for it.
struct TunedProgram {
  std::string name;
  tenon::tir::IRModule before, best;
};
/// Where --page asks for it, the page of their loops and machine code.
void write_page(const std::vector<TunedProgram>& programs, const TuningArguments& arguments);

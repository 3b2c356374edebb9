// Schedule programs: one computation, several schedules of it, and a command line that selects what
// to do with each.
//
//   int main(int argc, char** argv) {
//     return run_schedule_program(argc, argv, {.about = "Splits a loop in two."},
//                                 [](ScheduleProgram& program) {
//       te::Tensor A = te::placeholder({program.size()}, "A");
//       te::Tensor B = te::compute({program.size()}, {"i"}, [&](Var i) { return A(i) * 2.0f; }, "B");
//       te::Schedule s = te::create_schedule({B});
//       program.show("before", s, {A, B});
//       program.print("-------------\n");
//       s[B].split(s[B].axis(0), 32);
//       program.show("after", s, {A, B});
//     });
//   }
//
//   $ split                        # the loops of both schedules, with the line between them
//   $ split --emit=asm             # their assembly
//   $ split --check --time         # runs both, compares their results and prints their times
//
// Dumps, pass times, warnings and errors go to stderr. The exit status is 0, 1 if something failed,
// or 2 for an invalid command line.
#pragma once

#include <ostream>

#include "tenon/driver/build.h"
#include "tenon/driver/lower.h"
#include "tenon/inspect/draw.h"
#include "tenon/inspect/loop_page.h"
#include "tenon/tooling/check.h"
#include "tenon/tooling/command_line.h"

namespace tenon {

/// Options for showing and running a schedule.
struct ShowOptions {
  lowering::PassOptions passes = {};
  /// Buffers for tensors, as in LowerOptions.
  std::vector<std::pair<te::Tensor, tir::Buffer>> binds = {};
  /// Values of symbolic sizes and scalar arguments, for running the schedule.
  std::vector<std::pair<tir::Var, std::int64_t>> values = {};
  /// Fills outputs with 0, for code that accumulates into them.
  bool outputs_start_at_zero = false;
  /// A plain C++ implementation for --check; see CheckOptions.
  Reference reference = {};
  Tolerance tolerance = {};
  /// Text in the error that `build` must throw, for a schedule that `lower` accepts. --check prints
  /// the error, and fails if `build` does not throw it.
  std::optional<std::string> refused_for = {};
  /// Floating-point operations per run. If set, --time prints the rate.
  double operations = 0;
};

/// The state of a schedule program. The body runs once to print and time and, for --check, once
/// more at the size for checks.
class ScheduleProgram {
 public:
  /// `is_check`: whether the run of the body is to check the schedules, instead of printing and
  /// timing them.
  ScheduleProgram(const CommandLineOptions& options, const ProgramSettings& settings, bool is_check,
                  std::ostream& out, std::ostream& err);

  /// Returns --size, or the default in the program's settings.
  int size() const { return size_; }
  const Target& target() const { return options_.target; }
  /// Processes a schedule as the command line requests.
  void show(const std::string& name, const te::Schedule& schedule,
            const std::vector<LowerArgument>& args, const ShowOptions& options = {},
            SourceLocation where = SourceLocation::current());
  /// Processes an additional schedule for comparison; only with --check.
  void show_beside(const std::string& name, const te::Schedule& schedule,
                   const std::vector<LowerArgument>& args, const ShowOptions& options = {},
                   SourceLocation where = SourceLocation::current());
  /// Prints text between schedules, if the output is text.
  template <class... T>
  void print(const T&... values) {
    if (prints_texts() && !(options_.emit && is_document(*options_.emit)))
      (out_ << ... << values) << std::flush;
  }
  bool failed() const { return failed_; }
  /// Prints the combined output of all schedules.
  void finish();

 private:
  bool prints_texts() const {
    return !is_check_ && (options_.emit || !(options_.runs() || options_.save));
  }
  /// The arguments of show().
  struct Shown {
    const std::string& name;
    const te::Schedule& schedule;
    const std::vector<LowerArgument>& args;
    const ShowOptions& options;
    const SourceLocation& where;
  };
  void emit(const Shown& shown);
  void check(const Shown& shown);
  void check_refused(const Shown& shown);
  void save(const Shown& shown);
  void profile(const Shown& shown);
  void time(const Shown& shown);
  LoopView view(const Shown& shown);
  /// Returns the profile. Precondition: the schedule can run.
  Profile profiled(const Shown& shown);
  /// Returns the reason why a schedule cannot run here; empty if it can.
  std::string why_not_run(const Shown& shown) const;
  BuildOptions build_options(const Shown& shown);
  void warn(const te::Schedule& schedule);
  void fail(const std::string& message);

  const CommandLineOptions& options_;
  bool is_check_;
  int size_;
  std::ostream& out_;
  std::ostream& err_;
  PassReports reports_;
  std::set<std::string> warned_;
  /// Number of libraries written by --save.
  int saved_ = 0;
  /// Schedules to draw in one document at the end.
  std::vector<te::NamedSchedule> drawings_;
  /// Views for the page that is printed at the end.
  std::vector<LoopView> views_;
  std::optional<ProfilePrinter> profiles_;
  bool failed_ = false;
};

int run_schedule_program(int argc, char** argv, const ProgramSettings& settings,
                         const std::function<void(ScheduleProgram&)>& body);

}  // namespace tenon

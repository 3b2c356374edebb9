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
  /// The purpose of a run of the body: to print and time the schedules, or to check them.
  enum class Phase : std::uint8_t { Show, Check };
  ScheduleProgram(const CommandLineOptions& options, const ProgramSettings& settings, Phase phase,
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
    return phase_ == Phase::Show && (options_.emit || !(options_.runs() || options_.save));
  }
  void emit(const std::string& name, const te::Schedule& schedule,
            const std::vector<LowerArgument>& args, const ShowOptions& options,
            const SourceLocation& where);
  void check(const std::string& name, const te::Schedule& schedule,
             const std::vector<LowerArgument>& args, const ShowOptions& options,
             const SourceLocation& where);
  void check_refused(const std::string& name, const te::Schedule& schedule,
                     const std::vector<LowerArgument>& args, const ShowOptions& options,
                     const SourceLocation& where);
  void profile(const std::string& name, const te::Schedule& schedule,
               const std::vector<LowerArgument>& args, const ShowOptions& options,
               const SourceLocation& where);
  /// Returns the reason why a schedule cannot run here; empty if it can.
  std::string why_not_run(const te::Schedule& schedule, const ShowOptions& options,
                          const SourceLocation& where) const;
  LoopView view(const std::string& name, const te::Schedule& schedule,
                const std::vector<LowerArgument>& args, const ShowOptions& options,
                const SourceLocation& where);
  void save(const std::string& name, const te::Schedule& schedule,
            const std::vector<LowerArgument>& args, const ShowOptions& options,
            const SourceLocation& where);
  void time(const std::string& name, const te::Schedule& schedule,
            const std::vector<LowerArgument>& args, const ShowOptions& options,
            const SourceLocation& where);
  BuildOptions build_options(const std::string& name, const ShowOptions& options);
  void warn(const te::Schedule& schedule);
  void fail(const std::string& message);

  const CommandLineOptions& options_;
  Phase phase_;
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

// Schedule programs: one computation, a few schedules of it, and the command line that says what to
// do with each.
//
//   int main(int argc, char** argv) {
//     return run_schedule_program(argc, argv, {.about = "Splits a loop in two."}, [](ScheduleProgram&
//     program) {
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
//   $ split                        the loops of both schedules, with the line between them
//   $ split --emit=asm             their machine code
//   $ split --check --time         both are run: their results are compared, their times printed
//
// Dumps, times of passes, warnings and errors go to the standard error. The exit status is 0, 1 if
// something failed, or 2 if the command line could not be understood.
#pragma once

#include <ostream>

#include "tenon/driver/build.h"
#include "tenon/driver/lower.h"
#include "tenon/inspect/draw.h"
#include "tenon/inspect/loop_page.h"
#include "tenon/tooling/check.h"
#include "tenon/tooling/command_line.h"

namespace tenon {

/// What a schedule needs to be shown and run.
struct ShowOptions {
  lowering::PassOptions passes = {};
  /// Buffers for tensors, as lower takes them.
  std::vector<std::pair<te::Tensor, tir::Buffer>> binds = {};
  /// To run it with: the values of symbolic sizes and of arguments that are scalars.
  std::vector<std::pair<tir::Var, std::int64_t>> values = {};
  /// Its code adds to what it finds in the outputs.
  bool outputs_start_at_zero = false;
  /// The same in plain C++, for --check: see CheckOptions.
  Reference reference = {};
  Tolerance tolerance = {};
  /// It prints, and `build` must refuse it with an error that has these words. --check says why,
  /// and fails if it is not refused for that.
  std::optional<std::string> refused_for = {};
  /// Floating-point operations of a run; where given, --time prints how many there are in a second.
  double operations = 0;
};

/// A program's view of the command line. Its body is run once to print and time, and once more, at
/// the size for that, to check.
class ScheduleProgram {
 public:
  /// Whether the body runs to print and time, or to check.
  enum class Phase : std::uint8_t { Show, Check };
  ScheduleProgram(const CommandLineOptions& options, const ProgramSettings& settings, Phase phase,
                  std::ostream& out, std::ostream& err);

  /// --size, or what the program's settings have.
  int size() const { return size_; }
  const Target& target() const { return options_.target; }
  /// Does with a schedule what the command line says.
  void show(const std::string& name, const te::Schedule& schedule,
            const std::vector<LowerArgument>& args, const ShowOptions& options = {},
            SourceLocation where = SourceLocation::current());
  /// Shows a schedule beside the program's own: with --check only.
  void show_beside(const std::string& name, const te::Schedule& schedule,
                   const std::vector<LowerArgument>& args, const ShowOptions& options = {},
                   SourceLocation where = SourceLocation::current());
  /// Prints between the texts, where texts are printed.
  template <class... T>
  void print(const T&... values) {
    if (prints_texts() && !(options_.emit && is_document(*options_.emit)))
      (out_ << ... << values) << std::flush;
  }
  bool failed() const { return failed_; }
  /// Prints what is printed of all schedules together.
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
  /// Why a schedule cannot run here; empty if it can.
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
  /// The number of libraries written by --save.
  int saved_ = 0;
  /// Drawn in one document at the end.
  std::vector<te::NamedSchedule> drawings_;
  /// Of the page that is printed in the end.
  std::vector<LoopView> views_;
  std::optional<ProfilePrinter> profiles_;
  bool failed_ = false;
};

int run_schedule_program(int argc, char** argv, const ProgramSettings& settings,
                         const std::function<void(ScheduleProgram&)>& body);

}  // namespace tenon

// The command line that all programs share: what to print, whether to check and time, and for which
// machine.
//
//   int main(int argc, char** argv) {
//     return run_command_line(argc, argv, {.about = "Multiplies matrices."}, [](const CommandLineOptions&
//     options) {
//       const int n = options.size.value_or(1024);
//       ...
//       return 0;
//     });
//   }
//
// The exit status is the body's, 1 if it threw, or 2 if the command line could not be understood; a
// sentence on the standard error says why. schedule_program.h is what most programs want.
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tenon/driver/build.h"
#include "tenon/driver/lower.h"
#include "tenon/driver/target.h"
#include "tenon/tooling/profile_run.h"
#include "tenon/tooling/step_times.h"

namespace tenon {

/// What to print of a schedule: the loops as TVM 0.9 text, the loops before any pass, the loops
/// that code is generated from (after what the compiler decides), LLVM's IR, assembler, or the code
/// in its target's language (C for `c`, LLVM's IR for `llvm`); drawings of the graphs, where
/// Graphviz is installed; a page with all of it (driver/loop_page.h).
enum class Emit : std::uint8_t { Simple, Loops, Final, Outline, Dot, Ll, Asm, Source, Svg, Html };
/// Whether the output is one document for all schedules, without lines between them.
constexpr bool is_document(Emit emit) {
  return emit == Emit::Dot || emit == Emit::Svg || emit == Emit::Html;
}

/// What the command line says.
struct CommandLineOptions {
  /// The program's name.
  std::string program;
  /// Absent: the program's own choice.
  std::optional<Emit> emit;
  Target target = Target("llvm");
  std::optional<int> size;
  std::optional<int> threads;
  bool check = false;
  bool time = false;
  /// How to print where the time of a run goes; absent: not asked for. With a page, it is shown
  /// there.
  std::optional<ProfileForm> profile;
  /// The folder that --save writes libraries to.
  std::optional<std::string> save = std::nullopt;
  /// Names of passes, each once.
  std::vector<std::string> dump_after;
  bool time_passes = false;
  /// BuildOptions::autotune_loops.
  std::optional<bool> autotune_loops = std::nullopt;

  /// Whether schedules are to run.
  bool runs() const { return check || time || profile; }
};

/// What a program says of itself.
struct ProgramSettings {
  /// A sentence or two, for --help.
  std::string about;
  std::string size_means = "the number of rows and columns of the arrays";
  int size = 1024;
  /// With --check, whose truth comes from the interpreter.
  int check_size = 64;
  int least_size = 1;
  int greatest_size = 16384;
};

/// Reads the command line, sets the number of threads and runs the body, whose result is the exit
/// status. Errors of the body are printed, and 1 is returned.
int run_command_line(int argc, char** argv, const ProgramSettings& settings,
                     const std::function<int(const CommandLineOptions&)>& body);

/// Serves --dump-after, --time-passes and --autotune-loops.
class PassReports {
 public:
  PassReports(const CommandLineOptions& options, std::ostream& err)
      : options_(options), err_(err) {}
  PassReports(const PassReports&) = delete;
  PassReports& operator=(const PassReports&) = delete;

  /// The passes' options with the reports hooked in and --autotune-loops set; `title` heads them.
  /// Valid as long as this lives.
  lowering::PassOptions watch(lowering::PassOptions passes, std::string title);
  /// For the option `on_step`, beside watch. Valid as long as this lives.
  StepListener steps();
  /// tenon::lower, watched; with --time-passes its whole time is printed at once.
  tir::IRModule lower(const std::string& title, const te::Schedule& schedule,
                      const std::vector<LowerArgument>& args, LowerOptions options = {},
                      SourceLocation where = SourceLocation::current());
  /// tenon::compile, watched; with --time-passes its whole time is printed at once, and LLVM's part
  /// of it.
  codegen::Artifact compile(const std::string& title, const te::Schedule& schedule,
                            const std::vector<LowerArgument>& args, const Target& target,
                            BuildOptions options, SourceLocation where = SourceLocation::current());
  /// The functions that code is generated from: those of `compile` after their last pass.
  tir::IRModule final_loops(const std::string& title, const te::Schedule& schedule,
                            const std::vector<LowerArgument>& args, const Target& target,
                            BuildOptions options, SourceLocation where = SourceLocation::current());
  /// The table of times, and a word on passes to dump after which did not run.
  void finish();

 private:
  const CommandLineOptions& options_;
  std::ostream& err_;
  StepTimes times_;
  std::set<std::string> ran_;
};

}  // namespace tenon

// The common command line of schedule programs: what to print, whether to check and time, and the
// target.
//
//   int main(int argc, char** argv) {
//     return run_command_line(argc, argv, {.about = "Multiplies matrices."},
//                             [](const CommandLineOptions& options) {
//       const int n = options.size.value_or(1024);
//       ...
//       return 0;
//     });
//   }
//
// The exit status is that of the body, 1 if it threw, or 2 for an invalid command line; stderr has
// the reason. Most programs use schedule_program.h instead.
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

/// The output for a schedule: the loops as TVM 0.9 text, the loops before any pass, the final loops
/// from which code is generated (after all decisions of the compiler), LLVM IR, assembly, or the
/// code in the target's language (C for `c`, LLVM IR for `llvm`); drawings of the graphs, if
/// Graphviz is installed; an HTML page with everything (inspect/loop_page.h).
enum class Emit : std::uint8_t { Simple, Loops, Final, Outline, Dot, Ll, Asm, Source, Svg, Html };
/// Whether the output is a single document for all schedules.
constexpr bool is_document(Emit emit) {
  return emit == Emit::Dot || emit == Emit::Svg || emit == Emit::Html;
}

/// The parsed command line.
struct CommandLineOptions {
  /// The program's name.
  std::string program;
  /// The output to print. Nullopt: the program's default.
  std::optional<Emit> emit;
  Target target = Target("llvm");
  std::optional<int> size;
  std::optional<int> threads;
  bool check = false;
  bool time = false;
  /// The form of the profile; nullopt: no profile. With an HTML page, the profile is part of the
  /// page.
  std::optional<ProfileForm> profile;
  /// The folder in which --save writes libraries.
  std::optional<std::string> save = std::nullopt;
  /// Names of passes after which the program is printed, without duplicates.
  std::vector<std::string> dump_after;
  bool time_passes = false;
  /// See BuildOptions::autotune_loops.
  std::optional<bool> autotune_loops = std::nullopt;

  /// Whether an option requires running the schedules.
  bool runs() const { return check || time || profile; }
};

/// A program's description and defaults.
struct ProgramSettings {
  /// One or two sentences for --help.
  std::string about;
  std::string size_means = "the number of rows and columns of the arrays";
  int size = 1024;
  /// Default size with --check, where the interpreter computes the reference.
  int check_size = 64;
  int least_size = 1;
  int greatest_size = 16384;
};

/// Parses the command line, sets the number of threads, and runs the body, whose result is the exit
/// status. Errors of the body are printed and yield 1.
int run_command_line(int argc, char** argv, const ProgramSettings& settings,
                     const std::function<int(const CommandLineOptions&)>& body);

/// Implements --dump-after, --time-passes and --autotune-loops.
class PassReports {
 public:
  PassReports(const CommandLineOptions& options, std::ostream& err)
      : options_(options), err_(err) {}
  PassReports(const PassReports&) = delete;
  PassReports& operator=(const PassReports&) = delete;

  /// Returns pass options with the reports and --autotune-loops set. `title` is the heading of the
  /// reports. Valid as long as this object lives.
  lowering::PassOptions watch(lowering::PassOptions passes, std::string title);
  /// Returns a listener for the option `on_step`, to be used with watch(). Valid as long as this
  /// object lives.
  StepListener steps();
  /// Calls tenon::lower with reports. With --time-passes, prints the total time.
  tir::IRModule lower(const std::string& title, const te::Schedule& schedule,
                      const std::vector<LowerArgument>& args, LowerOptions options = {},
                      SourceLocation where = SourceLocation::current());
  /// Calls tenon::compile with reports. With --time-passes, prints the total time and LLVM's part
  /// of it.
  codegen::Artifact compile(const std::string& title, const te::Schedule& schedule,
                            const std::vector<LowerArgument>& args, const Target& target,
                            BuildOptions options, SourceLocation where = SourceLocation::current());
  /// Returns the functions from which `compile` generates code, after their last pass.
  tir::IRModule final_loops(const std::string& title, const te::Schedule& schedule,
                            const std::vector<LowerArgument>& args, const Target& target,
                            BuildOptions options, SourceLocation where = SourceLocation::current());
  /// Prints the table of times, and a warning for each pass in --dump-after that did not run.
  void finish();

 private:
  const CommandLineOptions& options_;
  std::ostream& err_;
  StepTimes times_;
  std::set<std::string> ran_;
};

}  // namespace tenon

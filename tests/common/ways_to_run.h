// All the ways to run a scheduled program, beside its default schedule run by the interpreter on
// multi-dimensional loops, which is the truth.
//
//   EXPECT_EQ(compare_with_default(s, {A, B, C}), "");
//
// That truth is itself compared, element by element, with what the operations are by their
// definition.
//
// The ways: the scheduled loops before any pass, the loops as lowered (with and without loop
// partition), both with exact bounds where those are others, the loops after each pass that makes
// them ready for a CPU (for vector registers of several widths), and the compiled code, by LLVM and
// as C; where there are threads, on OpenCL's device if there is one. Outputs start as 0xff bytes,
// and nothing may be written behind an array.
#pragma once

#include "tests/common/arguments.h"

namespace tenon::testing {

struct WaysToRun {
  bool compile = true;
  /// Whether it is compiled as C as well.
  bool compile_c = true;
  /// Whether a program with threads runs on OpenCL's device.
  bool run_on_device = true;
  /// The device that the program must run on; it is built for it even if that is refused.
  std::optional<Target> device_target = std::nullopt;
  /// The loops before and after the passes, by the interpreter.
  bool interpret = true;
  /// The values of the symbolic sizes, all of them the same, to run with.
  std::vector<std::int64_t> symbols = {7};
  double tolerance = 1e-4;
  /// The elements of the inputs, and whether the signs of zeros are compared.
  Data data = Data::Small;
  Zeros zeros = Zeros::Alike;
  /// The limit of one run by the interpreter, in steps.
  std::int64_t step_limit = 50'000'000;
  /// RuntimeError, before anything is run, for a program that has more to do than that (work.h): by
  /// the interpreter, and compiled. None: any will do.
  std::optional<double> most_work = std::nullopt, most_compiled_work = std::nullopt;
  /// The C functions that the interpreter may call.
  decltype(tir::EvaluateOptions::call_extern) call_extern = {};
  BuildOptions build = {.opt_level = 1};
  Target target = Target("llvm");
  /// Called with what comes next: "interpreting", "lowering", "building", "running".
  std::function<void(const char* phase)> on_phase = {};
};

/// The schedule that nothing was done to, of the tensors among the arguments that are computed.
te::Schedule default_schedule(const std::vector<LowerArgument>& args);

/// "" if all ways agree; else the first that does not, and where. What lower, build and evaluate
/// throw passes through.
std::string compare_with_default(const te::Schedule& schedule,
                                 const std::vector<LowerArgument>& args,
                                 const WaysToRun& ways = {});
/// Compares with another schedule, which computes the same.
std::string compare_with(const te::Schedule& expected, const te::Schedule& schedule,
                         const std::vector<LowerArgument>& args, const WaysToRun& ways = {});

/// The first result in the arrays, which make_arguments made for the symbol, that differs from the
/// definition of its operation; "" if none does.
std::string against_definition(const std::vector<LowerArgument>& args, const Arguments& arrays,
                               std::int64_t symbol, Zeros zeros = Zeros::Alike);

/// Runs a compiled function on the arrays.
void run_compiled(const runtime::Function& function, const Arguments& arguments);

}  // namespace tenon::testing

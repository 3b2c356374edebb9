// Is a schedule right? Its results beside those of the default schedule, which the interpreter
// runs, and beside those of plain C++ where there is some.
//
//   CheckReport report = check_schedule(s, {A, B, C}, {.target = Target("llvm")});
//   report.fine(), report.worst.largest_error, report.interpreted
//
// Inputs are random, and must stay what they were; outputs start as NaN (integers as a value that
// is no likely result), so that what is never written shows.
#pragma once

#include "tenon/driver/arguments.h"
#include "tenon/driver/target.h"

namespace tenon {

/// An element is right if |actual - expected| <= absolute + relative * |expected|; integers and
/// bools must be equal.
struct Tolerance {
  double relative = 1e-4;
  double absolute = 1e-3;
};

/// How far two arrays are apart.
struct Comparison {
  std::int64_t elements = 0;
  /// Elements out of tolerance; a NaN is right beside a NaN only.
  std::int64_t wrong = 0;
  double largest_error = 0;

  bool fine() const { return wrong == 0; }
};

/// Throws RuntimeError if shape or type differ.
Comparison compare(const runtime::NDArray& actual, const runtime::NDArray& expected,
                   Tolerance tolerance = {}, SourceLocation where = SourceLocation::current());

/// Computes the outputs in plain C++. Given the arrays among the arguments, in order.
using Reference = std::function<void(std::span<const runtime::NDArray> arrays)>;

/// For what a schedule is checked, and how exactly.
struct CheckOptions {
  Target target = Target("llvm");
  lowering::PassOptions passes = {};
  Tolerance tolerance = {};
  ArgumentOptions arguments = {};
  /// A second truth; the only one of a program that calls C functions, which the interpreter cannot
  /// run.
  Reference reference = {};
  /// Of the steps that are no passes, as BuildOptions has it.
  std::function<void(std::string_view step, double seconds)> on_step = {};
};

/// What became of a check.
struct CheckReport {
  Comparison worst = {};
  /// The argument that `worst` is about: an output, or an input that has been written.
  std::string argument = {};
  /// Run by the interpreter, because it binds the threads of a GPU and the target is none; else
  /// compiled for the target.
  bool interpreted = false;

  bool fine() const { return worst.fine(); }
};

/// Throws what lower, build and make_arguments throw, and LowerError for a program that computes
/// none of its arguments, or that calls C functions and has no reference.
CheckReport check_schedule(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                           const CheckOptions& options = {},
                           SourceLocation where = SourceLocation::current());

/// Whether the schedule has loops over threads of a GPU, which a CPU cannot run.
bool binds_threads(const te::Schedule& schedule, SourceLocation where = SourceLocation::current());

}  // namespace tenon

// Checks of schedules: compares the results with those of the default schedule in the interpreter,
// and optionally with a plain C++ implementation.
//
//   CheckReport report = check_schedule(s, {A, B, C}, {.target = Target("llvm")});
//   report.fine(), report.worst.largest_error, report.interpreted
//
// Inputs are random and must not change. Outputs are filled with NaN (integers with an unlikely
// value), which reveals unwritten elements.
#pragma once

#include "tenon/driver/arguments.h"
#include "tenon/driver/target.h"

namespace tenon {

/// An element is correct if |actual - expected| <= absolute + relative * |expected|. Integers and
/// bools must be equal.
struct Tolerance {
  double relative = 1e-4;
  double absolute = 1e-3;
};

/// The differences between two arrays.
struct Comparison {
  std::int64_t elements = 0;
  /// Number of elements out of tolerance. NaN matches only NaN.
  std::int64_t wrong = 0;
  double largest_error = 0;

  bool fine() const { return wrong == 0; }
};

/// Compares two arrays. RuntimeError if shape or type differ.
Comparison compare(const runtime::NDArray& actual, const runtime::NDArray& expected,
                   Tolerance tolerance = {}, SourceLocation where = SourceLocation::current());

/// A plain C++ implementation of the outputs. It receives the array arguments in order.
using Reference = std::function<void(std::span<const runtime::NDArray> arrays)>;

/// The target and tolerance of a check.
struct CheckOptions {
  Target target = Target("llvm");
  lowering::PassOptions passes = {};
  Tolerance tolerance = {};
  ArgumentOptions arguments = {};
  /// An additional reference. Required for programs that call C functions, which the interpreter
  /// cannot run.
  Reference reference = {};
  /// Called after each step other than a pass; see BuildOptions.
  std::function<void(std::string_view step, double seconds)> on_step = {};
};

/// The result of a check.
struct CheckReport {
  Comparison worst = {};
  /// The argument that `worst` refers to: an output, or an input that was modified.
  std::string argument = {};
  /// Whether the schedule ran in the interpreter, because it binds GPU threads and the target is
  /// not a GPU.
  bool interpreted = false;

  bool fine() const { return worst.fine(); }
};

/// Checks a schedule. Throws the errors of lower, build and make_arguments. LowerError for a
/// program that computes none of its arguments, and for one that calls C functions without a
/// reference.
CheckReport check_schedule(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                           const CheckOptions& options = {},
                           SourceLocation where = SourceLocation::current());

/// Whether the schedule has loops bound to GPU threads, which a CPU cannot run.
bool binds_threads(const te::Schedule& schedule, SourceLocation where = SourceLocation::current());

}  // namespace tenon

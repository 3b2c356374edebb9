// Is a schedule right? Its results beside those of the default schedule, which the interpreter runs.
//
//   CheckReport report = check_schedule(s, {A, B, C}, {.target = Target("llvm")});
//   report.fine(), report.worst.largest_error, report.interpreted
//
// Inputs are random; outputs start as NaN (integers as a value that is no likely result), so that what is
// never written shows.
#pragma once

#include "tenon/driver/lower.h"
#include "tenon/driver/target.h"
#include "tenon/runtime/ndarray.h"

namespace tenon {

/// An element is right if |actual - expected| <= absolute + relative * |expected|; integers and bools must be
/// equal.
struct Tolerance {
  double relative = 1e-4;
  double absolute = 1e-3;
};

struct Comparison {
  std::int64_t elements = 0;
  /// Elements out of tolerance; a NaN is right beside a NaN only.
  std::int64_t wrong = 0;
  double largest_error = 0;

  bool fine() const { return wrong == 0; }
};

/// Throws RuntimeError if shape or type differ.
Comparison compare(const runtime::NDArray& actual, const runtime::NDArray& expected, Tolerance tolerance = {},
                   SourceLocation where = SourceLocation::current());

struct CheckOptions {
  Target target = Target("llvm");
  lowering::LowerOptions passes = {};
  Tolerance tolerance = {};
  /// For a schedule whose code adds to what it finds.
  bool outputs_start_at_zero = false;
};

struct CheckReport {
  Comparison worst = {};
  /// The output that `worst` is about.
  std::string output = {};
  /// Run by the interpreter, because it binds the threads of a GPU; else compiled for the target.
  bool interpreted = false;

  bool fine() const { return worst.fine(); }
};

/// Throws what lower and build throw, and LowerError for arguments that are no tensors of constant shape.
CheckReport check_schedule(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                           const CheckOptions& options = {},
                           SourceLocation where = SourceLocation::current());

/// Whether the function has loops over threads of a GPU, which a CPU cannot run.
bool binds_threads(const tir::PrimFunc& func);

/// Arrays for the arguments: random ones for placeholders, NaN for the others.
std::vector<runtime::NDArray> make_arguments(const std::vector<LowerArgument>& args,
                                             bool outputs_start_at_zero = false,
                                             SourceLocation where = SourceLocation::current());

}  // namespace tenon

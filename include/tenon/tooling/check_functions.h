// Equivalence checks of two functions on the same random inputs. The first function runs in the
// interpreter; the second one runs there or as compiled code. The arrays that they write are filled
// with NaN first.
//
//   CheckReport report = check_functions(before, after);
//   report.fine()
#pragma once

#include "tenon/tooling/check.h"

namespace tenon {

/// Options of check_functions: how the second function runs, and the tolerance.
struct CheckFunctionsOptions {
  /// Target of the second function. Nullopt: it runs in the interpreter.
  std::optional<Target> target = std::nullopt;
  Tolerance tolerance = {};
  /// The value of every scalar parameter and symbolic size.
  std::int64_t size = 7;
};

/// Compares two functions. RuntimeError if their parameters differ. Errors of running them
/// propagate.
CheckReport check_functions(const tir::PrimFunc& before, const tir::PrimFunc& after,
                            const CheckFunctionsOptions& options = {},
                            SourceLocation where = SourceLocation::current());

}  // namespace tenon

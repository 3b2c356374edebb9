// Do two functions compute the same? Both run on the same random inputs, one in the interpreter,
// the other there too or compiled; what they write starts as NaN in both.
//
//   CheckReport report = check_functions(before, after);
//   report.fine()
#pragma once

#include "tenon/tooling/check.h"

namespace tenon {

/// How the second function runs, and how exactly results must agree.
struct CheckFunctionsOptions {
  /// Not given: the second function runs in the interpreter as well.
  std::optional<Target> target = std::nullopt;
  Tolerance tolerance = {};
  /// Of scalar parameters, and of sizes that are variables.
  std::int64_t size = 7;
};

/// RuntimeError: functions of different parameters, and what running them throws.
CheckReport check_functions(const tir::PrimFunc& before, const tir::PrimFunc& after,
                            const CheckFunctionsOptions& options = {},
                            SourceLocation where = SourceLocation::current());

}  // namespace tenon

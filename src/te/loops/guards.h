// Conditions around the statements of a stage, whose loops may overshoot.
#pragma once

#include "te/loops/loop_nest.h"

namespace tenon::te {

struct GuardOptions {
  /// Omits the check against the declared ranges of the operation.
  bool skip_declared = false;
  /// Omits that check for these axes.
  const AxisFlags* beyond = nullptr;
  const AxisFlags* skip = nullptr;
  /// Ranges of the loops, in place of the inferred ones.
  const AxisRanges* ranges = nullptr;
};

/// Returns the conditions that the current iteration is within the ranges of its axes and within
/// the operation's domain, without those that provably always hold.
std::vector<Expr> make_guards(StageId stage, const LoopNest& nest, const Program& program,
                              const GuardOptions& options = {});

}  // namespace tenon::te

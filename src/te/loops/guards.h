// Conditions around the statements of a stage: loops may count further than the stage goes.
#pragma once

#include "te/loops/loop_nest.h"

namespace tenon::te {

struct GuardOptions {
  /// Leaves out the check against the ranges that the operation declares.
  bool skip_declared = false;
  /// Leaves it out for these axes.
  const AxisFlags* beyond = nullptr;
  const AxisFlags* skip = nullptr;
  /// In place of the inferred ones, of the loops.
  const AxisRanges* ranges = nullptr;
};

/// The conditions under which the current iteration lies within the ranges of its axes and within
/// the operation's domain; those that provably always hold are left out.
std::vector<Expr> make_guards(StageId stage, const LoopNest& nest, const Program& program,
                              const GuardOptions& options = {});

}  // namespace tenon::te

// The progress of a stage's reduction, for an intrinsic without a reset: its body computes the
// first step, so that the loops must reach that step before any other.
//
//   for k.outer for k.inner        k.outer = 0, k.inner = 0 comes first
//   f = fuse(k, i), split f by 2, for f.inner for f.outer
//                                  element 1 is at f = 1, 14, 27, ...: f = 14, of which k is 1, comes
//                                  before f = 1, of which k is 0
#pragma once

#include "tenon/te/graph.h"

namespace tenon::te {

struct ReductionProgress {
  /// The reduction has begun if one of these axes is beyond its first value. They are the reduction
  /// loops around the intrinsic, or, if one of those is fused with data, the reduction's own axes.
  std::vector<IterVar> axes;
  /// A loop fused from data and reduction whose parts are in another order than its iterations, so
  /// that some elements reach their first step late.
  std::optional<IterVar> out_of_order = std::nullopt;
};

/// Returns the progress. The intrinsic replaces the leaves from `depth` inwards.
ReductionProgress reduction_progress(const FrozenStage& stage, std::size_t depth);

}  // namespace tenon::te

// How far the reduction of a stage is, for an intrinsic that has no reset: its body computes the
// first step, so the loops must come to that step before any other.
//
//   for k.outer for k.inner        k.outer = 0, k.inner = 0 comes first
//   f = fuse(k, i), split f by 2, for f.inner for f.outer
//                                  element 1 is at f = 1, 14, 27, ...: f = 14, of which k is 1, comes
//                                  before f = 1, of which k is 0
#pragma once

#include "tenon/te/graph.h"

namespace tenon::te {

struct ReductionProgress {
  /// The reduction has begun where one of them is beyond its first value: the loops of the
  /// reduction around the intrinsic, unless one of them is fused with data; then the reduction's
  /// own axes.
  std::vector<IterVar> axes;
  /// A loop fused of data and reduction whose parts stand in another order than its iterations, so
  /// that some elements come to their first step late.
  std::optional<IterVar> out_of_order = std::nullopt;
};

/// The intrinsic replaces the leaves from `depth` inwards.
ReductionProgress reduction_progress(const FrozenStage& stage, std::size_t depth);

}  // namespace tenon::te

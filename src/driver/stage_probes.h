// Probes: calls around the loops of stages, by which a function that runs says which stage it is
// computing (runtime/profiler.h).
//
//   for i in 0..64:                 tenon_profile_enter(C)
//     for j: B[j] = ...        ->   for i in 0..64:
//     for j: C[i, j] = ...            tenon_profile_enter(B), for j: B[j] = ..., tenon_profile_leave(B)
//                                     for j: C[i, j] = ...
//                                   tenon_profile_leave(C)
//
// A loop belongs to the stage that is stored last in it: what it needs is computed in front. They
// stand outside of the loops of one stage, so that nothing is slower inside of them.
#pragma once

#include <optional>
#include <vector>

#include "tenon/tir/stored_stages.h"

namespace tenon::lowering {

/// The function with probes, and the stages that they tell of.
struct StageProbes {
  tir::PrimFunc func;
  std::vector<tir::NotedStage> stages;
  /// Of each stage: whether it is timed; if it is not, of which stage's time its own is part, -1
  /// where that is the function's. Absent for a stage of which nothing is left.
  struct Place {
    bool is_timed = false;
    std::optional<int> counted_in = std::nullopt;
  };
  std::vector<Place> places;
};

/// Of a function that is ready for code. Stage n is region `first_region + n`. Inside of another
/// stage's loops a stage is timed if a run of its loops surely takes long beside the probes: some
/// thousand operations. (Loops whose extents are not known count as short ones.)
StageProbes probe_stages(const tir::PrimFunc& func, int first_region);

}  // namespace tenon::lowering

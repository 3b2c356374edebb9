// Profiling probes: calls around the loops of stages that report the stage being computed
// (runtime/profiler.h).
//
//   for i in 0..64:             tenon_profile_enter(C)
//     for j: B[j] = ...    ->   for i in 0..64:
//     for j: C[i, j] = ...        tenon_profile_enter(B)
//                                 for j: B[j] = ...
//                                 tenon_profile_leave(B)
//                                 for j: C[i, j] = ...
//                               tenon_profile_leave(C)
//
// A loop belongs to the stage that it stores last; earlier stores in it compute the inputs of that
// stage. Probes are placed outside the loops of a single stage, so that inner loops do not become
// slower.
#pragma once

#include <optional>
#include <vector>

#include "tenon/tir/stored_stages.h"

namespace tenon::driver {

/// The function with probes and the stages that they report.
struct StageProbes {
  tir::PrimFunc func;
  std::vector<tir::NotedStage> stages;
  /// How the time of a stage is measured. A stage that is not timed separately is part of the time
  /// of stage `counted_in`; -1 is the function itself. `counted_in` is nullopt if no code of the
  /// stage remains.
  struct Place {
    bool is_timed = false;
    std::optional<int> counted_in = std::nullopt;
  };
  std::vector<Place> places;
};

/// Adds probes to a function that is ready for code generation. Stage n becomes region
/// `first_region + n`. A stage inside another stage's loops is timed only if each execution of its
/// loops is provably long compared with the probes: some thousand operations. Loops of unknown
/// extent count as short.
StageProbes probe_stages(const tir::PrimFunc& func, int first_region);

// The work of every stage in one call of a function: operations, bytes and stores, counted from its
// loops.
//
//   stage_work(func)[1]->operations          // 2 * 64 * 64 * 64 for C of a product of 64 x 64
//
// The count is exact for loops of constant extent whose guards concern at most 65,536 iterations,
// which are enumerated. Other guards are assumed to hold.

/// The work of one stage in one call.
struct StageWork {
  /// Arithmetic operations on values, per lane: sums, products, comparisons and similar; a math
  /// function counts as one, a fused multiply-add as two. Index arithmetic and conversions do not
  /// count.
  double operations = 0;
  double bytes_read = 0, bytes_written = 0;
  /// Elements stored to the stage's first buffer.
  double stores = 0;
};

/// Returns the work of every stage in tir::StoredStages of the function. An entry is nullopt if the
/// work depends on sizes known only at run time, or if C functions or intrinsics perform it.
/// Precondition: the function is flat or lowered.
std::vector<std::optional<StageWork>> stage_work(const tir::PrimFunc& func);

}  // namespace tenon::driver

// What a call of a function makes every stage do: operations, bytes and stores, counted in its
// loops.
//
//   stage_work(func)[1]->operations          // 2 * 64 * 64 * 64 for C of a product of 64 x 64
//
// Exact where loops have constant extents and guards are about few enough iterations to try them
// all (65,536); other guards are taken to hold.
#pragma once

#include <optional>
#include <vector>

#include "tenon/tir/stored_stages.h"

namespace tenon::lowering {

/// What the loops of a stage do in one call of the function.
struct StageWork {
  /// Arithmetic on values, lane by lane: sums, products, comparisons and the like, functions of
  /// mathematics as one, fused multiply-adds as two. Indices and conversions do not count.
  double operations = 0;
  double bytes_read = 0, bytes_written = 0;
  /// Elements stored to the stage's first buffer.
  double stores = 0;
};

/// Of every stage in tir::StoredStages of the function. Absent for what depends on sizes that are
/// known only when it runs, and for what C functions or intrinsics compute. Precondition: the
/// function is flat or lowered.
std::vector<std::optional<StageWork>> stage_work(const tir::PrimFunc& func);

}  // namespace tenon::lowering

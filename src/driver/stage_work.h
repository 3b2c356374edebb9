// The work of every stage in one call of a function: operations, bytes and stores, counted from its
// loops.
//
//   stage_work(func)[1]->operations          // 2 * 64 * 64 * 64 for C of a product of 64 x 64
//
// The count is exact for loops of constant extent whose guards concern at most 65,536 iterations,
// which are enumerated. Other guards are assumed to hold.
#pragma once

#include <optional>
#include <vector>

#include "tenon/tir/stored_stages.h"

namespace tenon::driver {

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

// The last step of schedule_ops: rewrites accesses and declarations of arguments to the layouts set
// by transform_layout.
#pragma once

#include "tenon/te/relation.h"
#include "tenon/tir/function.h"

namespace tenon::te {

/// A buffer whose element (i...) is stored at forward(i...) of a buffer with these axis separators.
struct StoredLayout {
  tir::Buffer logical;
  Transform::Map forward;
  std::vector<int> axis_separators;
  /// The line of transform_layout.
  SourceLocation where;
};

/// Rewrites the function. Throws ScheduleError if statements access such a buffer as a block of
/// memory (extern operations, intrinsics).
tir::PrimFunc apply_layouts(tir::PrimFunc func, const std::vector<StoredLayout>& layouts);

}  // namespace tenon::te

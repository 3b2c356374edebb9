// The last step of schedule_ops: buffers whose stages have a layout of their own (transform_layout)
// are accessed, and for arguments declared, in that layout.
#pragma once

#include "tenon/te/relation.h"
#include "tenon/tir/function.h"

namespace tenon::te {

/// Element (i...) of `logical` lives at forward(i...) of a buffer with these axis separators.
struct StoredLayout {
  tir::Buffer logical;
  Transform::Map forward;
  std::vector<int> axis_separators;
  /// The line of transform_layout.
  SourceLocation where;
};

/// Throws ScheduleError if statements see such a buffer as a block of memory (extern operations,
/// intrinsics).
tir::PrimFunc apply_layouts(tir::PrimFunc func, const std::vector<StoredLayout>& layouts);

}  // namespace tenon::te

// Loops and indices of 64 bits become ones of 32 where no value in them can need more.
//
//   for (i: int64, 0i64, 8i64) { A[(i*4i64)] = ... }    becomes    for (i: int32, 0, 8) { A[(i*4)] = ... }
//
// Nothing is widened here: flatten_storage computes positions past int32 in int64 from the start.
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

/// A loop or thread variable of 64 bits is narrowed if its range is constant and every expression
/// that contains it has constant bounds within int32. Constants and casts follow in indices;
/// elsewhere a narrowed variable is cast back.
tir::PrimFunc narrow_index_types(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering

// Computes indices, ends of loops and sizes of memory in 64 bits where sizes that only the call
// knows could make them leave int32. For host code; never printed.
//
//   for (f: int32, 0, (n*m))                =>  for (f: int64, 0, (cast(int64, n)*cast(int64, m)))
//     T[((floordiv(f, m)*m) + i)] = ...     =>    T[...], computed in int64
//
// What provably stays within int32 keeps its type, and so does the arithmetic of values.
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

tir::PrimFunc widen_index_types(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering

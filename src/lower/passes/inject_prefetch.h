// A hint to fetch a region becomes loops over its cache lines, each of which prefetches one
// address.
//
//   prefetch A[i + 1, 0 .. 64)                                // float32: 16 elements a line
//   for (prefetch.A.0, 0, 1) {
//     for (prefetch.A.1, 0, 4) {
//       @tir.prefetch(@tir.address_of(A[((prefetch.A.0 + i) + 1), (prefetch.A.1*16)]), 0, 3, 1)
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

/// Before flatten_storage: addresses are of multi-dimensional elements. Inside a vectorised loop
/// the region is that of all lanes; where it cannot be told, there is no prefetch. With
/// options.legacy_prefetch_index the text has the reference's indices, in reverse order of the
/// dimensions.
tir::PrimFunc inject_prefetch(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering

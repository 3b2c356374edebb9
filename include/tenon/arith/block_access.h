// Inference of the regions that a block reads and writes, from its body and in terms of its
// iterators.
//
//   block B: vi                                   // reads A[vi, 0 : 16]
//     for k in 16: B[vi] = B[vi] + A[vi, k]       // writes B[vi]
#pragma once

#include <span>

#include "tenon/tir/block.h"

namespace tenon::arith {

/// The regions that the statements of a block may read and write.
struct BlockAccess {
  std::vector<tir::BufferRegion> reads, writes;
};

/// Returns one region per buffer: the hull of all accesses, or the whole buffer if none can be
/// derived. Buffers are ordered by first access, init before body, and an access precedes the
/// accesses in its indices. A nested block contributes its declared regions, and a matched buffer
/// its source. A nested reduction also reads what it writes, unless its sums provably begin in the
/// same instance of the outer block. Buffers that the block allocates are omitted. If the block has
/// an init, `reads` omits the elements that the same instance has provably stored before. A call
/// that receives the address of a buffer accesses the regions that the block declares, or all of a
/// buffer without declared regions. `visible` lists the buffers whose addresses may be passed to
/// calls.
BlockAccess find_block_access(const tir::Block& block, std::span<const tir::Buffer> visible = {});

/// Returns the block with the inferred regions.
tir::Block with_found_access(tir::Block block, std::span<const tir::Buffer> visible = {});

/// Returns the range [min, min + extent) with the extent replaced by the simplified `end - begin`.
/// A range that is parsed from the text `begin : end` has this extent.
tir::Range range_by_ends(const tir::Range& range);

}  // namespace tenon::arith

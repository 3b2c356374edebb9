// Infers the regions that a block reads and writes from the body of the block. The regions are
// expressions of the block's iterators.
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

/// Infers the accessed regions: one region per buffer, the hull of all accesses, or the whole
/// buffer if no hull can be derived.
/// - Buffers are ordered by their first access. The init precedes the body, and an access precedes
///   the accesses in its indices.
/// - A nested block contributes its declared regions. A nested reduction also reads what it writes,
///   unless each of its sums provably begins in the same instance of the outer block.
/// - An access to a matched buffer counts as an access to its source.
/// - Buffers that the block allocates are omitted.
/// - If the block has an init, `reads` omits elements that the same instance has provably stored
///   before.
/// - A call that receives the address of a buffer accesses the regions of this buffer that the
///   block declares, or the whole buffer if the block declares none. `visible` lists the buffers
///   whose addresses calls may receive.
BlockAccess find_block_access(const tir::Block& block, std::span<const tir::Buffer> visible = {});

/// Returns the block with the inferred regions.
tir::Block with_found_access(tir::Block block, std::span<const tir::Buffer> visible = {});

/// Returns the range with the extent written as the simplified `end - begin`, the form of a range
/// that is parsed from the text `begin : end`.
tir::Range range_by_ends(const tir::Range& range);

}  // namespace tenon::arith

// What a block reads and writes, found in its body, in terms of its iterators.
//
//   block B: vi                                   // reads A[vi, 0 : 16]
//     for k in 16: B[vi] = B[vi] + A[vi, k]       // writes B[vi]
#pragma once

#include <span>

#include "tenon/tir/block.h"

namespace tenon::arith {

/// The boxes that a block's statements may read and write.
struct BlockAccess {
  std::vector<tir::BufferRegion> reads, writes;
};

/// By buffer, in the order in which the init and then the body name them (an access before what its
/// indices read); one box that holds every access, the whole buffer where none is found. Blocks
/// inside count with what their headers say, matched buffers as what they are matched with, and
/// buffers that the block itself allocates not at all. What a block with an init writes is not
/// among what it reads. `visible`: buffers whose data pointers may be handed to calls.
BlockAccess find_block_access(const tir::Block& block, std::span<const tir::Buffer> visible = {});

/// The block with the regions that are found.
tir::Block with_found_access(tir::Block block, std::span<const tir::Buffer> visible = {});

/// The range with the extent that its two ends, simplified, are apart: what the text
/// `begin : end` says of it.
tir::Range range_by_ends(const tir::Range& range);

}  // namespace tenon::arith

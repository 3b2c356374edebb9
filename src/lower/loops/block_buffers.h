// Placement of the buffers of a block program. Each buffer is allocated around the innermost loop
// or block that contains every access, with the size that the accesses there need.
#pragma once

#include "tenon/tir/opaque_blocks.h"

namespace tenon::lowering {

/// A buffer at its allocation point.
struct PlacedBuffer {
  tir::Buffer buffer;
  /// The allocated box, in terms of variables defined outside the allocation point.
  std::vector<tir::Range> box;
  std::vector<tir::Realize::DimAlign> align;
};

/// The buffers allocated in each loop body or block, in the order in which the program declares
/// them.
using BufferPlaces = std::unordered_map<const tir::StmtNode*, std::vector<PlacedBuffer>>;

BufferPlaces place_block_buffers(const tir::OpaqueBlocks& blocks);

}  // namespace tenon::lowering

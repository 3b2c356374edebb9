// Where the buffers of a block program live: around the innermost loop or block that holds every
// access, as large as the accesses there need.
#pragma once

#include "tenon/tir/opaque_blocks.h"

namespace tenon::lowering {

/// A buffer at the place where its memory begins.
struct PlacedBuffer {
  tir::Buffer buffer;
  /// In terms of what is outside of the place.
  std::vector<tir::Range> box;
  std::vector<tir::Realize::DimAlign> align;
};

/// By loop (inside of it) or block, in the order in which the program allocates them.
using BufferPlaces = std::unordered_map<const tir::StmtNode*, std::vector<PlacedBuffer>>;

BufferPlaces place_block_buffers(const tir::OpaqueBlocks& blocks);

}  // namespace tenon::lowering

// Assignment of allocations to shared pieces of memory, and the placement of each piece.
#pragma once

#include "lower/loops/storage_timeline.h"

namespace tenon::lowering {

/// One piece of memory.
struct StorageBlock {
  const tir::StmtNode* place;
  tir::StorageScope scope;
  /// The allocations that live in the block, in order; the first one gives the name.
  std::vector<AllocationId> tenants;
  /// The size of the largest tenant; nullopt if it is not constant.
  std::optional<std::int64_t> constant_bits;
};

struct StoragePlan {
  /// The blocks in order of first use.
  std::vector<StorageBlock> blocks;
  /// The block of each allocation; nullopt if it is never used.
  std::vector<std::optional<std::size_t>> block_of;
};

StoragePlan plan_storage(const StorageTimeline& timeline);

}  // namespace tenon::lowering

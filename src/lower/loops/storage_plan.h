// Which allocations share memory, and where each piece of memory is made.
#pragma once

#include "lower/loops/storage_timeline.h"

namespace tenon::lowering {

/// One piece of memory.
struct StorageBlock {
  const tir::StmtNode* place;
  tir::StorageScope scope;
  /// Those that live in it, in order; the first one gives the name.
  std::vector<AllocationId> tenants;
  /// As large as its largest tenant; absent: not constant.
  std::optional<std::int64_t> constant_bits;
};

struct StoragePlan {
  /// In order of first use.
  std::vector<StorageBlock> blocks;
  /// The block of each allocation; absent: it is never used.
  std::vector<std::optional<std::size_t>> block_of;
};

StoragePlan plan_storage(const StorageTimeline& timeline);

}  // namespace tenon::lowering

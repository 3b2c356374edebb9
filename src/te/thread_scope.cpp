#include "te/thread_scope.h"

#include "tenon/te/infer_bound.h"

namespace tenon::te {

using tir::StorageScope;
using tir::ThreadTag;

int rank_of(const ThreadTag& tag) { return tag.is_block() ? 0 : 1; }

int rank_of(StorageScope scope) {
  switch (scope) {
    case StorageScope::Global:
      return 0;
    case StorageScope::Shared:
    case StorageScope::SharedDyn:
      return 1;
    case StorageScope::Warp:
      return 2;
    case StorageScope::Local:
      return 3;
    case StorageScope::WmmaMatrixA:
    case StorageScope::WmmaMatrixB:
    case StorageScope::WmmaAccumulator:
      return 4;
  }
  internal_error("storage scope outside its enumeration");
}

bool is_shared_along(StorageScope scope, const ThreadTag& tag) {
  // A warp lies along threadIdx.x.
  if (scope == StorageScope::Warp && tag.is_thread() && tag.dim == 0) return true;
  return rank_of(scope) <= rank_of(tag);
}

StorageScope default_scope(int thread_rank) {
  if (thread_rank < 0) return StorageScope::Global;
  return thread_rank == 0 ? StorageScope::Shared : StorageScope::Local;
}

const IterVar* thread_of(const StageData& stage, const IterVar& axis) {
  const AxisAttributes* attributes = stage.attributes_of(axis);
  if (attributes && attributes->thread) return &*attributes->thread;
  return axis.thread() ? &axis : nullptr;
}

StorageScope scope_of(const StageGraph& graph, StageId id) {
  const StageData& stage = graph.stage(id);
  if (stage.scope) return *stage.scope;
  int rank = -1;
  for (const AttachPoint& loop : graph.attach_path(id)) {
    if (const IterVar* thread = thread_of(graph.stage(loop.stage), loop.axis)) {
      rank = std::max(rank, rank_of(*thread->thread()));
    }
  }
  return default_scope(rank);
}

}  // namespace tenon::te

#include "tenon/tir/memory_scope.h"

#include "tenon/support/error.h"

namespace tenon::tir {

StorageScope memory_scope(const Expr& data) {
  const VarNode* var = data.as<VarNode>();
  return var && var->pointer ? var->pointer->scope.value_or(StorageScope::Global)
                             : StorageScope::Global;
}

bool is_shared_along(StorageScope scope, const ThreadTag& tag) {
  switch (scope) {
    case StorageScope::Global:
      return true;
    case StorageScope::Shared:
    case StorageScope::SharedDyn:
      return !tag.is_block();
    case StorageScope::Warp:
      // A warp extends along threadIdx.x.
      return tag.is_thread() && tag.dim == 0;
    case StorageScope::Local:
    case StorageScope::WmmaMatrixA:
    case StorageScope::WmmaMatrixB:
    case StorageScope::WmmaAccumulator:
      return false;
  }
  internal_error("storage scope outside its enumeration");
}

bool is_shared_memory(StorageScope scope) {
  return scope == StorageScope::Shared || scope == StorageScope::SharedDyn;
}

bool is_fragment(StorageScope scope) {
  return scope == StorageScope::WmmaMatrixA || scope == StorageScope::WmmaMatrixB ||
         scope == StorageScope::WmmaAccumulator;
}

}  // namespace tenon::tir

#include "tenon/tir/memory_scope.h"

namespace tenon::tir {

StorageScope memory_scope(const Expr& data) {
  const VarNode* var = data.as<VarNode>();
  return var && var->pointer ? var->pointer->scope.value_or(StorageScope::Global)
                             : StorageScope::Global;
}

bool is_shared_memory(StorageScope scope) {
  return scope == StorageScope::Shared || scope == StorageScope::SharedDyn;
}

bool is_fragment(StorageScope scope) {
  return scope == StorageScope::WmmaMatrixA || scope == StorageScope::WmmaMatrixB ||
         scope == StorageScope::WmmaAccumulator;
}

}  // namespace tenon::tir

// The storage scopes of pointers and buffers.
//
//   memory_scope(allocate.data)              // StorageScope::Shared
//   is_shared_memory(buffer->scope())        // whether all threads of a block see one copy
#pragma once

#include "tenon/tir/expr.h"

namespace tenon::tir {

/// Returns the scope in the type of a data pointer; Global if the type names no scope.
StorageScope memory_scope(const Expr& data);

/// Whether all threads along the axis share one copy of the memory. Otherwise there are several
/// copies: one per block for shared memory, one per warp for warp memory, and one per thread for
/// local memory and fragments.
bool is_shared_along(StorageScope scope, const ThreadTag& tag);

/// Whether the memory is shared by the threads of one block, with static or dynamic size.
bool is_shared_memory(StorageScope scope);

/// Whether the memory is a fragment: tensor-core registers of a warp, or tile registers of a CPU.
bool is_fragment(StorageScope scope);

}  // namespace tenon::tir

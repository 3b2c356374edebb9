// Which memory pointers and buffers are in, and who shares it.
//
//   memory_scope(allocate.data)              // StorageScope::Shared
//   is_shared_memory(buffer->scope())        // whether all threads of a block see one copy
#pragma once

#include "tenon/tir/expr.h"

namespace tenon::tir {

/// The scope that the type of a data pointer names; Global where it names none.
StorageScope memory_scope(const Expr& data);

/// Whether it is memory that each block of threads has for itself, be it of a size known when the
/// kernel is compiled or when it is launched.
bool is_shared_memory(StorageScope scope);

/// Whether it is what the threads of a warp hold together for tensor cores.
bool is_fragment(StorageScope scope);

}  // namespace tenon::tir

// Memory layout of flat programs: element offsets, and the temporaries that are allocated on a
// thread's stack.
//
//   flat_index(T, {i, j})                     // i * 16 + j, of T: 8 x 16
//   stack_temporaries(body)                   // {acc}: small and of constant size
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tenon/codegen/index_uses.h"
#include "tenon/tir/stmt.h"

namespace tenon::codegen {

/// The alignment of the runtime's workspaces, in bytes.
inline constexpr int kWorkspaceAlignment = 128;

/// Returns the offset of an element from the buffer's data pointer, in elements. The offset is a
/// vector if the last index is a vector. Precondition: `indices` is not empty.
tir::Expr flat_index(const tir::Buffer& buffer, const std::vector<tir::Expr>& indices);

/// Returns the size of a compact array. Nullopt if it is known only at run time or exceeds 64 bits.
/// A negative extent counts as zero.
std::optional<std::int64_t> constant_bytes(DataType dtype, const std::vector<tir::Expr>& extents);
inline std::optional<std::int64_t> constant_bytes(const tir::Allocate& n) {
  return constant_bytes(n.dtype, n.extents);
}

/// Returns the data pointers of the temporaries that a function, or the body of a parallel loop,
/// allocates on the stack of its thread. All other temporaries come from the workspace pool. The
/// size of the stack memory is limited. The smallest temporaries are chosen first, because register
/// tiles consist of them. The body of a nested parallel loop has its own temporaries.
VarSet stack_temporaries(const tir::Stmt& body);

}  // namespace tenon::codegen

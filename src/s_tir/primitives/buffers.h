// Helpers shared by the primitives that change buffers.
#pragma once

#include "s_tir/context.h"
#include "tenon/arith/dependence.h"

namespace tenon::s_tir {

/// Returns a copy of the buffer with another name and scope.
tir::Buffer in_scope(const tir::Buffer& buffer, const std::string& name, tir::StorageScope scope);

/// The occurrences of a buffer that are replaced. `Accesses` keeps reads of the buffer in the
/// indices of declared regions, as TVM does for a buffer that continues to exist.
enum class Replaced : unsigned char { Everything, Accesses, Writes };

/// Replaces a buffer in accesses, regions, matched buffers and allocations. The bindings of a block
/// statement `s` itself are unchanged, because they are evaluated outside of it.
tir::Stmt with_buffer(const tir::Stmt& s, const tir::Buffer& old, const tir::Buffer& with,
                      Replaced replaced);
std::vector<tir::BufferRegion> with_buffer(std::vector<tir::BufferRegion> regions,
                                           const tir::Buffer& old, const tir::Buffer& with);

/// Extends declared regions that are smaller than what their block accesses. Buffers that a block
/// does not declare stay undeclared.
tir::PrimFunc with_covering_regions(const tir::PrimFunc& func);

/// Returns a block with `map` applied to its iterators' values and its predicate, which are
/// evaluated outside of it. Any other statement is unchanged.
tir::Stmt map_bindings(const tir::Stmt& s, FunctionRef<tir::Expr(const tir::Expr&)> map);

/// Returns the block with `value` applied to the expressions of its body and init, and `index`
/// applied to the bounds of its regions and matched regions.
tir::Block with_mapped_parts(tir::Block block, tir::ExprMap value, tir::ExprMap index);

/// Returns the buffers that exist only inside the block: allocations and matched buffers.
std::vector<tir::Buffer> declared_buffers(const tir::Block& block);

/// Whether the block's signature proves that nothing inside accesses the buffer. The buffer must
/// not occur in a region, in an index of a region, or in a declaration of the block or of a block
/// inside it. The signature of a block without iterators, such as the root, proves nothing.
bool is_excluded_by_signature(const tir::Block& block, const tir::Buffer& buffer);

/// Throws unless the statement accesses the buffer only by single elements. Uses of the buffer's
/// address, matched buffers and vector indices are rejected.
void require_element_accesses(const Caller& caller, const tir::Stmt& body,
                              const tir::Buffer& buffer);

/// Throws if the size of a buffer that the block declares depends on one of the block's iterators,
/// because such an iterator cannot be replaced.
void require_replaceable_iterators(const Caller& caller, const Program& program, int block);

/// Throws if the block declares buffers. Its statements are to be moved out of the block, where
/// these buffers do not exist.
void require_outer_buffers(const Caller& caller, const Program& program, int block);

/// Returns the buffer of the region with the given index, in the list of regions that the block
/// reads or writes. Throws if it does not exist.
const tir::Buffer& buffer_at(const Caller& caller, const Program& program, int block,
                             arith::AccessKind kind, int index);

}  // namespace tenon::s_tir

// Common parts of the primitives that change buffers.
#pragma once

#include "s_tir/context.h"

namespace tenon::s_tir {

/// Returns a copy of the buffer with another name and scope.
tir::Buffer in_scope(const tir::Buffer& buffer, const std::string& name, tir::StorageScope scope);

/// The accesses of a buffer to replace. Accesses: except reads in the indices of declared regions,
/// as in TVM, for a buffer that continues to exist.
enum class Replaced : unsigned char { Everything, Accesses, Writes };

/// Replaces a buffer in accesses, regions, matched buffers and allocations. If the statement is a
/// block, its own bindings, which are evaluated outside of it, are unchanged.
tir::Stmt with_buffer(const tir::Stmt& s, const tir::Buffer& old, const tir::Buffer& with,
                      Replaced replaced);
std::vector<tir::BufferRegion> with_buffer(std::vector<tir::BufferRegion> regions,
                                           const tir::Buffer& old, const tir::Buffer& with);

/// Returns the function with regions that cover what the blocks access. A declared region that is
/// too small is extended; buffers that a block does not declare stay undeclared.
tir::PrimFunc with_covering_regions(const tir::PrimFunc& func);

/// Returns a block with `map` applied to its iterators' values and its predicate, which are
/// evaluated outside of it. Any other statement is unchanged.
tir::Stmt map_bindings(const tir::Stmt& s, FunctionRef<tir::Expr(const tir::Expr&)> map);

/// Returns the buffers that exist only inside the block: allocations and matched buffers.
std::vector<tir::Buffer> declared_buffers(const tir::Block& block);

/// Whether the block's signature proves that nothing inside accesses the buffer: no region and no
/// index of a region names the buffer, and neither the block nor one inside declares the buffer.
/// The signature of a block without iterators, such as the root, proves nothing.
bool is_excluded_by_signature(const tir::Block& block, const tir::Buffer& buffer);

/// Throws unless the statement accesses the buffer element by element: not by its address, not
/// through a matched buffer, and not by a vector of indices.
void require_element_accesses(const Caller& caller, const tir::Stmt& body,
                              const tir::Buffer& buffer);

/// Throws if the block has an iterator that sizes of its declared buffers use. Such an iterator
/// cannot be replaced.
void require_replaceable_iterators(const Caller& caller, const Program& program, int block);

/// Throws if the block declares buffers, which do not exist where its statements move.
void require_outer_buffers(const Caller& caller, const Program& program, int block);

/// Returns the region of that number. Throws if it does not exist. `verb`: "reads", "writes".
const tir::BufferRegion& region_at(const Caller& caller, const Program& program, int block,
                                   const std::vector<tir::BufferRegion>& regions, int index,
                                   const char* verb);

}  // namespace tenon::s_tir

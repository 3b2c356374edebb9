// Blocks without iterators: the first half of making loops of a block program. What is left of a
// block is its predicate, its allocations, its matched buffers and a body.
//
//   block C: vi = spatial(16, i), vk = reduce(8, k); init C[vi] = 0; C[vi] = C[vi] + A[vi, vk]
//   =>  block C: { if (k == 0) C[i] = 0; C[i] = C[i] + A[i, k] }
#pragma once

#include "tenon/tir/walk.h"

namespace tenon::tir {

/// The body, and what it does not say any more.
struct OpaqueBlocks {
  Stmt body;
  /// The variables of the loops that add to a buffer's elements, by its data pointer: its memory is
  /// allocated outside of these loops.
  std::unordered_map<const void*, std::vector<Var>> carried_by;
  /// The branches that run an init where a reduction begins.
  std::unordered_set<const StmtNode*> inits;
};

/// Of a body of blocks.
OpaqueBlocks make_blocks_opaque(const Stmt& body);

/// The block program as loops over multi-dimensional buffers, each of which is allocated whole, by
/// the block that allocates it. LowerError for loops that are bound to threads. (The pass
/// lower_blocks allocates no more than is needed, and knows threads.)
Stmt loops_of_blocks(const Stmt& body);

}  // namespace tenon::tir

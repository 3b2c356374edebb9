// Conversion to blocks without iterators, the first half of lowering a block program to loops. A
// block keeps its predicate, allocations, matched buffers and body.
//
//   block C: vi = spatial(16, i), vk = reduce(8, k); init C[vi] = 0; C[vi] = C[vi] + A[vi, vk]
//   =>  block C: { if (k == 0) C[i] = 0; C[i] = C[i] + A[i, k] }
#pragma once

#include "tenon/tir/walk.h"

namespace tenon::tir {

/// The converted body, and properties of the original blocks that the body no longer states.
struct OpaqueBlocks {
  Stmt body;
  /// Maps the data pointer of each buffer to the variables of the loops that carry a reduction into
  /// the buffer. The buffer must be allocated outside these loops.
  std::unordered_map<const void*, std::vector<Var>> carried_by;
  /// The If statements that guard the inits of reductions.
  std::unordered_set<const StmtNode*> inits;
};

/// Converts all blocks in `body`.
OpaqueBlocks make_blocks_opaque(const Stmt& body);

/// Lowers a block program to loops over multi-dimensional buffers, each allocated in full by the
/// block that declares it. LowerError for thread-bound loops. (The pass lower_blocks supports
/// threads and allocates only the accessed regions.)
Stmt loops_of_blocks(const Stmt& body);

/// Whether the variable occurs in the shape, strides or offset of a buffer that the block allocates
/// or matches.
bool sizes_use(const Block& block, const Var& var);

}  // namespace tenon::tir

// Blocks: computations with named iterators, the regions that they read and write, and an init. A
// block program (Form::Blocks) is loops around blocks; schedules move whole blocks by what their
// headers say, without reading the bodies.
//
//   for i, k:                                 // loops bind a block's iterators to values
//     block C: vi = spatial(16, i), vk = reduce(8, k)
//       reads A[vi, vk]; writes C[vi]; init C[vi] = 0
//       C[vi] = C[vi] + A[vi, vk]
//
// A function's body in this form is the realization of its root block: no iterators, and the
// buffers that the whole function allocates.
#pragma once

#include "tenon/tir/annotation.h"
#include "tenon/tir/stmt.h"

namespace tenon::tir {

/// What a loop of a block program carries beside its kind. `thread` is set where the kind is
/// ThreadBinding, and only there.
struct LoopTraits {
  std::optional<ThreadTag> thread;
  Annotations annotations;
};

/// The traits of a loop; those of a plain loop are empty.
const LoopTraits& traits_of(const For& loop);
/// The same loop with other traits.
For with_traits(For loop, LoopTraits traits);

/// A box of a buffer.
struct BufferRegion {
  Buffer buffer;
  std::vector<Range> region;
};

/// Inside of the block, `buffer` is the region of the source, as in a BufferView: the last
/// dimensions of the source in order, where those before are one index wide. Variables that are
/// shape, strides or offset of `buffer` take their values from the source.
struct MatchBuffer {
  Buffer buffer;
  BufferRegion source;
};

/// What a block computes, and what it says of itself.
struct Block {
  /// DataParallel (spatial), Reduce, Ordered (scan) or Opaque, each with its domain, in which all
  /// values lie that the realizations bind it to. Domains are constants of the block: they use no
  /// iterators.
  std::vector<IterVar> iters;
  /// What one instance of the block reads and writes, in terms of its iterators. A block that has
  /// an init does not list what it writes among what it reads.
  std::vector<BufferRegion> reads, writes;
  /// What users find it by; not compared.
  std::string name;
  /// Runs before the body in those instances in which every Reduce iterator has the least value of
  /// its domain. Reduce iterators do not occur in it.
  std::optional<Stmt> init;
  Stmt body;
  /// Whole buffers that exist inside of the block.
  std::vector<Buffer> alloc_buffers = {};
  std::vector<MatchBuffer> match_buffers = {};
  Annotations annotations = {};
};

/// The realization of a block: a statement that runs one instance of it.
Stmt make_block(std::vector<Expr> values, Expr predicate, Block block);
/// With a predicate that always holds.
Stmt make_block(std::vector<Expr> values, Block block);
/// A root block around the statement.
Stmt make_root_block(std::vector<Buffer> alloc_buffers, Stmt body);

/// The root block of a function in Form::Blocks (InternalError for any other statement).
const Block& root_block(const Stmt& body);

}  // namespace tenon::tir

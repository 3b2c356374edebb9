// Blocks: computations with named iterators, declared read and write regions, and an init
// statement. A block program (Form::Blocks) is loops around blocks. Schedules move whole blocks by
// their signatures alone, without reading their bodies.
//
//   for i, k:                                 // loops bind a block's iterators to values
//     block C: vi = spatial(16, i), vk = reduce(8, k)
//       reads A[vi, vk]; writes C[vi]; init C[vi] = 0
//       C[vi] = C[vi] + A[vi, vk]
//
// In this form, the body of a function is the realization of its root block. The root block has no
// iterators and allocates the buffers of the whole function.
#pragma once

#include "tenon/tir/annotation.h"
#include "tenon/tir/stmt.h"

namespace tenon::tir {

/// Attributes of a loop in a block program, in addition to its kind. `thread` is set if and only if
/// the kind is ThreadBinding.
struct LoopTraits {
  std::optional<ThreadTag> thread;
  Annotations annotations;
};

/// Returns the traits of a loop; empty traits if the loop has none.
const LoopTraits& traits_of(const For& loop);
/// Returns a copy of the loop with the given traits.
For with_traits(For loop, LoopTraits traits);

/// A rectangular region of a buffer: one range per dimension.
struct BufferRegion {
  Buffer buffer;
  std::vector<Range> region;
};

/// Gives a region of `source` the name `buffer` inside the block, as a BufferView does. If `buffer`
/// has fewer dimensions than the source, they correspond to the last dimensions of the source, and
/// the region has extent 1 in the others. Variables that are the shape, strides or offset of
/// `buffer` take their values from the source.
struct MatchBuffer {
  Buffer buffer;
  BufferRegion source;
};

/// The identity of a block, which is kept across rewrites of the program. The constructor makes an
/// id that differs from all others.
class BlockId {
 public:
  BlockId();
  friend bool operator==(const BlockId&, const BlockId&) = default;
  friend auto operator<=>(const BlockId&, const BlockId&) = default;

 private:
  std::uint64_t number_;
};

/// The signature of a block and its body.
struct Block {
  /// The iterators: DataParallel (spatial), Reduce, Ordered (scan) or Opaque. Every value that a
  /// realization binds to an iterator lies in its domain. Domains do not depend on iterators.
  std::vector<IterVar> iters;
  /// The regions that one instance of the block reads and writes, as expressions of its iterators.
  /// If the block has an init, `reads` omits the regions in `writes`.
  std::vector<BufferRegion> reads, writes;
  /// The name by which users find the block. Ignored by structural comparison.
  std::string name;
  /// Runs before the body in the instances in which every Reduce iterator has the minimum of its
  /// domain. Does not use Reduce iterators.
  std::optional<Stmt> init;
  Stmt body;
  /// Buffers that are allocated for the duration of the block.
  std::vector<Buffer> alloc_buffers = {};
  std::vector<MatchBuffer> match_buffers = {};
  Annotations annotations = {};
  /// The identity of the block. If a rewrite replaces the block by a changed copy, the copy keeps
  /// the id. Ignored by structural comparison.
  BlockId id = {};
};

/// Returns the statement that runs one instance of the block.
Stmt make_block(std::vector<Expr> values, Expr predicate, Block block);
/// Overload for a predicate that is always true.
Stmt make_block(std::vector<Expr> values, Block block);
/// Wraps the statement in a root block.
Stmt make_root_block(std::vector<Buffer> alloc_buffers, Stmt body);

/// Returns the root block of a function body in Form::Blocks. InternalError for any other
/// statement.
const Block& root_block(const Stmt& body);

}  // namespace tenon::tir

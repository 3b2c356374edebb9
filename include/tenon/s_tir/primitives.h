// The primitives: each takes a program and gives a function that computes the same. What is asked
// is checked before anything is built; what cannot be shown to be right is a ScheduleError that
// says why and what would work. Loops and blocks are given by their numbers in the program.
//
//   Program program(func);
//   int block = program.blocks_named("C").front();
//   SplitLoop split_i = split(program, program.loops_of(block)[0], {std::nullopt, 4});
//   Program next(split_i.func);
#pragma once

#include "tenon/s_tir/index_map.h"
#include "tenon/s_tir/options.h"
#include "tenon/s_tir/program.h"
#include "tenon/s_tir/tensor_intrin.h"
#include "tenon/support/error.h"
#include "tenon/tir/fresh_copy.h"

namespace tenon::s_tir {

/// New loops, outermost first, by their variables.
struct SplitLoop {
  tir::PrimFunc func;
  std::vector<tir::Var> loops;
};
/// The function, and the loop that stands for those fused.
struct FusedLoop {
  tir::PrimFunc func;
  tir::Var loop;
};
/// A new block, and blocks that are another block's successor although they have no iterator in
/// common with it.
struct NewBlock {
  tir::PrimFunc func;
  BlockKey block;
  std::vector<std::pair<BlockKey, BlockKey>> renamed = {};
};
/// The function, and the blocks that have other names in it, before and after.
struct Renamed {
  tir::PrimFunc func;
  std::vector<std::pair<BlockKey, BlockKey>> renamed = {};
};

// ---- loops --------------------------------------------------------------------------------------

/// One loop as several, whose extents are the factors; at most one factor is absent and covers the
/// rest. A guard is added where the factors' product is not the extent.
SplitLoop split(const Program& program, int loop,
                const std::vector<std::optional<std::int64_t>>& factors,
                const SplitOptions& options = {}, SourceLocation where = SourceLocation::current());
/// Loops, each the only statement of the one before it, as one.
FusedLoop fuse(const Program& program, const std::vector<int>& loops,
               const FuseOptions& options = {}, SourceLocation where = SourceLocation::current());
/// The loops, in the places that they take now, in the order that is given.
tir::PrimFunc reorder(const Program& program, const std::vector<int>& loops,
                      SourceLocation where = SourceLocation::current());

tir::PrimFunc parallel(const Program& program, int loop,
                       SourceLocation where = SourceLocation::current());
tir::PrimFunc vectorize(const Program& program, int loop,
                        SourceLocation where = SourceLocation::current());
tir::PrimFunc unroll(const Program& program, int loop,
                     SourceLocation where = SourceLocation::current());
tir::PrimFunc bind(const Program& program, int loop, const tir::ThreadTag& thread,
                   SourceLocation where = SourceLocation::current());

// ---- memory -------------------------------------------------------------------------------------

/// A copy in another scope of what the block reads as its region number `read`, read by it and the
/// other readers of the same buffer behind the copy.
NewBlock cache_read(const Program& program, int block, int read, tir::StorageScope scope,
                    SourceLocation where = SourceLocation::current());
/// The block writes into another scope, from which a block behind it copies.
NewBlock cache_write(const Program& program, int block, int write, tir::StorageScope scope,
                     SourceLocation where = SourceLocation::current());
tir::PrimFunc set_scope(const Program& program, int block, int write, tir::StorageScope scope,
                        SourceLocation where = SourceLocation::current());
/// The stride of dimension `axis` of what the block writes is `offset` more than a multiple of
/// `factor`.
tir::PrimFunc storage_align(const Program& program, int block, int write, int axis, int factor,
                            int offset, SourceLocation where = SourceLocation::current());

/// Whether a buffer's number counts those that a block reads, or those that it writes.
enum class BufferIndexType : unsigned char { Read, Write };
/// Element (i...) of what the block reads or writes as that region is stored at map(i...): the
/// buffer gets the shape of the map's values, and every access of it the mapped indices. Callers
/// pass a parameter in its new layout. Refused unless the map is a bijection.
tir::PrimFunc transform_layout(const Program& program, int block, int buffer_index,
                               BufferIndexType type, const IndexMap& map,
                               SourceLocation where = SourceLocation::current());

// ---- places of computation ----------------------------------------------------------------------

/// The producer is computed below a loop of its consumers, as much as they need there.
tir::PrimFunc compute_at(const Program& program, int block, int loop,
                         const ComputeAtOptions& options = {},
                         SourceLocation where = SourceLocation::current());
/// The consumer is computed below a loop of its producers, as much as is there to read.
tir::PrimFunc reverse_compute_at(const Program& program, int block, int loop,
                                 const ComputeAtOptions& options = {},
                                 SourceLocation where = SourceLocation::current());
/// The block's value stands in its consumers instead of an element of its buffer.
tir::PrimFunc compute_inline(const Program& program, int block,
                             SourceLocation where = SourceLocation::current());
/// The block's value is what its only producer writes, instead of the element that it wrote.
tir::PrimFunc reverse_compute_inline(const Program& program, int block,
                                     SourceLocation where = SourceLocation::current());

// ---- reductions ---------------------------------------------------------------------------------

/// The init as a block of its own in front of the loop.
NewBlock decompose_reduction(const Program& program, int block, int loop,
                             SourceLocation where = SourceLocation::current());
/// The inverse.
tir::PrimFunc merge_reduction(const Program& program, int init, int update,
                              SourceLocation where = SourceLocation::current());
/// Partial results, one for each iteration of the loop, which the block then reduces.
NewBlock rfactor(const Program& program, int loop, int factor_axis,
                 SourceLocation where = SourceLocation::current());

// ---- blocks -------------------------------------------------------------------------------------

/// The loop and all below it as a block whose iterators are what remains outside.
NewBlock blockize(const Program& program, int loop,
                  SourceLocation where = SourceLocation::current());

/// The block, or the loop and all below it as a block, computes what the intrinsic describes, and
/// becomes its implementation. Refused with the first statement that differs.
Renamed tensorize(const Program& program, int block_or_loop, const TensorIntrin& intrin,
                  SourceLocation where = SourceLocation::current());

/// Notes a value under a key. A key that is there already keeps its value: unannotate it first.
tir::PrimFunc annotate(const Program& program, int block_or_loop, const std::string& key,
                       tir::Annotation value, SourceLocation where = SourceLocation::current());
tir::PrimFunc unannotate(const Program& program, int block_or_loop, const std::string& key,
                         SourceLocation where = SourceLocation::current());

}  // namespace tenon::s_tir

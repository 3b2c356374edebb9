// The primitives. Each takes a program and returns an equivalent function. All checks precede the
// transformation: a step that is not provably correct is a ScheduleError with the reason and a
// remedy. Loops and blocks are identified by their numbers in the program.
//
//   Program program(func);
//   int block = program.blocks_named("C").front();
//   NewLoops split_i = split(program, program.loops_of(block)[0], {std::nullopt, 4});
//   Program next(split_i.func);
#pragma once

#include "tenon/arith/dependence.h"
#include "tenon/s_tir/index_map.h"
#include "tenon/s_tir/options.h"
#include "tenon/s_tir/program.h"
#include "tenon/s_tir/tensor_intrin.h"
#include "tenon/support/error.h"
#include "tenon/tir/fresh_copy.h"

namespace tenon::s_tir {

/// The function, and the variables of the new loops, outermost first.
struct NewLoops {
  tir::PrimFunc func;
  std::vector<tir::Var> loops;
};
/// The function, and the new block.
struct NewBlock {
  tir::PrimFunc func;
  BlockId block;
};

// ---- loops --------------------------------------------------------------------------------------

/// Splits a loop into loops whose extents are the factors. One factor may be nullopt and is then
/// inferred. A guard is added if the product of the factors is not the extent.
NewLoops split(const Program& program, int loop,
               const std::vector<std::optional<std::int64_t>>& factors,
               const SplitOptions& options = {}, SourceLocation where = SourceLocation::current());
/// Fuses perfectly nested loops: each loop must be the only statement of the previous one.
NewLoops fuse(const Program& program, const std::vector<int>& loops,
              const FuseOptions& options = {}, SourceLocation where = SourceLocation::current());
/// Reorders the loops among the positions that they occupy now.
tir::PrimFunc reorder(const Program& program, const std::vector<int>& loops,
                      SourceLocation where = SourceLocation::current());

/// Puts a block or a loop into a loop of one iteration.
NewLoops add_unit_loop(const Program& program, int block_or_loop,
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

/// Copies a buffer that the block reads to another scope; `read` is an index into the block's read
/// regions. Afterwards the block reads the copy, and so do the other readers of the buffer that
/// follow the copy.
NewBlock cache_read(const Program& program, int block, int read, tir::StorageScope scope,
                    SourceLocation where = SourceLocation::current());
/// Makes the block write to a buffer in another scope, from which a new block copies the result;
/// `write` is an index into the block's written regions.
NewBlock cache_write(const Program& program, int block, int write, tir::StorageScope scope,
                     SourceLocation where = SourceLocation::current());
/// Makes a new buffer for the elements that the block reads or writes. `kind` is the list that
/// `buffer_index` refers to: the regions that the block reads, or those that it writes. A new block
/// copies the elements that are read into it, or the written elements from it. The indices of the
/// new buffer are the block's iterators that determine the element, in the block's order. The block
/// must access the original buffer by a single list of indices.
NewBlock reindex(const Program& program, int block, int buffer_index, arith::AccessKind kind,
                 SourceLocation where = SourceLocation::current());
tir::PrimFunc set_scope(const Program& program, int block, int write, tir::StorageScope scope,
                        SourceLocation where = SourceLocation::current());
/// Pads dimension `axis` of the written buffer so that its stride % factor == offset.
tir::PrimFunc storage_align(const Program& program, int block, int write, int axis, int factor,
                            int offset, SourceLocation where = SourceLocation::current());

/// Changes the layout of the region's buffer: element (i...) is stored at map(i...). The buffer's
/// shape and all accesses change accordingly. If the buffer is a parameter, callers pass it in the
/// new layout. ScheduleError unless the map is a bijection.
tir::PrimFunc transform_layout(const Program& program, int block, int buffer_index,
                               arith::AccessKind kind, const IndexMap& map,
                               SourceLocation where = SourceLocation::current());

/// Replaces the iterators of a block by map(iterators), and the loops around it by one loop per new
/// iterator. The loops must be around this block only, and run its whole domain. ScheduleError
/// unless the map is a bijection and each new iterator consists of spatial iterators only, or of
/// reduction iterators only.
tir::PrimFunc transform_block_layout(const Program& program, int block, const IndexMap& map,
                                     SourceLocation where = SourceLocation::current());

// ---- compute locations --------------------------------------------------------------------------

/// Moves a producer below a loop of its consumers, where it computes only the elements that they
/// need in one iteration.
tir::PrimFunc compute_at(const Program& program, int block, int loop,
                         const ComputeAtOptions& options = {},
                         SourceLocation where = SourceLocation::current());
/// Moves a consumer below a loop of its producers. There, each iteration computes the elements
/// whose inputs the producers have written.
tir::PrimFunc reverse_compute_at(const Program& program, int block, int loop,
                                 const ComputeAtOptions& options = {},
                                 SourceLocation where = SourceLocation::current());
/// Replaces reads of the buffer that the block writes by the expression that the block computes,
/// and removes the block.
tir::PrimFunc compute_inline(const Program& program, int block,
                             SourceLocation where = SourceLocation::current());
/// Makes the block's only producer compute and write the block's result instead of its own, and
/// removes the block.
tir::PrimFunc reverse_compute_inline(const Program& program, int block,
                                     SourceLocation where = SourceLocation::current());

// ---- reductions ---------------------------------------------------------------------------------

/// Moves the init of a reduction block into a new block before the loop.
NewBlock decompose_reduction(const Program& program, int block, int loop,
                             SourceLocation where = SourceLocation::current());
/// Reverses decompose_reduction.
tir::PrimFunc merge_reduction(const Program& program, int init, int update,
                              SourceLocation where = SourceLocation::current());
/// Splits a reduction in two: a new block computes one partial result per iteration of the loop,
/// and the original block reduces the partial results.
NewBlock rfactor(const Program& program, int loop, int factor_axis,
                 SourceLocation where = SourceLocation::current());

// ---- blocks -------------------------------------------------------------------------------------

/// Turns the loop and everything below it into a block. The loops outside become its iterators.
NewBlock blockize(const Program& program, int loop,
                  SourceLocation where = SourceLocation::current());

/// Replaces a block, or the loop and everything below it, by the intrinsic's implementation.
/// ScheduleError, with the first statement that differs, unless it computes what the intrinsic
/// describes.
tir::PrimFunc tensorize(const Program& program, int block_or_loop, const TensorIntrin& intrin,
                        SourceLocation where = SourceLocation::current());

/// Attaches an annotation. An existing key keeps its value; unannotate it first.
tir::PrimFunc annotate(const Program& program, int block_or_loop, const std::string& key,
                       tir::Annotation value, SourceLocation where = SourceLocation::current());
tir::PrimFunc unannotate(const Program& program, int block_or_loop, const std::string& key,
                         SourceLocation where = SourceLocation::current());

}  // namespace tenon::s_tir

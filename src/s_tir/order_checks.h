// Checks of the order in which instances run: what a step that moves loops or blocks must not
// break.
//
// A step that runs a block at another place asks for conflicts, by arith/dependence, with all that
// the block passes: what ran before it and now runs after it, or the other way round. Bodies count
// with the elements that they access, not with what the headers of their blocks list.
#pragma once

#include "s_tir/context.h"
#include "tenon/arith/dependence.h"

namespace tenon::s_tir {

/// The accesses of the block to compare, and the accesses around it to compare them with.
enum class Compared : unsigned char {
  /// Its reads and writes.
  All,
  /// Its reads and writes with the writes around it: what reads the values of the block keeps doing
  /// so.
  WithWrites,
  /// Its reads with the writes around it.
  ReadsWithWrites,
  /// Its writes with the reads around it.
  WritesWithReads,
};

/// The statements that run on one side of a block's instances, which the block passes.
class Passing {
 public:
  enum class Side : unsigned char { Before, After };

  /// The block passes all that runs before (after) it in one iteration of the loops outside of node
  /// `top`, up to the statement that stands directly in `top`.
  Passing(const Program& program, int block, int top, Side side);

  /// The statement that stands for the block, if not the block: its init, or a value that it reads.
  Passing& as(tir::Stmt own);
  Passing& comparing(Compared compared);
  /// Blocks that are not passed in earlier or later iterations of a loop.
  Passing& except(std::function<bool(int other, int loop)> is_excepted);
  /// Readers of which a loop runs all instances again read in its last iteration what the block has
  /// written by then, and need not read it before.
  Passing& except_repeated_readers();
  /// The block's other instances are passed as well.
  Passing& with_own_instances();
  /// Only the block's other instances are passed.
  Passing& only_own();
  /// Parts of `top`, in which the block stands, that are passed as well.
  Passing& over(std::vector<tir::Stmt> parts);

  /// Half a sentence about the first conflict: "reads A[i], and block `W` writes A[j]". Nullopt if
  /// there is provably none.
  std::optional<std::string> find_conflict() const;

 private:
  const Program& program_;
  int block_, top_;
  Side side_;
  tir::Stmt own_;
  Compared compared_ = Compared::All;
  std::function<bool(int, int)> is_excepted_;
  bool with_own_ = false, only_own_ = false, except_readers_ = false;
  std::vector<tir::Stmt> over_;
};

/// The accesses of one instance of a block, in terms of the loops around it.
std::vector<arith::Access> accesses_of(const Program& program, int block);

/// The parts of the sequence `top` between the parts that contain two statements; none if `top` is
/// no sequence.
std::vector<tir::Stmt> parts_between(const Program& program, int top, int first, int second);

/// "reads A[i], and block `W` writes A[j]".
std::string conflict_text(const arith::Conflict& conflict);

/// Whether each iteration of the loop runs the same instances of the block, which write the same
/// values again.
bool writes_same_again(const Program& program, int block, int loop);

/// Whether the loop counts an iterator that the block reduces.
bool feeds_reduction(const Program& program, int block, int loop);
/// The outermost of these loops.
std::optional<int> outermost_reduction_loop(const Program& program, int block);

/// Whether the instances of a block may combine their values in any order: it is a sum, product,
/// minimum or maximum, or a registered reducer that is commutative, and its operands do not read
/// what it writes.
bool is_commutative_reduction(const Program& program, int block);

/// Refuses if the init of a reduction, moved in front of a loop around it, would pass what reads or
/// writes its elements, other instances of the reduction included.
void require_init_passes(const Caller& caller, const Program& program, int block, int loop);

/// Refuses unless every sum of a reduction has an instance that runs its init.
void require_begun(const Caller& caller, const Program& program, int block);

/// Conflicts between instances that differ in a spatial iterator. Nullopt if there is provably
/// none, else half a sentence.
std::optional<std::string> conflict_between_instances(const Program& program, int block);

/// Refuses unless the instances of the block may run in any order that keeps the init of a sum
/// first: no two of them write one element, except those that add to it.
void require_free_order(const Program& program, int block, const Caller& caller,
                        const std::string& step);

/// Whether each iteration of the loop has memory of its own for the buffer: every use stands below
/// the loop, and reads only what was written before in the same iteration. `thread`: what the
/// loop's iterations become, if threads; a block program has one buffer for all of them unless its
/// scope says otherwise.
bool has_own_memory(const Program& program, const tir::Buffer& buffer, int loop,
                    const std::optional<tir::ThreadTag>& thread);

/// Whether iterations of the loop that write the same element of the buffer write the same value,
/// and each reads only what it has written itself: threads may do so at the same time.
bool is_written_alike(const Program& program, const tir::Buffer& buffer, int loop);

/// Conflicts between iterations of the loops, each the only statement of the one before it, that
/// run in the opposite order if the loops are in the order `after`. Nullopt if there is provably
/// none, else half a sentence.
std::optional<std::string> reversed_by_reordering(const Program& program,
                                                  const std::vector<int>& before,
                                                  const std::vector<int>& after);

/// Buffers that need no order: of which each iteration has its own memory.
using IsExempt = std::function<bool(int block, const tir::Buffer&)>;
/// Buffers that two instances of one block may access in any order. `is_with_init`: one of them is
/// the block's init.
using IsUnordered = std::function<bool(int block, const tir::Buffer&, bool is_with_init)>;

/// Conflicts between different iterations of a loop. Nullopt if there is provably none, else half a
/// sentence.
std::optional<std::string> conflict_between_iterations(const Program& program, int loop,
                                                       const IsExempt& is_exempt,
                                                       const IsUnordered& is_unordered);

}  // namespace tenon::s_tir

// Checks of the execution order of instances, for steps that move loops or blocks.
//
// A step that moves a block queries arith/dependence for conflicts with everything that the block
// passes: what ran before it and now runs after it, or the reverse. The checks use the elements
// that bodies access, not the declared regions of blocks.
#pragma once

#include "s_tir/context.h"
#include "tenon/arith/dependence.h"

namespace tenon::s_tir {

/// The accesses of the block to compare, and the accesses around it to compare them with.
enum class Compared : unsigned char {
  /// All reads and writes.
  All,
  /// The block's reads and writes with the writes around it. Readers of the block's values keep
  /// reading them.
  WithWrites,
  /// The block's reads with the writes around it.
  ReadsWithWrites,
  /// The block's writes with the reads around it.
  WritesWithReads,
};

/// The statements on one side of a block's instances that the block passes.
class Passing {
 public:
  enum class Side : unsigned char { Before, After };

  /// The block passes everything that runs before (after) it in one iteration of the loops outside
  /// `top`, up to the direct child of `top`.
  Passing(const Program& program, int block, int top, Side side);

  /// Uses this statement in place of the block: its init, or a value that it reads.
  Passing& as(tir::Stmt own);
  Passing& comparing(Compared compared);
  /// Excludes blocks in earlier or later iterations of a loop.
  Passing& except(std::function<bool(int other, int loop)> is_excepted);
  /// Excludes readers whose instances a loop repeats: their last execution reads what the block has
  /// written by then, so that earlier ones need not.
  Passing& except_repeated_readers();
  /// Also passes the block's other instances.
  Passing& with_own_instances();
  /// Passes only the block's other instances.
  Passing& only_own();
  /// Also passes these parts of `top`, which contains the block.
  Passing& over(std::vector<tir::Stmt> parts);

  /// Returns a phrase about the first conflict: "reads A[i], and block `W` writes A[j]". Nullopt if
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

/// Returns the accesses of one instance of a block, in terms of the loops around it.
std::vector<arith::Access> accesses_of(const Program& program, int block);

/// Returns the parts of the sequence `top` between the parts that contain two statements; empty if
/// `top` is not a sequence.
std::vector<tir::Stmt> parts_between(const Program& program, int top, int first, int second);

/// Returns "reads A[i], and block `W` writes A[j]".
std::string conflict_text(const arith::Conflict& conflict);

/// Whether each iteration of the loop runs the same instances of the block, which write the same
/// values again.
bool writes_same_again(const Program& program, int block, int loop);

/// Whether a reduction iterator of the block depends on the loop.
bool feeds_reduction(const Program& program, int block, int loop);
/// Returns the outermost such loop.
std::optional<int> outermost_reduction_loop(const Program& program, int block);

/// Whether the instances of a block may combine their values in any order: it is a sum, product,
/// minimum or maximum, or a commutative registered reducer, and its operands do not read what it
/// writes.
bool is_commutative_reduction(const Program& program, int block);

/// Throws if moving the init of a reduction before a loop around it would pass accesses to its
/// elements, including those of other instances of the reduction.
void require_init_passes(const Caller& caller, const Program& program, int block, int loop);

/// Throws unless every sum of a reduction has an instance that runs its init.
void require_begun(const Caller& caller, const Program& program, int block);

/// Returns a phrase about a conflict between instances that differ in a spatial iterator. Nullopt
/// if there is provably none.
std::optional<std::string> conflict_between_instances(const Program& program, int block);

/// Throws unless the instances of the block may run in any order that keeps the init of a sum
/// first: no two of them write one element, except when they accumulate.
void require_free_order(const Program& program, int block, const Caller& caller,
                        const std::string& step);

/// Whether each iteration of the loop can have its own memory for the buffer: every use is below
/// the loop and reads only what was written earlier in the same iteration. `thread`: the thread
/// axis that the loop is to be bound to, if any; by default, a block program has one buffer for all
/// threads.
bool has_own_memory(const Program& program, const tir::Buffer& buffer, int loop,
                    const std::optional<tir::ThreadTag>& thread);

/// Whether iterations of the loop that write the same element of the buffer write the same value,
/// and each reads only what it has written itself, so that threads may do so concurrently.
bool is_written_alike(const Program& program, const tir::Buffer& buffer, int loop);

/// Returns a phrase about a conflict between iterations of perfectly nested loops whose order is
/// reversed if the loops are in the order `after`. Nullopt if there is provably none.
std::optional<std::string> reversed_by_reordering(const Program& program,
                                                  const std::vector<int>& before,
                                                  const std::vector<int>& after);

/// Whether a buffer needs no order because each iteration has its own memory.
using IsExempt = std::function<bool(int block, const tir::Buffer&)>;
/// Whether two instances of one block may access a buffer in any order. `is_with_init`: one of them
/// is the block's init.
using IsUnordered = std::function<bool(int block, const tir::Buffer&, bool is_with_init)>;

/// Returns a phrase about a conflict between different iterations of a loop. Nullopt if there is
/// provably none.
std::optional<std::string> conflict_between_iterations(const Program& program, int loop,
                                                       const IsExempt& is_exempt,
                                                       const IsUnordered& is_unordered);

}  // namespace tenon::s_tir

// Checks of the execution order of instances, for steps that move loops or blocks.
//
// A step that moves a block checks with arith/dependence that the block does not conflict with
// anything that it passes: statements that ran before it and now run after it, or the reverse. The
// checks use the elements that bodies access, not the declared regions of blocks.
#pragma once

#include "s_tir/context.h"
#include "tenon/arith/dependence.h"

namespace tenon::s_tir {

/// The accesses of the moved block and of other statements that are compared.
enum class Compared : unsigned char {
  /// Compares all reads and writes of the block with all conflicting accesses of others.
  All,
  /// Compares the block's reads and writes with the writes of others. Ignores reads of the block's
  /// values by others, because they still read the same values.
  WithWrites,
  /// Compares the block's reads with the writes of others.
  ReadsWithWrites,
  /// Compares the block's writes with the reads of others.
  WritesWithReads,
};

/// The side of a block on which a move passes other statements.
enum class Side : unsigned char { Before, After };

/// The accesses and statements that find_passing_conflict compares.
struct PassingOptions {
  /// A statement whose accesses are compared instead of all accesses of the block, for example only
  /// the accesses of its init or only its reads of one buffer.
  std::optional<tir::Stmt> own = std::nullopt;
  Compared compared = Compared::All;
  /// Excludes instances of `other` in earlier or later iterations of `loop`.
  std::function<bool(int other, int loop)> is_excepted = nullptr;
  /// Excludes readers whose instances a loop repeats: only their last execution must follow the
  /// block's writes.
  bool excepts_repeated_readers = false;
  /// Whether the block also passes its own other instances, or only those.
  bool with_own_instances = false, only_own_instances = false;
  /// Parts of `top` that the block passes as well.
  std::vector<tir::Stmt> over = {};
};

/// Moves the block past everything that runs before (after) it in one iteration of the loops
/// outside `top`, within the direct child of `top` that contains the block. Returns a phrase about
/// the first conflict: "reads A[i], and block `W` writes A[j]". Nullopt if there is provably none.
std::optional<std::string> find_passing_conflict(const Program& program, int block, int top,
                                                 Side side, const PassingOptions& options = {});

/// Returns the accesses of one instance of a block, in terms of the enclosing loops' variables.
std::vector<arith::Access> accesses_of(const Program& program, int block);

/// Whether one of the expressions is structurally equal to `e`.
bool has_equal(const std::vector<tir::Expr>& all, const tir::Expr& e);

/// Returns the statement in the loops and guards of an access by one instance of a block.
tir::Stmt in_context_of(const arith::Access& access, tir::Stmt s);

/// Whether the stores in `part`, the init or the body of the block, write the whole region each
/// time that the part runs. A call that receives the address is assumed to do so if `part` does not
/// store to the buffer.
bool stores_region(const Program& program, int block, const tir::Stmt& part,
                   const tir::BufferRegion& write);

/// Returns the parts of the sequence `top` between the parts that contain `first` and `second`;
/// empty if `top` is not a sequence.
std::vector<tir::Stmt> parts_between(const Program& program, int top, int first, int second);

/// Returns the conflict as a phrase: "reads A[i], and block `W` writes A[j]".
std::string conflict_text(const arith::Conflict& conflict);

/// Whether each iteration of the loop runs the same instances of the block, and each of them writes
/// the same values again.
bool writes_same_again(const Program& program, int block, int loop);

/// Whether a reduction iterator of the block depends on the loop.
bool feeds_reduction(const Program& program, int block, int loop);
/// Returns the outermost loop on which a reduction iterator of the block depends.
std::optional<int> outermost_reduction_loop(const Program& program, int block);

/// Whether the instances of a block may combine their values in any order: the block is a sum,
/// product, minimum or maximum, or uses a commutative registered reducer, and its operands, its
/// indices and the conditions under which it runs do not read the buffers that it writes.
bool is_commutative_reduction(const Program& program, int block);

/// Throws if hoisting the init of a reduction above an enclosing loop would reorder it with
/// accesses to its elements, including accesses by other instances of the reduction.
void require_init_passes(const Caller& caller, const Program& program, int block, int loop);

/// Returns nullopt if every sum of a reduction has an instance that runs its init, and that
/// instance precedes the updates; otherwise the reason as a sentence. A reduction iterator that
/// counts down reaches its minimum, at which the init runs, only at the end.
std::optional<std::string> why_not_begun(const Program& program, int block);
/// Throws if there is such a reason.
void require_begun(const Caller& caller, const Program& program, int block);

/// Returns a phrase about a conflict between instances that differ in a spatial iterator. Nullopt
/// if there is provably no conflict.
std::optional<std::string> conflict_between_instances(const Program& program, int block);

/// Throws unless the instances of the block may run in any order in which the init of a sum
/// precedes its updates: no two of them write the same element, except to accumulate.
void require_free_order(const Program& program, int block, const Caller& caller,
                        const std::string& step);

/// Whether each iteration of the loop can have private memory for the buffer: every use is inside
/// the loop and reads only elements that were written earlier in the same iteration. `thread`: the
/// thread axis that the loop is to be bound to, if any; threads do not have private memory for a
/// buffer whose scope they share.
bool has_own_memory(const Program& program, const tir::Buffer& buffer, int loop,
                    const std::optional<tir::ThreadTag>& thread);

/// Returns a buffer that a block inside the loop allocates in memory that the threads of `thread`
/// share, to which the loop is bound. Nullopt if the threads have memory of their own.
std::optional<tir::Buffer> buffer_of_all_threads(const Program& program, int loop,
                                                 const std::optional<tir::ThreadTag>& thread);

/// Whether all iterations of the loop that write an element of the buffer write the same value to
/// it, and each iteration reads only values that it has written itself. Threads may then run the
/// iterations concurrently on one buffer.
bool is_written_alike(const Program& program, const tir::Buffer& buffer, int loop);

/// Returns a phrase about a conflict between iterations of the perfectly nested loops `before` that
/// the order `after` would reverse. Nullopt if there is provably none.
std::optional<std::string> reversed_by_reordering(const Program& program,
                                                  const std::vector<int>& before,
                                                  const std::vector<int>& after);

/// Whether the order of accesses to a buffer is irrelevant because each iteration has private
/// memory.
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

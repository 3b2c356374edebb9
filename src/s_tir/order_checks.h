// Checks of the execution order of block instances, for primitives that move loops or blocks.
//
//  A moved block passes the statements that ran before it and now run after it, or the reverse. The
//  checks prove with arith/dependence that the block does not conflict with these statements. They
//  use the elements that bodies access, not the declared regions of blocks.
#pragma once

#include "s_tir/context.h"
#include "tenon/arith/dependence.h"

namespace tenon::s_tir {

/// The pairs of accesses that are compared: an access of the moved block and an access of another
/// statement.
enum class Compared : unsigned char {
  /// Compares all reads and writes of the block with all conflicting accesses of others.
  All,
  /// Compares the block's reads and writes with the writes of others. Reads of the block's values
  /// by others are ignored, because the move does not change these values.
  WithWrites,
  /// Compares the block's reads with the writes of others.
  ReadsWithWrites,
  /// Compares the block's writes with the reads of others.
  WritesWithReads,
};

/// The options of find_passing_conflict.
struct PassingOptions {
  /// Whether the block passes the statements that run after it, instead of those that run before.
  bool passes_later = false;
  /// A statement whose accesses replace those of the block. For example, it contains only the
  /// block's init, or only its reads of one buffer.
  std::optional<tir::Stmt> own = std::nullopt;
  /// Whether only these accesses move, and the loops and branches around the block stay. Then the
  /// reads of ranges and conditions are not accesses of the block.
  bool keeps_control = false;
  Compared compared = Compared::All;
  /// Whether to ignore the instances of block `other` in earlier (or later) iterations of `loop`.
  std::function<bool(int other, int loop)> is_excepted = nullptr;
  /// Whether to ignore reads by blocks whose instances a loop repeats. Only the last execution of
  /// such an instance must follow the block's writes.
  bool excepts_repeated_readers = false;
  /// `with_own_instances`: the block is also reordered with other instances of itself.
  /// `only_own_instances`: it is reordered with nothing else.
  bool with_own_instances = false, only_own_instances = false;
  /// Additional parts of `top` that the block passes.
  std::vector<tir::Stmt> over = {};
};

/// Checks the move of a block past everything that runs before it (or after it) in one iteration of
/// the loops outside `top`, inside the direct child of `top` that contains the block. Returns a
/// phrase about the first conflict: "reads A[i], and block `W` writes A[j]". Nullopt if there is
/// provably no conflict.
std::optional<std::string> find_passing_conflict(const Program& program, int block, int top,
                                                 const PassingOptions& options = {});

/// Returns the memory that `whole`, a statement in the scope of node `n`, writes.
arith::WrittenMemory written_by(const Program& program, int n, const tir::Stmt& whole);

/// Returns the accesses of one instance of a block, in terms of the enclosing loops' variables.
std::vector<arith::Access> accesses_of(const Program& program, int block);

/// Whether one of the expressions is structurally equal to `e`.
bool has_equal(const std::vector<tir::Expr>& all, const tir::Expr& e);

/// Returns the statement inside the loops and guards that enclose the access in one instance of its
/// block.
tir::Stmt in_context_of(const arith::Access& access, tir::Stmt s);

/// Whether the stores in `part` always write the whole region. `part` is the init or the body of
/// the block. If `part` does not store to the buffer, but passes its address to a call, the call is
/// assumed to write the region.
bool stores_region(const Program& program, int block, const tir::Stmt& part,
                   const tir::BufferRegion& write);

/// Returns the parts of the sequence `top` between the parts that contain `first` and `second`;
/// empty if `top` is not a sequence.
std::vector<tir::Stmt> parts_between(const Program& program, int top, int first, int second);

/// Whether a statement in the scope of block `top`, or below the loop `top`, writes a buffer that
/// the block reads.
bool changes_inputs(const Program& program, int block, int top);

/// Whether all iterations of the loop run the same instances of the block, and each instance writes
/// the same values in all of them.
bool writes_same_again(const Program& program, int block, int loop);

/// Whether an iterator of the given kind depends on the loop.
bool iterator_uses(const Program& program, int block, int loop, tir::IterKind kind);
/// Whether a reduction iterator of the block depends on the loop.
inline bool feeds_reduction(const Program& program, int block, int loop) {
  return iterator_uses(program, block, loop, tir::IterKind::Reduce);
}
/// Returns the outermost loop on which a reduction iterator of the block depends.
std::optional<int> outermost_reduction_loop(const Program& program, int block);

/// Whether the instances of a block may combine their values in any order. This holds if the block
/// is a sum, product, minimum or maximum, or uses a commutative registered reducer. In addition,
/// its operands, its indices and the conditions under which it runs must not read the buffers that
/// it writes.
bool is_commutative_reduction(const Program& program, int block);

/// Throws if hoisting the init of a reduction above an enclosing loop would reorder it with other
/// accesses to the elements that it initializes. Accesses by other instances of the reduction count
/// as well.
void require_init_passes(const Caller& caller, const Program& program, int block, int loop);

/// Checks that each element of a reduction is initialized before its updates. Returns nullopt, or
/// the reason as a sentence. For example, a reduction iterator that counts down reaches its
/// minimum, at which the init runs, only at the end.
std::optional<std::string> why_not_begun(const Program& program, int block);
/// Throws the reason that why_not_begun returns, if any.
void require_begun(const Caller& caller, const Program& program, int block);

/// Returns a phrase about a conflict between instances that differ in a spatial iterator. Nullopt
/// if there is provably no conflict.
std::optional<std::string> conflict_between_instances(const Program& program, int block);

/// Throws if conflict_between_instances finds a conflict. `prefix` begins the message.
void require_no_conflict_between_instances(const Caller& caller, const Program& program, int block,
                                           const std::string& prefix = "");

/// Throws unless the instances of the block may run in any order. No two instances may write the
/// same element, except that a reduction may accumulate into it after its init.
void require_free_order(const Program& program, int block, const Caller& caller,
                        const std::string& step);

/// Whether each iteration of the loop can have private memory for the buffer. Every use of the
/// buffer must be inside the loop, and must read only elements that were written earlier in the
/// same iteration. `thread` is the thread axis to which the loop will be bound, if any. The threads
/// of `thread` must not share the buffer's scope.
bool has_own_memory(const Program& program, const tir::Buffer& buffer, int loop,
                    const std::optional<tir::ThreadTag>& thread);

/// Returns a buffer that is allocated inside the loop, in memory that the threads of `thread`
/// share. The loop is bound to `thread`. Nullopt if each thread has its own memory.
std::optional<tir::Buffer> buffer_of_all_threads(const Program& program, int loop,
                                                 const std::optional<tir::ThreadTag>& thread);

/// Whether concurrent iterations of the loop can use one buffer: all iterations that write an
/// element write the same value, and each iteration reads only values that it has written itself.
bool is_written_alike(const Program& program, const tir::Buffer& buffer, int loop);

/// Returns a phrase about a conflict between two iterations of the perfectly nested loops `before`
/// whose order changes when the loops are nested as in `after`. Nullopt if there is provably no
/// conflict.
std::optional<std::string> reversed_by_reordering(const Program& program,
                                                  const std::vector<int>& before,
                                                  const std::vector<int>& after);

/// Whether accesses to the buffer by a leaf (Program::leaves) are ignored, because each iteration
/// has private memory for it.
using IsExempt = std::function<bool(int leaf, const tir::Buffer&)>;
/// Whether two instances of a block may access a buffer in any order. If `is_with_init`, one of the
/// two runs the block's init.
using IsUnordered = std::function<bool(int block, const tir::Buffer&, bool is_with_init)>;

/// Returns a phrase about a conflict between different iterations of a loop. Nullopt if there is
/// provably none.
std::optional<std::string> conflict_between_iterations(const Program& program, int loop,
                                                       const IsExempt& is_exempt,
                                                       const IsUnordered& is_unordered);

}  // namespace tenon::s_tir

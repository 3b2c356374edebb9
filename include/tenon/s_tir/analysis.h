// Analyses of block programs for schedule primitives. Each result is computed from the current
// program and not cached, so that it cannot become stale.
//
// Terms: An *instance* of a block is one combination of values of its iterators. A *complete* block
// has only spatial iterators, is the only writer of the buffers that it writes, and does not read
// them: its instances may run in any order, and repeatedly. A *reduction* block has an init, and
// its reduction iterators do not occur in the indices of what it writes. decompose_reduction makes
// two blocks of it: its init, and an *update* of the same buffers. Together, the two remain a
// reduction.
#pragma once

#include <string>
#include <utility>

#include "tenon/s_tir/program.h"

namespace tenon::s_tir {

/// The kind of computation that a block performs.
enum class BlockClass : unsigned char { Complete, Reduction, ReductionInit, ReductionUpdate };

/// Returns the class of the block at node `block` within its scope. If it has none, returns nullopt
/// and the reason as a phrase about the block: "reads `C`, which it writes".
std::pair<std::optional<BlockClass>, std::string> classify(const Program& program, int block);

/// Returns the preceding blocks in the same scope that write buffers read by `block`, in textual
/// order.
std::vector<int> producers(const Program& program, int block);
/// Returns the following blocks in the same scope that read buffers written by `block`, in textual
/// order.
std::vector<int> consumers(const Program& program, int block);

/// Return the producers and consumers as TVM 0.9 lists them: each block once per dependence (read
/// after write, write after write, write after read).
std::vector<int> dependence_sources(const Program& program, int block);
std::vector<int> dependence_targets(const Program& program, int block);

/// Returns the init of an update, or the update of an init.
std::optional<int> other_half(const Program& program, int block);

/// Returns the block at or around `around` that allocates the buffer. Nullopt for parameters and
/// matched buffers.
std::optional<int> allocated_by(const Program& program, const tir::Buffer& buffer, int around);

/// Whether the block's bindings are quasi-affine (condition A1). Each iterator value is then a
/// mixed-radix number whose digits are loops in the block's scope, or quotients and remainders of
/// these loops by constants. Together, the values take every combination.
bool has_affine_bindings(const Program& program, int block);

/// Whether the block's instances may differ between iterations of the loop.
bool depends_on(const Program& program, int block, int loop);

/// Whether every instance of `block` sees the final values of the inputs that `producer` writes:
/// the instance is executed, at least once, in or after the iteration of `loop` in which `producer`
/// last writes these inputs. (If the loop determines no iterator of the block, each of its
/// iterations executes the same instances, and the last iteration is late enough.)
bool runs_after_last(const Program& program, int block, int producer, int loop);

/// The treatment of a producer below a loop without iterations, which writes nothing. Counts: it
/// counts as writing its elements. CountsIfAlwaysEmpty: it counts only if the loop has no
/// iterations in all iterations of the loops around it, so that no element is left from an earlier
/// iteration.
enum class EmptyProducer : unsigned char { Counts, CountsIfAlwaysEmpty, DoesNotCount };

/// Whether the producer writes all elements of `buffer` that the consumer reads, before the
/// consumer reads them. This must hold in each iteration of the loops around both. Both blocks are
/// in one scope. False means "not proved".
bool covers_reads(const Program& program, int producer, int consumer, const tir::Buffer& buffer,
                  EmptyProducer empty = EmptyProducer::CountsIfAlwaysEmpty);

/// Returns the description used in errors: "`i` of block `C`".
std::string describe(const Program& program, int n);

}  // namespace tenon::s_tir

// What schedules ask about a block program. Everything is computed from the program when it is
// asked: nothing is kept that a later step could make false.
//
// Vocabulary. A block's *instance* is one combination of values of its iterators. A *complete*
// block has spatial iterators only, is the only writer of what it writes, and does not read it: its
// instances may run in any order and more than once. A *reduction* block has an init, and
// iterators of which those that reduce are in no index of what it writes. After
// decompose_reduction the init is a block of its own and the rest an *update* of the same buffers;
// the two together are still one reduction.
#pragma once

#include <string>

#include "tenon/s_tir/program.h"

namespace tenon::s_tir {

/// What kind of work a block does.
enum class BlockClass : unsigned char { Complete, Reduction, ReductionInit, ReductionUpdate };

/// The class of a block within its scope, or why it has none.
struct Classified {
  std::optional<BlockClass> block_class;
  /// A half sentence about the block: "reads `C`, which it writes".
  std::string reason;
};
/// Of the block that is that node of the program.
Classified classify(const Program& program, int block);

/// Blocks of the same scope that write what it reads, and stand before it; in the order of the
/// text.
std::vector<int> producers(const Program& program, int block);
/// Blocks of the same scope that read what it writes, and stand behind it.
std::vector<int> consumers(const Program& program, int block);

/// As the reference lists producers and consumers: a block stands there once for each dependence
/// on it (read after write, write after write, write after read).
std::vector<int> dependence_sources(const Program& program, int block);
std::vector<int> dependence_targets(const Program& program, int block);

/// The init that belongs to an update, or the update that belongs to an init.
std::optional<int> other_half(const Program& program, int block);

/// Whether a buffer is allocated by a block around (not a parameter, not a matched buffer): the
/// number of that block.
std::optional<int> allocated_by(const Program& program, const tir::Buffer& buffer, int around);

/// Whether every value of every iterator comes about, by digits of the loops around it in its
/// scope (A1 of quasi-affine bindings).
bool has_affine_bindings(const Program& program, int block);

/// Whether the loop has a part in which instances of the block run: its iterations may run
/// different ones.
bool depends_on(const Program& program, int block, int loop);

/// Whether the last iteration of the loop in which an instance of the block runs is not before the
/// last one in which the producer, whose iterations it reads from, writes for it: loops that an
/// iterator of the block does not count run its instances again.
bool runs_after_last(const Program& program, int block, int producer, int loop);

/// The producer writes, before the consumer reads it, all that the consumer reads of the buffer in
/// each iteration of the loops around both; both stand in one scope. False means not proved.
bool covers_reads(const Program& program, int producer, int consumer, const tir::Buffer& buffer);

/// "`i` of block `C`": how errors name a loop or a block.
std::string describe(const Program& program, int n);

}  // namespace tenon::s_tir

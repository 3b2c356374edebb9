// The cost model of register tiling: one place for the limits of the passes that decide what stays
// in vector registers, because the limits only work together.
//
//   split_wide_vectors, privatize_buffers, widen_vectors   make bodies of whole registers
//   tile_registers   brings as many sums together as `for_sums` registers hold, keeps them there
//                    while loops add to them, and orders additions so that operands fit the others
#pragma once

#include "tenon/tir/target.h"
#include "tenon/tir/type.h"

namespace tenon::lowering {

/// Returns the number of vector registers of `vector_bits` bits that a value of the type occupies.
inline int registers_for(DataType dtype, int vector_bits) {
  return (dtype.bits * dtype.lanes + vector_bits - 1) / vector_bits;
}

/// The maximum number of registers of a vector that is kept whole, such as a register tile of sums.
inline constexpr int kMaxRegistersOfVector = 16;
/// The number of registers per part of a vector that is split. One register would leave no
/// independent operations; many would not leave room for the other values of a body.
inline constexpr int kRegistersOfPart = 4;

/// The maximum size of memory that each iteration has for itself: larger memory does not fit
/// registers and uses too much stack.
inline constexpr std::int64_t kMaxPrivateBytes = 1024;

/// The minimum number of widened iterations of a loop that needs a tail loop.
inline constexpr std::int64_t kMinRoundsBeforeTail = 4;
/// The minimum trip count of a widened parallel loop, so that the threads have enough to share.
inline constexpr std::int64_t kMinParallelIterations = 256;

/// The maximum number of stores after jamming. Longer bodies cost more in the decoder and the
/// compiler than sums in registers gain.
inline constexpr std::size_t kMaxJammedStores = 128;
/// The minimum number of additions per sum. With fewer, loading and storing the sum dominates, and
/// the jammed rows only compete for cache lines.
inline constexpr std::int64_t kMinAdditions = 8;
/// The same minimum for sums that are contiguous in memory.
inline constexpr std::int64_t kMinAdditionsOfNeighbours = 2;

/// Returns the maximum number of jammed copies of a body whose sums occupy `registers` registers.
/// One register leaves half of them for an enclosing loop, whose copies share the other operand.
inline std::int64_t max_copies(int registers, const tir::VectorRegisters& of) {
  return of.for_sums / registers / (registers == 1 ? 2 : 1);
}

/// Whether sums that occupy `registers` registers are promoted. Some may be spilled, which still
/// saves more than loading and storing all of them for each addition.
inline bool may_promote(int registers, const tir::VectorRegisters& of) {
  return registers <= 2 * of.for_sums;
}

}  // namespace tenon::lowering

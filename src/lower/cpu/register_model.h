// The cost model of register tiling. It holds the limits of all passes that decide what stays in
// vector registers, because the limits only work together.
//
//   split_wide_vectors, privatize_buffers, widen_vectors   make bodies of whole registers
//   tile_registers   jams loops until the sums occupy up to `for_sums` registers, keeps the sums in
//                    registers while loops add to them, and orders additions so that the operands
//                    fit in the remaining registers
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
/// The number of registers per part if a vector is split. With one register, there would be no
/// independent operations. With many, the other values of the body would not have enough registers.
inline constexpr int kRegistersOfPart = 4;

/// The maximum size, in bytes, of a buffer that is private to each iteration. Larger memory does
/// not fit registers and uses too much stack.
inline constexpr std::int64_t kMaxPrivateBytes = 1024;

/// The minimum number of iterations after widening if the loop needs a tail loop.
inline constexpr std::int64_t kMinRoundsBeforeTail = 4;
/// The minimum trip count after widening a parallel loop, so that the threads have enough
/// iterations to share.
inline constexpr std::int64_t kMinParallelIterations = 256;

/// The maximum number of stores after jamming. Longer bodies cost more time in the decoder and the
/// compiler than is gained by keeping sums in registers.
inline constexpr std::size_t kMaxJammedStores = 128;
/// The minimum number of additions per sum. With fewer additions, loading and storing the sum
/// dominates, and the jammed rows only compete for cache lines.
inline constexpr std::int64_t kMinAdditions = 8;
/// The minimum number of additions per sum if the sums are contiguous in memory.
inline constexpr std::int64_t kMinAdditionsOfNeighbours = 2;

/// Returns the maximum number of jammed copies of a body whose sums occupy `registers` registers.
/// If a copy needs only one register, half of the registers are left for jamming an enclosing loop,
/// whose copies share the other operand.
inline std::int64_t max_copies(int registers, const tir::VectorRegisters& of) {
  return of.for_sums / registers / (registers == 1 ? 2 : 1);
}

/// Whether sums that occupy `registers` registers are kept in registers. Some of them may be
/// spilled, but that still saves more than loading and storing all sums for each addition.
inline bool may_promote(int registers, const tir::VectorRegisters& of) {
  return registers <= 2 * of.for_sums;
}

}  // namespace tenon::lowering

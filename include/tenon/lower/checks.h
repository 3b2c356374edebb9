// The access checker and the race checker. Both work on loops: accesses over multi-dimensional
// buffers still have the user's indices.
//
//   for i < 20: B[i] = A[I[i]]          B[i] is in bounds; A[I[i]] is not proved
//   for parallel i < 20: B[floordiv(i, 2)] = A[i]        the store conflicts with itself
//
// The passes `check_accesses` and `instrument_bounds` check at run time the accesses that are not
// proved.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tenon/arith/dependence.h"
#include "tenon/arith/iteration_box.h"
#include "tenon/lower/pipeline.h"
#include "tenon/tir/function.h"

namespace tenon::lowering {

// ---- accesses -----------------------------------------------------------------------------------

/// Result for one index. Outside: the index is out of bounds whenever the access happens.
enum class Inside : std::uint8_t { Proved, NotProved, Outside };

/// A load or store, with the results of the proofs about its indices.
struct AccessProof {
  /// The access. Its `stage` is the accessed buffer if the enclosing statement stores nothing.
  arith::Access access;
  /// The allowed range of each index: the extent of an argument, or the part of a tensor that is
  /// stored. Empty if the size of the memory is unknown.
  std::vector<tir::Range> allowed;
  /// One result per index. A single NotProved if `allowed` is empty.
  std::vector<Inside> inside;
  /// Whether the access is under a condition that may never hold.
  bool is_conditional;

  /// Whether all indices are provably in bounds.
  bool is_proved() const;
  /// Whether an index is Outside and the access is unconditional within its loops.
  bool is_wrong() const;
};

/// Returns the results for all accesses, in textual order. Precondition: the function is
/// multi-dimensional.
std::vector<AccessProof> prove_accesses(const tir::PrimFunc& func);

/// Throws BoundError for the first access for which is_wrong() holds. Attempts only the proofs that
/// this needs, so that it is cheap.
void refuse_wrong_accesses(const tir::PrimFunc& func);

/// Returns the conditions on symbolic sizes under which the accesses of the function are in bounds.
/// Covers the accesses that every iteration of the enclosing loops performs and whose indices are
/// affine. Throws BoundError for an access that is out of bounds in an iteration for all sizes. For
/// a block program, returns the conditions under which the inits of its reductions run.
/// Precondition: the function is a block program or multi-dimensional.
std::vector<arith::SizeCondition> size_conditions(const tir::PrimFunc& func);

/// Returns the function preceded by checks of those conditions whose sizes its arguments determine.
tir::PrimFunc with_size_checks(tir::PrimFunc func,
                               const std::vector<arith::SizeCondition>& conditions);

/// Returns the stage of the buffer with its source location: "B, gather.cpp:9".
std::string stage_text(const tir::PrimFunc& func, const std::string& stage_buffer);
/// Returns the condition that is not proved: "I[i] in [0, 20)".
std::string unproved_text(const AccessProof& proof);

// ---- races --------------------------------------------------------------------------------------

/// A parallel or vectorized loop, and two accesses in its body, at least one of them a write, that
/// may touch the same element in different iterations.
struct LoopProof {
  tir::Var var;
  tir::ForKind kind;
  std::optional<arith::Conflict> conflict;
  /// Whether all iterations provably write the same element of an argument.
  bool is_certain = false;
};

/// The loops to prove: all, or only those of extern operations and tensor intrinsics. The loops
/// that schedule primitives make are independent by construction.
enum class LoopsToProve : std::uint8_t { All, OfExternCode };

/// Returns the parallel and vectorized loops in textual order, without those that the pragma
/// independent_iterations covers. Iterations share memory that is allocated outside of the loop.
std::vector<LoopProof> prove_loops(const tir::PrimFunc& func,
                                   LoopsToProve which = LoopsToProve::All);
/// Returns the error message for a loop with a conflict.
std::string conflict_text(const tir::PrimFunc& func, const LoopProof& proof);

/// Throws a LowerError, with the buffer and the loops, if tasks of a persistent parallel region
/// (pragma parallel_launch_point) race. Every task runs the body, and the tasks share the
/// iterations of the parallel loops inside. Errors are: several tasks execute the same store or
/// call; a loop accesses a buffer that another loop fills or reads without a barrier between them;
/// each task would have its part of a buffer in separate memory.
void refuse_region_races(const tir::PrimFunc& func);

/// Throws LowerError unless each element that a block of the kernel reads is proved to be written
/// by no other block, or by every block in the same way and before the read. `kernel` is a
/// statement of `func` with its thread axes outermost. A barrier orders the threads of one block;
/// nothing orders blocks:
///
///   attr blockIdx.x = 4 {
///     B[blockIdx.x] = 1          // each block its own element
///     for (t, 0, 8) {
///       X[t + 1] = X[t]*2        // every block computes all of X
///       if (blockIdx.x == 0)
///         Y[t] = X[t]
///       Z[blockIdx.x] = Y[t]     // refused: block 1 reads what block 0 writes
///     }
///
/// Also throws if threads of one block certainly race where no barrier can help:
///
///   B[0] = A[threadIdx.x]                 // all write one element, each its own value
///   S[threadIdx.x] = S[threadIdx.x + 1]   // read and written in one statement, by two threads
void refuse_launch_races(const tir::Stmt& kernel, const tir::PrimFunc& func);

/// Throws LowerError if a thread certainly reads an element of memory that its block, its warp or
/// the thread itself has its own copy of, and that is never written in this copy.
///
///   L[threadIdx.x] = A[threadIdx.x]       // L has scope "local": each thread has its own copy
///   B[threadIdx.x] = L[7 - threadIdx.x]   // refused
void refuse_reads_of_other_copies(const tir::Stmt& kernel);

}  // namespace tenon::lowering

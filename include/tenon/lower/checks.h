// The access checker and the race checker. Both analyse the loop program before flatten_storage,
// because its multi-dimensional accesses still have the user's indices.
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

/// The result of the proof for one index. Outside: the index is out of bounds whenever the access
/// happens.
enum class Inside : std::uint8_t { Proved, NotProved, Outside };

/// A load or store, with the results of the proofs about its indices.
struct AccessProof {
  /// The access. If the enclosing statement stores nothing, its member `stage` names the accessed
  /// buffer.
  arith::Access access;
  /// The allowed range of each index: the extent of an argument, or the part of a tensor that has
  /// memory. Empty if the size of the memory is unknown.
  std::vector<tir::Range> allowed;
  /// One result per index. A single NotProved if `allowed` is empty.
  std::vector<Inside> inside;
  /// Whether the access is under a condition that may never hold.
  bool is_conditional;

  /// Whether all indices are provably in bounds.
  bool is_proved() const;
  /// Whether an index is Outside and the access happens in every iteration of the enclosing loops.
  bool is_wrong() const;
};

/// Returns the results for all accesses, in textual order. Precondition: the function is
/// multi-dimensional.
std::vector<AccessProof> prove_accesses(const tir::PrimFunc& func);

/// Throws BoundError for the first access that is wrong (see AccessProof::is_wrong). Attempts only
/// the proofs that this needs, so that it is cheap.
void refuse_wrong_accesses(const tir::PrimFunc& func);

/// Returns the conditions on symbolic sizes that the function requires. Precondition: the function
/// is multi-dimensional or a block program.
///
/// For a multi-dimensional function, these are the conditions under which its accesses are in
/// bounds. Covers accesses that every iteration of the enclosing loops performs and whose indices
/// are affine. Throws BoundError for an access that is out of bounds in some iteration for all
/// sizes. For a block program, these are the conditions under which the inits of its reductions
/// run.
std::vector<arith::SizeCondition> size_conditions(const tir::PrimFunc& func);

/// Returns a function that checks the conditions before `func` runs. Omits conditions on sizes that
/// are not determined by the arguments.
tir::PrimFunc with_size_checks(tir::PrimFunc func,
                               const std::vector<arith::SizeCondition>& conditions);

/// Returns the stage of the buffer with its source location: "B, gather.cpp:9".
std::string stage_text(const tir::PrimFunc& func, const std::string& stage_buffer);
/// Returns the condition that is not proved: "I[i] in [0, 20)".
std::string unproved_text(const AccessProof& proof);

// ---- races --------------------------------------------------------------------------------------

/// The result of the proof for a parallel or vectorized loop. `conflict` is a pair of accesses, at
/// least one of them a write, that may touch the same element in different iterations.
struct LoopProof {
  tir::Var var;
  tir::ForKind kind;
  std::optional<arith::Conflict> conflict;
  /// Whether the conflict is certain: all iterations provably write the same element of an
  /// argument.
  bool is_certain = false;
};

/// The loops to prove: all loops, or only the loops of extern operations and tensor intrinsics.
/// Other loops come from schedule primitives, which make only independent loops.
enum class LoopsToProve : std::uint8_t { All, OfExternCode };

/// Returns proofs for the parallel and vectorized loops, in textual order. Omits loops with the
/// pragma independent_iterations. Memory that is allocated outside a loop is shared by its
/// iterations.
std::vector<LoopProof> prove_loops(const tir::PrimFunc& func,
                                   LoopsToProve which = LoopsToProve::All);
/// Returns the error message for a loop with a conflict.
std::string conflict_text(const tir::PrimFunc& func, const LoopProof& proof);

/// Throws a LowerError, naming the buffer and the loops, if tasks of a persistent parallel region
/// (pragma parallel_launch_point) race. Every task runs the whole body of the region, but each
/// parallel loop inside it is divided among the tasks. The errors are:
/// - A store or call is outside all parallel loops, so that every task executes it.
/// - A loop or statement accesses a buffer that an earlier loop of other tasks may still write or
///   read, because no barrier is between them.
/// - A parallel loop writes a buffer that is allocated in the region, so that each task would fill
///   only a part of its own copy.
void refuse_region_races(const tir::PrimFunc& func);

/// Checks a kernel for races between blocks and threads. `kernel` is a statement of `func` with its
/// thread axes outermost.
///
/// Throws LowerError if a block may read an element that another block writes, because no barrier
/// orders blocks. An element is accepted if every block writes it in the same way before it reads
/// it.
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
/// Also throws LowerError if threads of one block certainly race and no barrier can prevent the
/// race:
///
///   B[0] = A[threadIdx.x]                 // all write one element, each its own value
///   S[threadIdx.x] = S[threadIdx.x + 1]   // read and written in one statement, by two threads
void refuse_launch_races(const tir::Stmt& kernel, const tir::PrimFunc& func);

/// Throws LowerError if a thread certainly reads an element that no thread writes. Memory in scopes
/// other than "global" has a separate copy for each block, warp or thread. A write to another copy
/// of the element does not count.
///
///   L[threadIdx.x] = A[threadIdx.x]       // L has scope "local": each thread has its own copy
///   B[threadIdx.x] = L[7 - threadIdx.x]   // refused
void refuse_reads_of_other_copies(const tir::Stmt& kernel);

}  // namespace tenon::lowering

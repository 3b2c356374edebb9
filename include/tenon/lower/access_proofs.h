// Proofs about accesses in loops over multi-dimensional buffers, where accesses still have the
// user's indices: whether an access is in bounds, and whether concurrent iterations touch the same
// element.
//
//   for i < 20: B[i] = A[I[i]]          B[i] is in bounds; A[I[i]] is not proved
//   for parallel i < 20: B[floordiv(i, 2)] = A[i]        the store conflicts with itself
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tenon/arith/dependence.h"
#include "tenon/lower/pipeline.h"
#include "tenon/tir/function.h"

namespace tenon::lowering {

using arith::AccessKind;

/// Result for one index. Outside: the index is out of bounds whenever the access happens.
enum class Inside : std::uint8_t { Proved, NotProved, Outside };

/// A load or store, and what is proved about its indices.
struct AccessProof {
  AccessKind kind;
  tir::Buffer buffer;
  std::vector<tir::Expr> indices;
  /// The allowed range of each index: the extent of an argument, or the part of a tensor that is
  /// stored. Empty if the size of the memory is unknown.
  std::vector<tir::Range> room;
  /// One result per index. A single NotProved if `room` is empty.
  std::vector<Inside> inside;
  /// Whether the access is under a condition that may never hold.
  bool is_conditional;
  /// The buffer that the enclosing statement stores to, which identifies its stage; the accessed
  /// buffer if the statement stores nothing.
  std::string stage_buffer;

  /// Whether all indices are provably in bounds.
  bool is_proved() const;
  /// Whether an index is Outside and the access is unconditional within its loops.
  bool is_wrong() const;
};

/// Returns the results for all accesses, in textual order. Precondition: the function is
/// multi-dimensional.
std::vector<AccessProof> prove_accesses(const tir::PrimFunc& func);

/// Returns the first access for which is_wrong() holds. Cheaper than prove_accesses.
std::optional<AccessProof> find_wrong_access(const tir::PrimFunc& func);

/// Returns the stage of the buffer with its source location: "B, gather.cpp:9".
std::string stage_text(const tir::PrimFunc& func, const std::string& stage_buffer);
/// Return the access as text, "reads A[I[i], j]", and the unproved condition, "I[i] in [0, 20)".
std::string access_text(const AccessProof& access);
std::string open_text(const AccessProof& access);
/// Returns the error message for an access that is out of bounds.
std::string wrong_text(const tir::PrimFunc& func, const AccessProof& access);

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
/// independent_iterations covers. Memory that only a parallel loop uses and that each iteration
/// writes first counts as private to the iteration, unless the options disable storage rewriting.
std::vector<LoopProof> prove_loops(const tir::PrimFunc& func,
                                   LoopsToProve which = LoopsToProve::All,
                                   const PassOptions& options = {});
/// Returns the error message for a loop with a conflict.
std::string conflict_text(const tir::PrimFunc& func, const LoopProof& proof);

}  // namespace tenon::lowering

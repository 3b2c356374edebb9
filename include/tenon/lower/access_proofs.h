// Whether loads and stores lie inside of their buffers, and whether iterations that run side by
// side touch the same element: proofs on loops over multi-dimensional buffers, where accesses still
// have the user's indices.
//
//   for i < 20: B[i] = A[I[i]]          B[i] is inside; of A[I[i]] it is not proved
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

/// Outside: whenever the access happens, the index is beyond an end.
enum class Inside : std::uint8_t { Proved, NotProved, Outside };

/// A load or a store, and what is proved of where it goes.
struct AccessProof {
  AccessKind kind;
  tir::Buffer buffer;
  std::vector<tir::Expr> indices;
  /// Per index, where it must lie: the extents of an argument, or the part of a tensor that is
  /// kept. Empty where nothing is known of the memory.
  std::vector<tir::Range> room;
  /// Per index; one entry, NotProved, where there is no room.
  std::vector<Inside> inside;
  /// Under a condition that may never hold.
  bool is_conditional;
  /// The buffer that the statement stores to, which says which stage it is of; the access's own
  /// where it stores nothing.
  std::string stage_buffer;

  /// Whether the access surely lies inside.
  bool is_proved() const;
  /// Some index is Outside, and the access happens where the loops around it do.
  bool is_wrong() const;
};

/// Of all accesses, in the order of the text. Precondition: the function is multi-dimensional.
std::vector<AccessProof> prove_accesses(const tir::PrimFunc& func);

/// The first access that is outside whenever it happens, and happens wherever its loops run: what
/// is_wrong of a proof says, at little cost.
std::optional<AccessProof> find_wrong_access(const tir::PrimFunc& func);

/// "B, gather.cpp:9": the stage of the buffer, and the line that the function has noted.
std::string stage_text(const tir::PrimFunc& func, const std::string& stage_buffer);
/// "reads A[I[i], j]", and what is not proved of it, "I[i] in [0, 20)".
std::string access_text(const AccessProof& access);
std::string open_text(const AccessProof& access);
/// Of an access that is wrong, the sentence for the user.
std::string wrong_text(const tir::PrimFunc& func, const AccessProof& access);

/// A parallel or vectorized loop, and two accesses of its body that may touch the same element in
/// two iterations, at least one of them a write.
struct LoopProof {
  tir::Var var;
  tir::ForKind kind;
  std::optional<arith::Conflict> conflict;
  /// All iterations write the same element of an argument.
  bool is_certain = false;
};

/// The loops whose iterations are not known to be independent by the way they were made: all, or
/// those of extern operations and tensor intrinsics, whose code schedules do not make.
enum class LoopsToProve : std::uint8_t { All, OfExternCode };

/// The parallel and vectorized loops in the order of the text, except those that the pragma
/// independent_iterations covers. Memory that a parallel loop alone uses, and that each iteration
/// fills first, counts as the iteration's own, unless the options leave memory where it is.
std::vector<LoopProof> prove_loops(const tir::PrimFunc& func,
                                   LoopsToProve which = LoopsToProve::All,
                                   const PassOptions& options = {});
/// The sentence for the user about a loop with a conflict.
std::string conflict_text(const tir::PrimFunc& func, const LoopProof& proof);

}  // namespace tenon::lowering

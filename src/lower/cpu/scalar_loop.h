// What a loop's iterations do to memory, for loops of scalar code whose iterations might run as
// lanes of vectors.
//
//   for (i, 0, n) { let x = A[i]; B[i] = x*x; S[0] = S[0] + C[i] }     // with integers in S
//
// B's stores meet nothing that another iteration touches, and S[0] is a reduction: lanes may add up
// by themselves and be added in the end.
#pragma once

#include <optional>

#include "lower/loops/accumulation.h"
#include "tenon/arith/facts.h"

namespace tenon::lowering {

struct ScalarLoop {
  std::vector<Accumulation> accumulations;
  /// The widest type of the values that are computed for memory; at least 8.
  int widest_bits = 8;
  /// What an iteration does for its values: operations, and accesses by the way they move.
  int operations = 0;
  int contiguous = 0;
  /// Accesses of neighbours that lie two to four elements apart.
  int strided = 0;
  /// Other reads whose places differ between iterations.
  int gathered = 0;
  int scattered = 0;
  /// Stores that lie two to four elements apart and fill each other's gaps.
  int interleaved = 0;
  /// The narrowest element that lanes may only read or store where a condition holds; nullopt:
  /// none.
  std::optional<int> masked_bits;
  bool has_loops = false;
};

/// nullopt unless the body holds serial loops, lets, conditions and stores of scalars only, all of
/// whose values are computed without side effects, and no iteration reads or writes what another
/// one writes, accumulations aside. Of floats, accumulations only where they `may_reassociate`,
/// because lanes add up in another order. The facts are of what is around the loop; its variables
/// are added.
std::optional<ScalarLoop> read_scalar_loop(const tir::For& loop, arith::Facts& facts,
                                           bool may_reassociate);

/// Whether the buffer is known to have the element.
bool is_inside(const tir::Buffer& buffer, const tir::Expr& index, const arith::Facts& facts);

/// By how much an index grows per step of a variable, if that is the same for all its values.
std::optional<tir::Expr> step_of(const tir::Expr& index, const tir::Var& var);

/// Whether a function of mathematics has vector instructions or polynomials of its own: calls of a
/// library, lane by lane, gain nothing.
bool has_vector_form(const tir::Call& call);

}  // namespace tenon::lowering

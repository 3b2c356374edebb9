// Algebraic laws of reducers: whether a reduction may be regrouped into partial results or
// reordered. A user-defined reducer is tested on sample terms. A counterexample is definite;
// finding none is not a proof.
//
//   if (auto found = find_counterexample(*reduction.combiner, reduction.source, false,
//                                        {.regroups = true}))
//     fail("reducer `r` depends on the order: " + *found);
#pragma once

#include <optional>
#include <span>
#include <string>

#include "tenon/tir/expr.h"

namespace tenon::arith {

/// Changes of a transformation to the sequence of terms. Each relies on laws of the reducer.
struct ReductionChange {
  /// Combines consecutive terms first. Each group starts from the identity and may be empty. Relies
  /// on associativity and a neutral identity.
  bool regroups = false;
  /// Permutes terms. Relies on commutativity.
  bool reorders = false;
  /// Allows any of several equal values to win; terms that agree in a component are not tested.
  /// argmax may then return the index of any maximum.
  bool ignores_ties = false;
};

/// Returns terms whose reduction changes, as part of a sentence; nullopt if no such terms are
/// found. `sources` are the terms as written in the program: constants are kept, and an expression
/// without a load is taken to be an index, for which small distinct values are tried; if all are of
/// these kinds, partial results of several equal terms are tried too. `has_init` states that the
/// reduction starts from an init instead of the identity. Axes and parameters that the reducer uses
/// get sample values, too. Floats count as different only beyond rounding errors; NaN is not tried.
std::optional<std::string> find_counterexample(const tir::CommReducerNode& reducer,
                                               std::span<const tir::Expr> sources, bool has_init,
                                               ReductionChange change);

/// Whether combining the identity with a term yields that term.
bool is_identity_neutral(const tir::CommReducerNode& reducer, std::span<const tir::Expr> sources);

}  // namespace tenon::arith

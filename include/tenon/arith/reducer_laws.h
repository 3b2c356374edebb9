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

/// The changes that a transformation makes to the sequence of terms. A change is valid only if the
/// reducer satisfies certain laws.
struct ReductionChange {
  /// Combines groups of consecutive terms first. Each group starts from the identity and may be
  /// empty. Valid if the reducer is associative and its identity is neutral.
  bool regroups = false;
  /// Permutes terms. Valid if the reducer is commutative.
  bool reorders = false;
  /// Allows the result to depend on which of several equal values wins, as in argmax, which may
  /// then return the index of any maximum. Terms that agree in a component are not tested.
  bool ignores_ties = false;
};

/// Searches for terms whose reduction has another value after the change. Returns them with both
/// values as part of a sentence; nullopt if the search finds none. NaN is not tried, and floats are
/// computed in float64, so that rounding errors do not count. Also returns a reason if the reducer
/// calls a function that the interpreter does not know.
///
/// `sources` are the expressions of the terms; they determine the values to try. A constant keeps
/// its value, and an axis gets small consecutive values. Any other expression is data and gets
/// arbitrary values, but those of an expression that does not wrap (wraps.h) are small. If no
/// source is data, the search also uses partial results of equal terms. Axes and parameters that
/// the reducer uses get sample values. `has_init`: the reduction starts from an init instead of the
/// identity.
std::optional<std::string> find_counterexample(const tir::CommReducerNode& reducer,
                                               std::span<const tir::Expr> sources, bool has_init,
                                               ReductionChange change);

/// Whether combining the identity with a term yields that term. False if the reducer calls a
/// function that the interpreter does not know.
bool is_identity_neutral(const tir::CommReducerNode& reducer, std::span<const tir::Expr> sources);

}  // namespace tenon::arith

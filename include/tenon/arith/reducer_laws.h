// Laws of reducers: whether a reduction may be regrouped into partial results, or run in another
// order. Reducers that users wrote are tried on sample terms; a counterexample is exact, its
// absence is no proof.
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

/// The changes of a transformation to the sequence of terms. Each relies on laws of the reducer.
struct ReductionChange {
  /// Consecutive terms are combined first, each group starting from the identity; a group may be
  /// empty. Relies on associativity and on the identity being neutral.
  bool regroups = false;
  /// Terms take each other's place. Relies on commutativity.
  bool reorders = false;
  /// Any of several equal values may win: terms that agree in a component are not tried. argmax
  /// may then return any of the greatest elements.
  bool ignores_ties = false;
};

/// Terms whose reduction gives another result after the change, as part of a sentence; nullopt if
/// none is found. `sources` are the terms as the program writes them: constants stay what they are,
/// expressions without a load are positions, which are small and all different. `has_init`: the
/// reduction starts from a value of its own instead of the identity. Floats differ where rounding
/// cannot explain it; NaN is not tried.
std::optional<std::string> find_counterexample(const tir::CommReducerNode& reducer,
                                               std::span<const tir::Expr> sources, bool has_init,
                                               ReductionChange change);

/// Whether combining the identity with a term gives that term.
bool is_identity_neutral(const tir::CommReducerNode& reducer, std::span<const tir::Expr> sources);

}  // namespace tenon::arith

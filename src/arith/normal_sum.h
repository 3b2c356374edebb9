// A fast path for sums in normal form. Most indices are such sums.
#pragma once

#include "arith/facts_state.h"

namespace tenon::arith {

/// Whether `e` is a sum of distinct variables without values, with positive factors in descending
/// order and an optional positive constant at the end. Both passes leave such a sum unchanged.
///
///   (((i*32) + (j*4)) + k) + 3
bool is_normal_sum(const Expr& e, const Facts::State& state);

}  // namespace tenon::arith

// Most indices are sums that are in normal form already, and need no visit of their parts.
#pragma once

#include "arith/facts_state.h"

namespace tenon::arith {

/// Whether `e` is such a sum: of different variables that have no values here, with factors that
/// are positive and fall, and with a positive constant at the end, if any. Both passes leave it as
/// it is.
///
///   (((i*32) + (j*4)) + k) + 3
bool is_normal_sum(const Expr& e, const Facts::State& state);

}  // namespace tenon::arith

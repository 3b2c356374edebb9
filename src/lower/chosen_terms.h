// Accumulations under a condition as accumulations of a chosen term, which lanes can do: those that
// do not take part add what changes nothing.
//
//   if (k % 3 != 0) B[i] = B[i] + A[k]   =>   B[i] = B[i] + if_then_else(k % 3 != 0, A[k], 0)
#pragma once

#include "tenon/arith/facts.h"
#include "tenon/tir/stmt.h"

namespace tenon::lowering {

/// A loop's body. Where the element is not known to exist, or the condition guards more than
/// accumulations, it stays as it is. The facts are of what is around the body.
tir::Stmt with_chosen_terms(const tir::Stmt& body, const arith::Facts& facts);

}  // namespace tenon::lowering

// Data wraps, positions do not.
//
//   wraps(A[i] + i*4)     // true: an element takes part, so the sum is modulo 2^32
//   wraps(i*4 + j)        // false: loop variables, sizes and constants are taken not to overflow
#pragma once

#include "tenon/arith/facts.h"

namespace tenon::arith {

/// Whether the arithmetic of an integer expression, or of the operands of a comparison, is modulo
/// its type: an element, the result of a call or a cast from data takes part, or the type is no
/// index type. Otherwise every sum, difference and product in it may be taken not to overflow.
bool wraps(const Expr& e);
/// Also of variables that are bound to data.
bool wraps(const Expr& e, const Facts& facts);

/// The variable holds data, as a let of an element does: its arithmetic wraps.
void bind_data(const Var& var, Facts& facts);

}  // namespace tenon::arith

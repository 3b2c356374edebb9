// Overflow semantics of integer expressions: data wraps, indices do not overflow.
//
//   wraps(A[i] + i*4)     // true: contains an element, so the sum is modulo 2^32
//   wraps(i*4 + j)        // false: loop variables, sizes and constants are assumed not to overflow
#pragma once

#include "tenon/arith/facts.h"

namespace tenon::arith {

/// Whether the arithmetic of an integer expression, or of the operands of a comparison, is modulo
/// 2^bits. It is if the expression contains an element, the result of a call or a cast from data,
/// or if its type is not an index type. Otherwise every sum, difference and product in it may be
/// assumed not to overflow.
bool wraps(const Expr& e);
/// Overload that also knows the variables bound to data.
bool wraps(const Expr& e, const Facts& facts);

/// States that the variable holds data, such as a let of an element, so that its arithmetic wraps.
void bind_data(const Var& var, Facts& facts);

}  // namespace tenon::arith

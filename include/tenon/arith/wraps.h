// Overflow semantics of integer expressions: data wraps, indices do not overflow.
//
//   wraps(A[i] + i*4)     // true: contains an element, so the sum is modulo 2^32
//   wraps(i*4 + j)        // false: loop variables, sizes and constants are assumed not to overflow
#pragma once

#include "tenon/arith/facts.h"
#include "tenon/tir/walk.h"

namespace tenon::arith {

using tir::wraps;
/// Overload that also knows the variables that `bind_data` has named.
bool wraps(const Expr& e, const Facts& facts);

/// States that the variable holds data, such as a let of an element, so that its arithmetic wraps.
void bind_data(const Var& var, Facts& facts);

/// Gives `after` the overflow semantics of `before`. `after` is `before` with an element replaced
/// by its value. If `after` thereby contains no data, operands of arithmetic and conversions that
/// may overflow are wrapped in a `reinterpret` to their own type, which marks them as data.
/// Variables are assumed to be in the domains of `axes`, or of the loops and block iterators of
/// `program`.
Expr keep_wrapping(const Expr& before, const Expr& after, const std::vector<tir::IterVar>& axes);
Expr keep_wrapping(const Expr& before, const Expr& after, const tir::Stmt& program);

}  // namespace tenon::arith

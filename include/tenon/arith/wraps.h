// Overflow semantics of integer expressions: data wraps, indices do not overflow.
//
//   wraps(A[i] + i*4)     // true: contains an element, so the sum is modulo 2^32
//   wraps(i*4 + j)        // false: loop variables, sizes and constants are assumed not to overflow
#pragma once

#include "tenon/arith/facts.h"
#include "tenon/tir/walk.h"

namespace tenon::arith {

using tir::wraps;
/// Also treats the variables that `bind_data` has marked as data.
bool wraps(const Expr& e, const Facts& facts);

/// Marks the variable as data, as for a let of a buffer element. Arithmetic with it then wraps.
void bind_data(const Var& var, Facts& facts);

/// Returns `after` with the overflow semantics of `before`. `after` is `before` in which an element
/// is replaced by its value. It may therefore no longer contain data, and its arithmetic would be
/// assumed not to overflow. To prevent this, the function marks the operands of arithmetic and of
/// casts that may overflow as data, by a `reinterpret` to their own type. Variables are assumed to
/// be in the domains of `axes`, or of the loops and block iterators of `program`.
Expr keep_wrapping(const Expr& before, const Expr& after, const std::vector<tir::IterVar>& axes);
Expr keep_wrapping(const Expr& before, const Expr& after, const tir::Stmt& program);

}  // namespace tenon::arith

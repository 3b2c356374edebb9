// Rewrites every expression of a function to its normal form, using the facts of loops, conditions
// and lets (arith::simplify_stmt).
//
//   for (i, 0, 8) { if (i < 8) { A[((i*4)*2)] = ... } }  =>  for (i, 0, 8) { A[(i*8)] = ... }
#include "lower/passes.h"

#include "lower/rewriting.h"
#include "tenon/arith/simplify.h"

namespace tenon::lowering {

tir::PrimFunc simplify(const tir::PrimFunc& func, const PassOptions&) {
  arith::Facts facts;
  return with_body(func, arith::simplify_stmt(func.body, facts));
}

}  // namespace tenon::lowering

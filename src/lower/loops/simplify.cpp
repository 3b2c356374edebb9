// Rewrites every expression of a function to its normal form, using the facts of loops, conditions
// and lets (arith::simplify_stmt).
//
//   for (i, 0, 8) { if (i < 8) { A[((i*4)*2)] = ... } }  =>  for (i, 0, 8) { A[(i*8)] = ... }
#include "lower/passes.h"

#include "tenon/arith/simplify.h"

namespace tenon::lowering {

tir::PrimFunc simplify(const tir::PrimFunc& func, const PassOptions&) {
  arith::Facts facts;
  tir::PrimFunc result = func;
  result.body = arith::simplify_stmt(func.body, facts);
  return result;
}

}  // namespace tenon::lowering

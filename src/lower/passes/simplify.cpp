#include "lower/passes/simplify.h"

#include "tenon/arith/simplify.h"

namespace tenon::lowering {

tir::PrimFunc simplify(const tir::PrimFunc& func, const PassOptions&) {
  arith::Facts facts;
  tir::PrimFunc result = func;
  result.body = arith::simplify_stmt(func.body, facts);
  return result;
}

}  // namespace tenon::lowering

// Folds additions of zero to floats as TVM 0.9 does, for TVM 0.9 text only: x + 0.0 differs from x
// if x is -0.0.
//
//   B[0] = (A[0] + 0f32)        becomes        B[0] = A[0]
#include "lower/passes.h"

#include "lower/rewriting.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

Expr folded(const Expr& e) {
  if (!contains<FloatImm>(e)) return e;
  Expr result = map_children(e, [](const Expr& child) { return folded(child); });
  const Binary* n = as_binary(result, BinaryOp::Add);
  if (!n) return result;
  return float_constant(n->a) == 0 ? n->b : float_constant(n->b) == 0 ? n->a : result;
}

Stmt folded_in(const Stmt& s) {
  if (!contains<FloatImm>(s)) return s;
  return map_children(
      s, [](const Expr& e) { return folded(e); },
      [](const Stmt& child) { return folded_in(child); });
}

}  // namespace

PrimFunc fold_added_zeros(const PrimFunc& func, const PassOptions&) {
  return with_body(func, folded_in(func.body));
}

}  // namespace tenon::lowering

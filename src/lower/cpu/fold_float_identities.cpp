// Folds float additions of zero and products with zero, in functions compiled with fast_math.
//
//   B[0] = ((A[0]*0f32) + A[1])       =>   B[0] = A[1]
//   B[0] = (B[0] + (A[2]*0f32))       =>   nothing
//
// The folding treats `x * 0` as 0 even for an infinite or NaN `x`, and it may change the sign of a
// zero. Functions compiled without fast_math therefore keep these operations. Such operations are
// frequent where unrolled loops reveal the constants of transforms, such as Winograd's.
#include "lower/passes.h"

#include <algorithm>
#include <cmath>

#include "lower/rewriting.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

bool is_zero_float(const Expr& e) { return float_constant(e) == 0; }

/// Whether the product of `e` with zero may be folded. Infinite and NaN constants are kept because
/// they are deliberate.
bool may_vanish(const Expr& e) {
  const std::optional<double> value = float_constant(e);
  return value ? std::isfinite(*value) : effect_of(e) != Effect::UpdateState;
}

std::optional<Expr> folded(const Binary& n) {
  switch (n.op) {
    case BinaryOp::Add:
      if (is_zero_float(n.a)) return n.b;
      if (is_zero_float(n.b)) return n.a;
      return std::nullopt;
    case BinaryOp::Sub:
      if (is_zero_float(n.b)) return n.a;
      return std::nullopt;
    case BinaryOp::Mul:
      if (is_zero_float(n.a) && may_vanish(n.b)) return n.a;
      if (is_zero_float(n.b) && may_vanish(n.a)) return n.b;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

/// Whether the store writes the value that its element already holds.
bool keeps_memory(const Store& store) {
  const Load* load = store.value.as<Load>();
  if (!load || !load->buffer.same_as(store.buffer)) return false;
  return std::ranges::equal(load->indices, store.indices, [](const Expr& a, const Expr& b) {
    return structural_equal(a, b) && effect_of(a) != Effect::UpdateState;
  });
}

// The functions below record in `zeros` the variables that are bound to zero, each with the
// constant. Uses of these variables are replaced by the constant, so that they are folded as well.

Expr without_identities(const Expr& e, VarMap& zeros) {
  if (e.as<VarNode>()) {
    const auto zero = zeros.find(&e.node());
    return zero == zeros.end() ? e : zero->second;
  }
  if (const LetExpr* n = e.as<LetExpr>()) {
    const Expr value = without_identities(n->value, zeros);
    if (is_zero_float(value)) {
      set(zeros, n->var, value);
      return without_identities(n->body, zeros);
    }
    const Expr body = without_identities(n->body, zeros);
    return value.same_as(n->value) && body.same_as(n->body) ? e : make_let(n->var, value, body);
  }
  const Expr result =
      map_children(e, [&](const Expr& child) { return without_identities(child, zeros); });
  const Binary* n = result.as<Binary>();
  if (!n || !n->a.dtype().is_floating()) return result;
  return folded(*n).value_or(result);
}

Stmt without_identities(const Stmt& s, VarMap& zeros) {
  if (const Let* n = s.as<Let>()) {
    const Expr value = without_identities(n->value, zeros);
    if (is_zero_float(value)) {
      set(zeros, n->var, value);
      return without_identities(n->body, zeros);
    }
    const Stmt body = without_identities(n->body, zeros);
    return value.same_as(n->value) && body.same_as(n->body) ? s
                                                            : make_stmt(Let{n->var, value, body});
  }
  Stmt result = map_children(
      s, [&](const Expr& e) { return without_identities(e, zeros); },
      [&](const Stmt& child) { return without_identities(child, zeros); });
  const Store* store = result.as<Store>();
  return store && keeps_memory(*store) ? make_nop() : result;
}

}  // namespace

PrimFunc fold_float_identities(const PrimFunc& func, const PassOptions&) {
  VarMap zeros;
  return with_body(func, without_identities(func.body, zeros));
}

}  // namespace tenon::lowering

#include "lower/guard_divisors.h"

#include "lower/rewriting.h"
#include "tenon/arith/const_bound.h"
#include "tenon/arith/facts.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

Expr with_safe_divisors(const Expr& e) {
  return rewrite(e, [](const Binary& n, const Expr&) -> std::optional<Expr> {
    if (!is_integer_division(n.op) || constant_int(n.b)) return std::nullopt;
    const arith::ConstBound bound = arith::const_bound(n.b, arith::Facts());
    if (bound.is_at_least(1) || bound.is_at_most(-1)) return std::nullopt;
    const Expr one = make_int(n.b.dtype(), 1);
    return make_binary(n.op, n.a,
                       bound.is_at_least(0) ? max(n.b, one) : select(n.b == 0, one, n.b));
  });
}

}  // namespace tenon::lowering

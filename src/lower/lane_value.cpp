#include "lower/lane_value.h"

#include "tenon/tir/ops.h"

namespace tenon::lowering {

using namespace tir;

std::optional<Expr> lane_value(const Expr& e, const Var& lane) {
  if (e.dtype().is_scalar()) return e;
  if (const Broadcast* n = e.as<Broadcast>())
    return n->value.dtype().is_scalar() ? std::optional(n->value) : std::nullopt;
  if (const Ramp* n = e.as<Ramp>()) return n->base + cast(n->base.dtype(), lane) * n->stride;
  if (const Cast* n = e.as<Cast>()) {
    const std::optional<Expr> value = lane_value(n->value, lane);
    return value ? std::optional(cast(e.dtype().element(), *value)) : std::nullopt;
  }
  const Binary* n = e.as<Binary>();
  const std::optional<Expr> a = n ? lane_value(n->a, lane) : std::nullopt;
  const std::optional<Expr> b = a ? lane_value(n->b, lane) : std::nullopt;
  return b ? std::optional(make_binary(n->op, *a, *b)) : std::nullopt;
}

}  // namespace tenon::lowering

// Rewrites selects with arms that might fault (a load outside its buffer, a division by zero, a
// call) as if_then_else, because a select evaluates both arms and if_then_else evaluates only the
// chosen one.
//
//   select((1 <= i), A[(i - 1)], 0f32)    becomes    @tir.if_then_else((1 <= i), A[(i - 1)], 0f32)
//
// Selects with a vector condition are kept.
#include "lower/passes.h"

#include <algorithm>

#include "lower/rewriting.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

bool divides_by_unknown(const Binary& op, const Expr& self) {
  const std::optional<std::int64_t> divisor = constant_int(op.b);
  return is_integer_division(op.op) && self.dtype().is_integral() && (!divisor || *divisor == 0);
}

bool may_fault(const Expr& e) {
  if (e.as<Load>()) return true;
  // A choice is safe if its condition is safe: an inner select with unsafe arms has already become
  // an if_then_else.
  if (const Select* select = e.as<Select>()) return may_fault(select->condition);
  if (const Binary* binary = e.as<Binary>())
    return divides_by_unknown(*binary, e) || any_child(e, may_fault);
  const Call* call = e.as<Call>();
  if (!call) return any_child(e, may_fault);
  if (call->is(Intrin::if_then_else)) return may_fault(call->args[0]);
  if (call->is(Intrin::address_of)) {
    const Load* load = call->args[0].as<Load>();
    return load && std::ranges::any_of(load->indices, may_fault);
  }
  const Intrin* intrin = std::get_if<Intrin>(&call->callee);
  return !intrin || effect_of(*intrin) != Effect::Pure || any_child(e, may_fault);
}

}  // namespace

PrimFunc rewrite_unsafe_selects(const PrimFunc& func, const PassOptions&) {
  return with_body(
      func, rewrite(func.body, [](const Select& select, const Expr& self) -> std::optional<Expr> {
        if (select.condition.dtype().is_vector() ||
            !(may_fault(select.if_true) || may_fault(select.if_false)))
          return std::nullopt;
        return make_call(self.dtype(), Intrin::if_then_else,
                         {select.condition, select.if_true, select.if_false});
      }));
}

}  // namespace tenon::lowering

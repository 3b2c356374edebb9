#include "arith/facts_state.h"
#include "arith/rewrite_rules.h"
#include "tenon/arith/compute.h"
#include "tenon/arith/simplify.h"

namespace tenon::arith {

using namespace tir;

namespace {

/// The division or remainder of ramp(base, stride, lanes) by broadcast(divisor, lanes).
struct RampDivision {
  const Ramp& ramp;
  std::int64_t stride;
  Expr divisor;
  std::int64_t divisor_value;
  BinaryOp op;

  Expr of_base() const { return fold(op, ramp.base, divisor); }
  Expr number(std::int64_t value) const { return make_int(divisor.dtype(), value); }
};

bool is_division(BinaryOp op) { return op == BinaryOp::TruncDiv || op == BinaryOp::FloorDiv; }
bool is_truncating(BinaryOp op) { return op == BinaryOp::TruncDiv || op == BinaryOp::TruncMod; }

std::optional<RampDivision> as_ramp_division(const Binary& n) {
  if (!is_division(n.op) && n.op != BinaryOp::TruncMod && n.op != BinaryOp::FloorMod)
    return std::nullopt;
  const Ramp* ramp = n.a.as<Ramp>();
  const Broadcast* broadcast = n.b.as<Broadcast>();
  if (!ramp || !broadcast) return std::nullopt;
  const IntImm* stride = ramp->stride.as<IntImm>();
  const IntImm* divisor = broadcast->value.as<IntImm>();
  if (!stride || !divisor || divisor->value <= 0) return std::nullopt;
  return RampDivision{*ramp, stride->value, broadcast->value, divisor->value, n.op};
}

/// Returns the result for a stride that is a multiple of the divisor: the quotients are a ramp, and
/// the remainders are equal. A truncated division requires values of one sign.
Expr with_dividing_stride(const RampDivision& d) {
  if (!is_division(d.op)) return make_broadcast(d.of_base(), d.ramp.lanes);
  return make_ramp(d.of_base(), d.number(d.stride / d.divisor_value), d.ramp.lanes);
}

/// Returns the result for lanes that are all between two adjacent multiples of the divisor.
Expr within_one_quotient(const RampDivision& d, const Expr& base_remainder) {
  if (is_division(d.op)) return make_broadcast(d.of_base(), d.ramp.lanes);
  return make_ramp(base_remainder, d.ramp.stride, d.ramp.lanes);
}

bool is_non_negative(const RampDivision& d, const Facts& facts) {
  if (!can_prove_at_least(d.ramp.base, 0, facts)) return false;
  return d.stride >= 0 || can_prove_at_least(d.ramp.base, -d.stride * (d.ramp.lanes - 1), facts);
}

}  // namespace

std::optional<Expr> rewrite_ramp_division(const Binary& n, const Facts& facts) {
  const std::optional<RampDivision> d = as_ramp_division(n);
  if (!d || may_overflow(n.a, facts.state())) return std::nullopt;
  if (is_truncating(d->op) && !is_non_negative(*d, facts)) return std::nullopt;
  if (d->stride % d->divisor_value == 0) return with_dividing_stride(*d);

  const ModularSet base = modular_set_of(d->ramp.base, facts.state());
  const std::int64_t last = base.base + (d->ramp.lanes - 1) * d->stride;
  const auto first_quotient = compute(BinaryOp::FloorDiv, base.base, d->divisor_value);
  const auto last_quotient = compute(BinaryOp::FloorDiv, last, d->divisor_value);
  const bool divides_step = base.coeff % d->divisor_value == 0;
  const Expr known_remainder = d->number(*compute(BinaryOp::FloorMod, base.base, d->divisor_value));
  if (first_quotient == last_quotient) {
    if (divides_step) return within_one_quotient(*d, known_remainder);
    // The lanes stay within a block of the base's step, and the divisor is a multiple of that step.
    const bool stays_in_step =
        base.coeff != 0 && d->divisor_value % base.coeff == 0 && last < base.coeff && last >= 0;
    if (stays_in_step && !is_truncating(d->op)) return within_one_quotient(*d, d->of_base());
  }
  // Multiples of the divisor in the base do not affect the remainders.
  if (divides_step && !is_division(d->op)) {
    Expr ramp = make_ramp(known_remainder, d->ramp.stride, d->ramp.lanes);
    return fold(d->op, ramp, n.b);
  }
  return std::nullopt;
}

}  // namespace tenon::arith

// Expands operations that code generators do not implement into simpler ones. Runs for host code
// and for kernels, after `lower`.
//
//   floordiv(a, b), floormod(a, b)  =>  truncdiv(a, b), truncmod(a, b)   if provably a >= 0, b > 0
//   sigmoid(x)                      =>  1 / (1 + exp(-x))
//   q_multiply_shift(x, y, q, s)    =>  rounded product in 64 bits, shifted
//
// Divisions by powers of two are kept: they are shifts and masks for either sign.
#include "lower/passes.h"

#include "lower/rewriting.h"
#include "tenon/arith/facts.h"
#include "tenon/arith/wraps.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

bool is_power_of_two(const Expr& e) {
  const auto value = constant_int(e);
  return value && *value > 0 && (*value & (*value - 1)) == 0;
}

Expr sigmoid_of(const Expr& x) {
  // Half-precision types have too few digits for the sum 1 + exp(-x).
  const DataType type = x.dtype();
  const DataType wide = type.bits < 32 ? Float(32, type.lanes) : type;
  const Expr one = make_float(wide, 1);
  return cast(type, one / (one + exp(make_float(wide, -1) * cast(wide, x))));
}

/// Returns round(x * y * 2^(s - q)), where halves round up. For s > 0, x is shifted left first.
Expr multiply_shift(const Call& n, DataType type) {
  const DataType wide = Int(64, type.lanes);
  const Expr zero = make_int(wide, 0), one = make_int(wide, 1);
  const Expr q = cast(wide, n.args[2]), s = cast(wide, n.args[3]);
  const Expr product = (cast(wide, n.args[0]) << max(s, zero)) * cast(wide, n.args[1]);
  const Expr right = q - min(s, zero);
  return cast(type, (product + (one << (right - one))) >> right);
}

/// Returns one lane of a vector. A vector load becomes a scalar load of that lane.
Expr lane_of(const Expr& vector, int lane) {
  if (const Broadcast* n = vector.as<Broadcast>()) return n->value;
  const Load* load = vector.as<Load>();
  const Ramp* ramp = load && load->indices.size() == 1 ? load->indices[0].as<Ramp>() : nullptr;
  if (ramp && load->buffer->dtype.is_scalar())
    return make_load(load->buffer, {ramp->base + ramp->stride * lane});
  return make_shuffle({vector}, {make_int(Int(32), lane)});
}

/// Returns every `step`-th lane, starting at lane `first`.
Expr lanes_of(const Expr& vector, int first, int step) {
  const int lanes = vector.dtype().lanes / step;
  if (lanes == 1) return lane_of(vector, first);
  if (const Broadcast* n = vector.as<Broadcast>()) return make_broadcast(n->value, lanes);
  std::vector<Expr> picks;
  for (int lane = 0; lane < lanes; ++lane) picks.push_back(make_int(Int(32), first + lane * step));
  return make_shuffle({vector}, picks);
}

/// Converts a factor to the type of the sums. A bfloat16 is the upper half of a float32.
Expr factor_of(const Expr& e, DataType type) {
  if (type.is_integral() || e.dtype().is_bfloat()) return cast(type, e);
  return make_call(type, Intrin::reinterpret, {cast(UInt(32, type.lanes), e) << 16});
}

Expr sums_of_products(const Call& n, DataType type) {
  const int neighbours = n.args[0].dtype().lanes / type.lanes;
  Expr sum = n.args[2];
  for (int k = 0; k < neighbours; ++k)
    sum = sum + factor_of(lanes_of(n.args[0], k, neighbours), type) *
                    factor_of(lanes_of(n.args[1], k, neighbours), type);
  return sum;
}

/// Whether the target has a dot-product instruction. Devices have instructions for scalar integer
/// sums. Processors have instructions for vectors that fill a register, also for float sums.
bool has_instruction(DataType sums, const PassOptions& options) {
  const bool is_processor = options.vector_registers && options.vector_registers->for_sums > 0;
  return options.has_dp4a && (is_processor || (sums.is_integral() && sums.is_scalar()));
}

/// Whether the division is index arithmetic on provably nonnegative numbers.
bool is_plain_division(const Binary& n, const arith::Facts& facts) {
  if (!n.a.dtype().is_index() || is_power_of_two(n.b)) return false;
  if (effect_of(n.a) != Effect::Pure || effect_of(n.b) != Effect::Pure) return false;
  return arith::const_bound(n.a, facts).is_at_least(0) &&
         arith::const_bound(n.b, facts).is_at_least(1);
}

Expr lowered(const Expr& e, const PassOptions& options, const arith::Facts& facts) {
  const auto expr = [&](const Expr& child) { return lowered(child, options, facts); };
  if (const Binary* n = e.as<Binary>()) {
    if (n->op == BinaryOp::FloorDiv && is_plain_division(*n, facts))
      return make_binary(BinaryOp::TruncDiv, expr(n->a), expr(n->b));
    if (n->op == BinaryOp::FloorMod && is_plain_division(*n, facts))
      return make_binary(BinaryOp::TruncMod, expr(n->a), expr(n->b));
  }
  const Expr result = map_children(e, expr);
  if (const Call* n = as_call(result, Intrin::sigmoid)) return sigmoid_of(n->args[0]);
  if (const Call* n = as_call(result, Intrin::q_multiply_shift))
    return multiply_shift(*n, e.dtype());
  if (const Call* n = as_call(result, Intrin::dp4a); n && !has_instruction(e.dtype(), options))
    return sums_of_products(*n, e.dtype());
  return result;
}

/// `facts` hold around the statement; the variables that it defines are added to them.
Stmt lowered(const Stmt& s, const PassOptions& options, arith::Facts& facts) {
  const auto expr = [&](const Expr& e) { return lowered(e, options, facts); };
  const auto stmt = [&](const Stmt& child) { return lowered(child, options, facts); };
  if (const For* n = s.as<For>()) {
    const Expr min = expr(n->min), extent = expr(n->extent);
    facts.bind(n->var, Range::from_min_extent(min, extent), true);
    return make_stmt(For{n->var, min, extent, n->kind, stmt(n->body)});
  }
  if (const Let* n = s.as<Let>()) {
    if (n->value.dtype().is_index()) {
      facts.bind_bound(n->var, arith::const_bound(n->value, facts));
      if (arith::wraps(n->value, facts)) arith::bind_data(n->var, facts);
    }
    return make_stmt(Let{n->var, expr(n->value), stmt(n->body)});
  }
  if (const If* n = s.as<If>()) {
    const Expr condition = expr(n->condition);
    const Stmt then_case = [&] {
      const arith::Facts::Scope scope = facts.assume(n->condition);
      return stmt(n->then_case);
    }();
    return make_stmt(
        If{condition, then_case, n->else_case ? std::optional(stmt(*n->else_case)) : std::nullopt});
  }
  return map_children(s, expr, stmt);
}

}  // namespace

PrimFunc lower_intrinsics(const PrimFunc& func, const PassOptions& options) {
  arith::Facts facts;
  return with_body(func, lowered(func.body, options, facts));
}

}  // namespace tenon::lowering

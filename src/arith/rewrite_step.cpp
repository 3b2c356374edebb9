#include "arith/rewrite_step.h"

#include <cmath>

#include "arith/facts_state.h"
#include "arith/normal_sum.h"
#include "arith/rules/tables.h"
#include "tenon/arith/compute.h"
#include "tenon/arith/simplify.h"
#include "tenon/interp/scalar.h"
#include "tenon/support/deep_stack.h"
#include "tenon/support/each_of.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/walk.h"

namespace tenon::arith {

using namespace tir;
using namespace rules;

namespace {

/// Visits an expression that a rule requests to rewrite again, unless the nesting limit is reached.
Expr rewrite_again(const Expr& e, RewriteContext& context) {
  if (context.depth >= kMaxRewriteDepth) {
    context.deepest = kMaxRewriteDepth + 1;
    return e;
  }
  ++context.depth;
  context.deepest = std::max(context.deepest, context.depth);
  Expr result = context.visit(e);
  --context.depth;
  return result;
}

/// Returns the result of the first matching rule of the table; nullopt if none matches.
std::optional<Expr> apply_rules(const rules::RuleTable& table, const Expr& e,
                                RewriteContext& context) {
  std::optional<rules::Applied> applied = rules::apply(table, e, context.facts);
  if (!applied) return std::nullopt;
  return applied->again ? rewrite_again(applied->result, context) : applied->result;
}

/// Returns the constant-folded `a op b`; nullopt if nothing folds.
std::optional<Expr> folded(BinaryOp op, const Expr& a, const Expr& b) {
  if (!is_constant(a) && !is_constant(b) && !a.same_as(b)) return std::nullopt;
  Expr result = fold(op, a, b);
  const Binary* n = as_binary(result, op);
  if (n && n->a.same_as(a) && n->b.same_as(b)) return std::nullopt;
  return result;
}

// ---- vectors ------------------------------------------------------------------------------------

bool is_division(BinaryOp op) { return op == BinaryOp::TruncDiv || op == BinaryOp::FloorDiv; }
bool is_truncating(BinaryOp op) { return op == BinaryOp::TruncDiv || op == BinaryOp::TruncMod; }
bool is_remainder(BinaryOp op) { return op == BinaryOp::TruncMod || op == BinaryOp::FloorMod; }

/// Rewrites the division or remainder of ramp(base, stride, lanes) by broadcast(divisor, lanes).
std::optional<Expr> rewrite_ramp_division(const Binary& n, const Facts& facts) {
  const Ramp* ramp = n.a.as<Ramp>();
  const Broadcast* broadcast = n.b.as<Broadcast>();
  if (!ramp || !broadcast || (!is_division(n.op) && !is_remainder(n.op))) return std::nullopt;
  const IntImm* stride_node = ramp->stride.as<IntImm>();
  const IntImm* divisor_node = broadcast->value.as<IntImm>();
  if (!stride_node || !divisor_node || divisor_node->value <= 0 || may_overflow(n.a, facts.state()))
    return std::nullopt;
  const std::int64_t stride = stride_node->value, divisor = divisor_node->value;
  const auto is_non_negative = [&] {
    return can_prove_at_least(ramp->base, 0, facts) &&
           (stride >= 0 || can_prove_at_least(ramp->base, -stride * (ramp->lanes - 1), facts));
  };
  // A truncated division requires values of one sign.
  if (is_truncating(n.op) && !is_non_negative()) return std::nullopt;

  const auto number = [&](std::int64_t value) { return make_int(broadcast->value.dtype(), value); };
  const Expr of_base = fold(n.op, ramp->base, broadcast->value);
  const Expr same_in_all_lanes = make_broadcast(of_base, ramp->lanes);
  // If the stride is a multiple of the divisor, the quotients are a ramp, and the remainders are
  // equal.
  if (stride % divisor == 0)
    return is_division(n.op) ? make_ramp(of_base, number(stride / divisor), ramp->lanes)
                             : same_in_all_lanes;

  const ModularSet base = modular_set_of(ramp->base, facts.state());
  const std::int64_t last = base.base + (ramp->lanes - 1) * stride;
  const auto first_quotient = compute(BinaryOp::FloorDiv, base.base, divisor);
  const auto last_quotient = compute(BinaryOp::FloorDiv, last, divisor);
  const bool divides_step = base.coeff % divisor == 0;
  const Expr known_remainder = number(*compute(BinaryOp::FloorMod, base.base, divisor));
  // Returns the result for lanes that are all between two adjacent multiples of the divisor.
  const auto within_one_quotient = [&](const Expr& base_remainder) {
    return is_division(n.op) ? same_in_all_lanes
                             : make_ramp(base_remainder, ramp->stride, ramp->lanes);
  };
  if (first_quotient == last_quotient) {
    if (divides_step) return within_one_quotient(known_remainder);
    // All lanes are in one block of length `base.coeff`, and the divisor is a multiple of that
    // length. The lanes therefore have the same quotient.
    const bool stays_in_step =
        base.coeff != 0 && divisor % base.coeff == 0 && last < base.coeff && last >= 0;
    if (stays_in_step && !is_truncating(n.op)) return within_one_quotient(of_base);
  }
  // The part of the base that is a multiple of the divisor does not affect the remainders and is
  // dropped. Lanes of a descending ramp may then be negative, which only the floored remainder
  // allows.
  if (divides_step && is_remainder(n.op)) {
    Expr rest = make_ramp(known_remainder, ramp->stride, ramp->lanes);
    return fold(stride < 0 ? BinaryOp::FloorMod : n.op, rest, n.b);
  }
  return std::nullopt;
}

// ---- floor division of x*c1 + y by c2 -----------------------------------------------------------

struct ScaledSum {
  Expr x;
  std::int64_t scale;
  Expr rest;
};

/// Returns e + rest if `e` is x*c1.
std::optional<ScaledSum> scaled_sum(const Expr& e, const Expr& rest) {
  const Binary* product = as_binary(e, BinaryOp::Mul);
  const IntImm* scale = product ? product->b.as<IntImm>() : nullptr;
  if (!scale) return std::nullopt;
  return ScaledSum{product->a, scale->value, rest};
}

/// Matches x*c1 + y, x*c1 and y + x*c1.
std::optional<ScaledSum> scaled_sum(const Expr& e) {
  const Binary* sum = as_binary(e, BinaryOp::Add);
  if (!sum) return scaled_sum(e, make_int(e.dtype(), 0));
  const auto by_first = scaled_sum(sum->a, sum->b);
  return by_first ? by_first : scaled_sum(sum->b, sum->a);
}

/// Rewrites a floor division of a sum whose parts do not carry into each other.
std::optional<Expr> eliminate_residue(const Binary& n, const Facts& facts) {
  const std::optional<ScaledSum> sum = scaled_sum(n.a);
  const IntImm* divisor = n.b.as<IntImm>();
  if (!sum || !divisor || divisor->value == 0 || may_overflow(n.a, facts.state()))
    return std::nullopt;
  const DataType type = n.a.dtype();
  const auto quotient = compute(BinaryOp::FloorDiv, sum->scale, divisor->value);
  const auto remainder = compute(BinaryOp::FloorMod, sum->scale, divisor->value);
  if (!quotient || !remainder) return std::nullopt;
  auto rest_quotient = [&]() -> Expr {
    Expr whole = floordiv(sum->rest, n.b);
    return can_prove(BinaryOp::Eq, whole, 0, facts) ? make_int(type, 0) : whole;
  };

  // Uses x*c1 + y == c2*(x*(c1//c2) + y//c2) + (x*(c1%c2) + y%c2). If the quotient of the last part
  // is known, it is added to the other quotients.
  const Expr residue =
      floordiv(sum->x * make_int(type, *remainder) + floormod(sum->rest, n.b), n.b);
  const Bound bound = bound_of(residue, facts.state());
  if (bound.is_point() && fits(bound.min, type))
    return sum->x * make_int(type, *quotient) + (rest_quotient() + make_int(type, bound.min));

  // With c2 == a*c1, x == a*x' + b, y == d*c2 + e, the sum is (x' + d)*c2 + b*c1 + e, where b*c1 <=
  // (a-1)*c1 and e < c1.
  const bool is_multiple = sum->scale > 0 && divisor->value > 0 && divisor->value % sum->scale == 0;
  if (is_multiple && can_prove(BinaryOp::Lt, floormod(sum->rest, n.b), sum->scale, facts))
    return floordiv(sum->x, make_int(type, divisor->value / sum->scale)) + rest_quotient();
  return std::nullopt;
}

// ---- arithmetic ---------------------------------------------------------------------------------

struct Tables {
  RuleTable (*vector)();
  RuleTable (*index)();
  RuleTable (*any_type)();
};

std::optional<Tables> tables_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::Add:
      return Tables{add_vector_rules, add_rules, add_any_type_rules};
    case BinaryOp::Sub:
      return Tables{sub_vector_rules, sub_rules, sub_any_type_rules};
    case BinaryOp::Mul:
      return Tables{mul_vector_rules, mul_rules, nullptr};
    case BinaryOp::Div:
      return Tables{div_vector_rules, nullptr, nullptr};
    case BinaryOp::TruncDiv:
      return Tables{trunc_div_vector_rules, trunc_div_rules, nullptr};
    case BinaryOp::TruncMod:
      return Tables{trunc_mod_vector_rules, trunc_mod_rules, nullptr};
    case BinaryOp::FloorDiv:
      return Tables{floor_div_vector_rules, floor_div_rules, nullptr};
    case BinaryOp::FloorMod:
      return Tables{floor_mod_vector_rules, floor_mod_rules, nullptr};
    case BinaryOp::Min:
      return Tables{min_vector_rules, min_rules, min_any_type_rules};
    case BinaryOp::Max:
      return Tables{max_vector_rules, max_rules, max_any_type_rules};
    default:
      return std::nullopt;
  }
}

/// Rewrites x / 2 as x * 0.5, which is exact. Other reciprocals are rounded and would change the
/// result.
std::optional<Expr> multiply_by_reciprocal(const Binary& n) {
  const FloatImm* divisor = n.b.as<FloatImm>();
  if (!divisor) return std::nullopt;
  int exponent = 0;
  const bool is_power_of_two = std::fabs(std::frexp(divisor->value, &exponent)) == 0.5;
  // The exponent is limited so that the divisor and its reciprocal are normal numbers in every
  // float type.
  if (!is_power_of_two || exponent < -13 || exponent > 14) return std::nullopt;
  return fold(BinaryOp::Mul, n.a, make_float(n.b.dtype(), 1 / divisor->value));
}

/// Returns the operand of a minimum or maximum that is provably its result.
std::optional<Expr> decide_by_bounds(const Binary& n, const Facts& facts) {
  if (structural_equal(n.a, n.b)) return n.a;
  const Bound a = bound_of(n.a, facts.state()), b = bound_of(n.b, facts.state());
  const bool is_min = n.op == BinaryOp::Min;
  if (a.max <= b.min) return is_min ? n.a : n.b;
  if (b.max <= a.min) return is_min ? n.b : n.a;
  return std::nullopt;
}

/// Returns the remainder if the modular set of the dividend determines it: the divisor divides its
/// coefficient. Otherwise nullopt.
std::optional<Expr> constant_remainder(const Expr& e, const Binary& n, const Facts& facts) {
  const IntImm* divisor = n.b.as<IntImm>();
  if (!divisor || divisor->value <= 0) return std::nullopt;
  const ModularSet set = modular_set_of(n.a, facts.state());
  if (set.coeff % divisor->value != 0) return std::nullopt;
  if (n.op == BinaryOp::TruncMod && !can_prove(BinaryOp::Ge, n.a, 0, facts)) return std::nullopt;
  const auto remainder = compute(BinaryOp::FloorMod, set.base, divisor->value);
  return make_int(e.dtype(), *remainder);
}

/// Applies the rewrites that are tried before the rule tables.
std::optional<Expr> before_rules(const Expr& e, const Binary& n, RewriteContext& context) {
  switch (n.op) {
    case BinaryOp::Min:
    case BinaryOp::Max:
      return decide_by_bounds(n, context.facts);
    case BinaryOp::FloorDiv: {
      if (auto result = apply_rules(floor_div_first_rules(), e, context)) return result;
      auto result = eliminate_residue(n, context.facts);
      return result && may_overflow(*result, context.facts.state()) ? std::nullopt : result;
    }
    default:
      return std::nullopt;
  }
}

/// Rewrites sums, products, divisions, remainders, min and max.
Expr rewrite_arithmetic(const Expr& e, const Binary& n, RewriteContext& context) {
  const std::optional<Tables> tables = tables_of(n.op);
  if (!tables) return e;
  if (e.dtype().is_vector()) {
    if (auto result = apply_rules(tables->vector(), e, context)) return *result;
    if (auto result = rewrite_ramp_division(n, context.facts)) return *result;
  }
  if (n.op == BinaryOp::Div)
    if (auto result = multiply_by_reciprocal(n)) return *result;
  if (e.dtype().is_index() && tables->index) {
    if (auto result = before_rules(e, n, context)) return *result;
    if (auto result = apply_rules(tables->index(), e, context)) return *result;
    if (is_remainder(n.op))
      if (auto result = constant_remainder(e, n, context.facts)) return *result;
  }
  if (tables->any_type)
    if (auto result = apply_rules(tables->any_type(), e, context)) return *result;
  if (n.op == BinaryOp::Sub && e.dtype().is_integral())
    if (auto result = apply_rules(sub_integer_rules(), e, context)) return *result;
  return e;
}

// ---- logic --------------------------------------------------------------------------------------

enum class Order { Unknown, Equal, Different, Less, AtMost, Greater, AtLeast };

/// Whether nothing cancels in `a - b`, because `a` is a normal sum without a constant and `b` is a
/// constant.
bool is_plain_difference(const Expr& a, const Expr& b, const Facts::State& state) {
  if (!b.as<IntImm>() || !is_normal_sum(a, state)) return false;
  const Binary* sum = a.as<Binary>();
  return !sum || sum->op != BinaryOp::Add || !sum->b.as<IntImm>();
}

/// Returns the order of two operands that the bounds and modular set of their difference prove.
Order order_by_difference(const Expr& difference, const Facts::State& state) {
  const Bound bound = bound_of(difference, state);
  if (bound == Bound::exactly(0)) return Order::Equal;
  if (bound.min > 0) return Order::Greater;
  if (bound.max < 0) return Order::Less;
  if (bound.min >= 0) return Order::AtLeast;
  if (bound.max <= 0) return Order::AtMost;
  return modular_set_of(difference, state).base != 0 ? Order::Different : Order::Unknown;
}

/// Returns the order of two operands whose difference may wrap. The difference can then prove that
/// they are equal or different, but not which one is smaller.
Order order_of_data(const Expr& a, const Expr& b, const Order by_difference,
                    const Facts::State& state) {
  if (by_difference == Order::Equal) return Order::Equal;
  const Bound x = bound_of(a, state), y = bound_of(b, state);
  if (x.max < y.min) return Order::Less;
  if (x.min > y.max) return Order::Greater;
  const bool is_ordered = by_difference == Order::Less || by_difference == Order::Greater;
  const bool is_different = is_ordered || by_difference == Order::Different;
  if (x.max <= y.min) return is_different ? Order::Less : Order::AtMost;
  if (x.min >= y.max) return is_different ? Order::Greater : Order::AtLeast;
  return is_different ? Order::Different : Order::Unknown;
}

/// Returns the order of a and b that the constant bounds and modular set of their simplified
/// difference prove.
Order order_of(const Expr& a, const Expr& b, RewriteContext& context) {
  Expr difference = fold(BinaryOp::Sub, a, b);
  if (!is_plain_difference(a, b, context.facts.state())) difference = context.visit(difference);
  const Facts::State& state = context.facts.state();
  const Order order = order_by_difference(difference, state);
  const bool is_data = wraps(a, state) || wraps(b, state);
  return is_data && may_overflow(fold(BinaryOp::Sub, a, b), state)
             ? order_of_data(a, b, order, state)
             : order;
}

std::optional<bool> decide_equal(const Binary& n, RewriteContext& context) {
  switch (order_of(n.a, n.b, context)) {
    case Order::Equal:
      return true;
    case Order::Different:
    case Order::Greater:
    case Order::Less:
      return false;
    default:
      return std::nullopt;
  }
}

std::optional<bool> decide_less(const Binary& n, RewriteContext& context) {
  switch (order_of(n.a, n.b, context)) {
    case Order::Less:
      return true;
    case Order::Equal:
    case Order::Greater:
    case Order::AtLeast:
      return false;
    default:
      return std::nullopt;
  }
}

/// Whether the operands of a comparison are integers.
bool compares_integers(const Expr& e) {
  const Binary* n = e.as<Binary>();
  return n && is_comparison(n->op) && n->a.dtype().is_integral();
}

/// Rewrites `==` and `<`, and `<=` on floats.
Expr rewrite_comparison(const Expr& e, const Binary& n, RewriteContext& context) {
  const bool is_equal = n.op == BinaryOp::Eq;
  if (n.op == BinaryOp::Le) {
    const Broadcast* a = n.a.as<Broadcast>();
    const Broadcast* b = n.b.as<Broadcast>();
    return a && b ? make_broadcast(fold(BinaryOp::Le, a->value, b->value), a->lanes) : e;
  }
  if (e.dtype().is_vector())
    if (auto result =
            apply_rules(is_equal ? equal_vector_rules() : less_vector_rules(), e, context))
      return *result;
  if (!n.a.dtype().is_index()) return e;
  if (const auto holds = is_equal ? decide_equal(n, context) : decide_less(n, context))
    return *holds ? make_true() : make_false();
  if (auto result = apply_rules(is_equal ? equal_rules() : less_rules(), e, context))
    return *result;
  return e;
}

/// Rewrites `&&` and `||`.
Expr rewrite_connective(const Expr& e, const Binary& n, RewriteContext& context) {
  const bool is_and = n.op == BinaryOp::And;
  if (e.dtype().is_vector())
    if (auto result = apply_rules(is_and ? and_vector_rules() : or_vector_rules(), e, context))
      return *result;
  if (auto result = apply_rules(is_and ? and_rules() : or_rules(), e, context)) return *result;
  if (!is_and && compares_integers(n.a))
    if (auto result = apply_rules(or_integer_rules(), e, context)) return *result;
  return e;
}

Expr rewrite_not(const Expr& e, RewriteContext& context) {
  if (e.dtype().is_vector())
    if (auto result = apply_rules(not_vector_rules(), e, context)) return *result;
  if (auto result = apply_rules(not_rules(), e, context)) return *result;
  if (compares_integers(e.as<Not>()->a))
    if (auto result = apply_rules(not_integer_rules(), e, context)) return *result;
  return e;
}

// ---- nodes --------------------------------------------------------------------------------------

/// Returns true or false, as a constant, if a known condition (Facts::State::literals) implies `e`
/// or its negation; otherwise nullopt. Always nullopt unless `context.uses_literals`.
std::optional<Expr> decide(const Expr& e, const RewriteContext& context) {
  const auto holds = context.uses_literals ? context.facts.state().decide(e) : std::nullopt;
  return holds ? std::optional(make_int(e.dtype(), *holds)) : std::nullopt;
}

Expr rewrite_variable(const Expr& e, const RewriteContext& context) {
  if (e.dtype().is_bool())
    if (const auto constant = decide(e, context)) return *constant;
  const Facts::State::OfVar* known = context.facts.state().find(e);
  return known && known->value ? *known->value : e;
}

/// Returns >, >= and similar comparisons in terms of < and <=.
std::optional<Expr> turned_comparison(const Binary& n) {
  switch (n.op) {
    case BinaryOp::Gt:
      return fold(BinaryOp::Lt, n.b, n.a);
    case BinaryOp::Ge:
      return fold(BinaryOp::Le, n.b, n.a);
    case BinaryOp::Ne:
      return !fold(BinaryOp::Eq, n.a, n.b);
    case BinaryOp::Le:
      // Floats are excluded: if an operand is NaN, a <= b is false, but !(b < a) is true.
      if (!n.a.dtype().is_integral()) return std::nullopt;
      return !fold(BinaryOp::Lt, n.b, n.a);
    default:
      return std::nullopt;
  }
}

/// Simplifies the operands, then the operation.
Expr rewrite_operands(const Expr& e, const Binary& n, RewriteContext& context) {
  if (std::optional<Expr> turned = turned_comparison(n)) return context.visit(*turned);
  const Expr a = context.visit(n.a), b = context.visit(n.b);
  if (std::optional<Expr> constant = folded(n.op, a, b)) return *constant;
  const Expr node = a.same_as(n.a) && b.same_as(n.b) ? e : make_binary(n.op, a, b);
  const Binary& inside = *node.as<Binary>();
  if (!e.dtype().is_bool()) return rewrite_arithmetic(node, inside, context);
  if (const auto constant = decide(node, context)) return *constant;
  if (n.op == BinaryOp::And || n.op == BinaryOp::Or)
    return rewrite_connective(node, inside, context);
  return rewrite_comparison(node, inside, context);
}

Expr rewrite_binary(const Expr& e, const Binary& n, RewriteContext& context) {
  const Facts::State& state = context.facts.state();
  const bool is_connective = n.op == BinaryOp::And || n.op == BinaryOp::Or;
  if (is_connective || !wraps(e, state)) return rewrite_operands(e, n, context);
  const Expr result = [&] {
    const InData scope(state, true);
    return rewrite_operands(e, n, context);
  }();
  return state.in_data ? result : keep_wrapping(e, result, state);
}

Expr rewrite_negation(const Expr& e, const Not& n, RewriteContext& context) {
  const Expr a = context.visit(n.a);
  if (is_constant(a)) return !a;
  const Expr node = a.same_as(n.a) ? e : make_not(a);
  if (const auto constant = decide(node, context)) return *constant;
  return rewrite_not(node, context);
}

// ---- choices: each branch is visited under its condition ----------------------------------------

bool has_choice(const Expr& e) {
  return any_node(
      e, [](const Select&) { return true; },
      [](const Call& call) { return call.is(Intrin::if_then_else); });
}

/// Whether a condition that has been simplified is assumed without another visit. Other conditions
/// are visited again under their own bounds. A comparison of floats has no integer bounds, so a
/// second visit would change nothing. In a condition with choices, the cost would multiply with
/// each level of nesting.
bool is_settled(const Expr& condition) {
  const Not* inverted = condition.as<Not>();
  const Binary* n = (inverted ? inverted->a : condition).as<Binary>();
  return (n && is_comparison(n->op) && n->a.dtype().is_floating()) || has_choice(condition);
}

Expr visit_under(const Expr& e, const Expr& condition, bool is_settled, RewriteContext& context) {
  const Facts::Scope scope = assume(context.facts, condition, is_settled);
  return context.visit(e);
}

/// Simplifies a guard, whose operands are indices.
Expr visit_guard(const Expr& condition, RewriteContext& context) {
  const InData guard(context.facts.state(), false);
  return context.visit(condition);
}

Select visit_choice(const Select& c, RewriteContext& context) {
  const Expr condition = visit_guard(c.condition, context);
  const bool settled = is_settled(condition);
  const Expr if_true = visit_under(c.if_true, condition, settled, context);
  const Not* inverted = condition.as<Not>();
  const Expr otherwise = !settled   ? rewrite_simplify(make_not(condition), context.facts)
                         : inverted ? inverted->a
                                    : make_not(condition);
  return {condition, if_true, visit_under(c.if_false, otherwise, settled, context)};
}

bool is_unchanged(const Select& a, const Select& b) {
  return a.condition.same_as(b.condition) && a.if_true.same_as(b.if_true) &&
         a.if_false.same_as(b.if_false);
}

Expr rewrite_select(const Expr& e, const Select& n, RewriteContext& context) {
  const Select c = visit_choice(n, context);
  if (is_true(c.condition)) return c.if_true;
  if (is_false(c.condition)) return c.if_false;
  if (structural_equal(c.if_true, c.if_false)) return c.if_true;
  return is_unchanged(c, n) ? e : make_select(c.condition, c.if_true, c.if_false);
}

Expr rewrite_if_then_else(const Expr& e, const Call& n, RewriteContext& context) {
  const Select old{n.args[0], n.args[1], n.args[2]};
  const Select c = visit_choice(old, context);
  if (is_true(c.condition)) return c.if_true;
  if (is_false(c.condition)) return c.if_false;
  return is_unchanged(c, old)
             ? e
             : make_call(e.dtype(), n.callee, {c.condition, c.if_true, c.if_false});
}

// ---- calls --------------------------------------------------------------------------------------

/// Simplifies ceil of a constant, or of the logarithm of one, as used for the number of steps of a
/// reduction tree.
std::optional<Expr> rewrite_ceil(const Expr& e, const Expr& argument) {
  if (const FloatImm* n = argument.as<FloatImm>())
    return make_float(e.dtype(), std::ceil(n->value));
  const Call* logarithm = as_call(argument, Intrin::log2);
  const FloatImm* n = logarithm ? logarithm->args[0].as<FloatImm>() : nullptr;
  if (!n || n->value <= 0) return std::nullopt;
  const interp::Scalar steps = interp::apply(Intrin::log2, std::array{interp::floating(n->value)},
                                             logarithm->args[0].dtype(), argument.dtype());
  return make_float(e.dtype(), std::ceil(steps.d));
}

/// Folds bit operations on constants. Unlike in user code, any shift amount is allowed here.
std::optional<Expr> rewrite_bits(const Expr& e, const Call& n) {
  std::vector<interp::Scalar> args;
  for (const Expr& arg : n.args) {
    const IntImm* constant = arg.as<IntImm>();
    if (!constant) return std::nullopt;
    args.push_back(interp::integer(constant->value));
  }
  const interp::Scalar result =
      interp::apply(std::get<Intrin>(n.callee), args, n.args[0].dtype(), e.dtype());
  return make_int(e.dtype(), result.i);
}

Expr rewrite_call(const Expr& e, const Call& n, RewriteContext& context) {
  if (n.is(Intrin::if_then_else)) return rewrite_if_then_else(e, n, context);
  const Expr node = map_children(e, context.visit);
  const Call& call = *node.as<Call>();
  if (call.is(Intrin::likely)) {
    const Expr& hinted = call.args[0];
    if (is_constant(hinted)) return hinted;
    if (const auto constant = decide(hinted, context)) return *constant;
  }
  for (const Intrin bits :
       {Intrin::shift_left, Intrin::shift_right, Intrin::bitwise_and, Intrin::bitwise_or,
        Intrin::bitwise_xor, Intrin::bitwise_not, Intrin::popcount, Intrin::clz})
    if (call.is(bits))
      if (std::optional<Expr> constant = rewrite_bits(node, call)) return *constant;
  if (call.is(Intrin::ceil))
    if (std::optional<Expr> constant = rewrite_ceil(node, call.args[0])) return *constant;
  return node;
}

/// Substitutes lets whose value is a constant or a variable; larger values remain shared.
Expr rewrite_let(const Expr& e, const LetExpr& n, RewriteContext& context) {
  const Expr value = context.visit(n.value);
  const bool is_substituted = is_constant(value) || value.as<VarNode>();
  Facts::State& state = context.facts.state();
  const bool is_data = value.dtype().is_integral() && wraps(value, state);
  state.change(n.var, [&](Facts::State::OfVar& known) {
    known.value = is_substituted ? std::optional(value) : std::nullopt;
    known.is_data = is_data;
  });
  if (is_substituted) return context.visit(n.body);
  const Expr body = context.visit(n.body);
  return value.same_as(n.value) && body.same_as(n.body) ? e : make_let(n.var, value, body);
}

/// Simplifies a reduction under the assumption that its axes are in their domains.
Expr rewrite_reduction(const Expr& e, const Reduce& n, RewriteContext& context) {
  const Facts::Scope ranges = assume_axes(context.facts, n.reduction->axis);
  return map_children(e, context.visit);
}

/// Simplifies a load, whose operands are indices.
Expr rewrite_element(const Expr& e, RewriteContext& context) {
  const InData indices(context.facts.state(), false);
  return map_children(e, context.visit);
}

Expr rewrite_cast(const Expr& e, const Cast& n, RewriteContext& context) {
  const Expr value = context.visit(n.value);
  if (value.same_as(n.value) && value.dtype() != e.dtype() && !is_constant(value)) return e;
  return cast(e.dtype(), value);
}

}  // namespace

RewriteContext::RewriteContext(const Facts& facts)
    : facts(facts),
      visit([this](const Expr& e) {
        return visit_once(e, *this, [&] { return rewrite_node(e, *this); });
      }),
      uses_literals(true),
      memory(facts.state().memory()) {}

Expr rewrite_node(const Expr& e, RewriteContext& context) {
  if (is_stack_low()) return with_deep_stack([&] { return rewrite_node(e, context); });
  return tenon::match(
      e.node().value, [&](const IntImm&) { return e; }, [&](const FloatImm&) { return e; },
      [&](const StringImm&) { return e; },
      [&](const VarNode&) { return rewrite_variable(e, context); },
      [&](const Cast& n) { return rewrite_cast(e, n, context); },
      [&](const Binary& n) { return rewrite_binary(e, n, context); },
      [&](const Not& n) { return rewrite_negation(e, n, context); },
      [&](const Select& n) { return rewrite_select(e, n, context); },
      [&](const Call& n) { return rewrite_call(e, n, context); },
      [&](const LetExpr& n) { return rewrite_let(e, n, context); },
      [&](const Reduce& n) { return rewrite_reduction(e, n, context); },
      [&](const Load&) { return rewrite_element(e, context); },
      [&](const ProducerLoad&) { return rewrite_element(e, context); },
      each_of<Ramp, Broadcast, Shuffle>([&] { return map_children(e, context.visit); }));
}

}  // namespace tenon::arith

#include "arith/rewrite_step.h"

#include <cmath>

#include "arith/facts_state.h"
#include "arith/rewrite_rules.h"
#include "tenon/arith/simplify.h"
#include "tenon/interp/scalar.h"
#include "tenon/support/deep_stack.h"
#include "tenon/support/each_of.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/walk.h"

namespace tenon::arith {

using namespace tir;

namespace {

std::optional<bool> decide(const Expr& e, const RewriteContext& context) {
  return context.uses_literals ? context.facts.state().decide(e) : std::nullopt;
}

Expr rewrite_variable(const Expr& e, const RewriteContext& context) {
  if (e.dtype().is_bool())
    if (const auto holds = decide(e, context)) return *holds ? make_true() : make_false();
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
      // The rewrite excludes floats: neither order holds for a NaN.
      if (!n.a.dtype().is_integral()) return std::nullopt;
      return !fold(BinaryOp::Lt, n.b, n.a);
    default:
      return std::nullopt;
  }
}

Expr rewrite_binary(const Expr& e, const Binary& n, RewriteContext& context) {
  const Facts::State& state = context.facts.state();
  const bool is_arithmetic = n.op != BinaryOp::And && n.op != BinaryOp::Or;
  const InData scope(state, is_arithmetic ? wraps(e, state) : state.in_data);
  if (std::optional<Expr> turned = turned_comparison(n)) return context.visit(*turned);
  const Expr a = context.visit(n.a), b = context.visit(n.b);
  if (std::optional<Expr> constant = folded(n.op, a, b)) return *constant;
  const Expr node = a.same_as(n.a) && b.same_as(n.b) ? e : make_binary(n.op, a, b);
  const Binary& inside = *node.as<Binary>();
  if (!e.dtype().is_bool()) return rewrite_arithmetic(node, inside, context);
  if (const auto holds = decide(node, context))
    return *holds ? make_true(e.dtype().lanes) : make_false(e.dtype().lanes);
  if (n.op == BinaryOp::And || n.op == BinaryOp::Or)
    return rewrite_connective(node, inside, context);
  return rewrite_comparison(node, inside, context);
}

Expr rewrite_negation(const Expr& e, const Not& n, RewriteContext& context) {
  const Expr a = context.visit(n.a);
  if (is_constant(a)) return !a;
  const Expr node = a.same_as(n.a) ? e : make_not(a);
  if (const auto holds = decide(node, context))
    return *holds ? make_true(e.dtype().lanes) : make_false(e.dtype().lanes);
  return rewrite_not(node, context);
}

// ---- choices: each branch is visited under its condition ----------------------------------------

struct Choice {
  Expr condition, if_true, if_false;
};

Expr visit_under(const Expr& e, const Expr& condition, RewriteContext& context) {
  Assumption assumption(context.facts, condition);
  return context.visit(e);
}

bool has_choice(const Expr& e) {
  bool found = false;
  walk(
      e, [&](const Select&) { found = true; },
      [&](const Call& call) { found = found || call.is(Intrin::if_then_else); });
  return found;
}

/// Whether the visited condition is assumed as it is. Other conditions are visited again under
/// their own bounds. In a comparison of floats, which has no integer bounds, that would change
/// nothing. In a condition with choices, each level of nesting would multiply the visits.
bool is_settled(const Expr& condition) {
  const Not* inverted = condition.as<Not>();
  const Binary* n = (inverted ? inverted->a : condition).as<Binary>();
  return (n && is_comparison(n->op) && n->a.dtype().is_floating()) || has_choice(condition);
}

Expr visit_under_settled(const Expr& e, const Expr& condition, RewriteContext& context) {
  const Assumption assumption = Assumption::of_settled(context.facts, condition);
  return context.visit(e);
}

/// Simplifies a guard, whose operands are indices.
Expr visit_guard(const Expr& condition, RewriteContext& context) {
  const InData guard(context.facts.state(), false);
  return context.visit(condition);
}

Choice visit_choice(const Choice& c, RewriteContext& context) {
  const Expr condition = visit_guard(c.condition, context);
  if (is_settled(condition)) {
    const Not* inverted = condition.as<Not>();
    Expr if_true = visit_under_settled(c.if_true, condition, context);
    const Expr otherwise = inverted ? inverted->a : make_not(condition);
    return {condition, std::move(if_true), visit_under_settled(c.if_false, otherwise, context)};
  }
  Expr if_true = visit_under(c.if_true, condition, context);
  Expr if_false =
      visit_under(c.if_false, rewrite_simplify(make_not(condition), context.facts), context);
  return {condition, std::move(if_true), std::move(if_false)};
}

bool is_unchanged(const Choice& a, const Choice& b) {
  return a.condition.same_as(b.condition) && a.if_true.same_as(b.if_true) &&
         a.if_false.same_as(b.if_false);
}

Expr rewrite_select(const Expr& e, const Select& n, RewriteContext& context) {
  const Choice old{n.condition, n.if_true, n.if_false};
  const Choice c = visit_choice(old, context);
  if (is_true(c.condition)) return c.if_true;
  if (is_false(c.condition)) return c.if_false;
  if (structural_equal(c.if_true, c.if_false)) return c.if_true;
  return is_unchanged(c, old) ? e : make_select(c.condition, c.if_true, c.if_false);
}

Expr rewrite_if_then_else(const Expr& e, const Call& n, RewriteContext& context) {
  const Choice old{n.args[0], n.args[1], n.args[2]};
  const Choice c = visit_choice(old, context);
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
  return make_float(e.dtype(), std::ceil(std::log2(n->value)));
}

/// Folds bit operations on constants. Unlike in user code, any shift amount is allowed here.
std::optional<Expr> rewrite_bits(const Expr& e, const Call& n) {
  const IntImm* a = n.args[0].as<IntImm>();
  const IntImm* b = n.args[1].as<IntImm>();
  if (!a || !b) return std::nullopt;
  const interp::Scalar args[] = {interp::integer(a->value), interp::integer(b->value)};
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
    if (const auto holds = decide(hinted, context)) return *holds ? make_true() : make_false();
  }
  for (const Intrin bits : {Intrin::shift_left, Intrin::shift_right, Intrin::bitwise_and,
                            Intrin::bitwise_or, Intrin::bitwise_xor})
    if (call.is(bits))
      if (std::optional<Expr> constant = rewrite_bits(node, call)) return *constant;
  if (call.is(Intrin::ceil))
    if (std::optional<Expr> constant = rewrite_ceil(node, call.args[0])) return *constant;
  return node;
}

/// Substitutes lets whose value is a constant or a variable; larger values remain shared.
Expr rewrite_let(const Expr& e, const LetExpr& n, RewriteContext& context) {
  const Expr value = context.visit(n.value);
  if (is_constant(value) || value.as<VarNode>()) {
    VarMap map;
    set(map, n.var, value);
    return context.visit(substitute(n.body, map));
  }
  if (value.dtype().is_integral() && wraps(value, context.facts.state()))
    context.facts.state().add_data(n.var);
  const Expr body = context.visit(n.body);
  return value.same_as(n.value) && body.same_as(n.body) ? e : make_let(n.var, value, body);
}

/// Simplifies a reduction under the assumption that its axes are in their domains.
Expr rewrite_reduction(const Expr& e, const Reduce& n, RewriteContext& context) {
  const Assumption ranges = Assumption::of_axes(context.facts, n.reduction->axis);
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
        return visit_once(e, *this, RewriteMemory::Step::Rewrite,
                          [&] { return rewrite_node(e, *this); });
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

std::optional<Expr> apply_rules(const rules::RuleTable& table, const Expr& e,
                                RewriteContext& context) {
  std::optional<rules::Applied> applied = rules::apply(table, e, context.facts);
  if (!applied) return std::nullopt;
  return applied->again ? rewrite_again(applied->result, context) : applied->result;
}

std::optional<Expr> folded(BinaryOp op, const Expr& a, const Expr& b) {
  if (!is_constant(a) && !is_constant(b) && !a.same_as(b)) return std::nullopt;
  Expr result = fold(op, a, b);
  const Binary* n = as_binary(result, op);
  if (n && n->a.same_as(a) && n->b.same_as(b)) return std::nullopt;
  return result;
}

}  // namespace tenon::arith

#include "arith/facts_state.h"
#include "arith/normal_sum.h"
#include "arith/rewrite_rules.h"
#include "arith/rules/tables.h"
#include "tenon/tir/walk.h"

namespace tenon::arith {

using namespace tir;
using namespace rules;

namespace {

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
  if (bound.is_exactly(0)) return Order::Equal;
  if (bound.min > 0) return Order::Greater;
  if (bound.max < 0) return Order::Less;
  if (bound.min >= 0) return Order::AtLeast;
  if (bound.max <= 0) return Order::AtMost;
  return modular_set_of(difference, state).base != 0 ? Order::Different : Order::Unknown;
}

/// Returns the order of operands whose difference may wrap. It can prove them equal or different,
/// but not which one is smaller.
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

}  // namespace

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

}  // namespace tenon::arith

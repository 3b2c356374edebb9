#include "te/intrinsics/operand_order.h"

#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;

bool is_commutative(BinaryOp op) {
  switch (op) {
    case BinaryOp::Add:
    case BinaryOp::Mul:
    case BinaryOp::Min:
    case BinaryOp::Max:
    case BinaryOp::And:
    case BinaryOp::Or:
    case BinaryOp::Eq:
    case BinaryOp::Ne:
      return true;
    default:
      return false;
  }
}

namespace {

/// Returns the expression with commutative operands in canonical order.
Expr ordered(const Expr& e) {
  return rewrite(e, [](const Binary& n, const Expr&) -> std::optional<Expr> {
    if (!is_commutative(n.op) || n.a.node().hash <= n.b.node().hash) return std::nullopt;
    return make_binary(n.op, n.b, n.a);
  });
}

}  // namespace

bool same_but_for_order(const Expr& a, const Expr& b) {
  return structural_equal(ordered(a), ordered(b));
}

Difference where_they_part(const Expr& a, const Expr& b) {
  const Binary *x = a.as<Binary>(), *y = b.as<Binary>();
  if (x && y && x->op == y->op) {
    if (same_but_for_order(x->a, y->a)) return where_they_part(x->b, y->b);
    if (same_but_for_order(x->b, y->b)) return where_they_part(x->a, y->a);
    if (is_commutative(x->op) && same_but_for_order(x->a, y->b)) return where_they_part(x->b, y->a);
    if (is_commutative(x->op) && same_but_for_order(x->b, y->a)) return where_they_part(x->a, y->b);
  }
  if (std::optional<Difference> difference = first_difference(a, b)) return *difference;
  return {print_expr(a), print_expr(b), "expression"};
}

}  // namespace tenon::te

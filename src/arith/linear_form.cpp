#include <map>
#include <unordered_map>

#include "arith/ends.h"
#include "tenon/support/deep_stack.h"
#include "tenon/tir/walk.h"

namespace tenon::arith {

using namespace tir;

namespace {

/// The sum of coefficients[i] * vars[i] plus base; absent parts are zero. Sparse, because most
/// variables occur in few parts of an expression.
struct Partial {
  std::map<std::size_t, Expr> coefficients;
  std::optional<Expr> base;
};

std::optional<Expr> combined(BinaryOp op, const std::optional<Expr>& a,
                             const std::optional<Expr>& b) {
  if (a && b) return combine(op, *a, *b);
  if (a || op == BinaryOp::Add) return a ? a : b;
  if (!b) return std::nullopt;
  return combine(op, make_int(b->dtype(), 0), *b);
}

/// Returns a + b or a - b.
Partial add(BinaryOp op, const Partial& a, const Partial& b) {
  Partial sum{a.coefficients, combined(op, a.base, b.base)};
  for (const auto& [var, right] : b.coefficients) {
    const auto [left, is_new] = sum.coefficients.try_emplace(var, right);
    left->second = is_new ? *combined(op, std::nullopt, right) : combine(op, left->second, right);
  }
  return sum;
}

/// Precondition: the factor uses none of the variables.
Partial multiply(const Partial& a, const Expr& factor, bool factor_is_left) {
  auto product = [&](const Expr& x) {
    return factor_is_left ? combine(BinaryOp::Mul, factor, x) : combine(BinaryOp::Mul, x, factor);
  };
  Partial result = a;
  if (result.base) result.base = product(*result.base);
  for (auto& [var, coefficient] : result.coefficients) coefficient = product(coefficient);
  return result;
}

using Positions = std::unordered_map<const ExprNode*, std::size_t>;

/// Returns the linear form of `e`, given the position of each variable.
std::optional<Partial> linearized(const Expr& e, const Positions& vars) {
  if (is_stack_low()) return with_deep_stack([&] { return linearized(e, vars); });
  if (const auto it = vars.find(&e.node()); it != vars.end())
    return Partial{{{it->second, make_int(e.dtype(), 1)}}, std::nullopt};
  const Binary* node = e.as<Binary>();
  bool is_arithmetic =
      node && (node->op == BinaryOp::Add || node->op == BinaryOp::Sub || node->op == BinaryOp::Mul);
  if (!is_arithmetic) {
    bool uses = uses_var(e, [&](const Expr& var) { return vars.contains(&var.node()); });
    return uses ? std::nullopt : std::optional(Partial{{}, e});
  }
  std::optional<Partial> a = linearized(node->a, vars);
  if (!a) return std::nullopt;
  std::optional<Partial> b = linearized(node->b, vars);
  if (!b) return std::nullopt;
  // An expression without the variables keeps its form.
  if (a->coefficients.empty() && b->coefficients.empty()) return Partial{{}, e};
  if (node->op != BinaryOp::Mul) return add(node->op, *a, *b);
  if (b->coefficients.empty()) return multiply(*a, node->b, false);
  if (a->coefficients.empty()) return multiply(*b, node->a, true);
  return std::nullopt;
}

}  // namespace

std::optional<LinearForm> linear_form(const Expr& e, const std::vector<Var>& vars) {
  Positions positions;
  for (std::size_t i = 0; i < vars.size(); ++i) positions.emplace(&vars[i].node(), i);
  const std::optional<Partial> partial = linearized(e, positions);
  if (!partial) return std::nullopt;
  LinearForm form{{}, partial->base ? *partial->base : make_int(e.dtype(), 0)};
  for (const Var& var : vars) form.coefficients.push_back(make_int(var.dtype(), 0));
  for (const auto& [var, coefficient] : partial->coefficients) form.coefficients[var] = coefficient;
  return form;
}

}  // namespace tenon::arith

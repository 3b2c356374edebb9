#include "arith/ends.h"
#include "tenon/support/deep_stack.h"
#include "tenon/tir/walk.h"

namespace tenon::arith {

using namespace tir;

namespace {

/// The sum of coefficients[i] * vars[i] plus base; absent parts are zero. Sparse, because most
/// variables occur in few parts of an expression.
struct Partial {
  struct Entry {
    std::size_t var;
    Expr coefficient;
  };
  /// The coefficients, sorted by variable.
  std::vector<Entry> entries;
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
  Partial sum{{}, combined(op, a.base, b.base)};
  std::size_t i = 0, j = 0;
  while (i < a.entries.size() || j < b.entries.size()) {
    bool from_a =
        j == b.entries.size() || (i < a.entries.size() && a.entries[i].var <= b.entries[j].var);
    bool from_b =
        i == a.entries.size() || (j < b.entries.size() && b.entries[j].var <= a.entries[i].var);
    std::size_t var = from_a ? a.entries[i].var : b.entries[j].var;
    std::optional<Expr> left, right;
    if (from_a) left = a.entries[i++].coefficient;
    if (from_b) right = b.entries[j++].coefficient;
    sum.entries.push_back({var, *combined(op, left, right)});
  }
  return sum;
}

/// Precondition: the factor uses none of the variables.
Partial multiply(const Partial& a, const Expr& factor, bool factor_is_left) {
  auto product = [&](const Expr& x) {
    return factor_is_left ? combine(BinaryOp::Mul, factor, x) : combine(BinaryOp::Mul, x, factor);
  };
  Partial result;
  if (a.base) result.base = product(*a.base);
  for (const Partial::Entry& entry : a.entries)
    result.entries.push_back({entry.var, product(entry.coefficient)});
  return result;
}

class Linearizer {
 public:
  explicit Linearizer(const std::vector<Var>& vars) {
    for (std::size_t i = 0; i < vars.size(); ++i) index_.emplace(&vars[i].node(), i);
  }

  std::optional<Partial> operator()(const Expr& e) const {
    if (is_stack_low()) return with_deep_stack([&] { return (*this)(e); });
    if (e.as<VarNode>()) {
      auto it = index_.find(&e.node());
      if (it != index_.end()) return Partial{{{it->second, make_int(e.dtype(), 1)}}, std::nullopt};
    }
    const Binary* node = e.as<Binary>();
    bool is_arithmetic = node && (node->op == BinaryOp::Add || node->op == BinaryOp::Sub ||
                                  node->op == BinaryOp::Mul);
    if (!is_arithmetic) {
      bool uses = uses_var(e, [&](const Expr& var) { return index_.contains(&var.node()); });
      return uses ? std::nullopt : std::optional(Partial{{}, e});
    }
    std::optional<Partial> a = (*this)(node->a);
    if (!a) return std::nullopt;
    std::optional<Partial> b = (*this)(node->b);
    if (!b) return std::nullopt;
    // An expression without the variables keeps its form.
    if (a->entries.empty() && b->entries.empty()) return Partial{{}, e};
    if (node->op != BinaryOp::Mul) return add(node->op, *a, *b);
    if (b->entries.empty()) return multiply(*a, node->b, false);
    if (a->entries.empty()) return multiply(*b, node->a, true);
    return std::nullopt;
  }

 private:
  std::unordered_map<const ExprNode*, std::size_t> index_;
};

}  // namespace

std::optional<LinearForm> linear_form(const Expr& e, const std::vector<Var>& vars) {
  std::optional<Partial> partial = Linearizer(vars)(e);
  if (!partial) return std::nullopt;
  LinearForm form{{}, partial->base ? *partial->base : make_int(e.dtype(), 0)};
  for (const Var& var : vars) form.coefficients.push_back(make_int(var.dtype(), 0));
  for (const Partial::Entry& entry : partial->entries)
    form.coefficients[entry.var] = entry.coefficient;
  return form;
}

}  // namespace tenon::arith

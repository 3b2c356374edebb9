#include "lower/cpu/index_set_split.h"

#include <algorithm>

#include "lower/loops/lanes.h"
#include "tenon/arith/simplify.h"
#include "tenon/arith/wraps.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/fresh_copy.h"

namespace tenon::lowering {

using namespace tir;

namespace {

constexpr std::size_t kMaxNodesOfPartedLoop = 400;

struct Boundary {
  Expr comparison;
  /// The first iteration in which the comparison has the opposite value.
  Expr point;
  bool holds_before;
};

class BoundaryFinder {
 public:
  BoundaryFinder(const For& loop, const arith::Facts& facts) : var_(loop.var), facts_(facts) {}

  std::optional<Boundary> find(const Stmt& s) {
    stmt(s);
    return std::move(found_);
  }

 private:
  void stmt(const Stmt& s) {
    if (found_) return;
    if (const Let* n = s.as<Let>()) set(lets_, n->var, substitute(n->value, lets_));
    if (const For* n = s.as<For>()) inner_.push_back(n->var);
    if (const If* n = s.as<If>()) condition(n->condition);
    for_each_child(
        s, [&](const Expr& e) { expr(e); }, [&](const Stmt& child) { stmt(child); });
  }

  void expr(const Expr& e) {
    if (const Call* n = as_call(e, Intrin::if_then_else)) condition(n->args[0]);
    if (!found_) for_each_child(e, [&](const Expr& child) { expr(child); });
  }

  void condition(const Expr& e) {
    if (found_) return;
    if (const Call* n = as_call(e, Intrin::likely)) return condition(n->args[0]);
    if (const Not* n = e.as<Not>()) return condition(n->a);
    const Binary* n = e.as<Binary>();
    if (!n) return;
    if (n->op == BinaryOp::And || n->op == BinaryOp::Or) {
      condition(n->a);
      return condition(n->b);
    }
    comparison(*n, e);
  }

  void comparison(const Binary& n, const Expr& e) {
    if (!n.a.dtype().is_int() || n.a.dtype().is_vector()) return;
    // Normalizes the comparison to 0 <= rest + step*var.
    const Expr one = make_int(n.a.dtype(), 1);
    std::optional<Expr> slack;
    if (n.op == BinaryOp::Lt) slack = n.b - n.a - one;
    if (n.op == BinaryOp::Le) slack = n.b - n.a;
    if (n.op == BinaryOp::Gt) slack = n.a - n.b - one;
    if (n.op == BinaryOp::Ge) slack = n.a - n.b;
    if (!slack || n.a.dtype() != var_.dtype()) return;
    slack = substitute(*slack, lets_);
    // A wrapping sum may cross the limit several times.
    if (arith::wraps(*slack, facts_)) return;
    const std::optional<Expr> step = step_of(*slack, var_);
    const std::optional<std::int64_t> by = step ? constant_int(*step) : std::nullopt;
    if (by != 1 && by != -1) return;
    VarMap at_zero;
    set(at_zero, var_, make_int(var_.dtype(), 0));
    const Expr rest = arith::simplify(substitute(*slack, at_zero));
    if (!is_fixed(rest)) return;
    // 0 <= rest - var holds up to and including rest; 0 <= rest + var holds from -rest on.
    const Expr zero = make_int(var_.dtype(), 0);
    found_ = *by < 0 ? Boundary{e, arith::simplify(rest + one), true}
                     : Boundary{e, arith::simplify(zero - rest), false};
  }

  bool is_fixed(const Expr& e) const {
    return !contains<Load>(e) && !contains<Call>(e) && !uses_var(e, var_) &&
           std::ranges::none_of(inner_, [&](const Var& var) { return uses_var(e, var); });
  }

  Var var_;
  const arith::Facts& facts_;
  std::vector<Var> inner_;
  VarMap lets_;
  std::optional<Boundary> found_;
};

/// Returns the body with the comparison replaced by the constant `holds`, and folded.
Stmt given_comparison(const Stmt& body, const Expr& comparison, bool holds) {
  return rewrite(
      body,
      [&](const Binary& n, const Expr& self) -> std::optional<Expr> {
        if (structural_equal(self, comparison)) return holds ? make_true() : make_false();
        if (n.op != BinaryOp::And && n.op != BinaryOp::Or) return std::nullopt;
        const bool is_and = n.op == BinaryOp::And;
        if (is_true(n.a)) return is_and ? n.b : n.a;
        if (is_false(n.a)) return is_and ? n.a : n.b;
        if (is_true(n.b)) return is_and ? n.a : n.b;
        if (is_false(n.b)) return is_and ? n.b : n.a;
        return std::nullopt;
      },
      [&](const Not& n, const Expr&) -> std::optional<Expr> {
        if (is_true(n.a)) return make_false();
        if (is_false(n.a)) return make_true();
        return std::nullopt;
      },
      [&](const Call& n, const Expr&) -> std::optional<Expr> {
        if (n.is(Intrin::likely) && is_constant(n.args[0])) return n.args[0];
        if (!n.is(Intrin::if_then_else)) return std::nullopt;
        if (is_true(n.args[0])) return n.args[1];
        if (is_false(n.args[0])) return n.args[2];
        return std::nullopt;
      },
      [&](const If& n, const Stmt&) -> std::optional<Stmt> {
        if (is_true(n.condition)) return n.then_case;
        if (is_false(n.condition)) return n.else_case ? *n.else_case : make_nop();
        return std::nullopt;
      });
}

}  // namespace

std::optional<PartedLoop> part_at_condition(const For& loop, const arith::Facts& facts) {
  if (node_count(loop.body) > kMaxNodesOfPartedLoop) return std::nullopt;
  const std::optional<Boundary> boundary = BoundaryFinder(loop, facts).find(loop.body);
  if (!boundary) return std::nullopt;
  const Expr end = loop.min + loop.extent;
  const Expr point = arith::simplify(max(min(boundary->point, end), loop.min));
  const Stmt before = given_comparison(loop.body, boundary->comparison, boundary->holds_before);
  const Stmt after = given_comparison(loop.body, boundary->comparison, !boundary->holds_before);
  const auto made = [&](const Expr& from, const Expr& to, const Stmt& body) {
    const Stmt copy =
        fresh_copy(make_stmt(For{loop.var, from, arith::simplify(to - from), loop.kind, body}));
    return *copy.as<For>();
  };
  return PartedLoop{made(loop.min, point, before), made(point, end, after)};
}

}  // namespace tenon::lowering

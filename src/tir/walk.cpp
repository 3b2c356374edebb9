#include "tenon/tir/walk.h"

#include <algorithm>

#include "tenon/support/deep_stack.h"
#include "tenon/tir/ops.h"

namespace tenon::tir {

// ---- children -----------------------------------------------------------------------------------
// Nearly every recursion over a program comes through here once a level, and so need not look at
// its stack.

namespace {

void each(const std::vector<Expr>& list, const ExprVisit& f) {
  for (const Expr& e : list) f(e);
}
void each(const std::vector<Range>& list, const ExprVisit& f) {
  for (const Range& r : list) f(r.min), f(r.extent);
}

/// The mapped list, or nullopt if no element changed.
std::optional<std::vector<Expr>> mapped(const std::vector<Expr>& list, const ExprMap& f) {
  std::optional<std::vector<Expr>> result;
  for (std::size_t n = 0; n < list.size(); ++n) {
    Expr e = f(list[n]);
    if (!result && e.same_as(list[n])) continue;
    if (!result) result.emplace(list.begin(), list.end());
    (*result)[n] = std::move(e);
  }
  return result;
}

std::optional<std::vector<Range>> mapped(const std::vector<Range>& list, const ExprMap& f) {
  bool changed = false;
  std::vector<Range> result;
  result.reserve(list.size());
  for (const Range& r : list) {
    Expr min = f(r.min), extent = f(r.extent);
    changed |= !min.same_as(r.min) || !extent.same_as(r.extent);
    result.push_back(Range::from_min_extent(std::move(min), std::move(extent)));
  }
  if (!changed) return std::nullopt;
  return result;
}

}  // namespace

void for_each_child(const Expr& e, const ExprVisit& f) {
  if (is_stack_low()) return with_deep_stack([&] { for_each_child(e, f); });
  match(
      e.node().value, [](const IntImm&) {}, [](const FloatImm&) {}, [](const StringImm&) {},
      [](const VarNode&) {}, [&](const Cast& n) { f(n.value); },
      [&](const Binary& n) { f(n.a), f(n.b); }, [&](const Not& n) { f(n.a); },
      [&](const Select& n) { f(n.condition), f(n.if_true), f(n.if_false); },
      [&](const Ramp& n) { f(n.base), f(n.stride); }, [&](const Broadcast& n) { f(n.value); },
      [&](const Shuffle& n) { each(n.vectors, f), each(n.indices, f); },
      [&](const LetExpr& n) { f(n.value), f(n.body); }, [&](const Call& n) { each(n.args, f); },
      [&](const Load& n) { each(n.indices, f); },
      [&](const ProducerLoad& n) { each(n.indices, f); },
      [&](const Reduce& n) {
        for (const IterVar& axis : n.reduction->axis)
          if (axis.dom()) f(axis.dom()->min), f(axis.dom()->extent);
        each(n.reduction->source, f), each(n.reduction->init, f), f(n.reduction->condition);
      });
}

void for_each_child(const Stmt& s, const ExprVisit& f, const StmtVisit& g) {
  if (is_stack_low()) return with_deep_stack([&] { for_each_child(s, f, g); });
  match(
      s.node().value, [&](const Store& n) { f(n.value), each(n.indices, f); },
      [&](const Realize& n) { each(n.bounds, f), f(n.condition), g(n.body); },
      [&](const BufferView& n) { each(n.region, f), g(n.body); },
      [&](const Allocate& n) { each(n.extents, f), f(n.condition), g(n.body); },
      [&](const For& n) { f(n.min), f(n.extent), g(n.body); },
      [&](const While& n) { f(n.condition), g(n.body); },
      [&](const If& n) {
        f(n.condition), g(n.then_case);
        if (n.else_case) g(*n.else_case);
      },
      [&](const Let& n) { f(n.value), g(n.body); },
      [&](const Assert& n) { f(n.condition), g(n.body); },
      [&](const Attr& n) { f(n.value), g(n.body); }, [&](const Evaluate& n) { f(n.value); },
      [&](const Seq& n) {
        for (const Stmt& c : n.stmts) g(c);
      },
      [&](const Prefetch& n) { each(n.region, f); });
}

Expr map_children(const Expr& e, const ExprMap& f) {
  if (is_stack_low()) return with_deep_stack([&] { return map_children(e, f); });
  return match(
      e.node().value, [&](const IntImm&) { return e; }, [&](const FloatImm&) { return e; },
      [&](const StringImm&) { return e; }, [&](const VarNode&) { return e; },
      [&](const Cast& n) {
        Expr value = f(n.value);
        return value.same_as(n.value) ? e : make_cast(e.dtype(), std::move(value));
      },
      [&](const Binary& n) {
        Expr a = f(n.a), b = f(n.b);
        return a.same_as(n.a) && b.same_as(n.b) ? e : make_binary(n.op, std::move(a), std::move(b));
      },
      [&](const Not& n) {
        Expr a = f(n.a);
        return a.same_as(n.a) ? e : make_not(std::move(a));
      },
      [&](const Select& n) {
        Expr c = f(n.condition), a = f(n.if_true), b = f(n.if_false);
        const bool same = c.same_as(n.condition) && a.same_as(n.if_true) && b.same_as(n.if_false);
        return same ? e : make_select(std::move(c), std::move(a), std::move(b));
      },
      [&](const Ramp& n) {
        Expr base = f(n.base), stride = f(n.stride);
        const bool same = base.same_as(n.base) && stride.same_as(n.stride);
        return same ? e : make_ramp(std::move(base), std::move(stride), n.lanes);
      },
      [&](const Broadcast& n) {
        Expr value = f(n.value);
        return value.same_as(n.value) ? e : make_broadcast(std::move(value), n.lanes);
      },
      [&](const Shuffle& n) {
        auto vectors = mapped(n.vectors, f);
        auto indices = mapped(n.indices, f);
        if (!vectors && !indices) return e;
        return make_shuffle(vectors ? *vectors : n.vectors, indices ? *indices : n.indices);
      },
      [&](const LetExpr& n) {
        Expr value = f(n.value), body = f(n.body);
        return value.same_as(n.value) && body.same_as(n.body)
                   ? e
                   : make_let(n.var, std::move(value), std::move(body));
      },
      [&](const Call& n) {
        auto args = mapped(n.args, f);
        return args ? make_call(e.dtype(), n.callee, std::move(*args)) : e;
      },
      [&](const Load& n) {
        auto indices = mapped(n.indices, f);
        return indices ? make_load(n.buffer, std::move(*indices)) : e;
      },
      [&](const ProducerLoad& n) {
        auto indices = mapped(n.indices, f);
        return indices ? make_producer_load(n.producer, std::move(*indices)) : e;
      },
      [&](const Reduce& n) {
        const ReduceNode& r = *n.reduction;
        std::vector<IterVar> axes;
        bool same_axes = true;
        for (const IterVar& axis : r.axis) {
          if (!axis.dom()) {
            axes.push_back(axis);
            continue;
          }
          Expr min = f(axis.dom()->min), extent = f(axis.dom()->extent);
          const bool same = min.same_as(axis.dom()->min) && extent.same_as(axis.dom()->extent);
          same_axes &= same;
          axes.push_back(same ? axis
                              : IterVar(Range::from_min_extent(std::move(min), std::move(extent)),
                                        axis.var(), axis.kind(), axis.thread()));
        }
        auto source = mapped(r.source, f);
        auto init = mapped(r.init, f);
        Expr condition = f(r.condition);
        if (same_axes && !source && !init && condition.same_as(r.condition)) return e;
        ReduceNode changed{r.combiner, source ? std::move(*source) : r.source,
                           init ? std::move(*init) : r.init, std::move(axes), std::move(condition)};
        return make_reduce(std::make_shared<const ReduceNode>(std::move(changed)), n.value_index);
      });
}

Stmt map_children(const Stmt& s, const ExprMap& f, const StmtMap& g) {
  if (is_stack_low()) return with_deep_stack([&] { return map_children(s, f, g); });
  return match(
      s.node().value,
      [&](const Store& n) {
        Expr value = f(n.value);
        auto indices = mapped(n.indices, f);
        if (value.same_as(n.value) && !indices) return s;
        return make_stmt(
            Store{n.buffer, std::move(value), indices ? std::move(*indices) : n.indices});
      },
      [&](const Realize& n) {
        auto bounds = mapped(n.bounds, f);
        Expr condition = f(n.condition);
        Stmt body = g(n.body);
        if (!bounds && condition.same_as(n.condition) && body.same_as(n.body)) return s;
        return make_stmt(Realize{n.buffer, bounds ? std::move(*bounds) : n.bounds,
                                 std::move(condition), std::move(body), n.traits});
      },
      [&](const BufferView& n) {
        auto region = mapped(n.region, f);
        Stmt body = g(n.body);
        if (!region && body.same_as(n.body)) return s;
        return make_stmt(
            BufferView{n.view, n.source, region ? std::move(*region) : n.region, std::move(body)});
      },
      [&](const Allocate& n) {
        auto extents = mapped(n.extents, f);
        Expr condition = f(n.condition);
        Stmt body = g(n.body);
        if (!extents && condition.same_as(n.condition) && body.same_as(n.body)) return s;
        return make_stmt(Allocate{n.data, n.dtype, extents ? std::move(*extents) : n.extents,
                                  std::move(condition), std::move(body), n.double_buffer});
      },
      [&](const For& n) {
        Expr min = f(n.min), extent = f(n.extent);
        Stmt body = g(n.body);
        if (min.same_as(n.min) && extent.same_as(n.extent) && body.same_as(n.body)) return s;
        return make_stmt(For{n.var, std::move(min), std::move(extent), n.kind, std::move(body)});
      },
      [&](const While& n) {
        Expr condition = f(n.condition);
        Stmt body = g(n.body);
        if (condition.same_as(n.condition) && body.same_as(n.body)) return s;
        return make_stmt(While{std::move(condition), std::move(body)});
      },
      [&](const If& n) {
        Expr condition = f(n.condition);
        Stmt then_case = g(n.then_case);
        std::optional<Stmt> else_case;
        if (n.else_case) else_case = g(*n.else_case);
        const bool same_else = !else_case || else_case->same_as(*n.else_case);
        if (condition.same_as(n.condition) && then_case.same_as(n.then_case) && same_else) return s;
        return make_stmt(If{std::move(condition), std::move(then_case), std::move(else_case)});
      },
      [&](const Let& n) {
        Expr value = f(n.value);
        Stmt body = g(n.body);
        if (value.same_as(n.value) && body.same_as(n.body)) return s;
        return make_stmt(Let{n.var, std::move(value), std::move(body)});
      },
      [&](const Assert& n) {
        Expr condition = f(n.condition);
        Stmt body = g(n.body);
        if (condition.same_as(n.condition) && body.same_as(n.body)) return s;
        return make_stmt(Assert{std::move(condition), n.message, std::move(body)});
      },
      [&](const Attr& n) {
        Expr value = f(n.value);
        Stmt body = g(n.body);
        if (value.same_as(n.value) && body.same_as(n.body)) return s;
        return make_stmt(Attr{n.kind, n.subject, n.key, std::move(value), std::move(body)});
      },
      [&](const Evaluate& n) {
        Expr value = f(n.value);
        return value.same_as(n.value) ? s : make_evaluate(std::move(value));
      },
      [&](const Seq& n) {
        std::vector<Stmt> stmts;
        stmts.reserve(n.stmts.size());
        bool same = true;
        for (const Stmt& c : n.stmts) {
          stmts.push_back(g(c));
          same &= stmts.back().same_as(c);
        }
        return same ? s : make_seq(std::move(stmts));
      },
      [&](const Prefetch& n) {
        auto region = mapped(n.region, f);
        return region ? make_stmt(Prefetch{n.buffer, std::move(*region)}) : s;
      });
}

// ---- whole trees --------------------------------------------------------------------------------

namespace detail {

void walk_expr(const Expr& e, const ExprVisit& visit) {
  visit(e);
  for_each_child(e, [&](const Expr& c) { walk_expr(c, visit); });
}

void walk_stmt(const Stmt& s, const ExprVisit& visit_expr, const StmtVisit& visit_stmt) {
  visit_stmt(s);
  for_each_child(
      s, [&](const Expr& e) { walk_expr(e, visit_expr); },
      [&](const Stmt& c) { walk_stmt(c, visit_expr, visit_stmt); });
}

Expr rewrite_expr(const Expr& e, const std::function<std::optional<Expr>(const Expr&)>& f) {
  Expr rebuilt = map_children(e, [&](const Expr& c) { return rewrite_expr(c, f); });
  auto replaced = f(rebuilt);
  return replaced ? *replaced : rebuilt;
}

Stmt rewrite_stmt(const Stmt& s, const std::function<std::optional<Expr>(const Expr&)>& f,
                  const std::function<std::optional<Stmt>(const Stmt&)>& g) {
  Stmt rebuilt = map_children(
      s, [&](const Expr& e) { return rewrite_expr(e, f); },
      [&](const Stmt& c) { return rewrite_stmt(c, f, g); });
  auto replaced = g(rebuilt);
  return replaced ? *replaced : rebuilt;
}

}  // namespace detail

// ---- substitution -------------------------------------------------------------------------------

Expr substitute(const Expr& e, const VarMap& map) {
  if (e.as<VarNode>()) {
    auto found = map.find(&e.node());
    return found == map.end() ? e : found->second;
  }
  return map_children(e, [&](const Expr& c) { return substitute(c, map); });
}

Stmt substitute(const Stmt& s, const VarMap& map) {
  return map_children(
      s, [&](const Expr& e) { return substitute(e, map); },
      [&](const Stmt& c) { return substitute(c, map); });
}

Range substitute(const Range& r, const VarMap& map) {
  return Range::from_min_extent(substitute(r.min, map), substitute(r.extent, map));
}

Expr substitute_folding(const Expr& e, const VarMap& map) {
  if (e.as<VarNode>()) return substitute(e, map);
  Expr rebuilt = map_children(e, [&](const Expr& c) { return substitute_folding(c, map); });
  if (rebuilt.same_as(e)) return e;
  const Binary* n = rebuilt.as<Binary>();
  return n ? fold(n->op, n->a, n->b) : rebuilt;
}

// ---- questions ----------------------------------------------------------------------------------

bool uses_var(const Expr& e, const std::function<bool(const Expr& var)>& is_one) {
  if (e.as<VarNode>()) return is_one(e);
  bool found = false;
  for_each_child(e, [&](const Expr& c) { found = found || uses_var(c, is_one); });
  return found;
}

bool uses_var(const Stmt& s, const std::function<bool(const Expr& var)>& is_one) {
  bool found = false;
  for_each_child(
      s, [&](const Expr& e) { found = found || uses_var(e, is_one); },
      [&](const Stmt& c) { found = found || uses_var(c, is_one); });
  return found;
}

bool uses_var(const Expr& e, const Var& var) {
  return uses_var(e, [&](const Expr& v) { return v.same_as(var); });
}
bool uses_var(const Stmt& s, const Var& var) {
  return uses_var(s, [&](const Expr& v) { return v.same_as(var); });
}

namespace {

class FreeVars {
 public:
  std::vector<Var> found;

  void expr(const Expr& e) {
    if (e.as<VarNode>()) {
      if (seen_.insert(&e.node()).second) found.push_back(Var::of(e));
      return;
    }
    if (const LetExpr* let = e.as<LetExpr>()) {
      expr(let->value);
      seen_.insert(&let->var.node());
      expr(let->body);
      return;
    }
    if (const Reduce* reduce = e.as<Reduce>())
      for (const IterVar& axis : reduce->reduction->axis) seen_.insert(&axis.var().node());
    for_each_child(e, [&](const Expr& c) { expr(c); });
  }

  void stmt(const Stmt& s) {
    if (is_stack_low()) return with_deep_stack([&] { stmt(s); });
    // A variable defined by the statement is not free in its body; its own bounds come first.
    auto define = [&](const Var& v) { seen_.insert(&v.node()); };
    match(
        s.node().value,
        [&](const For& n) { expr(n.min), expr(n.extent), define(n.var), stmt(n.body); },
        [&](const Let& n) { expr(n.value), define(n.var), stmt(n.body); },
        [&](const Allocate& n) {
          for (const Expr& e : n.extents) expr(e);
          expr(n.condition), define(n.data), stmt(n.body);
        },
        [&](const BufferView& n) { view(n); },
        [&](const Attr& n) {
          expr(n.value);
          const IterVar* axis = std::get_if<IterVar>(&n.subject);
          if (axis && (n.kind == AttrKind::ThreadExtent || n.kind == AttrKind::VirtualThread))
            define(axis->var());
          stmt(n.body);
        },
        [&](const auto&) {
          for_each_child(
              s, [&](const Expr& e) { expr(e); }, [&](const Stmt& c) { stmt(c); });
        });
  }

 private:
  /// Sizes, strides and offset of a view that are variables have values inside of it, and only
  /// there.
  void view(const BufferView& n) {
    for (const Range& range : n.region) expr(range.min), expr(range.extent);
    std::vector<const ExprNode*> defined;
    auto define = [&](const Expr& e) {
      if (e.as<VarNode>() && seen_.insert(&e.node()).second) defined.push_back(&e.node());
    };
    define(n.view->data);
    define(n.view->elem_offset);
    for (const Expr& extent : n.view->shape) define(extent);
    for (const Expr& stride : n.view->strides) define(stride);
    stmt(n.body);
    for (const ExprNode* var : defined) seen_.erase(var);
  }

  std::unordered_set<const ExprNode*> seen_;
};

}  // namespace

std::vector<Var> free_vars(const Expr& e) {
  FreeVars vars;
  vars.expr(e);
  return vars.found;
}

std::vector<Var> free_vars(const Stmt& s) {
  FreeVars vars;
  vars.stmt(s);
  return vars.found;
}

Effect effect_of(const Expr& e) {
  Effect effect = Effect::Pure;
  auto raise = [&](Effect other) { effect = std::max(effect, other); };
  walk(
      e, [&](const Load&) { raise(Effect::ReadState); },
      [&](const ProducerLoad&) { raise(Effect::ReadState); },
      [&](const Call& call) {
        raise(match(
            call.callee, [](Intrin i) { return effect_of(i); },
            [](const ExternCallee& c) { return c.pure ? Effect::Pure : Effect::UpdateState; }));
      });
  return effect;
}

std::size_t node_count(const Expr& e) {
  std::size_t count = 1;
  for_each_child(e, [&](const Expr& c) { count += node_count(c); });
  return count;
}

std::size_t node_count(const Stmt& s) {
  std::size_t count = 1;
  for_each_child(
      s, [&](const Expr& e) { count += node_count(e); },
      [&](const Stmt& c) { count += node_count(c); });
  return count;
}

}  // namespace tenon::tir

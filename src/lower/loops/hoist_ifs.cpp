// Hoists conditions out of the loops on which they do not depend.
//
//   for i { for j { for k { if (i < n) S } } }  =>  for i { if (i < n) { for j { for k { S } } } }
//
// A pure condition is hoisted above every loop whose variable it does not use, up to the innermost
// loop whose variable it uses. A condition that mentions the axis of an enclosing attribute is not
// hoisted. A condition is not hoisted across a sequence of statements, the attribute of an axis, an
// assertion, the definition of a variable that it uses, or another condition that has an `else`.
// Hoisting a condition with an `else` copies the loops. Simplification and the removal of no-ops
// follow.
#include "lower/passes.h"

#include <algorithm>
#include <ranges>

#include "lower/rewriting.h"
#include "tenon/tir/fresh_copy.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// An enclosing loop, or an axis that an enclosing Attr binds.
struct EnclosingScope {
  Var var;
  bool is_loop;
  /// Whether the current statement is only one part of the body. A condition must then not be
  /// hoisted out of this scope.
  bool is_closed = false;
  /// The hoisted conditions, outermost first, and whether each of them has an `else`.
  std::vector<std::pair<Expr, bool>> hoisted = {};
};

/// Returns the statement, given that the condition has this value. Branches on the condition,
/// compared by identity, are replaced by the taken side.
Stmt given_condition(const Stmt& s, const Expr& condition, bool value) {
  if (const If* n = s.as<If>(); n && n->condition.same_as(condition)) {
    if (value) return given_condition(n->then_case, condition, value);
    return n->else_case ? given_condition(*n->else_case, condition, value) : make_nop();
  }
  return map_statements(
      s, [&](const Stmt& child) { return given_condition(child, condition, value); });
}

class Hoister {
 public:
  Stmt stmt(const Stmt& s) {
    if (const For* n = s.as<For>()) return loop(s, *n);
    if (const If* n = s.as<If>()) return condition(s, *n);
    if (const Attr* n = s.as<Attr>()) return attr(s, *n);
    if (const Let* n = s.as<Let>()) {
      lets_.push_back(n->var);
      Stmt result = children(s);
      lets_.pop_back();
      return result;
    }
    if (s.as<Seq>() && !levels_.empty()) levels_.back().is_closed = true;
    if (s.as<While>() || s.as<Assert>()) return closed([&] { return children(s); });
    return children(s);
  }

 private:
  Stmt children(const Stmt& s) {
    return map_statements(s, [&](const Stmt& child) { return stmt(child); });
  }

  Stmt loop(const Stmt& s, const For& n) {
    levels_.push_back({n.var, true});
    Stmt result = children(s);
    const auto hoisted = std::move(levels_.back().hoisted);
    levels_.pop_back();
    for (const auto& [condition, has_else] : hoisted | std::views::reverse) {
      std::optional<Stmt> otherwise;
      if (has_else) otherwise = fresh_copy(given_condition(result, condition, false));
      result = make_stmt(If{condition, given_condition(result, condition, true), otherwise});
    }
    return result;
  }

  Stmt attr(const Stmt& s, const Attr& n) {
    std::optional<Var> axis;
    if (const auto* iter_var = std::get_if<IterVar>(&n.subject)) axis = iter_var->var();
    if (const auto* e = std::get_if<Expr>(&n.subject); e && e->as<VarNode>()) axis = Var::of(*e);
    if (!axis) return children(s);
    levels_.push_back({*axis, false});
    Stmt result = children(s);
    levels_.pop_back();
    return result;
  }

  Stmt condition(const Stmt& s, const If& n) {
    if (EnclosingScope* level = destination(n.condition))
      level->hoisted.emplace_back(n.condition, n.else_case.has_value());
    // A condition inside one case must not guard the other case.
    if (n.else_case) return closed([&] { return children(s); });
    return children(s);
  }

  /// Runs `f`. Meanwhile, no condition can be hoisted out of the innermost scope.
  template <class F>
  Stmt closed(F f) {
    if (levels_.empty()) return f();
    const std::size_t level = levels_.size() - 1;
    const bool before = std::exchange(levels_[level].is_closed, true);
    Stmt result = f();
    levels_[level].is_closed = levels_[level].is_closed && before;
    return result;
  }

  /// Returns the outermost loop that the condition can be hoisted above; nullptr if it must stay.
  EnclosingScope* destination(const Expr& condition) {
    if (effect_of(condition) != Effect::Pure || uses_any(condition)) return nullptr;
    EnclosingScope* result = nullptr;
    for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
      if (level->is_closed || !level->is_loop || uses_var(condition, level->var)) break;
      result = &*level;
    }
    return result;
  }

  /// Whether the condition uses a let variable or the axis of an attribute.
  bool uses_any(const Expr& condition) const {
    const auto is_bound = [&](const Expr& var) {
      return std::ranges::any_of(lets_, [&](const Var& let) { return let.same_as(var); }) ||
             std::ranges::any_of(levels_, [&](const EnclosingScope& level) {
               return !level.is_loop && level.var.same_as(var);
             });
    };
    return uses_var(condition, is_bound);
  }

  std::vector<EnclosingScope> levels_;
  std::vector<Var> lets_;
};

}  // namespace

PrimFunc hoist_ifs(const PrimFunc& func, const PassOptions&) {
  return with_body(func, Hoister().stmt(func.body));
}

}  // namespace tenon::lowering

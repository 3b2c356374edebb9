// Traversal: read every node (walk), or rebuild what changed and share the rest (rewrite).
//
//   walk(stmt, [&](const Load& load) { touched.push_back(load.buffer); });           // any of many kinds
//   Stmt t = rewrite(stmt, [&](const Load& load, const Expr& self) -> std::optional<Expr> {...});
//
// Passes with state of their own recurse by hand: name the kinds they care about, and give the rest
// to map_children:
//
//   Stmt Pass::stmt(const Stmt& s) {
//     if (const For* loop = s.as<For>()) return ...;
//     return map_children(s, [&](const Expr& e) { return expr(e); }, [&](const Stmt& c) { return stmt(c); });
//   }
#pragma once

#include <type_traits>
#include <unordered_map>
#include <unordered_set>

#include "tenon/support/function_ref.h"
#include "tenon/support/match.h"
#include "tenon/tir/block.h"
#include "tenon/tir/function.h"

namespace tenon::tir {

/// What traversals call: references, so that nothing is allocated per node. They do not keep a
/// lambda alive: a variable that is to hold one is a std::function.
using ExprVisit = FunctionRef<void(const Expr&)>;
using StmtVisit = FunctionRef<void(const Stmt&)>;
using ExprMap = FunctionRef<Expr(const Expr&)>;
using StmtMap = FunctionRef<Stmt(const Stmt&)>;

/// Calls f on every direct sub-expression, left to right. Reduce: sources, inits, condition, axis
/// ranges.
void for_each_child(const Expr& e, ExprVisit f);
/// Calls f on every direct sub-expression and g on every direct sub-statement, in the order of the
/// text: a loop's min and extent before its body, an allocation's extents before its body; a
/// store's value before its indices. The shapes inside buffers are not visited.
void for_each_child(const Stmt& s, ExprVisit f, StmtVisit g);

/// The node with every direct sub-expression replaced by f of it; the same handle if nothing
/// changed. Nothing is folded.
Expr map_children(const Expr& e, ExprMap f);
Stmt map_children(const Stmt& s, ExprMap f, StmtMap g);

namespace detail {
template <class F, class Node>
void visit_if(F& f, const Node& node) {
  if constexpr (std::is_invocable_v<F&, const Node&>) f(node);
}
template <class Fs, class Value>
void visit_node(Fs& fs, const Value& value) {
  match(value, [&](const auto& node) { visit_if(fs, node); });
}
void walk_expr(const Expr& e, ExprVisit visit);
void walk_stmt(const Stmt& s, ExprVisit visit_expr, StmtVisit visit_stmt);
/// What a visitor that takes the node's kind makes of it.
template <class Visitors, class Handle>
std::optional<Handle> replacement(Visitors& visitors, const Handle& x) {
  return match(x.node().value, [&](const auto& node) -> std::optional<Handle> {
    if constexpr (std::is_invocable_v<Visitors&, decltype(node), const Handle&>)
      return visitors(node, x);
    return std::nullopt;
  });
}
Expr rewrite_expr(const Expr& e, FunctionRef<std::optional<Expr>(const Expr&)> f);
Stmt rewrite_stmt(const Stmt& s, FunctionRef<std::optional<Expr>(const Expr&)> f,
                  FunctionRef<std::optional<Stmt>(const Stmt&)> g);
}  // namespace detail

/// Calls the matching visitor for every node, parents first. Each visitor takes one kind by const
/// reference.
template <class... F>
void walk(const Expr& e, F... visitor) {
  Overloaded visitors{std::move(visitor)...};
  detail::walk_expr(e, [&](const Expr& x) { detail::visit_node(visitors, x.node().value); });
}
template <class... F>
void walk(const Stmt& s, F... visitor) {
  Overloaded visitors{std::move(visitor)...};
  detail::walk_stmt(
      s, [&](const Expr& x) { detail::visit_node(visitors, x.node().value); },
      [&](const Stmt& x) { detail::visit_node(visitors, x.node().value); });
}

/// Bottom-up replacement: each visitor takes (const Kind&, const Expr& self) with children already
/// rewritten and returns the replacement, or nullopt to keep.
template <class... F>
Expr rewrite(const Expr& e, F... visitor) {
  Overloaded visitors{std::move(visitor)...};
  return detail::rewrite_expr(e, [&](const Expr& x) { return detail::replacement(visitors, x); });
}
template <class... F>
Stmt rewrite(const Stmt& s, F... visitor) {
  Overloaded visitors{std::move(visitor)...};
  return detail::rewrite_stmt(
      s, [&](const Expr& x) { return detail::replacement(visitors, x); },
      [&](const Stmt& x) { return detail::replacement(visitors, x); });
}

/// A map from variables to what replaces them. Look up only; never iterate (its order is that of
/// addresses).
using VarMap = std::unordered_map<const ExprNode*, Expr>;
void set(VarMap& map, const Var& var, Expr value);

/// Replaces variables. Nothing is folded unless `folding`; shapes and offsets inside buffers are
/// not entered.
Expr substitute(const Expr& e, const VarMap& map);
Stmt substitute(const Stmt& s, const VarMap& map);
Range substitute(const Range& r, const VarMap& map);
/// Replaces variables and folds constants on the way up, as building the expression anew would.
Expr substitute_folding(const Expr& e, const VarMap& map);

/// Whether the variable (any variable of the set) occurs.
bool uses_var(const Expr& e, const Var& var);
bool uses_var(const Stmt& s, const Var& var);
bool uses_var(const Expr& e, FunctionRef<bool(const Expr& var)> is_one);
bool uses_var(const Stmt& s, FunctionRef<bool(const Expr& var)> is_one);
/// Variables that occur but are not defined inside, in order of first appearance.
std::vector<Var> free_vars(const Expr& e);
std::vector<Var> free_vars(const Stmt& s);

/// The strongest effect of anything inside; a load reads state.
Effect effect_of(const Expr& e);
/// Number of nodes; shared sub-trees count each time.
std::size_t node_count(const Expr& e);
std::size_t node_count(const Stmt& s);

}  // namespace tenon::tir

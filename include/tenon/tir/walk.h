// Traversals: walk visits every node, and rewrite rebuilds changed nodes and shares the rest.
//
//   walk(stmt, [&](const Load& load) { touched.push_back(load.buffer); });           // any of many kinds
//   Stmt t = rewrite(stmt, [&](const Load& load, const Expr& self) -> std::optional<Expr> {...});
//
// A pass with its own state recurses by hand: it handles some kinds itself and passes all others to
// map_children:
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

/// Callbacks of traversals. They refer to a callable without copying it, which avoids an allocation
/// per node. Store a callback that outlives its callable in a std::function instead.
using ExprVisit = FunctionRef<void(const Expr&)>;
using StmtVisit = FunctionRef<void(const Stmt&)>;
using ExprMap = FunctionRef<Expr(const Expr&)>;
using StmtMap = FunctionRef<Stmt(const Stmt&)>;

/// Calls `f` on every direct sub-expression, left to right. For a Reduce: axis ranges, sources,
/// inits, condition.
void for_each_child(const Expr& e, ExprVisit f);
/// Calls `f` on every direct sub-expression and `g` on every direct sub-statement, in textual
/// order: the min and extent of a loop and the extents of an allocation before the body, the value
/// of a store before its indices. The shapes inside buffers are not visited.
void for_each_child(const Stmt& s, ExprVisit f, StmtVisit g);

/// Whether `e` is a choice or a logical operation, which may skip all operands except the first.
bool is_lazy(const Expr& e);
/// Calls `always(operand)` for every direct sub-expression that is evaluated whenever `e` is
/// evaluated. Calls `under(condition, operand)` for every other one, which is evaluated only if the
/// condition holds.
void for_each_operand(const Expr& e, ExprVisit always,
                      FunctionRef<void(const Expr& condition, const Expr& operand)> under);

/// Replaces every direct sub-expression by f(it) and every direct sub-statement by g(it). Returns
/// the same handle if nothing changed. Nothing is folded.
Expr map_children(const Expr& e, ExprMap f);
Stmt map_children(const Stmt& s, ExprMap f, StmtMap g);

namespace detail {
/// Calls the visitor for the node's kind, if there is one.
template <class Visitors, class Value>
void visit_node(Visitors& visitors, const Value& value) {
  match(value, [&](const auto& node) {
    if constexpr (std::is_invocable_v<Visitors&, decltype(node)>) visitors(node);
  });
}
void walk_expr(const Expr& e, ExprVisit visit);
void walk_stmt(const Stmt& s, ExprVisit visit_expr, StmtVisit visit_stmt);
/// Returns the result of the visitor for the node's kind; nullopt if no visitor takes that kind.
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

/// Calls the matching visitor on every node, parents first. Each visitor takes one kind of node by
/// const reference.
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

/// Whether a predicate holds for a node of `tree`. Each predicate takes one kind of node.
template <class Tree, class... F>
bool any_node(const Tree& tree, F... holds) {
  Overloaded predicates{std::move(holds)...};
  bool found = false;
  walk(tree, [&](const auto& node) {
    if constexpr (std::is_invocable_v<decltype(predicates)&, decltype(node)>)
      found = found || predicates(node);
  });
  return found;
}

/// Rewrites bottom-up. A visitor takes (const Kind&, const Expr& self), whose children are already
/// rewritten, and returns the replacement, or nullopt to keep the node.
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

/// Maps variables to their replacements. Must not be iterated: the keys are addresses.
using VarMap = std::unordered_map<const ExprNode*, Expr>;
void set(VarMap& map, const Var& var, Expr value);

/// Substitutes variables, without folding. Shapes and offsets inside buffers are not entered.
Expr substitute(const Expr& e, const VarMap& map);
Stmt substitute(const Stmt& s, const VarMap& map);
Range substitute(const Range& r, const VarMap& map);
/// Substitutes variables and folds constants bottom-up, as if the expression were built again.
Expr substitute_folding(const Expr& e, const VarMap& map);

/// Returns the number of nodes of the expression as a tree, at most `limit`. Takes time linear in
/// the shared graph.
std::size_t tree_size(const Expr& e, std::size_t limit);
/// Substitutes the values of enclosing lets in the value of a let. Nullopt if the result is too
/// large as a tree: lets that each name the previous one twice grow exponentially.
std::optional<Expr> expand_let(const Expr& value, const VarMap& lets);

/// Whether the variable occurs in the tree, or any variable for which `is_one` returns true.
bool uses_var(const Expr& e, const Var& var);
bool uses_var(const Stmt& s, const Var& var);
bool uses_var(const Expr& e, FunctionRef<bool(const Expr& var)> is_one);
bool uses_var(const Stmt& s, FunctionRef<bool(const Expr& var)> is_one);
/// Returns the variables that are used but not defined inside, in order of first use.
std::vector<Var> free_vars(const Expr& e);
std::vector<Var> free_vars(const Stmt& s);

/// Returns the strongest effect of any sub-expression. A load has Effect::ReadState.
Effect effect_of(const Expr& e);
/// Returns the effect of the call itself, without those of its arguments.
Effect effect_of(const Call& call);
/// Whether the arithmetic of an integer expression, or of the operands of a comparison, is modulo
/// 2^bits. This is the case if the expression contains an element, a variable that holds data, the
/// result of a call or a cast from data, or if its type is not an index type. Otherwise every sum,
/// difference and product in it may be assumed not to overflow.
bool wraps(const Expr& e);
/// Returns an extent, a begin or an index whose arithmetic does not overflow: sums, products and
/// other operations on sizes of narrow or unsigned types are done in int32, or in int64 from 32
/// unsigned bits on, also where a promotion has cast their result. Expressions that hold data are
/// unchanged. Precondition: the expression is an integer.
///
///   n*2u8                  // n: uint8   =>  cast(int32, n)*2
///   i + cast(int32, n*m)   // n: int16   =>  i + cast(int32, n)*cast(int32, m)
Expr as_index(const Expr& e);
/// Returns a condition in which comparisons of positions, as opposed to data, are comparisons of
/// indices (see as_index).
Expr as_guard(const Expr& condition);
/// Applies `as_guard` to the conditions of all choices in the expression.
Expr with_guards_on_indices(const Expr& e);
/// Returns the number of nodes. Shared subtrees are counted at each occurrence.
std::size_t node_count(const Expr& e);
std::size_t node_count(const Stmt& s);

}  // namespace tenon::tir

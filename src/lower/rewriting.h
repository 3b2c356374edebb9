// Helpers of passes that rewrite programs.
#pragma once

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tenon/arith/dependence.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/make.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

/// Returns the statement with `f` applied to each direct substatement; expressions are unchanged.
template <class F>
tir::Stmt map_statements(const tir::Stmt& s, F f) {
  return tir::map_children(
      s, [](const tir::Expr& e) { return e; }, f);
}

/// Calls `f` on each direct substatement.
inline void for_each_statement(const tir::Stmt& s, tir::StmtVisit f) {
  tir::for_each_child(
      s, [](const tir::Expr&) {}, f);
}
/// Calls `f` on each direct subexpression, such as the condition of an If.
inline void for_each_expression(const tir::Stmt& s, tir::ExprVisit f) {
  tir::for_each_child(s, f, [](const tir::Stmt&) {});
}

/// Whether `holds` is true for some direct subexpression.
template <class F>
bool any_child(const tir::Expr& e, F holds) {
  bool found = false;
  tir::for_each_child(e, [&](const tir::Expr& child) { found = found || holds(child); });
  return found;
}

/// Returns the function with its body replaced by `body`.
inline tir::PrimFunc with_body(tir::PrimFunc func, tir::Stmt body) {
  func.body = std::move(body);
  return func;
}

/// Returns the results of `f` for every element, in order.
template <class F>
std::vector<tir::Expr> mapped(const std::vector<tir::Expr>& list, F f) {
  std::vector<tir::Expr> result;
  result.reserve(list.size());
  for (const tir::Expr& e : list) result.push_back(f(e));
  return result;
}

/// Whether two lists consist of the same nodes.
inline bool are_same(const std::vector<tir::Expr>& a, const std::vector<tir::Expr>& b) {
  return std::ranges::equal(a, b, &tir::Expr::same_as);
}

/// Removes all elements of the list except the first `size`.
template <class T>
void truncate(std::vector<T>& list, std::size_t size) {
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(size), list.end());
}

/// Returns the value of a float constant or of a broadcast one; nullopt for other expressions.
inline std::optional<double> float_constant(const tir::Expr& e) {
  if (const auto* n = e.as<tir::Broadcast>()) return float_constant(n->value);
  if (const auto* n = e.as<tir::FloatImm>()) return n->value;
  return std::nullopt;
}

/// Hashes and compares expressions by structure.
struct Structural {
  std::size_t operator()(const tir::Expr& e) const { return e.node().hash; }
  bool operator()(const tir::Expr& a, const tir::Expr& b) const {
    return tir::structural_equal(a, b);
  }
};
/// A map whose keys are compared by structure.
template <class Value>
using StructuralMap = std::unordered_map<tir::Expr, Value, Structural, Structural>;

/// Returns an allocation of memory for `buffer` that encloses `body`.
inline tir::Stmt allocated(const tir::Buffer& buffer, const tir::Stmt& body) {
  return tir::make_stmt(
      tir::Allocate{buffer->data, buffer->dtype, buffer->shape, tir::make_true(), body});
}

/// Returns the type of a value in memory, where bools are bytes.
inline DataType stored_type(DataType type) { return type.is_bool() ? Int(8, type.lanes) : type; }

inline bool has_constant_shape(const tir::Buffer& buffer) {
  return std::ranges::all_of(
      buffer->shape, [](const tir::Expr& extent) { return tir::constant_int(extent).has_value(); });
}

/// Returns the attribute that launches a thread axis; null if `s` is not a launch.
inline const tir::Attr* thread_attr(const tir::Stmt& s) {
  const tir::Attr* attr = s.as<tir::Attr>();
  return attr && attr->kind == tir::AttrKind::ThreadExtent ? attr : nullptr;
}
/// Returns the thread axis or virtual thread that the attribute binds; null if it binds none.
inline const tir::IterVar* bound_axis(const tir::Attr& attr) {
  const bool is_axis =
      attr.kind == tir::AttrKind::ThreadExtent || attr.kind == tir::AttrKind::VirtualThread;
  return is_axis ? &std::get<tir::IterVar>(attr.subject) : nullptr;
}
/// Returns the thread axis that `s` launches; null if `s` is not a launch.
inline const tir::IterVar* launched_axis(const tir::Stmt& s) {
  const tir::Attr* attr = thread_attr(s);
  return attr ? &std::get<tir::IterVar>(attr->subject) : nullptr;
}

/// Returns a copy of `buffer`, changed by `edit`. `copies` memoizes it, so each buffer has one
/// copy.
template <class F>
const tir::Buffer& copy_once(std::unordered_map<const tir::BufferNode*, tir::Buffer>& copies,
                             const tir::Buffer& buffer, F edit) {
  const auto [copy, is_new] = copies.try_emplace(buffer.get(), buffer);
  if (is_new) {
    tir::BufferNode node = *buffer.get();
    edit(node);
    copy->second = tir::make_buffer(std::move(node));
  }
  return copy->second;
}

/// Rewrites each load and store of the memory `data`. access(buffer, indices) returns the buffer
/// and the indices of the new access.
template <class F>
tir::Stmt with_accesses(const tir::Stmt& body, const tir::Var& data, F access) {
  return tir::rewrite(
      body,
      [&](const tir::Load& n, const tir::Expr&) -> std::optional<tir::Expr> {
        if (!n.buffer->data.same_as(data)) return std::nullopt;
        auto [buffer, indices] = access(n.buffer, n.indices);
        return tir::make_load(buffer, std::move(indices));
      },
      [&](const tir::Store& n, const tir::Stmt&) -> std::optional<tir::Stmt> {
        if (!n.buffer->data.same_as(data)) return std::nullopt;
        auto [buffer, indices] = access(n.buffer, n.indices);
        return tir::make_store(buffer, n.value, std::move(indices));
      });
}

/// Whether the operation is an integer division or remainder, which is undefined for a zero
/// divisor.
inline bool is_integer_division(tir::BinaryOp op) {
  return op == tir::BinaryOp::FloorDiv || op == tir::BinaryOp::FloorMod ||
         op == tir::BinaryOp::TruncDiv || op == tir::BinaryOp::TruncMod;
}

/// Returns the conjunction of the conditions; true for an empty list.
inline tir::Expr conjunction(const std::vector<tir::Expr>& conditions) {
  tir::Expr all = tir::make_true();
  for (const tir::Expr& condition : conditions)
    all = tir::is_true(all) ? condition : tir::make_binary(tir::BinaryOp::And, all, condition);
  return all;
}

/// Calls `f` on the conditions of a conjunction, looking through `likely`: likely(a) && (b && c)
/// has the conditions a, b and c.
template <class F>
void for_each_conjunct(const tir::Expr& condition, const F& f) {
  if (const tir::Call* call = tir::as_call(condition, tir::Intrin::likely))
    return for_each_conjunct(call->args[0], f);
  const tir::Binary* both = tir::as_binary(condition, tir::BinaryOp::And);
  if (!both) return f(condition);
  for_each_conjunct(both->a, f);
  for_each_conjunct(both->b, f);
}

/// The lets in scope whose values are the same wherever they are evaluated. Inlining them allows a
/// pass to compare values or to compute them at another place. If the value of a let reads memory
/// that `body` writes, its variable is not inlined:
///
///   let x = I[0]
///   I[0] = 7
///   B[x + 1] = A[x]                // not B[I[0] + 1]
class StableLets {
 public:
  /// `body` must contain every store between a let and a use of its variable.
  explicit StableLets(tir::Stmt body) : memory_(std::move(body)) {}

  void define(const tir::Let& let) {
    const std::optional<tir::Expr> value = tir::expand_let(let.value, values_);
    if (value && memory_.is_stable(*value))
      tir::set(values_, let.var, *value);
    else
      values_.erase(&let.var.node());
  }
  /// Returns the expression with stable lets inlined, except for large ones (expand_let). Values of
  /// lets are inlined into each other as well.
  tir::Expr flat(const tir::Expr& e) const { return tir::substitute(e, values_); }
  /// Whether the expression has the same value everywhere in the scope of its variables.
  bool is_stable(const tir::Expr& e) const { return memory_.is_stable(flat(e)); }

  const arith::WrittenMemory& memory() const { return memory_; }

 private:
  arith::WrittenMemory memory_;
  tir::VarMap values_;
};

}  // namespace tenon::lowering

// Helpers of passes that rewrite programs.
#pragma once

#include <unordered_map>
#include <vector>

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

/// Returns the results of `f` for every element, in order.
template <class F>
std::vector<tir::Expr> mapped(const std::vector<tir::Expr>& list, F f) {
  std::vector<tir::Expr> result;
  result.reserve(list.size());
  for (const tir::Expr& e : list) result.push_back(f(e));
  return result;
}

/// Hashes and compares expressions by structure.
struct Structural {
  std::size_t operator()(const tir::Expr& e) const { return e.node().hash; }
  bool operator()(const tir::Expr& a, const tir::Expr& b) const {
    return tir::structural_equal(a, b);
  }
};
/// A map in which structurally equal expressions are one key.
template <class Value>
using StructuralMap = std::unordered_map<tir::Expr, Value, Structural, Structural>;

/// Returns `body` inside an allocation of memory for `buffer`.
inline tir::Stmt allocated(const tir::Buffer& buffer, const tir::Stmt& body) {
  return tir::make_stmt(
      tir::Allocate{buffer->data, buffer->dtype, buffer->shape, tir::make_true(), body});
}

/// Returns the thread axis that `s` launches; null if `s` is not a launch.
inline const tir::IterVar* launched_axis(const tir::Stmt& s) {
  const tir::Attr* attr = s.as<tir::Attr>();
  return attr && attr->kind == tir::AttrKind::ThreadExtent ? &std::get<tir::IterVar>(attr->subject)
                                                           : nullptr;
}

/// Whether the operation is undefined for a zero divisor.
inline bool is_integer_division(tir::BinaryOp op) {
  return op == tir::BinaryOp::FloorDiv || op == tir::BinaryOp::FloorMod ||
         op == tir::BinaryOp::TruncDiv || op == tir::BinaryOp::TruncMod;
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

}  // namespace tenon::lowering

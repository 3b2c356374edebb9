// What several passes need when they rebuild programs.
#pragma once

#include <vector>

#include "tenon/tir/make.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

/// The statement with f of each direct sub-statement in its place; expressions stay as they are.
template <class F>
tir::Stmt map_statements(const tir::Stmt& s, F f) {
  return tir::map_children(
      s, [](const tir::Expr& e) { return e; }, f);
}

/// f of every element, in order.
template <class F>
std::vector<tir::Expr> mapped(const std::vector<tir::Expr>& list, F f) {
  std::vector<tir::Expr> result;
  result.reserve(list.size());
  for (const tir::Expr& e : list) result.push_back(f(e));
  return result;
}

/// `body` with memory for `buffer` allocated around it.
inline tir::Stmt allocated(const tir::Buffer& buffer, const tir::Stmt& body) {
  return tir::make_stmt(
      tir::Allocate{buffer->data, buffer->dtype, buffer->shape, tir::make_true(), body});
}

/// The thread axis that `s` launches; null if `s` is not a launch.
inline const tir::IterVar* launched_axis(const tir::Stmt& s) {
  const tir::Attr* attr = s.as<tir::Attr>();
  return attr && attr->kind == tir::AttrKind::ThreadExtent ? &std::get<tir::IterVar>(attr->subject)
                                                           : nullptr;
}

/// Whether it is undefined where the divisor is zero.
inline bool is_integer_division(tir::BinaryOp op) {
  return op == tir::BinaryOp::FloorDiv || op == tir::BinaryOp::FloorMod ||
         op == tir::BinaryOp::TruncDiv || op == tir::BinaryOp::TruncMod;
}

/// Calls f on the conditions that a conjunction is made of, looking through `likely`:
/// likely(a) && (b && c) are a, b and c.
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

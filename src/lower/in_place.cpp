#include "lower/in_place.h"

#include <algorithm>

#include "tenon/tir/compare.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

InPlaceSources::InPlaceSources(const Stmt& s, const Var& dst,
                               const std::vector<Var>& sharing_threads)
    : dst_(dst), loops_(sharing_threads) {
  if (!s.as<Attr>() && !s.as<For>() && !s.as<If>() && !s.as<While>() && !s.as<Store>()) {
    all_safe_ = false;
    return;
  }
  stmt(s);
  all_safe_ = all_safe_ && stores_ <= 1;
}

void InPlaceSources::stmt(const Stmt& s) {
  if (!all_safe_) return;
  if (const Store* n = s.as<Store>()) return store(*n);
  if (const Attr* n = s.as<Attr>(); n && n->kind == AttrKind::ExternScope) {
    all_safe_ = false;
    return;
  }
  if (const If* n = s.as<If>(); n && n->else_case) {
    expr(n->condition);
    const int before = stores_;
    stmt(n->then_case);
    const int after_then = std::exchange(stores_, before);
    stmt(*n->else_case);
    stores_ = std::max(stores_, after_then);
    return;
  }
  const For* loop = s.as<For>();
  const bool repeats = loop && !is_one(loop->extent);
  if (repeats) loops_.push_back(loop->var);
  for_each_child(
      s, [&](const Expr& e) { expr(e); }, [&](const Stmt& child) { stmt(child); });
  if (repeats) loops_.pop_back();
}

void InPlaceSources::store(const Store& n) {
  ++index_depth_;
  for (const Expr& index : n.indices) expr(index);
  --index_depth_;
  if (!n.buffer->data.same_as(dst_)) {
    unsafe_.insert(&n.buffer->data.node());
    expr(n.value);
    return;
  }
  ++stores_;
  if (!each_element_once(n)) all_safe_ = false;
  current_ = &n;
  expr(n.value);
  current_ = nullptr;
}

bool InPlaceSources::each_element_once(const Store& n) const {
  return std::all_of(loops_.begin(), loops_.end(), [&](const Var& loop) {
    return std::any_of(n.indices.begin(), n.indices.end(),
                       [&](const Expr& index) { return uses_var(index, loop); });
  });
}

void InPlaceSources::expr(const Expr& e) {
  if (const Load* n = e.as<Load>()) return load(e, *n);
  if (e.as<VarNode>() && e.dtype().is_handle()) {
    // The address itself is used: anything may happen there.
    if (e.same_as(dst_)) all_safe_ = false;
    unsafe_.insert(&e.node());
  }
  for_each_child(e, [&](const Expr& child) { expr(child); });
}

void InPlaceSources::load(const Expr& self, const Load& n) {
  const Var& src = n.buffer->data;
  if (src.same_as(dst_) || index_depth_ > 0) {
    all_safe_ = false;
    return;
  }
  const bool at_same_index =
      current_ && current_->value.dtype() == self.dtype() &&
      current_->indices.size() == n.indices.size() &&
      std::equal(n.indices.begin(), n.indices.end(), current_->indices.begin(),
                 [](const Expr& a, const Expr& b) { return structural_equal(a, b); });
  if (!at_same_index) unsafe_.insert(&src.node());
  ++index_depth_;
  for (const Expr& index : n.indices) expr(index);
  --index_depth_;
}

}  // namespace tenon::lowering

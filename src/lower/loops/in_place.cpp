#include "lower/loops/in_place.h"

#include <algorithm>

#include "lower/rewriting.h"
#include "tenon/arith/dependence.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

InPlaceSources::InPlaceSources(const Stmt& s, const Var& dst,
                               const std::vector<RangedVar>& sharing_threads)
    : dst_(dst), loops_(sharing_threads) {
  if (!s.as<Attr>() && !s.as<For>() && !s.as<If>() && !s.as<Store>()) {
    all_safe_ = false;
    return;
  }
  stmt(s);
  all_safe_ = all_safe_ && stores_ <= 1;
}

void InPlaceSources::stmt(const Stmt& s) {
  if (!all_safe_) return;
  const auto children = [&] {
    for_each_child(
        s, [&](const Expr& e) { expr(e); }, [&](const Stmt& child) { stmt(child); });
  };
  // A while loop may store to an element repeatedly, and an extern operation may store anywhere.
  const auto refuse = [&] { all_safe_ = false; };
  match(
      s.node().value, [&](const Store& n) { store(n); },
      [&](const If& n) {
        expr(n.condition);
        const int before = stores_;
        const std::size_t outside = guards_.size();
        for_each_conjunct(n.condition, [&](const Expr& part) {
          if (effect_of(part) == Effect::Pure) guards_.push_back(part);
        });
        stmt(n.then_case);
        guards_.erase(guards_.begin() + static_cast<std::ptrdiff_t>(outside), guards_.end());
        const int after_then = std::exchange(stores_, before);
        if (n.else_case) stmt(*n.else_case);
        stores_ = std::max(stores_, after_then);
      },
      [&](const For& n) {
        const bool repeats = !is_one(n.extent);
        if (repeats) loops_.push_back({n.var, Range::from_min_extent(n.min, n.extent)});
        children();
        if (repeats) loops_.pop_back();
      },
      [&](const Let& n) {
        lets_.insert(&n.var.node());
        children();
      },
      [&](const Attr& n) { n.kind == AttrKind::ExternScope ? refuse() : children(); },
      [&](const While&) { refuse(); }, [&](const Allocate&) { children(); },
      [&](const Assert&) { children(); }, [&](const Evaluate&) { children(); },
      [&](const Seq&) { children(); }, [&](const Realize&) { refuse(); },
      [&](const BufferView&) { refuse(); }, [&](const Prefetch&) { refuse(); },
      [&](const BlockRealize&) { refuse(); });
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
  first_store_ = &n;
  current_ = &n;
  expr(n.value);
  current_ = nullptr;
}

bool InPlaceSources::each_element_once(const Store& n) const {
  // Branches must store at the same index, because one branch must not read as the source what
  // another has written.
  const bool is_at_same_index =
      !first_store_ || std::equal(n.indices.begin(), n.indices.end(), first_store_->indices.begin(),
                                  first_store_->indices.end(), [](const Expr& a, const Expr& b) {
                                    return structural_equal(a, b);
                                  });
  const bool uses_let = std::any_of(n.indices.begin(), n.indices.end(), [&](const Expr& index) {
    return uses_var(index, [&](const Expr& var) { return lets_.contains(&var.node()); });
  });
  if (!is_at_same_index || uses_let || n.indices.size() != 1 ||
      effect_of(n.indices[0]) != Effect::Pure)
    return false;
  arith::Access access = arith::access_of(arith::AccessKind::Write, n.buffer, n.indices);
  access.guards = guards_;
  std::vector<arith::FreeVar> loops;
  for (const RangedVar& loop : loops_) loops.push_back({loop.var, loop.range});
  arith::Facts facts;
  return arith::touches_distinct_elements(access, loops, facts);
}

void InPlaceSources::expr(const Expr& e) {
  if (const Load* n = e.as<Load>()) return load(e, *n);
  if (e.as<VarNode>() && e.dtype().is_handle()) {
    // A use of the address itself permits any access.
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

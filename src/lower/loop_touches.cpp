#include "lower/loop_touches.h"

#include <algorithm>

#include "lower/rewriting.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/ops.h"

namespace tenon::lowering {

using namespace tir;

namespace {

class Touches {
 public:
  Touches(const Stmt& body, const WrittenMemory& memory) : memory_(memory) {
    stmt(body);
    std::erase_if(touches_, [&](const Touch& touch) {
      return own_.contains(&touch.access.buffer->data.node());
    });
  }
  std::vector<Touch> take() { return std::move(touches_); }

 private:
  struct View {
    Buffer source;
    std::vector<Range> region;
  };

  void stmt(const Stmt& s) {
    const std::ptrdiff_t inner = std::ssize(inner_);
    if (const Store* n = s.as<Store>()) {
      stage_ = n->buffer->name;
      expr(n->value);
      for (const Expr& index : n->indices) expr(index);
      return add(AccessKind::Store, n->buffer, n->indices);
    }
    for_each_child(
        s, [&](const Expr& e) { expr(e); }, [](const Stmt&) {});
    if (const If* n = s.as<If>()) return branches(*n);
    if (const Realize* n = s.as<Realize>()) own_.insert(&n->buffer->data.node());
    if (const Allocate* n = s.as<Allocate>()) own_.insert(&n->data.node());
    if (const BufferView* n = s.as<BufferView>())
      views_.insert_or_assign(&n->view->data.node(), View{n->source, n->region});
    if (const Let* n = s.as<Let>()) let(n->var, n->value);
    if (const For* n = s.as<For>()) define(n->var, Range::from_min_extent(n->min, n->extent));
    if (const Attr* n = s.as<Attr>();
        n && (n->kind == AttrKind::ThreadExtent || n->kind == AttrKind::VirtualThread)) {
      const Var var = std::get<IterVar>(n->subject).var();
      define(var, Range::from_min_extent(make_int(var.dtype(), 0), n->value));
    }
    for_each_child(
        s, [](const Expr&) {}, [&](const Stmt& child) { stmt(child); });
    inner_.erase(inner_.begin() + inner, inner_.end());
  }

  void branches(const If& n) {
    const std::ptrdiff_t guards = std::ssize(guards_);
    assume(n.condition);
    stmt(n.then_case);
    guards_.erase(guards_.begin() + guards, guards_.end());
    if (!n.else_case) return;
    assume(make_not(n.condition));
    stmt(*n.else_case);
    guards_.erase(guards_.begin() + guards, guards_.end());
  }

  void assume(const Expr& condition) {
    for_each_conjunct(condition, [&](const Expr& part) {
      if (part.dtype().is_scalar() && memory_.is_stable(part))
        guards_.push_back(substitute(part, lets_));
    });
  }

  void define(const Var& var, const Range& range) {
    const Range own = substitute(range, lets_);
    const bool is_stable = memory_.is_stable(own.min) && memory_.is_stable(own.extent);
    inner_.push_back({var, is_stable ? std::optional(own) : std::nullopt});
  }

  void let(const Var& var, const Expr& value) {
    if (value.dtype().is_scalar() && memory_.is_stable(value)) {
      set(lets_, var, substitute(value, lets_));
    } else {
      inner_.push_back({var, std::nullopt});
    }
  }

  void expr(const Expr& e) {
    if (const Load* n = e.as<Load>()) add(AccessKind::Load, n->buffer, n->indices);
    if (const LetExpr* n = e.as<LetExpr>()) let(n->var, n->value);
    if (const Call* n = as_call(e, Intrin::tvm_access_ptr)) pointer(*n);
    for_each_child(e, [&](const Expr& child) { expr(child); });
  }

  void pointer(const Call& n) {
    const std::int64_t mask = constant_int(n.args[4]).value_or(3);
    const auto view = views_.find(&n.args[1].node());
    if (view == views_.end()) return;
    for (const AccessKind kind : {AccessKind::Load, AccessKind::Store})
      if (mask & (kind == AccessKind::Load ? 1 : 2)) add_view(kind, view->second);
  }

  void add(AccessKind kind, const Buffer& buffer, const std::vector<Expr>& indices) {
    if (const auto view = views_.find(&buffer->data.node()); view != views_.end())
      return add_view(kind, view->second);
    std::vector<Expr> places;
    std::vector<InnerVar> inner = inner_;
    bool is_known = true;
    for (const Expr& index : indices) {
      is_known = is_known && memory_.is_stable(index);
      places.push_back(element_of(substitute(index, lets_), inner, is_known));
    }
    push(kind, buffer, std::move(places), std::move(inner), is_known);
  }

  /// All that the view shows.
  void add_view(AccessKind kind, const View& view) {
    if (const auto outer = views_.find(&view.source->data.node()); outer != views_.end())
      return add_view(kind, outer->second);
    std::vector<Expr> places;
    std::vector<InnerVar> inner = inner_;
    for (const Range& range : view.region) {
      const Range own = substitute(range, lets_);
      const Var var("element", own.min.dtype());
      inner.push_back({var, Range::from_min_extent(make_int(var.dtype(), 0), own.extent)});
      places.push_back(own.min + var);
    }
    push(kind, view.source, std::move(places), std::move(inner), true);
  }

  /// Of a vector index, any lane.
  static Expr element_of(const Expr& index, std::vector<InnerVar>& inner, bool& is_known) {
    if (index.dtype().is_scalar()) return index;
    if (const Broadcast* n = index.as<Broadcast>()) return n->value;
    const Ramp* n = index.as<Ramp>();
    if (!n) {
      is_known = false;
      return index;
    }
    const Var lane("lane", n->stride.dtype());
    inner.push_back({lane, Range::from_min_extent(make_int(lane.dtype(), 0),
                                                  make_int(lane.dtype(), n->lanes))});
    return n->base + n->stride * lane;
  }

  void push(AccessKind kind, const Buffer& buffer, std::vector<Expr> indices,
            std::vector<InnerVar> inner, bool is_known) {
    if (touches_.size() >= kMostTouches) return;
    AccessProof access{kind, buffer, std::move(indices), {}, {}, !guards_.empty(), stage_};
    if (access.stage_buffer.empty()) access.stage_buffer = buffer->name;
    const bool is_again = std::ranges::any_of(touches_, [&](const Touch& other) {
      return other.access.kind == kind && other.access.buffer.same_as(buffer) &&
             other.is_known == is_known && other.inner.size() == inner.size() &&
             std::ranges::equal(
                 other.inner, inner,
                 [](const InnerVar& a, const InnerVar& b) { return a.var.same_as(b.var); }) &&
             same_list(other.access.indices, access.indices) && same_list(other.guards, guards_);
    });
    if (!is_again) touches_.push_back({std::move(access), is_known, std::move(inner), guards_});
  }

  static bool same_list(const std::vector<Expr>& a, const std::vector<Expr>& b) {
    return std::ranges::equal(
        a, b, [](const Expr& x, const Expr& y) { return x.same_as(y) || structural_equal(x, y); });
  }

  const WrittenMemory& memory_;
  std::vector<Touch> touches_;
  std::vector<InnerVar> inner_;
  std::vector<Expr> guards_;
  VarMap lets_;
  std::unordered_map<const ExprNode*, View> views_;
  std::unordered_set<const ExprNode*> own_;
  std::string stage_;
};

}  // namespace

std::vector<Touch> touches_of(const Stmt& body, const WrittenMemory& memory) {
  return Touches(body, memory).take();
}

}  // namespace tenon::lowering

#include "lower/loops/rolling_plan.h"

#include <algorithm>

#include "lower/rewriting.h"
#include "tenon/arith/interval.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

bool runs_in_order(const For& loop) {
  return loop.kind == ForKind::Serial || loop.kind == ForKind::Unrolled;
}

Expr one_like(const Expr& e) { return make_int(e.dtype(), 1); }

/// Returns the value of the expression `shift` iterations later.
Expr shifted(const Expr& e, const Var& var, int shift) {
  return substitute(e, {{&var.node(), Expr(var) + make_int(var.dtype(), shift)}});
}

/// Checks that the stored values and the stored positions depend only on the element.
class StoreCheck {
 public:
  StoreCheck(const Realize& realize, const std::vector<std::optional<Slide>>& slides,
             const arith::Facts& facts)
      : realize_(realize), slides_(slides), facts_(facts) {}

  bool holds() {
    stmt(realize_.body);
    return ok_ && has_store_;
  }

 private:
  void stmt(const Stmt& s) {
    if (!ok_) return;
    if (const Store* n = s.as<Store>(); n && n->buffer.same_as(realize_.buffer)) {
      has_store_ = true;
      ok_ = ok_ && guards_fit(*n);
    }
    if (const BufferView* n = s.as<BufferView>(); n && n->source.same_as(realize_.buffer))
      ok_ = false;
    if (const Prefetch* n = s.as<Prefetch>(); n && n->buffer.same_as(realize_.buffer)) ok_ = false;
    const std::size_t before = guards_.size();
    if (const If* n = s.as<If>()) {
      if (n->else_case && stores(*n->else_case)) ok_ = false;
      for_each_conjunct(n->condition, [&](const Expr& part) { guards_.push_back(part); });
    }
    if (const While* n = s.as<While>()) guards_.push_back(n->condition);
    for_each_child(
        s, [&](const Expr& e) { expr(e); }, [&](const Stmt& child) { stmt(child); });
    guards_.erase(guards_.begin() + static_cast<std::ptrdiff_t>(before), guards_.end());
  }

  void expr(const Expr& e) {
    // The address of the buffer is used.
    if (e.same_as(realize_.buffer->data)) ok_ = false;
    if (const Call* n = as_call(e, Intrin::address_of)) {
      const Load* load = n->args[0].as<Load>();
      if (load && load->buffer.same_as(realize_.buffer)) ok_ = false;
    }
    for_each_child(e, [&](const Expr& child) { expr(child); });
  }

  bool stores(const Stmt& s) const {
    bool found = false;
    walk(s, [&](const Store& n) { found = found || n.buffer.same_as(realize_.buffer); });
    return found;
  }

  bool guards_fit(const Store& n) const {
    return std::all_of(guards_.begin(), guards_.end(), [&](const Expr& guard) {
      return is_region_guard(guard, n) || is_of_element(guard, n);
    });
  }

  /// Whether the guard has the form `index < begin + extent`, which skips only elements outside the
  /// region.
  bool is_region_guard(const Expr& guard, const Store& n) const {
    const Binary* less = as_binary(guard, BinaryOp::Lt);
    if (!less || !less->a.dtype().is_index()) return false;
    for (std::size_t d = 0; d < n.indices.size(); ++d) {
      const Expr end = realize_.bounds[d].min + realize_.bounds[d].extent;
      if (arith::can_prove_equal(less->a - less->b, n.indices[d] - end, facts_)) return true;
    }
    return false;
  }

  /// Whether the guard has the same value whenever the element is computed.
  bool is_of_element(const Expr& guard, const Store& n) const {
    if (!uses_position(guard, n)) return true;
    const Binary* comparison = guard.as<Binary>();
    if (!comparison || !is_comparison(comparison->op) || !comparison->a.dtype().is_index())
      return false;
    Expr rest = comparison->a - comparison->b;
    for (std::size_t d = 0; d < slides_.size(); ++d) {
      if (!slides_[d]) continue;
      const Var& var = slides_[d]->loop.var;
      const auto of_guard = arith::linear_form(rest, {var}),
                 of_index = arith::linear_form(n.indices[d], {var});
      if (!of_guard || !of_index) return false;
      const auto guard_step = constant_int(of_guard->coefficients[0]),
                 step = constant_int(of_index->coefficients[0]);
      if (!guard_step || !step || *step == 0 || *guard_step % *step != 0) return false;
      rest = arith::simplify(rest - n.indices[d] * make_int(rest.dtype(), *guard_step / *step),
                             facts_);
    }
    return !uses_position(rest, n);
  }

  /// Whether the expression uses the loop of a sliding dimension, or a variable that distinguishes
  /// the elements of such a dimension.
  bool uses_position(const Expr& e, const Store& n) const {
    return uses_var(e, [&](const Expr& var) {
      for (std::size_t d = 0; d < slides_.size(); ++d) {
        if (slides_[d] && uses_var(n.indices[d], Var::of(var)) &&
            !uses_var(slides_[d]->begin, Var::of(var)))
          return true;
        if (slides_[d] && slides_[d]->loop.var.same_as(var)) return true;
      }
      return false;
    });
  }

  const Realize& realize_;
  const std::vector<std::optional<Slide>>& slides_;
  const arith::Facts& facts_;
  std::vector<Expr> guards_;
  bool ok_ = true;
  bool has_store_ = false;
};

class RollingPlanner {
 public:
  RollingPlanner(const Realize& realize, const std::vector<For>& loops, const arith::Facts& facts)
      : realize_(realize), loops_(loops), facts_(facts) {}

  std::optional<RollingPlan> around(std::size_t outer) const {
    RollingPlan plan{outer, {}, -1, 0, {}};
    for (std::size_t n = outer; n < loops_.size(); ++n) {
      if (!runs_in_order(loops_[n])) return std::nullopt;
      if (n > outer && (uses_inner(loops_[n].min, outer) || uses_inner(loops_[n].extent, outer)))
        return std::nullopt;
    }
    std::vector<char> taken(loops_.size(), 0);
    for (std::size_t d = 0; d < realize_.bounds.size(); ++d) {
      const Range& bound = realize_.bounds[d];
      if (uses_inner(bound.extent, outer)) return std::nullopt;
      const std::vector<std::size_t> used = used_loops(bound.min, outer);
      plan.slides.emplace_back();
      plan.bounds.push_back(bound);
      if (used.empty()) continue;
      // Each dimension slides along its own loop: a region that moves along two loops at once is
      // not a window.
      if (used.size() > 1 || std::exchange(taken[used.front()], 1)) return std::nullopt;
      if (!slide(d, used.front(), plan)) return std::nullopt;
    }
    if (plan.ring < 0 || !StoreCheck(realize_, plan.slides, facts_).holds()) return std::nullopt;
    return plan;
  }

 private:
  bool uses_inner(const Expr& e, std::size_t outer) const { return !used_loops(e, outer).empty(); }

  std::vector<std::size_t> used_loops(const Expr& e, std::size_t outer) const {
    std::vector<std::size_t> used;
    for (std::size_t n = outer; n < loops_.size(); ++n) {
      if (uses_var(e, loops_[n].var)) used.push_back(n);
    }
    return used;
  }

  bool slide(std::size_t d, std::size_t along, RollingPlan& plan) const {
    const For& loop = loops_[along];
    const Range& bound = realize_.bounds[d];
    const Expr step = arith::simplify(shifted(bound.min, loop.var, 1) - bound.min, facts_);
    const bool is_backwards =
        !arith::can_prove_at_least(step, 0, facts_) && arith::can_prove(step <= 0, facts_);
    if (!is_backwards && !arith::can_prove_at_least(step, 0, facts_)) return false;
    const Expr before = shifted(bound.min, loop.var, -1);
    const Expr overlap = arith::simplify(
        is_backwards ? before - bound.min : before + bound.extent - bound.min, facts_);
    plan.slides.back() = Slide{loop, bound.min, overlap, is_backwards};
    if (along == plan.loop) {
      const auto size = constant_int(bound.extent);
      if (!size || *size < 1) return false;
      plan.ring = static_cast<int>(d);
      plan.ring_size = bound.extent;
      plan.bounds.back() = Range::from_min_extent(make_int(bound.min.dtype(), 0), bound.extent);
      return true;
    }
    Expr lowest = loop.min, highest = loop.min + loop.extent - one_like(loop.extent);
    if (is_backwards) std::swap(lowest, highest);
    const Expr begin = arith::simplify(substitute(bound.min, {{&loop.var.node(), lowest}}), facts_);
    const Expr end = substitute(bound.min, {{&loop.var.node(), highest}}) + bound.extent;
    plan.bounds.back() = Range::from_min_extent(begin, arith::simplify(end - begin, facts_));
    return true;
  }

  const Realize& realize_;
  const std::vector<For>& loops_;
  const arith::Facts& facts_;
};

}  // namespace

std::optional<RollingPlan> plan_rolling(const Realize& realize, const std::vector<For>& loops,
                                        const arith::Facts& facts) {
  const RollingPlanner planner(realize, loops, facts);
  for (std::size_t outer = 0; outer < loops.size(); ++outer) {
    if (auto plan = planner.around(outer)) return plan;
  }
  return std::nullopt;
}

}  // namespace tenon::lowering

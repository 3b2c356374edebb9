// Sliding windows: a buffer whose region moves along a loop keeps the elements that earlier
// iterations computed.
//
//   for i { B over [i, i + 3) { B[x] = f(x) for all 3 x; C[i] = B[i] + B[i + 1] + B[i + 2] } }
//     =>  B of 3 elements {
//           for i { if (i < 1 || x is the last of the 3) B[x % 3] = f(x); C[i] = B[i % 3] + ... }
//         }
//
// The allocation moves around the outermost loop that the region moves along, and one dimension
// becomes a ring buffer. Further dimensions that move along inner loops keep their whole span. The
// pass proves legality: the region moves monotonically, the value and guards of an element depend
// only on its position, and all iterations run sequentially. Otherwise the mark is ignored, and
// each iteration recomputes the buffer. Compare sliding window and storage folding in Halide.
#include "lower/passes.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "lower/rewriting.h"
#include "tenon/arith/facts.h"
#include "tenon/arith/interval.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/stmt.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

// ---- planning -----------------------------------------------------------------------------------

// Plans rolling buffers and proves that rolling is legal.

/// A dimension whose region moves along a loop.
struct Slide {
  tir::For loop;
  /// The start of the region in the current iteration.
  tir::Expr begin;
  /// The boundary, relative to `begin`, between elements that the previous iteration computed and
  /// new elements. The previous iteration computed the elements before the boundary or, if the
  /// region moves backwards, those after it.
  tir::Expr overlap;
  bool is_backwards = false;
};

struct RollingPlan {
  /// The loop around which the allocation moves, as an index into the list of enclosing loops.
  std::size_t loop;
  /// One entry per dimension; nullopt if the region does not move in this dimension.
  std::vector<std::optional<Slide>> slides;
  /// The dimension that becomes a ring buffer, and the number of elements of the ring.
  int ring;
  tir::Expr ring_size;
  /// The range that is kept in each dimension. For the ring dimension, it is [0, ring_size).
  std::vector<tir::Range> bounds;
};

bool runs_in_order(const For& loop) {
  return loop.kind == ForKind::Serial || loop.kind == ForKind::Unrolled;
}

Expr one_like(const Expr& e) { return make_int(e.dtype(), 1); }

/// Returns the value that the expression has `shift` iterations later.
Expr shifted(const Expr& e, const Var& var, int shift) {
  return substitute(e, {{&var.node(), Expr(var) + make_int(var.dtype(), shift)}});
}

/// Checks that stored values and their positions depend only on the element, not on the iteration.
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
    truncate(guards_, before);
  }

  void expr(const Expr& e) {
    // Rolling is illegal if the address of the buffer is used.
    if (e.same_as(realize_.buffer->data)) ok_ = false;
    if (const Call* n = as_call(e, Intrin::address_of)) {
      const Load* load = n->args[0].as<Load>();
      if (load && load->buffer.same_as(realize_.buffer)) ok_ = false;
    }
    for_each_child(e, [&](const Expr& child) { expr(child); });
  }

  bool stores(const Stmt& s) const {
    return any_node(s, [&](const Store& n) { return n.buffer.same_as(realize_.buffer); });
  }

  bool guards_fit(const Store& n) const {
    return std::ranges::all_of(guards_, [&](const Expr& guard) {
      return is_region_guard(guard, n) || is_of_element(guard, n);
    });
  }

  /// Whether the guard has the form `index < begin + extent`. Such a guard only skips elements
  /// outside the region.
  bool is_region_guard(const Expr& guard, const Store& n) const {
    const Binary* less = as_binary(guard, BinaryOp::Lt);
    if (!less || !less->a.dtype().is_index()) return false;
    for (std::size_t d = 0; d < n.indices.size(); ++d) {
      const Expr end = realize_.bounds[d].min + realize_.bounds[d].extent;
      if (arith::can_prove_equal(less->a - less->b, n.indices[d] - end, facts_)) return true;
    }
    return false;
  }

  /// Whether the guard has the same value in every iteration that computes the element.
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

  /// Whether the expression uses the loop along which a dimension slides, or a variable that
  /// distinguishes elements of such a dimension.
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

/// Returns the loops, from number `outer` on, whose variables the expression uses.
std::vector<std::size_t> used_loops(const Expr& e, const std::vector<For>& loops,
                                    std::size_t outer) {
  std::vector<std::size_t> used;
  for (std::size_t n = outer; n < loops.size(); ++n)
    if (uses_var(e, loops[n].var)) used.push_back(n);
  return used;
}

/// Returns how the range moves along the loop; nullopt unless it provably moves in one direction.
std::optional<Slide> find_slide(const Range& bound, const For& loop, const arith::Facts& facts) {
  const Expr step = arith::simplify(shifted(bound.min, loop.var, 1) - bound.min, facts);
  const bool is_forwards = arith::can_prove_at_least(step, 0, facts),
             is_backwards = !is_forwards && arith::can_prove(step <= 0, facts);
  if (!is_forwards && !is_backwards) return std::nullopt;
  const Expr before = shifted(bound.min, loop.var, -1);
  const Expr overlap =
      arith::simplify(is_backwards ? before - bound.min : before + bound.extent - bound.min, facts);
  return Slide{loop, bound.min, overlap, is_backwards};
}

/// Returns the union of the ranges of all iterations of the loop that the range moves along.
Range whole_span(const Range& bound, const Slide& slide, const arith::Facts& facts) {
  const For& loop = slide.loop;
  Expr lowest = loop.min, highest = loop.min + loop.extent - one_like(loop.extent);
  if (slide.is_backwards) std::swap(lowest, highest);
  const Expr begin = arith::simplify(substitute(bound.min, {{&loop.var.node(), lowest}}), facts);
  const Expr end = substitute(bound.min, {{&loop.var.node(), highest}}) + bound.extent;
  return Range::from_min_extent(begin, arith::simplify(end - begin, facts));
}

/// Plans how a realized buffer rolls if its allocation moves around loop number `outer`.
std::optional<RollingPlan> plan_around(std::size_t outer, const Realize& realize,
                                       const std::vector<For>& loops, const arith::Facts& facts) {
  const auto uses_inner = [&](const Expr& e) { return !used_loops(e, loops, outer).empty(); };
  RollingPlan plan{outer, {}, -1, 0, {}};
  for (std::size_t n = outer; n < loops.size(); ++n) {
    if (!runs_in_order(loops[n])) return std::nullopt;
    if (n > outer && (uses_inner(loops[n].min) || uses_inner(loops[n].extent))) return std::nullopt;
  }
  std::vector<char> taken(loops.size(), 0);
  for (std::size_t d = 0; d < realize.bounds.size(); ++d) {
    const Range& bound = realize.bounds[d];
    if (uses_inner(bound.extent)) return std::nullopt;
    const std::vector<std::size_t> used = used_loops(bound.min, loops, outer);
    plan.slides.emplace_back();
    plan.bounds.push_back(bound);
    if (used.empty()) continue;
    // Each dimension must slide along its own loop. A region that moves along two loops at once
    // is not a sliding window.
    if (used.size() > 1 || std::exchange(taken[used.front()], 1)) return std::nullopt;
    plan.slides.back() = find_slide(bound, loops[used.front()], facts);
    if (!plan.slides.back()) return std::nullopt;
    if (used.front() != outer) {
      plan.bounds.back() = whole_span(bound, *plan.slides.back(), facts);
      continue;
    }
    const auto size = constant_int(bound.extent);
    if (!size || *size < 1) return std::nullopt;
    plan.ring = static_cast<int>(d);
    plan.ring_size = bound.extent;
    plan.bounds.back() = Range::from_min_extent(make_int(bound.min.dtype(), 0), bound.extent);
  }
  if (plan.ring < 0 || !StoreCheck(realize, plan.slides, facts).holds()) return std::nullopt;
  return plan;
}

/// Plans how a realized buffer rolls. `loops` are the loops around the realize, outermost first.
/// There are only sequences and allocations between them.
std::optional<RollingPlan> find_plan(const Realize& realize, const std::vector<For>& loops,
                                     const arith::Facts& facts) {
  for (std::size_t outer = 0; outer < loops.size(); ++outer)
    if (auto plan = plan_around(outer, realize, loops, facts)) return plan;
  return std::nullopt;
}

// ---- the pass -----------------------------------------------------------------------------------

/// An enclosing loop; nullopt represents a statement across which no buffer can roll.
struct EnclosingLoop {
  std::optional<For> loop;
  /// The allocations that move around the loop. They are emitted when the loop is rebuilt.
  std::vector<Realize> moved = {};
};

class Roller {
 public:
  Stmt stmt(const Stmt& s) {
    if (const For* n = s.as<For>()) return loop(*n);
    if (const Realize* n = s.as<Realize>()) return realize(*n, s);
    if (const Store* n = s.as<Store>()) return store(*n);
    const Attr* attr = s.as<Attr>();
    const bool is_open = s.as<Seq>() || (attr && attr->kind == AttrKind::Pragma) ||
                         (attr && attr->kind == AttrKind::DoubleBufferWrite);
    if (is_open || s.as<Evaluate>()) return children(s);
    levels_.emplace_back();
    Stmt result = children(s);
    levels_.pop_back();
    return result;
  }

 private:
  Stmt children(const Stmt& s) {
    return map_children(
        s, [&](const Expr& e) { return expr(e); }, [&](const Stmt& child) { return stmt(child); });
  }

  Stmt loop(const For& n) {
    const For bounds{n.var, expr(n.min), expr(n.extent), n.kind, n.body};
    facts_.bind(n.var, Range::from_min_extent(bounds.min, bounds.extent), true);
    levels_.push_back({bounds});
    Stmt result = make_stmt(For{n.var, bounds.min, bounds.extent, n.kind, stmt(n.body)});
    const std::vector<Realize> moved = std::move(levels_.back().moved);
    levels_.pop_back();
    for (Realize each : moved) {
      each.body = std::move(result);
      result = make_stmt(std::move(each));
    }
    return result;
  }

  Stmt realize(const Realize& n, const Stmt& s) {
    if (!n.traits.rolling_buffer) return children(s);
    Realize plain = n;
    plain.traits.rolling_buffer = false;
    std::size_t first = levels_.size();
    while (first > 0 && levels_[first - 1].loop) --first;
    std::vector<For> loops;
    for (std::size_t level = first; level < levels_.size(); ++level)
      loops.push_back(*levels_[level].loop);
    const auto plan = find_plan(n, loops, facts_);
    if (!plan) return children(make_stmt(std::move(plain)));
    plain.bounds = plan->bounds;
    levels_[first + plan->loop].moved.push_back(std::move(plain));
    plans_.insert_or_assign(n.buffer.get(), *plan);
    Stmt body = stmt(n.body);
    plans_.erase(n.buffer.get());
    return body;
  }

  const RollingPlan* plan_of(const Buffer& buffer) const {
    const auto it = plans_.find(buffer.get());
    return it == plans_.end() ? nullptr : &it->second;
  }

  std::vector<Expr> exprs(const std::vector<Expr>& list) {
    return mapped(list, [&](const Expr& e) { return expr(e); });
  }

  static std::vector<Expr> in_ring(const RollingPlan& plan, std::vector<Expr> indices) {
    Expr& index = indices[static_cast<std::size_t>(plan.ring)];
    index = floormod(index, plan.ring_size);
    return indices;
  }

  /// Guards a store to a rolling buffer: an element is computed only if no earlier iteration
  /// computed it.
  Stmt store(const Store& n) {
    const std::vector<Expr> indices = exprs(n.indices);
    const RollingPlan* plan = plan_of(n.buffer);
    if (!plan) return make_store(n.buffer, expr(n.value), indices);
    Stmt result = make_store(n.buffer, expr(n.value), in_ring(*plan, indices));
    for (std::size_t d = plan->slides.size(); d-- > 0;) {
      if (!plan->slides[d]) continue;
      const Slide& slide = *plan->slides[d];
      const auto overlap = constant_int(slide.overlap);
      if (overlap && *overlap <= 0 && !slide.is_backwards) continue;
      const Var& var = slide.loop.var;
      const Expr is_first = Expr(var) < slide.loop.min + make_int(var.dtype(), 1);
      const Expr place = arith::simplify(indices[d] - slide.begin, facts_);
      const Expr is_new = slide.is_backwards ? place < slide.overlap : slide.overlap <= place;
      result = make_stmt(If{likely(is_first || is_new), std::move(result), std::nullopt});
    }
    return result;
  }

  Expr expr(const Expr& e) {
    if (const Load* n = e.as<Load>()) {
      const RollingPlan* plan = plan_of(n->buffer);
      std::vector<Expr> indices = exprs(n->indices);
      return make_load(n->buffer, plan ? in_ring(*plan, std::move(indices)) : std::move(indices));
    }
    return map_children(e, [&](const Expr& child) { return expr(child); });
  }

  arith::Facts facts_;
  std::vector<EnclosingLoop> levels_;
  /// The plan of each rolling buffer. Never iterated, because the keys are addresses.
  std::unordered_map<const BufferNode*, RollingPlan> plans_;
};

}  // namespace

PrimFunc inject_rolling_buffers(const PrimFunc& func, const PassOptions&) {
  PrimFunc result = func;
  if (contains(func.body, Content::RollingBuffer)) result.body = Roller().stmt(func.body);
  return result;
}

}  // namespace tenon::lowering

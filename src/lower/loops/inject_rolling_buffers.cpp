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

#include "lower/loops/rolling_plan.h"
#include "lower/rewriting.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// An allocation that is pending until its target loop is rebuilt.
struct Waiting {
  Buffer buffer;
  std::vector<Range> bounds;
  Expr condition;
  Realize::Traits traits;
};

/// An enclosing loop, or a barrier across which no buffer can roll.
struct EnclosingLoop {
  std::optional<For> loop;
  std::vector<Waiting> waiting = {};
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
    const std::vector<Waiting> waiting = std::move(levels_.back().waiting);
    levels_.pop_back();
    for (const Waiting& each : waiting) {
      result = make_stmt(
          Realize{each.buffer, each.bounds, each.condition, std::move(result), each.traits});
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
    const auto plan = plan_rolling(n, loops, facts_);
    if (!plan) return children(make_stmt(std::move(plain)));
    levels_[first + plan->loop].waiting.push_back(
        {n.buffer, plan->bounds, n.condition, plain.traits});
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

  /// Computes an element only if no earlier iteration did.
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
  /// Used for look-up only, never iterated.
  std::unordered_map<const BufferNode*, RollingPlan> plans_;
};

}  // namespace

PrimFunc inject_rolling_buffers(const PrimFunc& func, const PassOptions&) {
  PrimFunc result = func;
  if (contains(func.body, Content::RollingBuffer)) result.body = Roller().stmt(func.body);
  return result;
}

}  // namespace tenon::lowering

#include "tenon/lower/region_races.h"

#include <algorithm>

#include "tenon/arith/dependence.h"
#include "tenon/support/error.h"
#include "tenon/tir/pragma.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw LowerError("build: in parallel_launch_point, " + what);
}

class RegionChecker {
 public:
  RegionChecker(const PrimFunc& func, const arith::WrittenMemory& memory)
      : func_(func), memory_(memory) {}
  void check(const Stmt& body) { stmt(body); }

 private:
  /// An enclosing serial loop, and which of two of its iterations is visited.
  struct Around {
    const For* loop;
    bool is_later;
  };
  struct LoopUse {
    arith::Access use;
    const For* loop;
    std::vector<Around> around;
  };

  void stmt(const Stmt& s) {
    if (const For* n = s.as<For>()) return loop(*n);
    if (const Store* n = s.as<Store>()) store(*n);
    if (const Allocate* n = s.as<Allocate>()) private_.push_back(n->data);
    if (const Evaluate* n = s.as<Evaluate>()) call(n->value);
    for_each_child(
        s, [&](const Expr& e) { read(e); }, [&](const Stmt& child) { stmt(child); });
    if (const Attr* n = s.as<Attr>(); n && is_pragma(*n, PragmaKey::ParallelBarrierWhenFinish))
      since_barrier_.clear();
  }

  void loop(const For& n) {
    read(n.min), read(n.extent);
    if (n.kind == ForKind::Parallel) return shared_loop(n);
    // The body is visited twice, because the end of an iteration may conflict with the start of a
    // later one.
    around_.push_back({&n, false});
    stmt(n.body);
    around_.back().is_later = true;
    stmt(n.body);
    around_.pop_back();
  }

  void shared_loop(const For& n) {
    arith::Footprint uses = arith::footprint(n.body, memory_);
    if (uses.is_opaque)
      refuse("the loop over `" + n.var.name() + "` accesses too much memory to be checked");
    for (arith::Access& use : uses.accesses) {
      const std::string& name = use.buffer->name;
      if (use.is_write() && is_private(use.buffer->data))
        refuse("each task has memory of its own for `" + name +
               "`, and its share of the loop over `" + n.var.name() +
               "` would fill only a part of it; compute `" + name + "` outside of the region");
      check_order(use, &n);
      since_barrier_.push_back({std::move(use), &n, around_});
    }
  }

  void store(const Store& n) {
    if (is_private(n.buffer->data)) return;
    refuse(
        "a store to `" + n.buffer->name +
        "` is outside of every parallel loop, so that every task would execute it; mark a loop of "
        "that stage parallel, or compute it outside of the region");
  }

  void call(const Expr& e) {
    const Call* n = e.as<Call>();
    if (effect_of(e) != Effect::UpdateState || (n && n->is(Intrin::prefetch))) return;
    refuse("a call is outside of every parallel loop, so that every task would execute it");
  }

  void read(const Expr& e) {
    if (const Load* n = e.as<Load>())
      check_order(arith::access_of(arith::AccessKind::Read, n->buffer, n->indices), nullptr);
    for_each_child(e, [&](const Expr& child) { read(child); });
  }

  /// Refuses a use that conflicts with an earlier loop since the last barrier, because other tasks
  /// may not have finished that loop.
  void check_order(const arith::Access& use, const For* loop) const {
    for (const LoopUse& earlier : since_barrier_) {
      arith::Facts facts = arith::facts_of_arguments(func_);
      const auto related = relation(earlier, loop, facts);
      if (!related || arith::are_disjoint(earlier.use, use, *related, facts)) continue;
      const std::string first = "the loop over `" + earlier.loop->var.name() + "`";
      refuse(first + (earlier.use.is_write() ? " may still fill `" : " may still read `") +
             use.buffer->name + "` when " +
             (loop ? "the loop over `" + loop->var.name() + "`" : "a statement of another task") +
             (use.is_write() ? " fills it" : " reads it") +
             "; the pragma parallel_barrier_when_finish on the first one makes all tasks wait");
    }
  }

  /// Returns how the iterations of an earlier use are related to those of a use in `loop`, given
  /// the enclosing serial loops. Returns nullopt if the same task makes both uses, or if the loop's
  /// own proof covers them.
  std::optional<arith::Relation> relation(const LoopUse& earlier, const For* loop,
                                          arith::Facts& facts) const {
    using Step = arith::Relation::Step;
    arith::Relation result;
    bool is_later = false;
    std::size_t common = 0;
    for (; common < around_.size() && common < earlier.around.size(); ++common) {
      const Around &first = earlier.around[common], &second = around_[common];
      if (first.loop != second.loop) break;
      if (is_later) {
        result = std::move(result).with(*second.loop, Step::Any);
      } else if (first.is_later != second.is_later) {
        is_later = true;
        result = std::move(result).with(*second.loop, Step::Later);
      } else {
        facts.bind(second.loop->var, Range::from_min_extent(second.loop->min, second.loop->extent),
                   true);
      }
    }
    for (const auto* around : {&earlier.around, &around_})
      for (std::size_t n = common; n < around->size(); ++n)
        result = std::move(result).with(*(*around)[n].loop, Step::Any);
    if (earlier.loop != loop) {
      result = std::move(result).with(*earlier.loop, Step::Any);
      return loop ? std::move(result).with(*loop, Step::Any) : std::move(result);
    }
    if (!is_later) return std::nullopt;
    // The same iterations belong to the same task, unless their number differs.
    const auto changes = [&](const Expr& var) {
      return std::ranges::any_of(
          around_, [&](const Around& around) { return around.loop->var.same_as(var); });
    };
    const bool is_shared_alike = !uses_var(loop->min, changes) && !uses_var(loop->extent, changes);
    return std::move(result).with(*loop, is_shared_alike ? Step::Other : Step::Any);
  }

  bool is_private(const Expr& data) const {
    return std::ranges::any_of(private_, [&](const Expr& own) { return own.same_as(data); });
  }

  const PrimFunc& func_;
  const arith::WrittenMemory& memory_;
  /// The memory allocated inside the region.
  std::vector<Expr> private_;
  std::vector<LoopUse> since_barrier_;
  /// The enclosing serial loops, outermost first.
  std::vector<Around> around_;
};

}  // namespace

void refuse_region_races(const PrimFunc& func) {
  std::optional<arith::WrittenMemory> memory;
  walk(func.body, [&](const Attr& n) {
    if (!is_pragma(n, PragmaKey::ParallelLaunchPoint)) return;
    if (!memory) memory.emplace(func.body);
    RegionChecker(func, *memory).check(n.body);
  });
}

}  // namespace tenon::lowering

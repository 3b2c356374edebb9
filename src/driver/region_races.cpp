#include "driver/region_races.h"

#include <algorithm>

#include "tenon/arith/dependence.h"
#include "tenon/support/error.h"
#include "tenon/tir/pragma.h"
#include "tenon/tir/walk.h"

namespace tenon {

using namespace tir;

namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw LowerError("build: in parallel_launch_point, " + what);
}

class RegionChecker {
 public:
  explicit RegionChecker(const arith::WrittenMemory& memory) : memory_(memory) {}
  void check(const Stmt& body) { stmt(body); }

 private:
  struct LoopUse {
    arith::Access use;
    const For* loop;
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
    // The end of an iteration meets the begin of the next.
    stmt(n.body), stmt(n.body);
  }

  void shared_loop(const For& n) {
    arith::Footprint uses = arith::footprint(n.body, memory_);
    if (uses.is_opaque)
      refuse("the loop over `" + n.var.name() + "` accesses too much memory to be checked");
    for (arith::Access& use : uses.accesses) {
      const std::string& name = use.buffer->name;
      if (use.is_write() && is_private(use.buffer->data))
        refuse("each task has memory of its own for `" + name + "`, and of the loop over `" +
               n.var.name() + "` would fill a part of it only; compute `" + name +
               "` outside of the region");
      check_order(use, &n);
      since_barrier_.push_back({std::move(use), &n});
    }
  }

  void store(const Store& n) {
    if (is_private(n.buffer->data)) return;
    refuse(
        "a store to `" + n.buffer->name +
        "` stands outside of every parallel loop, so that every task would do it; mark a loop of that stage "
        "parallel, or compute it outside of the region");
  }

  void call(const Expr& e) {
    const Call* n = e.as<Call>();
    if (effect_of(e) != Effect::UpdateState || (n && n->is(Intrin::prefetch))) return;
    refuse("a call stands outside of every parallel loop, so that every task would make it");
  }

  void read(const Expr& e) {
    if (const Load* n = e.as<Load>())
      check_order(arith::access_of(arith::AccessKind::Read, n->buffer, n->indices), nullptr);
    for_each_child(e, [&](const Expr& child) { read(child); });
  }

  /// One of two uses fills what the other one needs, in another loop, which other tasks may not
  /// have finished.
  void check_order(const arith::Access& use, const For* loop) const {
    for (const LoopUse& earlier : since_barrier_) {
      if (earlier.loop == loop) continue;
      using Step = arith::Relation::Step;
      arith::Relation any = arith::Relation().with(*earlier.loop, Step::Any);
      if (loop) any = std::move(any).with(*loop, Step::Any);
      arith::Facts facts;
      if (arith::are_disjoint(earlier.use, use, any, facts)) continue;
      const std::string first = "the loop over `" + earlier.loop->var.name() + "`";
      refuse(first + (earlier.use.is_write() ? " may still fill `" : " may still read `") +
             use.buffer->name + "` when " +
             (loop ? "the loop over `" + loop->var.name() + "`" : "a statement of another task") +
             (use.is_write() ? " fills it" : " reads it") +
             "; the pragma parallel_barrier_when_finish on the first one makes all tasks wait");
    }
  }

  bool is_private(const Expr& data) const {
    return std::ranges::any_of(private_, [&](const Expr& own) { return own.same_as(data); });
  }

  const arith::WrittenMemory& memory_;
  /// Memory that is made inside of the region.
  std::vector<Expr> private_;
  std::vector<LoopUse> since_barrier_;
};

}  // namespace

void refuse_region_races(const PrimFunc& func) {
  std::optional<arith::WrittenMemory> memory;
  walk(func.body, [&](const Attr& n) {
    if (!is_pragma(n, PragmaKey::ParallelLaunchPoint)) return;
    if (!memory) memory.emplace(func.body);
    RegionChecker(*memory).check(n.body);
  });
}

}  // namespace tenon

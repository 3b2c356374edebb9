#include "driver/region_races.h"

#include <algorithm>

#include "tenon/support/error.h"
#include "tenon/tir/pragma.h"
#include "tenon/tir/walk.h"

namespace tenon {

using namespace tir;

namespace {

/// A shared loop's use of a buffer.
struct Use {
  Expr data;
  std::string buffer;
  bool is_write;
};

class UsesOf {
 public:
  explicit UsesOf(const Stmt& body) { stmt(body); }
  /// Not of buffers that are allocated inside.
  std::vector<Use> take() {
    std::erase_if(uses_, [&](const Use& use) {
      return std::ranges::any_of(own_, [&](const Expr& data) { return data.same_as(use.data); });
    });
    return std::move(uses_);
  }

 private:
  void stmt(const Stmt& s) {
    if (const Allocate* n = s.as<Allocate>()) own_.push_back(n->data);
    if (const Store* n = s.as<Store>()) uses_.push_back({n->buffer->data, n->buffer->name, true});
    for_each_child(
        s, [&](const Expr& e) { expr(e); }, [&](const Stmt& child) { stmt(child); });
  }
  void expr(const Expr& e) {
    if (const Load* n = e.as<Load>()) uses_.push_back({n->buffer->data, n->buffer->name, false});
    // What gets the address may do anything with it.
    if (const VarNode* n = e.as<VarNode>(); n && n->pointer)
      for (bool is_write : {false, true}) uses_.push_back({e, n->name, is_write});
    for_each_child(e, [&](const Expr& child) { expr(child); });
  }

  std::vector<Use> uses_;
  std::vector<Expr> own_;
};

[[noreturn]] void refuse(const std::string& what) {
  throw LowerError("build: in parallel_launch_point, " + what);
}

class RegionChecker {
 public:
  void check(const Stmt& body) { stmt(body); }

 private:
  struct LoopUse {
    Use use;
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
    for (Use& use : UsesOf(n.body).take()) {
      if (use.is_write && is_private(use.data))
        refuse("each task has memory of its own for `" + use.buffer + "`, and of the loop over `" +
               n.var.name() + "` would fill a part of it only; compute `" + use.buffer +
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
      check_order({n->buffer->data, n->buffer->name, false}, nullptr);
    for_each_child(e, [&](const Expr& child) { read(child); });
  }

  /// One of two uses fills what the other one needs, in another loop, which other tasks may not
  /// have finished.
  void check_order(const Use& use, const For* loop) const {
    for (const LoopUse& earlier : since_barrier_) {
      if (earlier.loop == loop || earlier.use.is_write == use.is_write ||
          !earlier.use.data.same_as(use.data))
        continue;
      const std::string first = "the loop over `" + earlier.loop->var.name() + "`";
      refuse((use.is_write ? first + " may still read `" : first + " may still fill `") +
             use.buffer + "` when " +
             (loop ? "the loop over `" + loop->var.name() + "`" : "a statement of another task") +
             (use.is_write ? " fills it" : " reads it") +
             "; the pragma parallel_barrier_when_finish on the first one makes all tasks wait");
    }
  }

  bool is_private(const Expr& data) const {
    return std::ranges::any_of(private_, [&](const Expr& own) { return own.same_as(data); });
  }

  /// Memory that is made inside of the region.
  std::vector<Expr> private_;
  std::vector<LoopUse> since_barrier_;
};

}  // namespace

void refuse_region_races(const PrimFunc& func) {
  walk(func.body, [](const Attr& n) {
    if (is_pragma(n, PragmaKey::ParallelLaunchPoint)) RegionChecker().check(n.body);
  });
}

}  // namespace tenon

#include "te/bounds/lifted_threads.h"

#include <algorithm>
#include <set>

#include "te/graph/thread_scope.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;

LiftedThreads::LiftedThreads(const StageGraph& graph, const AxisRanges& ranges)
    : graph_(graph), ranges_(ranges) {
  for (StageId id : graph.ids()) {
    const FrozenStage& stage = graph.stage(id);
    std::vector<IterVar> threads = stage.env_threads;
    for (const IterVar& leaf : stage.leaf_iter_vars)
      if (const IterVar* thread = thread_of(stage, leaf)) threads.push_back(*thread);
    for (const IterVar& thread : threads) {
      thread_of_var_.emplace(&thread.var().node(), thread);
      add_once(threads_of_launch_[outermost(id)], thread);
    }
  }
}

std::vector<IterVar> LiftedThreads::around(StageId id) const {
  const FrozenStage& stage = graph_.stage(id);
  const StorageScope memory = memory_of(graph_, id);
  std::vector<IterVar> threads;
  for (const IterVar& leaf : stage.leaf_iter_vars) {
    const IterVar* thread = thread_of(stage, leaf);
    if (thread && !is_shared_along(memory, *thread->thread())) add_once(threads, *thread);
  }
  for (const IterVar& thread : of_readers(id)) add_once(threads, thread);
  return threads;
}

std::vector<IterVar> LiftedThreads::of_readers(StageId id) const {
  std::vector<IterVar> threads = divided_by_readers(id);
  std::erase_if(threads, [&](const IterVar& thread) {
    return std::ranges::any_of(graph_.attach_path(id), [&](const AttachPoint& loop) {
      const IterVar* around = thread_of(graph_, loop);
      return around && around->same_as(thread);
    });
  });
  return threads;
}

std::vector<IterVar> LiftedThreads::divided_by_readers(StageId id) const {
  const FrozenStage& stage = graph_.stage(id);
  std::vector<IterVar> threads;
  if (thread_of_var_.empty() || !stage.place) return threads;
  const auto add_thread = [&](const IterVar& thread) {
    if (!is_shared_along(stage.scope, *thread.thread())) add_once(threads, thread);
  };
  const auto add = [&](const Expr& e) {
    for (const Var& var : free_vars(e)) {
      const auto found = thread_of_var_.find(&var.node());
      if (found != thread_of_var_.end()) add_thread(found->second);
    }
  };
  for (const IterVar& axis : stage.op.root_iter_vars()) {
    const Range* range = ranges_.find(axis);
    if (!range) continue;
    add(range->min);
    add(range->extent);
  }
  // A stage may have the same values in all threads. It still needs these thread axes, because
  // guards refer to them.
  for (const AttachPoint& loop : loops_of_owners(graph_, id)) add_thread(*thread_of(graph_, loop));
  return threads;
}

std::vector<IterVar> LiftedThreads::idle_inside(StageId id) const {
  const FrozenStage& stage = graph_.stage(id);
  std::vector<IterVar> threads;
  if (thread_of_var_.empty()) return threads;
  for (StageId inner : graph_.ids()) {
    const std::optional<AttachPoint>& place = graph_.stage(inner).place;
    if (!place || place->stage != id) continue;
    for (const IterVar& thread : around(inner)) {
      const tir::ThreadTag& tag = *thread.thread();
      if (!tag.is_virtual() && is_shared_along(stage.scope, tag) && !runs_in(graph_, id, tag))
        add_once(threads, thread);
    }
  }
  return threads;
}

std::optional<Expr> LiftedThreads::needed(StageId id, const IterVar& thread) const {
  std::optional<Expr> most;
  std::set<StageId> seen;
  std::vector<StageId> left{id};
  while (!left.empty()) {
    const StageId next = left.back();
    left.pop_back();
    for (StageId reader : graph_.readers(next)) {
      if (!seen.insert(reader).second) continue;
      const FrozenStage& stage = graph_.stage(reader);
      bool is_divided_here = false;
      for (const IterVar& leaf : stage.leaf_iter_vars) {
        const IterVar* bound = thread_of(stage, leaf);
        if (!bound || bound->thread() != thread.thread() ||
            !is_divided(stage, leaf, *bound, stage.scope))
          continue;
        const Expr& count = ranges_.at(leaf).extent;
        most = !most || provably_equal(*most, count) ? count : max(*most, count);
        is_divided_here = true;
      }
      if (is_divided_here) continue;
      // The threads share the memory of this reader without dividing its loops, so all threads
      // compute it.
      if (is_shared_along(stage.scope, *thread.thread())) return std::nullopt;
      left.push_back(reader);
    }
  }
  return most;
}

Expr LiftedThreads::launched(StageId id, const IterVar& thread, const Facts& facts) const {
  Expr most = ranges_.at(thread).extent;
  for (const IterVar& other : threads_of_launch_.at(outermost(id))) {
    if (other.thread() != thread.thread() || other.same_as(thread)) continue;
    const Expr& extent = ranges_.at(other).extent;
    if (arith::can_prove(extent <= most, facts)) continue;
    most = arith::can_prove(most <= extent, facts) ? extent : max(most, extent);
  }
  return most;
}

StageId LiftedThreads::outermost(StageId id) const {
  const std::vector<AttachPoint>& path = graph_.attach_path(id);
  return path.empty() ? id : path.back().stage;
}

}  // namespace tenon::te

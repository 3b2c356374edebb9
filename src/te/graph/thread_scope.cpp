#include "te/graph/thread_scope.h"

#include <algorithm>
#include <functional>
#include <map>
#include <ranges>

namespace tenon::te {

using tir::StorageScope;
using tir::ThreadTag;

int rank_of(const ThreadTag& tag) { return tag.is_block() ? 0 : 1; }

StorageScope default_scope(int thread_rank) {
  if (thread_rank < 0) return StorageScope::Global;
  return thread_rank == 0 ? StorageScope::Shared : StorageScope::Local;
}

const IterVar* thread_of(const StageSpec& stage, const IterVar& axis) {
  if (const ThreadMark* bound = stage.thread_mark_of(axis)) return &bound->axis;
  return axis.thread() ? &axis : nullptr;
}

const IterVar* thread_of(const StageGraph& graph, const AttachPoint& loop) {
  return thread_of(graph.stage(loop.stage), loop.axis);
}

bool same_loop(const AttachPoint& a, const AttachPoint& b) {
  return a.stage == b.stage && a.axis.same_as(b.axis);
}

bool has_loop(const std::vector<AttachPoint>& loops, const AttachPoint& loop) {
  return std::ranges::any_of(loops, [&](const AttachPoint& own) { return same_loop(own, loop); });
}

std::vector<AttachPoint> loops_of(const StageGraph& graph, StageId id) {
  std::vector<AttachPoint> loops;
  for (const IterVar& leaf : std::views::reverse(graph.stage(id).leaf_iter_vars))
    loops.push_back({id, leaf});
  loops.insert(loops.end(), graph.attach_path(id).begin(), graph.attach_path(id).end());
  return loops;
}

bool is_reduced_together(const StageSpec& stage, const IterVar& leaf) {
  if (leaf.kind() != IterKind::Reduce || !stage.op.as<Compute>()) return false;
  return thread_of(stage, leaf) != nullptr && !stage.is_tensorized();
}

bool is_divided(const StageSpec& stage, const IterVar& leaf, const IterVar& thread,
                StorageScope scope) {
  return is_shared_along(scope, *thread.thread()) || is_reduced_together(stage, leaf);
}

namespace {

bool has_loop_in(const StageSpec& stage, const ThreadTag& tag) {
  return std::ranges::any_of(stage.leaf_iter_vars, [&](const IterVar& leaf) {
    const IterVar* thread = thread_of(stage, leaf);
    return thread && thread->thread() == tag;
  });
}

}  // namespace

bool runs_in(const StageGraph& graph, StageId id, const ThreadTag& tag) {
  return std::ranges::any_of(loops_of(graph, id), [&](const AttachPoint& loop) {
    const IterVar* thread = thread_of(graph, loop);
    return thread && thread->thread() == tag;
  });
}

namespace {

void add_tags_reduced_along(const FrozenStage& stage, std::vector<ThreadTag>& tags) {
  for (const IterVar& leaf : stage.leaf_iter_vars)
    if (is_reduced_together(stage, leaf)) tags.push_back(*thread_of(stage, leaf)->thread());
}

/// Returns the thread-bound loops around the stage that divide its work. Does not consider the
/// stage's readers.
std::vector<AttachPoint> dividing_loops_around(const StageGraph& graph, StageId id) {
  std::vector<StorageScope> passed = {graph.stage(id).scope};
  std::vector<ThreadTag> reduced_along;
  add_tags_reduced_along(graph.stage(id), reduced_along);
  std::vector<AttachPoint> loops;
  std::optional<StageId> last;
  for (const AttachPoint& point : graph.attach_path(id)) {
    if (last == point.stage) continue;
    last = point.stage;
    const StorageScope scope = graph.stage(point.stage).scope;
    const FrozenStage& owner = graph.stage(point.stage);
    for (const IterVar& leaf : owner.leaf_iter_vars) {
      const IterVar* thread = thread_of(owner, leaf);
      // Skips loops that do not divide the work of the inner stage. These are loops whose
      // iterations are not distributed over the threads (is_divided). They are also the loops
      // around an intermediate stage that the threads share or reduce together, because it requires
      // the inner stage in all threads.
      if (!thread || !is_divided(owner, leaf, *thread, scope)) continue;
      const bool is_decided =
          std::ranges::any_of(
              passed,
              [&](StorageScope inner) { return is_shared_along(inner, *thread->thread()); }) ||
          std::ranges::find(reduced_along, *thread->thread()) != reduced_along.end();
      if (!is_decided) loops.push_back({point.stage, leaf});
    }
    passed.push_back(scope);
    add_tags_reduced_along(owner, reduced_along);
  }
  return loops;
}

}  // namespace

std::vector<AttachPoint> loops_of_owners(const StageGraph& graph, StageId id) {
  std::vector<AttachPoint> own = dividing_loops_around(graph, id);
  if (own.empty()) return own;
  // The dividing loops of the stage and of its transitive readers, readers first.
  std::map<StageId, std::vector<AttachPoint>, std::greater<>> found{{id, std::move(own)}};
  std::vector<StageId> left{id};
  while (!left.empty()) {
    const StageId next = left.back();
    left.pop_back();
    for (StageId reader : graph.readers(next)) {
      if (found.contains(reader)) continue;
      const auto& loops = found.emplace(reader, dividing_loops_around(graph, reader)).first->second;
      if (!loops.empty()) left.push_back(reader);
    }
  }
  // Keeps a loop only if it also divides all readers. A reader that it does not divide runs in all
  // threads, including those beyond the loop's end, and needs the stage there.
  for (auto& [stage, loops] : found) {
    std::erase_if(loops, [&](const AttachPoint& loop) {
      return std::ranges::any_of(graph.readers(stage), [&](StageId reader) {
        return reader != loop.stage && !has_loop(found.at(reader), loop);
      });
    });
  }
  return found.at(id);
}

std::vector<IterVar> threads_at(const StageGraph& graph, const AttachPoint& loop) {
  const FrozenStage& stage = graph.stage(loop.stage);
  std::vector<IterVar> threads;
  if (const IterVar* thread = thread_of(stage, loop.axis)) return {*thread};
  if (loop.axis.kind() != IterKind::Reduce) return threads;
  for (const IterVar& leaf : stage.leaf_iter_vars)
    if (is_reduced_together(stage, leaf)) threads.push_back(*thread_of(stage, leaf));
  return threads;
}

StorageScope memory_of(const StageGraph& graph, StageId id) {
  const FrozenStage& stage = graph.stage(id);
  if (stage.scope_is_set) return stage.scope;
  int rank = -1;
  for (const AttachPoint& loop : graph.attach_path(id)) {
    if (thread_of(graph, loop)) continue;
    for (const IterVar& thread : threads_at(graph, loop))
      rank = std::max(rank, rank_of(*thread.thread()));
  }
  return std::max(stage.scope, default_scope(rank));
}

bool lives_in_launch(const StageGraph& graph, StageId id) {
  const std::optional<ScanPart> part = graph.stage(id).scan_part(0);
  const std::vector<AttachPoint>& around = graph.attach_path(part ? part->state.stage : id);
  return std::ranges::any_of(around, [&](const AttachPoint& loop) {
    const IterVar* thread = thread_of(graph, loop);
    return thread && !thread->thread()->is_virtual();
  });
}

std::vector<IterVar> idle_threads(const StageGraph& graph, StageId id) {
  const FrozenStage& stage = graph.stage(id);
  const StorageScope scope = memory_of(graph, id);
  std::vector<IterVar> threads;
  for (const AttachPoint& loop : graph.attach_path(id))
    for (const IterVar& thread : threads_at(graph, loop)) {
      if (thread.thread()->is_virtual() || !is_shared_along(scope, *thread.thread())) continue;
      if (!has_loop_in(stage, *thread.thread())) add_once(threads, thread);
    }
  return threads;
}

}  // namespace tenon::te

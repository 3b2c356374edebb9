#include "te/bounds/bound_inference.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "te/bounds/required_region.h"
#include "te/graph/thread_scope.h"
#include "te/relations/propagate.h"
#include "te/schedule/schedule_data.h"
#include "tenon/arith/simplify.h"
#include "tenon/te/graph.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;

namespace {

// Checks that reject schedules in which a block of threads depends on another block.

/// The dimension of a data axis, and the splits between a leaf and this axis, from the leaf
/// upwards. For each split: whether the path leads through the inner part, and the extent of the
/// inner part.
using Derivation = std::pair<std::size_t, std::vector<std::pair<bool, Expr>>>;

/// Whether leaves of two stages with these derivations address the same elements in each iteration.
bool are_same(const Derivation& a, const Derivation& b) {
  return a.first == b.first && std::ranges::equal(a.second, b.second, [](auto& x, auto& y) {
           return x.first == y.first && structural_equal(x.second, y.second);
         });
}

/// Returns the derivation of the leaf; nullopt if it is fused or does not derive from a data axis.
std::optional<Derivation> derivation_of(const FrozenStage& stage, IterVar axis,
                                        const AxisRanges& ranges) {
  std::vector<std::pair<bool, Expr>> parts;
  for (const Relation& relation : std::views::reverse(stage.relations)) {
    const Split* split = std::get_if<Split>(&relation);
    const Rebase* rebase = std::get_if<Rebase>(&relation);
    const bool is_inner = split && split->inner.same_as(axis);
    if (is_inner || (split && split->outer.same_as(axis))) {
      parts.emplace_back(is_inner, ranges.at(split->inner).extent);
      axis = split->parent;
    } else if (rebase && rebase->rebased.same_as(axis)) {
      axis = rebase->parent;
    }
  }
  const std::optional<int> dim = find_axis(stage.op.axis(), axis);
  if (!dim) return std::nullopt;
  return Derivation(static_cast<std::size_t>(*dim), std::move(parts));
}

/// Whether the update reads earlier states only at its own coordinate along the dimension.
bool reads_own_place(const StageGraph& graph, StageId update, StageId scan, std::size_t dim) {
  const Operation& op = graph.stage(update).op;
  return std::ranges::all_of(collect_reads(op), [&](const TensorRead& access) {
    const std::optional<OutputId> read = graph.find(access.first);
    const std::optional<ScanPart> part =
        read ? graph.stage(read->stage).scan_part(read->index) : std::nullopt;
    return !part || part->state.stage != scan || access.second[dim].same_as(op.axis()[dim].var());
  });
}

/// Checks the initial states and the steps of a scan in one launch: every block must work on the
/// same part of the state throughout.
void check_blocks_of_scan(const StageGraph& graph, StageId id, const AxisRanges& ranges) {
  const FrozenStage& stage = graph.stage(id);
  const std::optional<ScanPart> own = stage.scan_part(0);
  if (!own || own->role == ScanPart::Role::State) return;
  const StageId scan = own->state.stage;
  if (graph.stage(scan).env_threads.empty() && !lives_in_launch(graph, scan)) return;
  for (const auto& [axis, attributes] : stage.attributes) {
    if (!attributes.thread || !stage.has_leaf(axis)) continue;
    const IterVar& block = attributes.thread->axis;
    if (!block.thread()->is_block() || is_one(ranges.at(block).extent)) continue;
    const std::optional<Derivation> way = derivation_of(stage, axis, ranges);
    const bool is_disjoint =
        way && way->first > 0 && std::ranges::all_of(graph.ids(), [&](StageId other) {
          const FrozenStage& part = graph.stage(other);
          const std::optional<ScanPart> role = part.scan_part(0);
          if (!role || role->state.stage != scan || role->role == ScanPart::Role::State)
            return true;
          const auto leaf = std::ranges::find_if(part.leaf_iter_vars, [&](const IterVar& l) {
            const IterVar* thread = thread_of(part, l);
            return thread && thread->thread() == block.thread();
          });
          if (leaf == part.leaf_iter_vars.end()) return false;
          const std::optional<Derivation> its = derivation_of(part, *leaf, ranges);
          return its && are_same(*its, *way) && reads_own_place(graph, other, scan, way->first);
        });
    if (is_disjoint) continue;
    throw ScheduleError(
        "bind of " + describe(stage, axis) + " to `" + block.name() +
            "`: the scan runs in one launch, and its blocks cannot wait for each other's stores; "
            "bind the same part of the same axis in the first states and in every step, so that "
            "each block reads only elements that it stored, or bind it to threads of one block",
        attributes.thread->where);
  }
}

/// Checks stages whose global memory is shared by blocks within a launch. Blocks run in any order
/// and cannot wait for one another. Each block must therefore compute everything that it reads, and
/// its stores must not accumulate: concurrent stores of equal values are harmless, concurrent
/// accumulation is not.
void check_shared_memory(const StageGraph& graph, StageId id, const AxisRanges& ranges) {
  const FrozenStage& stage = graph.stage(id);
  if (stage.is_output || stage.scope != StorageScope::Global || !lives_in_launch(graph, id)) return;
  auto refuse = [&](const std::string& what, const IterVar& block, const SourceLocation& where) {
    throw ScheduleError(
        what + ": its result is in global memory, which the blocks of `" + block.name() +
            "` share, but blocks of one launch cannot wait for each other's results; use "
            "set_scope(\"shared\") or compute_root",
        where);
  };
  for (const auto& [axis, attributes] : stage.attributes) {
    if (!attributes.thread || !stage.has_leaf(axis)) continue;
    const IterVar& thread = attributes.thread->axis;
    if (thread.thread()->is_block() && !is_one(ranges.at(thread).extent))
      refuse("bind of " + describe(stage, axis) + " to `" + thread.name() + "`", thread,
             attributes.thread->where);
  }
  const bool adds = !stage.op.reduce_axis().empty() &&
                    std::ranges::none_of(stage.leaf_iter_vars, [&](const IterVar& leaf) {
                      return is_reduced_together(stage, leaf);
                    });
  if (!adds) return;
  for (const IterVar& thread : idle_threads(graph, id))
    if (thread.thread()->is_block() && !is_one(ranges.at(thread).extent))
      refuse("compute_at of " + describe(stage), thread, stage.attach_where);
}

void check_declared(const FrozenStage& stage, const IterVar& leaf, const ThreadMark& bound,
                    const AxisRanges& ranges, const Facts& facts) {
  const IterVar& thread = bound.axis;
  const std::optional<Range>& declared = thread.dom();
  const Expr& extent = ranges.at(leaf).extent;
  if (!declared || !arith::can_prove(declared->extent < extent, facts)) return;
  throw ScheduleError("bind of " + describe(stage, leaf) + " to `" + thread.name() +
                          "`: the axis has " + print_expr(extent) + " iterations, but only " +
                          print_expr(declared->extent) +
                          " threads are declared; declare more, or split the axis",
                      bound.where);
}

/// Returns the scans whose steps or initial states contain the stage.
std::vector<StageId> scans_around(const StageGraph& graph, StageId id) {
  std::vector<StageId> scans;
  const auto add = [&](StageId part) {
    const std::optional<ScanPart> role = graph.stage(part).scan_part(0);
    if (role && role->role != ScanPart::Role::State) scans.push_back(role->state.stage);
  };
  add(id);
  for (const AttachPoint& loop : graph.attach_path(id)) add(loop.stage);
  return scans;
}

/// Checks that the threads in a scan's environment, which enclose the whole scan, are its only
/// threads.
void check_environment(const StageGraph& graph, StageId id, const IterVar& leaf,
                       const ThreadMark& bound, const AxisRanges& ranges, const Facts& facts) {
  const Expr& extent = ranges.at(leaf).extent;
  for (const StageId scan : scans_around(graph, id))
    for (const IterVar& thread : graph.stage(scan).env_threads) {
      if (thread.thread() != bound.axis.thread() || thread.same_as(bound.axis)) continue;
      if (!thread.dom() || arith::can_prove(extent <= thread.dom()->extent, facts)) continue;
      throw ScheduleError("bind of " + describe(graph.stage(id), leaf) + " to `" +
                              bound.axis.name() + "`: the axis has " + print_expr(extent) +
                              " iterations, but " + describe(graph.stage(scan)) +
                              " runs in an environment of " + print_expr(thread.dom()->extent) +
                              " such threads; declare more in env_threads, or split the axis",
                          bound.where);
    }
}

/// Returns the values of the stage's axes as seen by one thread: a loop that is bound to a thread
/// has the thread's index, or its own minimum if the threads do not divide it.
tir::VarMap values_in_thread(const StageGraph& graph, StageId id, const AxisRanges& ranges) {
  const FrozenStage& stage = graph.stage(id);
  const StorageScope scope = graph.stage(id).scope;
  AxisValues values;
  for (const IterVar& leaf : stage.leaf_iter_vars) {
    const IterVar* thread = thread_of(stage, leaf);
    const bool stays = thread && !is_divided(stage, leaf, *thread, scope);
    const Expr& min = ranges.at(leaf).min;
    values.set(leaf, stays    ? min
                     : thread ? shifted(cast(leaf.var().dtype(), thread->var()), min)
                              : Expr(leaf));
  }
  pass_index_up(stage.relations, ranges, values);
  tir::VarMap vars;
  for (const IterVar& root : stage.op.root_iter_vars()) {
    if (const Expr* value = values.find(root)) set(vars, root.var(), *value);
  }
  return vars;
}

/// If the loop is the inner loop of a split of the root axis, returns its extent, the row length.
/// Otherwise returns nullopt.
std::optional<Expr> row_of(const FrozenStage& stage, const IterVar& root, const IterVar& loop,
                           const AxisRanges& ranges) {
  const Relation* consumer = stage.consumer_of(root);
  if (consumer && std::holds_alternative<Rebase>(*consumer))
    consumer = stage.consumer_of(std::get<Rebase>(*consumer).rebased);
  const Split* split = consumer ? std::get_if<Split>(consumer) : nullptr;
  if (!split || !split->inner.same_as(loop)) return std::nullopt;
  return ranges.at(loop).extent;
}

/// Whether readers read only the first element of every row. The indices are checked directly,
/// because the required region is a hull and also contains the elements between them.
bool reads_only_row_starts(const StageGraph& graph, StageId id, std::size_t dim, const Expr& row,
                           const AxisRanges& ranges, const Facts& facts) {
  const Operation& op = graph.stage(id).op;
  const Expr& first = ranges.at(op.axis()[dim]).min;
  for (StageId reader : graph.readers(id)) {
    if (!graph.stage(reader).op.as<Compute>()) return false;
    const tir::VarMap values = values_in_thread(graph, reader, ranges);
    for (const auto& [tensor, indices] : collect_reads(graph.stage(reader).op)) {
      if (!tensor.op().same_as(op)) continue;
      const Expr distance = arith::simplify(substitute(indices[dim], values) - first, facts);
      if (!arith::can_prove(floormod(distance, row) == 0, facts)) return false;
    }
  }
  return true;
}

/// Whether every thread computes all required elements. The loop does not advance inside a thread:
/// it stays at its minimum.
bool reaches_all(const StageGraph& graph, StageId id, const IterVar& loop, const AxisRanges& ranges,
                 const Facts& facts) {
  const FrozenStage& stage = graph.stage(id);
  const AxisFlags incomplete = find_incomplete(stage.relations, loop, ranges, facts);
  const std::vector<IterVar>& axes = stage.op.axis();
  for (std::size_t dim = 0; dim < axes.size(); ++dim) {
    if (!incomplete.value_or(axes[dim], false)) continue;
    const std::optional<Expr> row = row_of(stage, axes[dim], loop, ranges);
    if (!row || !reads_only_row_starts(graph, id, dim, *row, ranges, facts)) return false;
  }
  const std::vector<IterVar>& sums = stage.op.reduce_axis();
  return std::ranges::none_of(
      sums, [&](const IterVar& axis) { return incomplete.value_or(axis, false); });
}

/// Returns the variables of all thread axes with this tag. They denote the same thread in all
/// stages.
std::vector<Var> variables_of(const StageGraph& graph, const ThreadTag& tag) {
  std::vector<Var> vars;
  for (const StageId id : graph.ids())
    for (const auto& [axis, attributes] : graph.stage(id).attributes)
      if (attributes.thread && attributes.thread->axis.thread() == tag)
        vars.push_back(attributes.thread->axis.var());
  return vars;
}

/// Whether the range varies between threads, directly or through the loops in `around` (innermost
/// first). Thread axes can also be hoisted above these loops; see LiftedThreads.
bool varies_along(const Range& values, const ThreadTag& tag, const StageGraph& graph,
                  std::span<const AttachPoint> around, const AxisRanges& ranges) {
  std::vector<Var> varying = variables_of(graph, tag);
  const auto is_varying = [&](const Expr& var) {
    return std::ranges::any_of(varying, [&](const Var& v) { return v.same_as(var); });
  };
  const auto varies = [&](const Range& range) {
    return uses_var(range.min, is_varying) || uses_var(range.extent, is_varying);
  };
  for (const AttachPoint& loop : std::views::reverse(around)) {
    const IterVar* thread = thread_of(graph, loop);
    const Range& range = ranges.at(loop.axis);
    if (thread && thread->thread() == tag) {
      varying.push_back(thread->var());
      varying.push_back(loop.axis.var());
    } else if (varies(range)) {
      varying.push_back(loop.axis.var());
    }
  }
  return varies(values);
}

/// Whether all threads of the tag require the same elements, as a reduction across them demands.
bool is_same_in_all_threads(const StageGraph& graph, StageId id, const ThreadTag& tag,
                            const AxisRanges& ranges) {
  return std::ranges::none_of(graph.stage(id).op.root_iter_vars(), [&](const IterVar& axis) {
    return varies_along(ranges.at(axis), tag, graph, graph.attach_path(id), ranges);
  });
}

/// Checks a data axis whose loop is bound to threads that each have their own memory. In each
/// thread, the loop stays at its minimum. The other loops must therefore reach every element, and
/// the readers must run in the same threads of the same launch. A reduction across these threads is
/// allowed, because every thread receives its result.
void check_private(const StageGraph& graph, StageId id, const IterVar& leaf,
                   const ThreadMark& bound, const AxisRanges& ranges, const Facts& facts) {
  const FrozenStage& stage = graph.stage(id);
  const ThreadTag& tag = *bound.axis.thread();
  const StorageScope scope = memory_of(graph, id);
  if (stage.is_output || is_shared_along(scope, tag) || is_one(ranges.at(bound.axis).extent))
    return;
  const std::span<const StageId> readers = graph.readers(id);
  const bool is_seen = stage.place && std::ranges::all_of(readers, [&](StageId reader) {
                         return runs_in(graph, reader, tag);
                       });
  const bool reduces = is_reduced_together(stage, leaf);
  const bool is_whole = reduces ? is_same_in_all_threads(graph, id, tag, ranges)
                                : reaches_all(graph, id, leaf, ranges, facts);
  if (is_seen && is_whole) return;
  const bool is_in_launch = lives_in_launch(graph, id) || scope != stage.scope;
  throw ScheduleError(
      "bind of " + describe(stage, leaf) + " to `" + tag.str() +
          "`: at its attach point, the stage is stored in " + std::string(to_string(scope)) +
          " memory, private to each thread, " +
          (reduces && is_seen
               ? "and each thread needs another sum, but threads that reduce together compute one "
                 "sum for all of them"
               : "and each thread would compute only a part") +
          "; set_scope(\"" + (is_in_launch && !tag.is_block() ? "shared" : "global") + "\")",
      bound.where);
}

bool is_reduced_along(const FrozenStage& stage, const ThreadTag& tag) {
  return std::ranges::any_of(stage.leaf_iter_vars, [&](const IterVar& leaf) {
    return is_reduced_together(stage, leaf) && thread_of(stage, leaf)->thread() == tag;
  });
}

/// Threads that fill memory or reduce together must synchronize. The loops around such statements,
/// inside the thread axis, must therefore have the same trip count in all threads.
void check_converges(const StageGraph& graph, StageId id, const AxisRanges& ranges) {
  const FrozenStage& stage = graph.stage(id);
  const StorageScope scope = graph.stage(id).scope;
  std::vector<AttachPoint> inside;
  for (const AttachPoint& point : graph.attach_path(id)) {
    const IterVar* thread = thread_of(graph, point);
    if (!thread) {
      inside.push_back(point);
      continue;
    }
    if (thread->thread()->is_virtual()) continue;
    const bool reduces = is_reduced_along(stage, *thread->thread());
    if (!reduces && !is_shared_along(scope, *thread->thread())) continue;
    for (const AttachPoint& loop : inside) {
      const bool varies = uses_var(ranges.at(loop.axis).extent, [&](const Expr& var) {
        return thread->var().same_as(var) || point.axis.var().same_as(var);
      });
      if (!varies) continue;
      throw ScheduleError(
          "compute_at of " + describe(stage) + ": all threads of `" + thread->name() + "` " +
              (reduces ? "reduce" : "fill its " + std::string(to_string(scope)) + " memory") +
              " together, but " + describe(graph.stage(loop.stage), loop.axis) +
              ", a loop around it, runs more often in some of them than in others; compute it "
              "outside of that loop" +
              (reduces ? "" : ", or set_scope(\"local\")"),
          stage.attach_where);
    }
  }
}

}  // namespace

void check_threads(const StageGraph& graph, StageId id, const AxisRanges& ranges,
                   const Facts& facts) {
  const FrozenStage& stage = graph.stage(id);
  check_converges(graph, id, ranges);
  check_shared_memory(graph, id, ranges);
  check_blocks_of_scan(graph, id, ranges);
  for (const auto& [axis, attributes] : stage.attributes) {
    if (!attributes.thread || !stage.has_leaf(axis)) continue;
    check_declared(stage, axis, *attributes.thread, ranges, facts);
    check_environment(graph, id, axis, *attributes.thread, ranges, facts);
    check_private(graph, id, axis, *attributes.thread, ranges, facts);
  }
}

void check_double_buffer(const StageGraph& graph, StageId id) {
  const FrozenStage& stage = graph.stage(id);
  if (!stage.double_buffer) return;
  for (const AttachPoint& loop : graph.attach_path(id)) {
    if (!thread_of(graph, loop)) return;
  }
  throw ScheduleError(
      "double_buffer of " + describe(stage) +
          ": it is computed in no loop that could run ahead; compute_at a loop of its reader",
      stage.double_buffer_where);
}

void check_sees_thread(const StageGraph& graph, StageId producer, const IterVar* thread,
                       StageId reader) {
  const StorageScope scope = graph.stage(producer).scope;
  if (!thread || is_shared_along(scope, *thread->thread())) return;
  const FrozenStage& stage = graph.stage(producer);
  const bool placed = stage.place && !stage.is_scan_update;
  if (placed && runs_in(graph, producer, *thread->thread())) return;
  throw BoundError("stage `" + stage.origin_op.name() + "` is kept in " +
                       std::string(to_string(scope)) + " memory, private to each iteration of `" +
                       thread->name() + "` in stage `" + graph.stage(reader).origin_op.name() +
                       "`, but is computed outside of it; compute_at a loop inside of it, or set "
                       "a wider scope",
                   placed               ? stage.attach_where
                   : stage.scope_is_set ? stage.scope_where
                                        : stage.op.where());
}

}  // namespace tenon::te

#include "te/bounds/block_checks.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "te/bounds/required_region.h"
#include "te/graph/thread_scope.h"
#include "te/schedule/schedule_data.h"
#include "tenon/tir/compare.h"

namespace tenon::te {

using namespace tir;

namespace {

/// The derivation of a leaf from a data axis. Equal derivations in two stages mean equal elements
/// in each iteration. Nullopt if the leaf is fused or derives from no axis.
struct Derivation {
  std::size_t dim;
  /// The splits from the leaf to the axis, innermost first: whether it is the outer part, and the
  /// inner extent.
  std::vector<std::pair<bool, Expr>> parts;

  bool same_as(const Derivation& other) const {
    return dim == other.dim &&
           std::ranges::equal(parts, other.parts, [](const auto& a, const auto& b) {
             return a.first == b.first && structural_equal(a.second, b.second);
           });
  }
};

std::optional<Derivation> derivation_of(const FrozenStage& stage, IterVar axis,
                                        const AxisRanges& ranges) {
  Derivation result{0, {}};
  for (bool changed = true; std::exchange(changed, false);) {
    const std::vector<IterVar>& axes = stage.op.axis();
    for (; result.dim < axes.size(); ++result.dim)
      if (axes[result.dim].same_as(axis)) return result;
    result.dim = 0;
    for (const Relation& relation : stage.relations) {
      const Split* split = std::get_if<Split>(&relation);
      const Rebase* rebase = std::get_if<Rebase>(&relation);
      const bool is_inner = split && split->inner.same_as(axis);
      if (is_inner || (split && split->outer.same_as(axis))) {
        result.parts.emplace_back(is_inner, ranges.at(split->inner).extent);
        axis = split->parent;
        changed = true;
      } else if (rebase && rebase->rebased.same_as(axis)) {
        axis = rebase->parent;
        changed = true;
      }
    }
  }
  return std::nullopt;
}

/// Whether all reads of earlier states use the same coordinate along the dimension.
bool reads_own_place(const StageGraph& graph, StageId update, StageId scan, std::size_t dim) {
  const Operation& op = graph.stage(update).op;
  for (const TensorReads& reads : collect_reads(op)) {
    const std::optional<OutputId> read = graph.find(reads.tensor);
    const std::optional<ScanPart> part =
        read ? graph.stage(read->stage).scan_part(read->index) : std::nullopt;
    if (!part || part->state.stage != scan) continue;
    for (const std::vector<Expr>& indices : reads.indices)
      if (!indices[dim].same_as(op.axis()[dim].var())) return false;
  }
  return true;
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
    const bool is_apart =
        way && way->dim > 0 && std::ranges::all_of(graph.ids(), [&](StageId other) {
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
          return its && its->same_as(*way) && reads_own_place(graph, other, scan, way->dim);
        });
    if (is_apart) continue;
    throw ScheduleError(
        "bind of " + describe(stage, axis) + " to `" + block.name() +
            "`: the scan runs in one launch, whose blocks cannot wait for what another one has "
            "stored; bind the same part of the same axis in the first states and in every step, "
            "each of which reads its own place, or bind it to threads of one block",
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
        what +
            ": at its attach point, the stage is stored in global memory, "
            "which the blocks of `" +
            block.name() +
            "` share, but within a launch no block can wait for what another one computes; "
            "set_scope(\"shared\"), or compute_root",
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

}  // namespace

void check_blocks(const StageGraph& graph, StageId id, const AxisRanges& ranges) {
  check_shared_memory(graph, id, ranges);
  check_blocks_of_scan(graph, id, ranges);
}

}  // namespace tenon::te

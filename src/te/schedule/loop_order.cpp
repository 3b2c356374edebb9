#include "te/schedule/loop_order.h"

#include <algorithm>
#include <limits>

#include "te/operations/declare.h"
#include "te/relations/propagate.h"
#include "tenon/arith/reducer_laws.h"
#include "tenon/support/match.h"
#include "tenon/te/axis_map.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

namespace {

/// The position of an axis in the declared order: first the number of the root axis, then, for each
/// split, 0 for the outer or 1 for the inner part. Positions compare lexicographically.
using Place = std::vector<int>;

AxisMap<Place> declared_places(const StageSpec& stage) {
  AxisMap<Place> places;
  const std::vector<IterVar>& roots = stage.op.reduce_axis();
  for (std::size_t n = 0; n < roots.size(); ++n) places.set(roots[n], {static_cast<int>(n)});
  for (const Relation& relation : stage.relations)
    match(
        relation,
        [&](const Split& split) {
          const Place* found = places.find(split.parent);
          if (!found) return;
          Place outer = *found, inner = *found;
          outer.push_back(0);
          inner.push_back(1);
          places.set(split.outer, std::move(outer));
          places.set(split.inner, std::move(inner));
        },
        [&](const Fuse& fuse) {
          const Place* outer = places.find(fuse.outer);
          const Place* found = outer ? outer : places.find(fuse.inner);
          if (found) places.set(fuse.fused, Place(*found));
        },
        [&](const Rebase& rebase) {
          if (const Place* found = places.find(rebase.parent))
            places.set(rebase.rebased, Place(*found));
        },
        [](const Singleton&) {}, [](const Transform&) {});
  return places;
}

bool is_declared_order(const StageSpec& stage, std::span<const IterVar> loops) {
  const AxisMap<Place> places = declared_places(stage);
  const auto ascends = [&](bool skips_single_iterations) {
    const Place* last = nullptr;
    for (const IterVar& loop : loops) {
      const Place* place = places.find(loop);
      if (!place || (skips_single_iterations && greatest_extent(stage, loop) == 1)) continue;
      if (last && *place < *last) return false;
      last = place;
    }
    return true;
  };
  return ascends(false) || ascends(true);
}

/// Throws unless every loop derived from `used` is outside every loop derived from `user`. The
/// range of `user` depends on `used`.
void check_lies_outside(const StageEdit& edit, const IterVar& axis, const IterVar& used,
                        const IterVar& user, std::span<const IterVar> loops) {
  const AxisFlags outside = derived_from({&used, 1}, edit.stage().relations),
                  inside = derived_from({&user, 1}, edit.stage().relations);
  const IterVar* entered = nullptr;
  for (const IterVar& loop : loops) {
    if (inside.contains(loop) && !entered) entered = &loop;
    // A loop that runs over elements as well is repeated for the initialization, where the loops of
    // the reduction axis `used` do not exist.
    if (inside.contains(loop) && used.kind() == IterKind::Reduce && edit.runs_over_elements(loop))
      edit.fail(axis, "the range of axis `" + user.name() + "` depends on reduction axis `" +
                          used.name() + "`, so that loop `" + loop.name() +
                          "` cannot run over elements as well");
    if (entered && outside.contains(loop))
      edit.fail(axis,
                "the range of axis `" + user.name() + "` depends on axis `" + used.name() +
                    "`, so that loop `" + loop.name() +
                    (entered == &loop ? "` cannot run over both"
                                      : "` must stay outside of loop `" + entered->name() + "`"));
  }
}

}  // namespace

void check_ranges_are_known(const StageEdit& edit, const IterVar& axis,
                            std::span<const IterVar> loops) {
  const Operation& op = edit.stage().op;
  for (const IterVar& user : op.reduce_axis()) {
    if (tir::is_constant(user.dom()->min) && tir::is_constant(user.dom()->extent)) continue;
    for (const IterVar& used : op.root_iter_vars())
      if (uses_var(user.dom()->min, used.var()) || uses_var(user.dom()->extent, used.var()))
        check_lies_outside(edit, axis, used, user, loops);
  }
}

std::vector<IterVar> reduction_loops(const StageSpec& stage, std::span<const IterVar> all,
                                     const IterVar* bound) {
  std::vector<IterVar> loops(all.begin(), all.end());
  std::erase_if(loops, [](const IterVar& loop) { return loop.kind() != IterKind::Reduce; });
  std::stable_partition(loops.begin(), loops.end(), [&](const IterVar& loop) {
    return stage.thread_mark_of(loop) || (bound && loop.same_as(*bound));
  });
  return loops;
}

void check_reduction_order(const StageEdit& edit, const IterVar& axis,
                           std::span<const IterVar> loops, bool has_partial_results) {
  const Compute* compute = edit.stage().op.as<Compute>();
  const tir::ReduceNode* reduction = compute ? compute->reduction() : nullptr;
  if (!reduction) return;
  const arith::ReductionChange change{.regroups = has_partial_results,
                                      .reorders = !is_declared_order(edit.stage(), loops)};
  if (!change.regroups && !change.reorders) return;
  const std::optional<std::string> found = arith::find_counterexample(
      *reduction->combiner, reduction->source, !reduction->init.empty(), change);
  if (found)
    edit.fail(axis, "its reducer `" + reduction->combiner->name +
                        "` depends on the order of its terms: " + *found);
}

namespace {

Count constant_extent(const IterVar& axis) {
  return axis.dom() ? tir::constant_int(axis.dom()->extent) : std::nullopt;
}

Count rounded_up_quotient(const Count& a, const Count& b) {
  if (!a || !b || *b <= 0) return std::nullopt;
  return *a / *b + (*a % *b > 0 ? 1 : 0);
}

DataType widened(DataType type, std::int64_t extent) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  return type.bits < 64 && extent > kMax ? Int(64) : type;
}

}  // namespace

std::optional<std::int64_t> greatest_extent(const StageSpec& stage, const IterVar& axis) {
  const AxisFlags sources = sources_of({&axis, 1}, stage.relations);
  AxisMap<Count> limits;
  const auto known = [&](const IterVar& any) { return limits.value_or(any, constant_extent(any)); };
  for (const Relation& relation : stage.relations) {
    const auto is_source = [&](const IterVar& any) { return sources.contains(any); };
    if (std::ranges::none_of(parents_of(relation), is_source)) continue;
    match(
        relation,
        [&](const Split& split) {
          const Count parent = known(split.parent), count = tir::constant_int(split.count);
          limits.set(split.counted(), count);
          limits.set(split.not_counted(), rounded_up_quotient(parent, count));
        },
        [&](const Fuse& fuse) {
          limits.set(fuse.fused, product(known(fuse.outer), known(fuse.inner)));
        },
        [&](const Rebase& rebase) { limits.set(rebase.rebased, known(rebase.parent)); },
        [](const Singleton&) {}, [](const Transform&) {});
  }
  return known(axis);
}

DataType type_of_fused(const StageEdit& edit, const IterVar& outer, const IterVar& inner) {
  const DataType a = outer.var().dtype(), b = inner.var().dtype();
  const DataType type = a.bits >= b.bits ? a : b;
  const Count rows = greatest_extent(edit.stage(), outer),
              columns = greatest_extent(edit.stage(), inner);
  if (!rows || !columns) return type;
  const Count extent = product(rows, columns);
  if (!extent)
    edit.fail(outer, "the fusion with `" + inner.name() + "` would have " + std::to_string(*rows) +
                         " * " + std::to_string(*columns) +
                         " iterations, more than a loop can count (2^63 - 1)");
  return widened(type, *extent);
}

DataType type_of_split(const StageEdit& edit, const IterVar& parent, const Expr& count) {
  const DataType type = parent.var().dtype();
  const Count extent = greatest_extent(edit.stage(), parent), size = tir::constant_int(count);
  if (!extent || !size) return type;
  const Count reached = product(rounded_up_quotient(extent, size), size);
  if (!reached)
    edit.fail(parent, "rounded up to a multiple of " + std::to_string(*size) + ", its " +
                          std::to_string(*extent) +
                          " iterations are more than a loop can count (2^63 - 1)");
  return widened(type, *reached);
}

}  // namespace tenon::te

#include "te/schedule/rewritten_axes.h"

#include <algorithm>

#include "tenon/arith/simplify.h"

namespace tenon::te {

std::vector<IterVar> numbered_axes(const std::vector<Expr>& shape) {
  std::vector<IterVar> axes;
  for (std::size_t n = 0; n < shape.size(); ++n) {
    const DataType type = shape[n].dtype();
    axes.emplace_back(Range::from_min_extent(tir::make_int(type, 0), shape[n]),
                      Var("ax" + std::to_string(n), type), IterKind::DataParallel);
  }
  return axes;
}

std::vector<Expr> guards_of(const StageData& stage, std::span<const IterVar> roots,
                            const AxisRanges& ranges, const AxisValues& values,
                            arith::Facts& facts) {
  const AxisFlags guarded = find_guarded(stage.relations, ranges, facts);
  arith::IntervalMap leaves;
  for (const IterVar& leaf : stage.leaf_iter_vars)
    if (const Range* range = ranges.find(leaf))
      leaves.set(leaf.var(), arith::Interval::from_range(*range));
  // Includes intermediate axes, because a child of an overshooting axis may still be inside the
  // root's range.
  std::vector<Expr> guards;
  for (const IterVar& axis : stage.all_iter_vars) {
    if (!guarded.value_or(axis, false) || !values.contains(axis)) continue;
    if (contains(stage.op.root_iter_vars(), axis) && !contains(roots, axis)) continue;
    const Range& range = ranges.at(axis);
    const Expr value = values.at(axis) - range.min;
    const arith::Interval reached = arith::values_of(value, leaves, facts);
    if (!reached.max() || !arith::can_prove(*reached.max() < range.extent, facts))
      guards.push_back(value < range.extent);
  }
  return guards;
}

Expr zero_of(DataType type) {
  return type.is_floating() ? tir::make_float(type, 0) : tir::make_int(type, 0);
}

void reset_loops(const StageEdit& edit) {
  StageData& stage = edit.stage();
  const std::vector<IterVar> before = stage.leaf_iter_vars;
  stage.all_iter_vars = stage.op.root_iter_vars();
  stage.leaf_iter_vars = loops_of(stage.op);
  stage.relations.clear();
  edit.warn_of_lost_marks(before);
  std::erase_if(stage.attributes, [&](const auto& entry) { return !stage.has_axis(entry.first); });
}

void check_attached_axes_stay(const StageEdit& edit, std::span<const IterVar> staying) {
  const ScheduleData& schedule = edit.schedule();
  for (StageNumber other : schedule.order) {
    const AttachAt* at = std::get_if<AttachAt>(&schedule.effective_attach(other).attach);
    if (!at || at->stage != edit.number() || contains(staying, at->axis)) continue;
    edit.fail(describe(schedule.stage(other)) + " is computed at its loop `" + at->axis.name() +
              "`, which would be removed; call " + edit.primitive() + " before compute_at");
  }
}

}  // namespace tenon::te

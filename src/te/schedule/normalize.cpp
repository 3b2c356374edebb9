#include "te/schedule/normalize.h"

#include <algorithm>

#include "te/schedule/inline_stages.h"

namespace tenon::te {

namespace {

// Rebases every root axis that is a loop. A stage that is attached inside another stage's loops
// computes a region that need not start at 0, regardless of its axes' declared ranges.
void rebase_loops(StageData& stage) {
  for (const IterVar& root : stage.op.root_iter_vars()) {
    const std::optional<int> place = stage.leaf_position(root);
    if (!place) continue;
    IterVar rebased(std::nullopt, root.var().fresh(), root.kind());
    stage.relations.push_back(Rebase{root, rebased});
    stage.all_iter_vars.push_back(rebased);
    stage.leaf_iter_vars[static_cast<std::size_t>(*place)] = rebased;
    const AxisAttributes* known = stage.attributes_of(root);
    if (!known) continue;
    // Marks of the loop move to the rebased axis; marks of the dimension stay.
    AxisAttributes moved = *known;
    stage.attributes_of_or_new(root) =
        AxisAttributes{.align = moved.align, .rounds_up = moved.rounds_up, .bound = moved.bound};
    moved.align = std::nullopt;
    moved.rounds_up = false;
    moved.bound = std::nullopt;
    stage.attributes.emplace_back(rebased, std::move(moved));
  }
}

/// Returns the loop derived from an axis: the inner one of a split, or the fused one.
IterVar loop_of(const StageSpec& stage, IterVar axis, const std::string& attached,
                const SourceLocation& where) {
  while (!stage.has_leaf(axis)) {
    const Relation* consumer = stage.consumer_of(axis);
    if (!consumer)
      throw ScheduleError("compute_at of " + attached + ": " + describe(stage) +
                              " no longer has axis `" + axis.name() + "`; its loops are " +
                              describe(stage.leaf_iter_vars),
                          where);
    axis = children_of(*consumer).back();
  }
  return axis;
}

void settle_attach(const ScheduleData& schedule, Attach& attach, const std::string& attached,
                   const SourceLocation& where) {
  if (AttachScanUpdate* at = std::get_if<AttachScanUpdate>(&attach))
    at->axis = loop_of(schedule.stage(at->scan), at->axis, attached, where);
  AttachAt* at = std::get_if<AttachAt>(&attach);
  if (!at) return;
  const StageData& target = schedule.stage(at->stage);
  const bool is_gone =
      std::find(schedule.order.begin(), schedule.order.end(), at->stage) == schedule.order.end();
  if (is_gone)
    throw ScheduleError(
        "compute_at of " + attached + ": " + describe(target) + " is inlined and has no loops",
        where);
  at->axis = loop_of(target, at->axis, attached, where);
}

}  // namespace

void normalize(ScheduleData& schedule, const SourceLocation& where) {
  inline_stages(schedule, where);
  for (StageNumber id : schedule.order) rebase_loops(schedule.stage(id));
  for (StageNumber id : schedule.order) {
    StageData& stage = schedule.stage(id);
    // A placeholder is not computed, regardless of its attachment.
    if (stage.op.as<Placeholder>()) stage.attach = AttachRoot{};
    settle_attach(schedule, stage.attach, describe(stage), stage.attach_where);
  }
  for (GroupData& group : schedule.groups)
    settle_attach(schedule, group.attach, "group `" + group.name + "`", group.attach_where);
}

}  // namespace tenon::te

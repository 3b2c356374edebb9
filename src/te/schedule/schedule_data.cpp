#include "te/schedule/schedule_data.h"

#include <algorithm>

namespace tenon::te {

std::optional<StageId> ScheduleData::find(const Operation& op) const {
  auto found = stage_of.find(op.get());
  return found == stage_of.end() ? std::nullopt : std::optional(found->second);
}

StageId ScheduleData::require(const Operation& op, std::string_view primitive,
                              const SourceLocation& where) const {
  if (std::optional<StageId> id = find(op)) {
    check_is_there(*this, *id, primitive, where);
    return *id;
  }
  throw ScheduleError(
      std::string(primitive) + ": operation `" + op.name() + "` is not part of this schedule",
      where);
}

std::optional<StageOutput> ScheduleData::find(const Tensor& tensor) const {
  std::optional<StageId> id = find(tensor.op());
  return id ? std::optional(StageOutput{*id, tensor.value_index()}) : std::nullopt;
}

StageOutput ScheduleData::require(const Tensor& tensor, std::string_view primitive,
                                  const SourceLocation& where) const {
  return {require(tensor.op(), primitive, where), tensor.value_index()};
}

Tensor ScheduleData::tensor(const StageOutput& output) const {
  return stage(output.stage).op.output(output.index);
}

std::vector<StageOutput> ScheduleData::reads(StageId id) const {
  std::vector<StageOutput> result;
  for (const Tensor& input : stage(id).op.inputs()) {
    std::optional<StageOutput> output = find(input);
    internal_check(output.has_value(),
                   "a stage reads tensor `" + input.name() + "`, which no stage computes");
    result.push_back(*output);
  }
  return result;
}

std::vector<StageId> ScheduleData::readers(StageId id) const {
  std::vector<StageId> result;
  for (StageId reader : order) {
    const std::vector<StageOutput> read = reads(reader);
    if (std::any_of(read.begin(), read.end(), [&](const StageOutput& o) { return o.stage == id; }))
      result.push_back(reader);
  }
  return result;
}

std::size_t ScheduleData::position(StageId id) const {
  auto found = std::find(order.begin(), order.end(), id);
  internal_check(found != order.end(), "a stage that is not in the schedule's order");
  return static_cast<std::size_t>(found - order.begin());
}

StageId ScheduleData::insert_stage(const Operation& op, std::size_t position) {
  const StageId id = static_cast<StageId>(stages.size());
  stages.push_back(StageData::make(op));
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(position), id);
  stage_of.emplace(op.get(), id);
  known_ops.push_back(op);
  return id;
}

namespace {

/// Puts an axis of a stage in place of another, wherever the schedule has it.
void replace_axis(ScheduleData& schedule, StageId id, const IterVar& old_axis,
                  const IterVar& new_axis) {
  StageData& stage = schedule.stage(id);
  auto replace = [&](IterVar& axis) {
    if (axis.same_as(old_axis)) axis = new_axis;
  };
  std::for_each(stage.all_iter_vars.begin(), stage.all_iter_vars.end(), replace);
  std::for_each(stage.leaf_iter_vars.begin(), stage.leaf_iter_vars.end(), replace);
  for (auto& [axis, attributes] : stage.attributes) replace(axis);
  for (Relation& relation : stage.relations) {
    match(
        relation, [&](Split& r) { replace(r.parent); },
        [&](Fuse& r) { replace(r.outer), replace(r.inner); }, [&](Rebase& r) { replace(r.parent); },
        [](Singleton&) {},
        [&](Transform& r) { std::for_each(r.originals.begin(), r.originals.end(), replace); });
  }
  for (StageData& other : schedule.stages)
    if (AttachAt* at = std::get_if<AttachAt>(&other.attach); at && at->stage == id)
      replace(at->axis);
  for (GroupData& group : schedule.groups)
    if (AttachAt* at = std::get_if<AttachAt>(&group.attach); at && at->stage == id)
      replace(at->axis);
}

}  // namespace

void ScheduleData::set_op(StageId id, Operation op) {
  // A reduction axis whose range reads another tensor now is made anew, with the same variable.
  const std::vector<IterVar> before = stage(id).op.reduce_axis();
  for (const IterVar& axis : op.reduce_axis())
    for (const IterVar& old_axis : before)
      if (axis.var().same_as(old_axis.var()) && !axis.same_as(old_axis))
        replace_axis(*this, id, old_axis, axis);
  stage_of.insert_or_assign(op.get(), id);
  known_ops.push_back(op);
  stage(id).op = std::move(op);
}

const Attach& ScheduleData::effective_attach(StageId id) const {
  const Attach* attach = &stage(id).attach;
  std::optional<int> group = stage(id).group;
  while (std::holds_alternative<AttachRoot>(*attach) && group) {
    const GroupData& outer = groups[static_cast<std::size_t>(*group)];
    attach = &outer.attach;
    group = outer.group;
  }
  return *attach;
}

const SourceLocation& ScheduleData::effective_attach_where(StageId id) const {
  const Attach& attach = effective_attach(id);
  for (const GroupData& group : groups)
    if (&group.attach == &attach) return group.attach_where;
  return stage(id).attach_where;
}

std::vector<IterVar> loops_of(const Operation& op) {
  std::vector<IterVar> loops = op.root_iter_vars();
  std::erase_if(loops, [](const IterVar& axis) { return axis.kind() == IterKind::Opaque; });
  return loops;
}

// ---- texts and checks ---------------------------------------------------------------------------

std::string describe(const StageData& stage) { return "stage `" + stage.origin_op.name() + "`"; }

std::string describe(const StageData& stage, const IterVar& axis) {
  return "axis `" + axis.name() + "` of " + describe(stage);
}

std::string describe(std::span<const IterVar> axes) {
  std::string text;
  for (const IterVar& axis : axes) text += (text.empty() ? "`" : ", `") + axis.name() + "`";
  return text.empty() ? "none" : text;
}

void fail(std::string_view primitive, const StageData& stage, const std::string& text,
          const SourceLocation& where) {
  throw ScheduleError(std::string(primitive) + " of " + describe(stage) + ": " + text, where);
}

void fail(std::string_view primitive, const StageData& stage, const IterVar& axis,
          const std::string& text, const SourceLocation& where) {
  throw ScheduleError(
      std::string(primitive) + " of axis `" + axis.name() + "` of " + describe(stage) + ": " + text,
      where);
}

void check_is_there(const ScheduleData& schedule, StageId id, std::string_view primitive,
                    const SourceLocation& where) {
  const StageData& stage = schedule.stage(id);
  if (!std::holds_alternative<AttachInline>(stage.attach)) return;
  if (std::find(schedule.order.begin(), schedule.order.end(), id) != schedule.order.end()) return;
  fail(primitive, stage,
       "normalize has put it into its readers, so that it is no stage of this schedule", where);
}

std::vector<IterVar> stored_axes(const StageData& stage) {
  for (const Relation& relation : stage.relations)
    if (const Transform* transform = std::get_if<Transform>(&relation))
      return transform->transformed;
  // A dataflow rewrite has taken the loops over the new layout away.
  if (stage.layout) return {};
  return stage.op.axis();
}

const StageData* scan_of_state(const ScheduleData& schedule, StageId id) {
  for (const StageData& other : schedule.stages) {
    const Scan* scan = other.op.as<Scan>();
    if (!scan) continue;
    for (const std::vector<Tensor>* tensors : {&scan->init, &scan->update, &scan->state})
      for (const Tensor& tensor : *tensors)
        if (const std::optional<StageId> part = schedule.find(tensor.op()); part == id)
          return &other;
  }
  return nullptr;
}

StageData& require_stage(ScheduleData& schedule, int index, bool is_group,
                         std::string_view primitive, const SourceLocation& where) {
  if (is_group)
    throw ScheduleError(std::string(primitive) + " of group `" +
                            schedule.groups[static_cast<std::size_t>(index)].name +
                            "`: a group has no loops and no storage of its own; use a stage of it",
                        where);
  check_is_there(schedule, index, primitive, where);
  return schedule.stage(index);
}

namespace {

std::string what_became_of(const Relation& relation) {
  return match(
      relation,
      [](const Split& r) {
        return "it has already been split into " + describe(std::vector{r.outer, r.inner}) +
               ": use one of these";
      },
      [](const Fuse& r) {
        return "it has already been fused into `" + r.fused.name() + "`: use that";
      },
      [](const Rebase& r) { return "it has been rebased to `" + r.rebased.name() + "`"; },
      [](const Singleton&) { return std::string("it is no parent"); },
      [](const Transform& r) {
        return "its layout has been transformed into " + describe(r.transformed) +
               ": use one of these";
      });
}

}  // namespace

IterVar require_leaf(std::string_view primitive, const StageData& stage, const IterVar& axis,
                     const SourceLocation& where) {
  IterVar current = axis;
  while (!stage.has_leaf(current)) {
    const Relation* consumer = stage.consumer_of(current);
    if (!consumer)
      fail(primitive, stage, axis,
           "the axis is not part of this stage, whose loops are " + describe(stage.leaf_iter_vars),
           where);
    const Rebase* rebase = std::get_if<Rebase>(consumer);
    if (!rebase) fail(primitive, stage, axis, what_became_of(*consumer), where);
    current = rebase->rebased;
  }
  return current;
}

tir::StorageScope parse_scope(const std::string& subject, std::string_view scope,
                              const SourceLocation& where) {
  if (std::optional<tir::StorageScope> known = tir::find_storage_scope(scope)) return *known;
  std::string known;
  for (auto s = tir::StorageScope::Global; s <= tir::StorageScope::WmmaAccumulator;
       s = static_cast<tir::StorageScope>(static_cast<int>(s) + 1))
    known += (known.empty() ? "" : ", ") + std::string(to_string(s));
  throw ScheduleError(
      subject + ": `" + std::string(scope) + "` is no storage scope; the scopes are " + known,
      where);
}

void check_not_tensorized(std::string_view primitive, const StageData& stage, const IterVar& axis,
                          const SourceLocation& where) {
  const AxisAttributes* attributes = stage.attributes_of(axis);
  if (attributes && attributes->intrin)
    fail(primitive, stage, axis,
         "the axis is tensorized with intrinsic `" + attributes->intrin->name() +
             "`, which takes the place of this loop; change the loops first, then tensorize",
         where);
}

void check_not_tensorized(std::string_view primitive, const StageData& stage,
                          const SourceLocation& where) {
  for (const IterVar& leaf : stage.leaf_iter_vars)
    check_not_tensorized(primitive, stage, leaf, where);
}

void check_can_inline(std::string_view primitive, const StageData& stage,
                      const SourceLocation& where) {
  const Compute* compute = stage.op.as<Compute>();
  if (!compute) fail(primitive, stage, "only a compute can be inlined", where);
  if (stage.is_output)
    fail(primitive, stage, "it is an output of the schedule, which has no readers to be put into",
         where);
  if (compute->reduction())
    fail(primitive, stage,
         "it is a reduction, which cannot stand inside an expression; use compute_at", where);
  if (compute->body.size() != 1)
    fail(primitive, stage,
         "it has " + std::to_string(compute->body.size()) +
             " outputs; only an operation of one can be inlined",
         where);
  check_not_tensorized(primitive, stage, where);
}

}  // namespace tenon::te

#include "te/schedule/stage_edit.h"

#include <algorithm>

#include "te/relations/propagate.h"
#include "tenon/tir/no_such_name.h"

namespace tenon::te {

namespace {

StageNumber number_of(const ScheduleData& schedule,
                      const std::variant<StageNumber, GroupNumber>& target,
                      std::string_view primitive, const SourceLocation& where) {
  if (const GroupNumber* group = std::get_if<GroupNumber>(&target))
    throw ScheduleError(std::string(primitive) + " of group `" + schedule.group(*group).name +
                            "`: a group has no loops and no storage of its own; use a stage of it",
                        where);
  return std::get<StageNumber>(target);
}

}  // namespace

StageEdit::StageEdit(const Stage& handle, std::string_view primitive, const SourceLocation& where)
    : StageEdit(*handle.schedule_, number_of(*handle.schedule_, handle.target(), primitive, where),
                std::string(primitive), where) {}

StageEdit::StageEdit(ScheduleData& schedule, StageNumber number, std::string primitive,
                     const SourceLocation& where)
    : schedule_(schedule), number_(number), primitive_(std::move(primitive)), where_(where) {
  check_is_there(schedule_, number_, primitive_, where_);
}

StageEdit StageEdit::on(StageData& copy) const {
  StageEdit result = *this;
  result.copy_ = &copy;
  return result;
}

// ---- messages -----------------------------------------------------------------------------------

std::string StageEdit::subject() const { return primitive_ + " of " + describe(stage()); }
std::string StageEdit::subject(const IterVar& axis) const {
  return primitive_ + " of " + describe(stage(), axis);
}

void StageEdit::fail(const std::string& text) const { te::fail(primitive_, stage(), text, where_); }
void StageEdit::fail(const IterVar& axis, const std::string& text) const {
  te::fail(primitive_, stage(), axis, text, where_);
}
void StageEdit::warn(const std::string& text) const { warn_once(schedule_, text, where_); }

namespace {

std::string text_of(const AxisAttributes& attributes) {
  std::string text;
  auto add = [&](const std::string& mark) { text += (text.empty() ? "" : ", ") + mark; };
  if (attributes.run) add(std::string(to_string(attributes.run->mark)));
  if (attributes.thread) add("bound to `" + attributes.thread->axis.name() + "`");
  for (const Pragma& pragma : attributes.pragmas) add("pragma `" + pragma.key + "`");
  for (const PrefetchRequest& request : attributes.prefetches)
    add("prefetch of `" + request.tensor.name() + "`");
  return text;
}

}  // namespace

void StageEdit::warn_dropped_marks() const {
  for (const IterVar& axis : stage().leaf_iter_vars) {
    const AxisAttributes* attributes = stage().attributes_of(axis);
    const std::string lost = attributes ? text_of(*attributes) : "";
    if (!lost.empty())
      warn(subject(axis) + ": its scheduling (" + lost +
           ") has no effect, since an inlined stage has no loops; mark its readers' loops");
  }
}

void StageEdit::warn_of_lost_marks(std::span<const IterVar> before) const {
  for (const IterVar& axis : before) {
    const AxisAttributes* attributes = stage().attributes_of(axis);
    if (!attributes || stage().has_leaf(axis)) continue;
    const std::string lost = text_of(*attributes);
    if (lost.empty()) continue;
    warn(subject(axis) + ": its scheduling (" + lost +
         ") no longer holds; mark a loop that was made from it");
  }
}

// ---- loops --------------------------------------------------------------------------------------

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
      [](const Singleton&) { return std::string("it is not a parent"); },
      [](const Transform& r) {
        return "its layout has been transformed into " + describe(r.transformed) +
               ": use one of these";
      });
}

}  // namespace

IterVar StageEdit::leaf(const IterVar& axis) const {
  IterVar current = axis;
  while (!stage().has_leaf(current)) {
    const Relation* consumer = stage().consumer_of(current);
    if (!consumer)
      fail(axis, "the axis is not part of this stage, whose loops are " +
                     describe(stage().leaf_iter_vars));
    const Rebase* rebase = std::get_if<Rebase>(consumer);
    if (!rebase) fail(axis, what_became_of(*consumer));
    current = rebase->rebased;
  }
  return current;
}

AxisAttributes& StageEdit::attributes(const IterVar& axis) const {
  if (std::holds_alternative<AttachInline>(stage().attach))
    warn(subject(axis) +
         ": it has no effect, since the stage is inlined and has no loops; say it of " +
         "its readers', or compute the stage at a loop or at root");
  return stage().attributes_of_or_new(axis);
}

// ---- checks -------------------------------------------------------------------------------------

bool StageEdit::runs_over_elements(const IterVar& axis) const {
  AxisMarks from_data;
  for (const IterVar& data : stage().op.axis()) from_data.set(data, 1);
  mark_reached(stage().relations, from_data);
  return from_data.value_or(axis, 0) != 0;
}

void StageEdit::check_not_tensorized(const IterVar& axis) const {
  const AxisAttributes* attributes = stage().attributes_of(axis);
  if (attributes && attributes->tensorize)
    fail(axis, "the axis is tensorized with intrinsic `" + attributes->tensorize->intrin.name() +
                   "`, which takes the place of this loop; change the loops first, then tensorize");
}

void StageEdit::check_not_tensorized() const {
  for (const IterVar& leaf : stage().leaf_iter_vars) check_not_tensorized(leaf);
}

void StageEdit::check_has_memory() const {
  if (const StageData* scan = schedule_.scan_of_state(number_))
    fail("it shares the memory of the state of " + describe(*scan) +
         ": apply the primitive to that stage");
}

void StageEdit::check_can_inline() const {
  const Compute* compute = stage().op.as<Compute>();
  if (!compute) fail("only a compute can be inlined");
  if (stage().is_output) fail("it is an output of the schedule and has no readers");
  if (compute->reduction())
    fail("it is a reduction, which cannot be part of an expression; use compute_at");
  check_not_tensorized();
}

tir::StorageScope StageEdit::parse_scope(std::string_view scope) const {
  return te::parse_scope(subject(), scope, where_);
}

tir::StorageScope parse_scope(const std::string& subject, std::string_view scope,
                              const SourceLocation& where) {
  if (std::optional<tir::StorageScope> known = tir::find_storage_scope(scope)) return *known;
  throw ScheduleError(subject + ": " + tir::no_such_scope(scope), where);
}

void check_is_there(const ScheduleData& schedule, StageNumber number, std::string_view primitive,
                    const SourceLocation& where) {
  const StageData& stage = schedule.stage(number);
  if (!std::holds_alternative<AttachInline>(stage.attach)) return;
  if (std::find(schedule.order.begin(), schedule.order.end(), number) != schedule.order.end())
    return;
  fail(primitive, stage, "normalize has inlined it, so it is not a stage of this schedule", where);
}

}  // namespace tenon::te

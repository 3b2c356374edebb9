// Primitives that say where a stage is computed and how its output is stored.
#include <algorithm>
#include <limits>

#include "te/schedule/operand_checks.h"
#include "te/schedule/warnings.h"
#include "tenon/te/stage.h"

namespace tenon::te {

namespace {

/// The place of a stage or group, to be changed by a primitive.
struct Placed {
  std::string name;
  Attach& attach;
  SourceLocation& where;
  std::optional<int> group;
};

Placed placed(ScheduleData& schedule, int index, bool is_group) {
  if (is_group) {
    GroupData& group = schedule.groups[static_cast<std::size_t>(index)];
    return {"group `" + group.name + "`", group.attach, group.attach_where, group.group};
  }
  StageData& stage = schedule.stage(index);
  return {describe(stage), stage.attach, stage.attach_where, stage.group};
}

[[noreturn]] void fail_at(std::string_view primitive, const Placed& what, const std::string& text,
                          const SourceLocation& where) {
  throw ScheduleError(std::string(primitive) + " of " + what.name + ": " + text, where);
}

void check_may_move(std::string_view primitive, const Placed& what, const SourceLocation& where) {
  if (std::holds_alternative<AttachScanUpdate>(what.attach))
    fail_at(primitive, what, "it is the update of a scan and is computed in its time loop", where);
}

/// The memory of a scan's state is the scan's, whichever stages fill it.
void check_has_memory(std::string_view primitive, const ScheduleData& schedule, StageId id,
                      const SourceLocation& where) {
  const StageData& stage = schedule.stage(id);
  if (const StageData* scan = scan_of_state(schedule, id))
    fail(primitive, stage,
         "it shares the memory of the state of " + describe(*scan) + ": say it of that stage",
         where);
}

bool in_group(const ScheduleData& schedule, std::optional<int> inner, int group) {
  while (inner && *inner != group) inner = schedule.groups[static_cast<std::size_t>(*inner)].group;
  return inner.has_value();
}

/// The stages that the one at `id` is computed in, itself first.
std::vector<StageId> chain_of(const ScheduleData& schedule, StageId id) {
  std::vector<StageId> chain;
  std::vector<bool> seen(schedule.stages.size(), false);
  while (!seen[static_cast<std::size_t>(id)]) {
    seen[static_cast<std::size_t>(id)] = true;
    chain.push_back(id);
    const Attach& attach = schedule.effective_attach(id);
    if (const AttachAt* at = std::get_if<AttachAt>(&attach)) id = at->stage;
    if (const AttachScanUpdate* at = std::get_if<AttachScanUpdate>(&attach)) id = at->scan;
  }
  return chain;
}

/// Threads around a scan are started before anything is known of its stages.
void check_env_thread(const StageData& stage, std::span<const IterVar> threads, std::size_t n,
                      const SourceLocation& where) {
  const IterVar& thread = threads[n];
  if (thread.kind() != IterKind::ThreadIndex)
    fail("env_threads", stage, thread, "it is not made by te::thread_axis", where);
  if (thread.thread()->is_virtual())
    fail("env_threads", stage, thread,
         "virtual threads run one after another, and none waits for the others", where);
  if (!thread.dom())
    fail("env_threads", stage, thread,
         "the number of threads is not declared; use te::thread_axis({0, n}, \"" +
             thread.thread()->str() + "\")",
         where);
  for (const IterVar& other : threads.first(n)) {
    if (other.same_as(thread))
      fail("env_threads", stage, thread, "the axis is listed more than once", where);
    if (*other.thread() == *thread.thread())
      fail("env_threads", stage, thread, "another axis listed is also " + thread.thread()->str(),
           where);
  }
}

}  // namespace

Stage Stage::compute_at(const Stage& parent, const IterVar& given, SourceLocation where) const {
  if (!is_group_) check_is_there(*schedule_, index_, "compute_at", where);
  const Placed self = placed(*schedule_, index_, is_group_);
  check_may_move("compute_at", self, where);
  if (parent.schedule_ != schedule_)
    fail_at("compute_at", self, "the other stage is of another schedule", where);
  if (parent.is_group_)
    fail_at("compute_at", self, "a group has no loops to be computed at; use a stage of it", where);
  if (!is_group_ && schedule_->stage(index_).is_output)
    fail_at("compute_at", self, "it is an output of the schedule and must be computed at root",
            where);
  for (const StageData& member : schedule_->stages)
    if (is_group_ && member.is_output && in_group(*schedule_, member.group, index_))
      fail_at("compute_at", self,
              describe(member) + " of it is an output of the schedule and must be computed at root",
              where);
  const StageData& target = parent.data();
  if (self.group && !in_group(*schedule_, target.group, *self.group))
    fail_at("compute_at", self,
            "it belongs to group `" +
                schedule_->groups[static_cast<std::size_t>(*self.group)].name + "`, " +
                describe(target) +
                " does not; it can only be computed at loops inside of its group",
            where);
  for (StageId outer : chain_of(*schedule_, parent.index_)) {
    const bool is_self =
        is_group_ ? in_group(*schedule_, schedule_->stage(outer).group, index_) : outer == index_;
    if (!is_self) continue;
    fail_at("compute_at", self,
            outer == parent.index_ ? "it cannot be computed at a loop of itself"
                                   : describe(target) + " is itself computed inside of it",
            where);
  }
  const IterVar axis =
      require_leaf("compute_at " + self.name + ", at a loop", target, given, where);
  self.attach = AttachAt{parent.index_, axis};
  self.where = where;
  return *this;
}

Stage Stage::compute_inline(SourceLocation where) const {
  const StageData& stage = require_stage(*schedule_, index_, is_group_, "compute_inline", where);
  const Placed self = placed(*schedule_, index_, false);
  check_may_move("compute_inline", self, where);
  check_can_inline("compute_inline", stage, where);
  self.attach = AttachInline{};
  self.where = where;
  return *this;
}

Stage Stage::compute_root(SourceLocation where) const {
  if (!is_group_) check_is_there(*schedule_, index_, "compute_root", where);
  const Placed self = placed(*schedule_, index_, is_group_);
  check_may_move("compute_root", self, where);
  self.attach = AttachRoot{};
  self.where = where;
  return *this;
}

// ---- storage ------------------------------------------------------------------------------------

Stage Stage::set_scope(const Name& scope, SourceLocation where) const {
  StageData& stage = require_stage(*schedule_, index_, is_group_, "set_scope", where);
  const tir::StorageScope parsed = parse_scope("set_scope of " + describe(stage), scope, where);
  const bool belongs_to_caller = stage.is_output || stage.op.as<Placeholder>();
  if (belongs_to_caller && parsed != tir::StorageScope::Global)
    fail("set_scope", stage,
         std::string(stage.is_output ? "it is an output" : "it is a placeholder") +
             ", whose memory is the caller's and global; use " +
             (stage.is_output ? "cache_write" : "cache_read"),
         where);
  check_has_memory("set_scope", *schedule_, index_, where);
  stage.scope = parsed;
  stage.scope_where = where;
  return *this;
}

Stage Stage::set_store_predicate(const Operand& condition, SourceLocation where) const {
  StageData& stage = require_stage(*schedule_, index_, is_group_, "set_store_predicate", where);
  Expr predicate = condition.alone();
  check_store_predicate(*schedule_, stage, predicate, where);
  stage.store_predicate = std::move(predicate);
  stage.store_predicate_where = where;
  return *this;
}

Stage Stage::env_threads(const std::vector<IterVar>& threads, SourceLocation where) const {
  StageData& stage = require_stage(*schedule_, index_, is_group_, "env_threads", where);
  if (!stage.op.as<Scan>()) fail("env_threads", stage, "only a scan has threads of its own", where);
  if (!stage.env_threads.empty())
    fail("env_threads", stage, "they are already set, to " + describe(stage.env_threads), where);
  for (std::size_t n = 0; n < threads.size(); ++n) check_env_thread(stage, threads, n, where);
  stage.leaf_iter_vars.insert(stage.leaf_iter_vars.begin(), threads.begin(), threads.end());
  stage.all_iter_vars.insert(stage.all_iter_vars.end(), threads.begin(), threads.end());
  stage.env_threads = threads;
  return *this;
}

Stage Stage::storage_align(const IterVar& axis, int factor, int offset,
                           SourceLocation where) const {
  StageData& stage = require_stage(*schedule_, index_, is_group_, "storage_align", where);
  const std::vector<IterVar> stored = stored_axes(stage);
  if (!contains(stored, axis))
    fail("storage_align", stage, axis,
         "it is no dimension of the stage's output as it is stored, which has " + describe(stored),
         where);
  if (factor <= 0)
    fail("storage_align", stage, axis, "the factor must be positive, got " + std::to_string(factor),
         where);
  if (offset < 0)
    fail("storage_align", stage, axis,
         "the offset must not be negative, got " + std::to_string(offset), where);
  if (offset > std::numeric_limits<int>::max() - factor)
    fail("storage_align", stage, axis, "factor and offset together must fit int32", where);
  check_has_memory("storage_align", *schedule_, index_, where);
  if (stage.is_output)
    warn_once(*schedule_,
              "storage_align of axis `" + axis.name() + "` of " + describe(stage) +
                  ": it is an output, whose memory is the caller's; this has no effect",
              where);
  AxisAttributes& attributes = stage.attributes_of_or_new(axis);
  attributes.align = StorageAlign{factor, offset};
  attributes.where = where;
  return *this;
}

Stage Stage::double_buffer(SourceLocation where) const {
  StageData& stage = require_stage(*schedule_, index_, is_group_, "double_buffer", where);
  if (stage.is_output)
    fail("double_buffer", stage, "it is an output, whose memory is the caller's", where);
  if (stage.op.as<Placeholder>())
    fail("double_buffer", stage, "a placeholder is not computed; use its cache_read", where);
  check_has_memory("double_buffer", *schedule_, index_, where);
  stage.double_buffer = true;
  stage.double_buffer_where = where;
  return *this;
}

Stage Stage::rolling_buffer(SourceLocation where) const {
  StageData& stage = require_stage(*schedule_, index_, is_group_, "rolling_buffer", where);
  if (stage.is_output)
    fail("rolling_buffer", stage, "it is an output, whose memory is the caller's", where);
  if (stage.op.as<Placeholder>())
    fail("rolling_buffer", stage, "a placeholder is not computed; use its cache_read", where);
  check_has_memory("rolling_buffer", *schedule_, index_, where);
  stage.rolling_buffer = true;
  return *this;
}

}  // namespace tenon::te

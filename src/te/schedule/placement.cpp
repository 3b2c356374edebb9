// Primitives that set where a stage is computed and how its output is stored.
#include <algorithm>
#include <limits>
#include <set>

#include "te/schedule/stage_edit.h"
#include "tenon/arith/simplify.h"
#include "tenon/support/match.h"
#include "tenon/te/stage.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

namespace {

/// A primitive that changes the attachment of a stage or group.
class PlaceEdit {
 public:
  /// `placed` is the StageData or GroupData whose attachment changes.
  template <class Placed>
  PlaceEdit(std::string name, Placed& placed, std::string_view primitive,
            const SourceLocation& where)
      : name_(std::move(name)),
        place_(placed.attach),
        place_where_(placed.attach_where),
        group_(placed.group),
        primitive_(primitive),
        where_(where) {}

  const std::string& name() const { return name_; }
  /// Returns the group that contains the stage or group.
  std::optional<GroupNumber> group() const { return group_; }
  bool is_inlined() const { return std::holds_alternative<AttachInline>(place_); }

  [[noreturn]] void fail(const std::string& text) const {
    throw ScheduleError(primitive_ + " of " + name_ + ": " + text, where_);
  }
  void check_may_move() const {
    if (std::holds_alternative<AttachScanUpdate>(place_))
      fail("it is the update of a scan and is computed in its time loop");
  }
  void move_to(Attach place) const {
    place_ = std::move(place);
    place_where_ = where_;
  }

 private:
  std::string name_;
  Attach& place_;
  SourceLocation& place_where_;
  std::optional<GroupNumber> group_;
  std::string primitive_;
  SourceLocation where_;
};

using Target = std::variant<StageNumber, GroupNumber>;

PlaceEdit edit_place(ScheduleData& schedule, const Target& target, std::string_view primitive,
                     const SourceLocation& where) {
  return match(
      target,
      [&](StageNumber number) {
        check_is_there(schedule, number, primitive, where);
        StageData& stage = schedule.stage(number);
        return PlaceEdit(describe(stage), stage, primitive, where);
      },
      [&](GroupNumber number) {
        GroupData& group = schedule.group(number);
        return PlaceEdit("group `" + group.name + "`", group, primitive, where);
      });
}

bool in_group(const ScheduleData& schedule, std::optional<GroupNumber> inner, GroupNumber group) {
  while (inner && *inner != group) inner = schedule.group(*inner).group;
  return inner.has_value();
}

bool is_or_is_in(const ScheduleData& schedule, StageNumber stage, const Target& target) {
  return match(
      target, [&](StageNumber number) { return stage == number; },
      [&](GroupNumber number) { return in_group(schedule, schedule.stage(stage).group, number); });
}

/// Returns the stages that this one is attached to, transitively, starting with itself.
std::vector<StageNumber> chain_of(const ScheduleData& schedule, StageNumber stage) {
  std::vector<StageNumber> chain;
  std::set<StageNumber> seen;
  while (seen.insert(stage).second) {
    chain.push_back(stage);
    const Attach& attach = schedule.effective_attach(stage).first;
    if (const AttachAt* at = std::get_if<AttachAt>(&attach)) stage = at->stage;
    if (const AttachScanUpdate* at = std::get_if<AttachScanUpdate>(&attach)) stage = at->scan;
  }
  return chain;
}

/// Returns a direct reader of `stage` that leads to an output of the schedule without passing
/// through `outer`. Such a reader runs outside all loops of `outer`, regardless of attachments,
/// because outputs are computed at root and primitives do not change the data flow.
std::optional<StageNumber> reader_beside(const ScheduleData& schedule, StageNumber stage,
                                         StageNumber outer) {
  // If `outer` is the only output, every reader leads to it. This case skips the search, whose cost
  // is linear in the length of a chain of stages.
  if (std::ranges::all_of(schedule.outputs, [&](StageNumber output) { return output == outer; }))
    return std::nullopt;
  const auto is_in_outer = [&](StageNumber reader) {
    const AttachAt* at = std::get_if<AttachAt>(&schedule.effective_attach(reader).first);
    return at && at->stage == outer;
  };
  std::set<StageNumber> seen{stage, outer};
  for (const StageNumber first : schedule.readers_by_age(stage)) {
    std::vector<StageNumber> left{first};
    while (!left.empty()) {
      const StageNumber reader = left.back();
      left.pop_back();
      if (!seen.insert(reader).second || is_in_outer(reader)) continue;
      if (schedule.stage(reader).is_output) return first;
      for (const StageNumber next : schedule.readers_by_age(reader)) left.push_back(next);
    }
  }
  return std::nullopt;
}

void check_holds_readers(const ScheduleData& schedule, StageNumber stage, StageNumber outer,
                         const PlaceEdit& self) {
  if (schedule.stage(stage).op.as<Placeholder>()) return;
  const std::optional<StageNumber> reader = reader_beside(schedule, stage, outer);
  if (!reader) return;
  const std::string holder = describe(schedule.stage(outer)),
                    beside = describe(schedule.stage(*reader));
  self.fail("no loop of " + holder + " can hold it: " + beside +
            " reads it, and is computed for other results than " + holder +
            "; compute it at a loop that all of its readers run in, or at root");
}

void check_has_no_output(const ScheduleData& schedule, const Target& target,
                         const PlaceEdit& self) {
  match(
      target,
      [&](StageNumber number) {
        if (schedule.stage(number).is_output)
          self.fail("it is an output of the schedule and must be computed at root");
      },
      [&](GroupNumber number) {
        for (StageNumber output : schedule.outputs)
          if (in_group(schedule, schedule.stage(output).group, number))
            self.fail(describe(schedule.stage(output)) +
                      " of it is an output of the schedule and must be computed at root");
      });
}

/// Checks a thread axis of a scan's environment. Its extent must be declared, because these threads
/// are started before the ranges of the scan's stages are known.
void check_env_thread(const StageEdit& edit, std::span<const IterVar> threads, std::size_t n) {
  const IterVar& thread = threads[n];
  if (thread.kind() != IterKind::ThreadIndex)
    edit.fail(thread, "it is not made by te::thread_axis");
  if (thread.thread()->is_virtual())
    edit.fail(thread, "virtual threads run in sequence and cannot wait for each other");
  if (!thread.dom())
    edit.fail(thread, "the number of threads is not declared; use te::thread_axis({0, n}, \"" +
                          thread.thread()->str() + "\")");
  for (const IterVar& other : threads.first(n)) {
    if (other.same_as(thread)) edit.fail(thread, "the axis is listed more than once");
    if (*other.thread() == *thread.thread())
      edit.fail(thread, "another axis listed is also " + thread.thread()->str());
  }
}

}  // namespace

Stage Stage::compute_at(const Stage& parent, const IterVar& given, SourceLocation where) const {
  const Target own = target();
  const PlaceEdit self = edit_place(*schedule_, own, "compute_at", where);
  self.check_may_move();
  if (parent.schedule_ != schedule_) self.fail("the other stage is of another schedule");
  if (parent.is_group()) self.fail("a group has no loops to be computed at; use a stage of it");
  check_has_no_output(*schedule_, own, self);
  const StageNumber outer = std::get<StageNumber>(parent.target());
  const StageData& target = schedule_->stage(outer);
  if (self.group() && !in_group(*schedule_, target.group, *self.group()))
    self.fail("it belongs to group `" + schedule_->group(*self.group()).name + "`, " +
              describe(target) + " does not; it can only be computed at loops inside of its group");
  for (StageNumber around : chain_of(*schedule_, outer))
    if (is_or_is_in(*schedule_, around, own))
      self.fail(around == outer ? "it cannot be computed at a loop of itself"
                                : describe(target) + " is itself computed inside of it");
  const StageEdit at_loop(*schedule_, outer, "compute_at " + self.name() + ", at a loop", where);
  const IterVar loop = at_loop.leaf(given);
  if (const StageNumber* stage = std::get_if<StageNumber>(&own))
    check_holds_readers(*schedule_, *stage, outer, self);
  if (self.is_inlined())
    warn_once(
        *schedule_,
        "compute_at of " + self.name() + ": it was to be computed inline, which no longer holds",
        where);
  self.move_to(AttachAt{outer, loop});
  return *this;
}

Stage Stage::compute_inline(SourceLocation where) const {
  const StageEdit edit(*this, "compute_inline", where);
  const PlaceEdit self(describe(edit.stage()), edit.stage(), "compute_inline", where);
  self.check_may_move();
  edit.check_can_inline();
  edit.warn_dropped_marks();
  self.move_to(AttachInline{});
  return *this;
}

Stage Stage::compute_root(SourceLocation where) const {
  const PlaceEdit self = edit_place(*schedule_, target(), "compute_root", where);
  self.check_may_move();
  self.move_to(AttachRoot{});
  ++schedule_->version;
  return *this;
}

// ---- storage ------------------------------------------------------------------------------------

Stage Stage::set_scope(const Name& scope, SourceLocation where) const {
  const StageEdit edit(*this, "set_scope", where);
  StageData& stage = edit.stage();
  const tir::StorageScope parsed = parse_scope(edit.subject(), scope, where);
  const bool belongs_to_caller = stage.is_output || stage.op.as<Placeholder>();
  if (belongs_to_caller && parsed != tir::StorageScope::Global)
    edit.fail(std::string(stage.is_output ? "it is an output" : "it is a placeholder") +
              ", whose memory is the caller's and global; use " +
              (stage.is_output ? "cache_write" : "cache_read"));
  edit.check_has_memory();
  stage.scope = parsed;
  stage.scope_where = where;
  return *this;
}

Stage Stage::set_store_predicate(const Operand& condition, SourceLocation where) const {
  const StageEdit edit(*this, "set_store_predicate", where);
  Expr predicate = tir::as_guard(condition.alone());
  check_store_predicate(edit, predicate);
  edit.stage().store_predicate = std::move(predicate);
  edit.stage().store_predicate_where = where;
  return *this;
}

Stage Stage::env_threads(const std::vector<IterVar>& threads, SourceLocation where) const {
  const StageEdit edit(*this, "env_threads", where);
  StageData& stage = edit.stage();
  if (!stage.op.as<Scan>()) edit.fail("only a scan has environment threads");
  if (!stage.env_threads.empty())
    edit.fail("they are already set, to " + describe(stage.env_threads));
  for (std::size_t n = 0; n < threads.size(); ++n) check_env_thread(edit, threads, n);
  stage.leaf_iter_vars.insert(stage.leaf_iter_vars.begin(), threads.begin(), threads.end());
  stage.all_iter_vars.insert(stage.all_iter_vars.end(), threads.begin(), threads.end());
  stage.env_threads = threads;
  return *this;
}

Stage Stage::storage_align(const IterVar& axis, int factor, int offset,
                           SourceLocation where) const {
  const StageEdit edit(*this, "storage_align", where);
  const StageData& stage = edit.stage();
  const std::vector<IterVar> stored = stored_axes(stage);
  if (!contains(stored, axis))
    edit.fail(axis,
              "the axis is not a dimension of the stored output, which has " + describe(stored));
  if (factor <= 0) edit.fail(axis, "the factor must be positive, got " + std::to_string(factor));
  if (offset < 0) edit.fail(axis, "the offset must not be negative, got " + std::to_string(offset));
  if (offset > std::numeric_limits<int>::max() - factor)
    edit.fail(axis, "factor and offset together must fit int32");
  edit.check_has_memory();
  if (stage.is_output)
    edit.warn(edit.subject(axis) +
              ": it is an output, whose memory is the caller's; this has no effect");
  edit.attributes(axis).align = {factor, offset};
  return *this;
}

namespace {

/// Throws for an output or a placeholder, whose buffer is the caller's.
void check_makes_its_buffer(const StageEdit& edit) {
  if (edit.stage().is_output) edit.fail("it is an output, whose memory is the caller's");
  if (edit.stage().op.as<Placeholder>())
    edit.fail("a placeholder is not computed; use its cache_read");
  edit.check_has_memory();
}

void check_is_own_axis(const StageEdit& edit, const IterVar& axis, const char* only_compute) {
  const Compute* compute = edit.stage().op.as<Compute>();
  if (!compute) edit.fail(only_compute);
  if (!contains(edit.stage().op.root_iter_vars(), axis))
    edit.fail(axis, "it is not an axis of the operation, which has " +
                        describe(edit.stage().op.root_iter_vars()));
}

}  // namespace

Stage Stage::round_up(const IterVar& axis, SourceLocation where) const {
  const StageEdit edit(*this, "round_up", where);
  check_makes_its_buffer(edit);
  check_is_own_axis(edit, axis, "only a compute can overrun its axes");
  if (edit.stage().shifts_inwards(axis))
    edit.fail(axis, "shift_inwards was called on the axis, which then does not overrun");
  edit.attributes(axis).rounds_up = true;
  return *this;
}

Stage Stage::shift_inwards(const IterVar& axis, SourceLocation where) const {
  const StageEdit edit(*this, "shift_inwards", where);
  check_makes_its_buffer(edit);
  check_is_own_axis(edit, axis, "only the axes of a compute have tiles");
  if (axis.kind() == IterKind::Reduce)
    edit.fail(axis, "a reduction would add the terms that two tiles share twice");
  if (edit.stage().rounds_up(axis))
    edit.fail(axis, "round_up was called on the axis, which then overruns instead");
  edit.attributes(axis).shifts_inwards = true;
  return *this;
}

Stage Stage::bound(const IterVar& axis, const Range& range, SourceLocation where) const {
  const StageEdit edit(*this, "bound", where);
  check_makes_its_buffer(edit);
  check_is_own_axis(edit, axis, "only the axes of a compute can be bounded");
  const DataType type = axis.var().dtype();
  const Range typed = Range::from_min_extent(tir::cast(type, tir::as_index(range.min)),
                                             tir::cast(type, tir::as_index(range.extent)));
  check_known_at_call(edit, axis, typed.min, "the beginning of the range");
  check_known_at_call(edit, axis, typed.extent, "the extent of the range");
  const Range& whole = *axis.dom();
  const arith::Facts facts;
  Expr is_inside = whole.min <= typed.min && typed.extent >= 0;
  if (!edit.stage().rounds_up(axis))
    is_inside = is_inside && typed.min + typed.extent <= whole.min + whole.extent;
  if (axis.kind() == IterKind::Reduce) {
    const bool has_all = arith::can_prove(
        typed.min == whole.min && whole.min + whole.extent <= typed.min + typed.extent, facts);
    if (!has_all)
      edit.fail(axis,
                "the range of a reduction must begin where the axis begins, and include "
                "all of its " +
                    tir::print_expr(whole.extent) + " steps");
  }
  if (!arith::can_prove(is_inside, facts))
    edit.fail(axis, "the range from " + tir::print_expr(typed.min) + " with " +
                        tir::print_expr(typed.extent) +
                        " elements does not provably lie inside of the axis, which has " +
                        tir::print_expr(whole.extent));
  AxisAttributes& attributes = edit.attributes(axis);
  attributes.bound = typed;
  attributes.bound_where = where;
  return *this;
}

Stage Stage::double_buffer(SourceLocation where) const {
  const StageEdit edit(*this, "double_buffer", where);
  check_makes_its_buffer(edit);
  edit.stage().double_buffer = true;
  edit.stage().double_buffer_where = where;
  return *this;
}

Stage Stage::rolling_buffer(SourceLocation where) const {
  const StageEdit edit(*this, "rolling_buffer", where);
  check_makes_its_buffer(edit);
  edit.stage().rolling_buffer = true;
  return *this;
}

Stage Stage::autotune_loops(SourceLocation where) const {
  StageEdit(*this, "autotune_loops", where).stage().autotunes_loops = true;
  return *this;
}

}  // namespace tenon::te

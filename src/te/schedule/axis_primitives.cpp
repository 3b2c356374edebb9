// Primitives that set how a loop runs: they add marks to axes and do not change loops.
#include <algorithm>

#include "te/operations/declare.h"
#include "te/schedule/loop_order.h"
#include "te/schedule/stage_edit.h"
#include "tenon/te/stage.h"
#include "tenon/tir/pragma.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

namespace {

/// Rejects an axis that is bound to a thread, because it is not an ordinary loop.
void check_not_bound(const StageEdit& edit, const IterVar& axis) {
  if (const ThreadMark* bound = edit.stage().thread_mark_of(axis))
    edit.fail(axis, "the axis is bound to `" + bound->axis.name() + "`");
}

/// Checks that the axis may be bound to threads that reduce together. Such threads combine their
/// terms in an unspecified order.
void check_reduces_together(const StageEdit& edit, const IterVar& axis) {
  if (edit.runs_over_elements(axis))
    edit.fail(
        axis,
        "it runs over elements of the output as well as over their reduction, and threads that "
        "reduce "
        "together would mix the elements; bind the axes separately, or fuse only reduction axes");
  for (const IterVar& other : edit.stage().leaf_iter_vars)
    if (other.kind() == IterKind::Reduce && !other.same_as(axis) && edit.runs_over_elements(other))
      edit.fail(axis, "axis `" + other.name() +
                          "` runs over elements of the output as well as over their reduction, and "
                          "threads reduce one element at a time; fuse data axes and reduction axes "
                          "separately, or rfactor before fusing and bind the new data axis");
  check_reduction_order(edit, axis,
                        reduction_loops(edit.stage(), edit.stage().leaf_iter_vars, &axis),
                        /*has_partial_results=*/true);
}

void warn_of_unknown_key(const StageEdit& edit, const IterVar& axis, const std::string& key) {
  if (tir::find_pragma_key(key)) return;
  edit.warn(edit.subject(axis) + ": unknown key `" + key +
            "`; it is printed and has no effect. The keys that have one are unroll, vectorize, " +
            tir::pragma_keys_text() + tir::similar_pragma_key(key));
}

void set_run(const StageEdit& edit, const IterVar& axis, tir::ForKind kind) {
  AxisAttributes& attributes = edit.attributes(axis);
  if (attributes.run && attributes.run != kind)
    edit.warn(edit.subject(axis) + ": it was " + run_text(*attributes.run) +
              ", which no longer holds");
  attributes.run = kind;
  attributes.run_where = edit.where();
}

std::string kind_of(const IterVar& axis) { return std::string(to_string(axis.kind())); }

}  // namespace

Stage Stage::vectorize(const IterVar& given, SourceLocation where) const {
  const StageEdit edit(*this, "vectorize", where);
  const IterVar axis = edit.leaf(given);
  if (axis.kind() == IterKind::Reduce)
    edit.fail(
        axis,
        "the axis carries a reduction, whose steps depend on each other; rfactor it first, or "
        "vectorize a "
        "data axis");
  if (axis.kind() == IterKind::Ordered || axis.kind() == IterKind::ThreadIndex)
    edit.fail(axis, "the axis is " + kind_of(axis) + "; only a data axis can be vectorized");
  check_not_bound(edit, axis);
  edit.check_not_tensorized(axis);
  set_run(edit, axis, tir::ForKind::Vectorized);
  return *this;
}

Stage Stage::unroll(const IterVar& given, SourceLocation where) const {
  const StageEdit edit(*this, "unroll", where);
  const IterVar axis = edit.leaf(given);
  if (axis.kind() == IterKind::ThreadIndex)
    edit.fail(axis, "the axis is a thread of the whole scan, not a loop");
  check_not_bound(edit, axis);
  edit.check_not_tensorized(axis);
  set_run(edit, axis, tir::ForKind::Unrolled);
  return *this;
}

Stage Stage::parallel(const IterVar& given, SourceLocation where) const {
  const StageEdit edit(*this, "parallel", where);
  const IterVar axis = edit.leaf(given);
  if (axis.kind() == IterKind::Ordered || axis.kind() == IterKind::ThreadIndex)
    edit.fail(axis, "the axis is " + kind_of(axis) + "; its iterations cannot run in parallel");
  check_not_bound(edit, axis);
  if (axis.kind() == IterKind::Reduce)
    edit.warn(
        edit.subject(axis) +
        ": the axis carries a reduction, so its iterations race for the result; build refuses "
        "this, rfactor avoids it");
  edit.check_not_tensorized(axis);
  set_run(edit, axis, tir::ForKind::Parallel);
  return *this;
}

namespace {

void check_can_bind(const StageEdit& edit, const IterVar& axis, const IterVar& thread) {
  if (thread.kind() != IterKind::ThreadIndex)
    edit.fail(axis, "`" + thread.name() + "` is a " + kind_of(thread) +
                        " axis; an axis is bound to one made by te::thread_axis");
  if (axis.kind() == IterKind::ThreadIndex || axis.kind() == IterKind::Ordered)
    edit.fail(axis, "the axis is " + kind_of(axis) + " and cannot be bound");
  if (axis.kind() == IterKind::Reduce && thread.thread()->is_virtual())
    edit.fail(
        axis,
        "the axis carries a reduction, and virtual threads run in sequence and do not share a "
        "sum; leave the loop serial, or rfactor it and bind the new data axis");
  if (axis.kind() == IterKind::Reduce) check_reduces_together(edit, axis);
  edit.check_not_tensorized(axis);
  const AxisAttributes* before = edit.stage().attributes_of(axis);
  if (before && before->run)
    edit.fail(axis,
              "the axis is already " + run_text(*before->run) + ", and a loop runs in one way");
}

void warn_of_binding(const StageEdit& edit, const IterVar& axis, const IterVar& thread) {
  const std::string subject = edit.subject(axis) + " to `" + thread.name() + "`: ";
  const StageData& stage = edit.stage();
  const ThreadMark* before = stage.thread_mark_of(axis);
  if (before && !before->axis.same_as(thread))
    edit.warn(subject + "it was bound to `" + before->axis.name() + "`, which no longer holds");
  for (const auto& [other, attributes] : stage.attributes)
    if (attributes.thread && is_same_thread(attributes.thread->axis, thread) &&
        !other.same_as(axis) && stage.has_leaf(other))
      edit.warn(
          subject + "axis `" + other.name() +
          "` is bound to the same thread, so only their diagonal is computed; build refuses this");
  if (axis.kind() == IterKind::Reduce && thread.thread()->is_block())
    edit.warn(subject + "blocks cannot reduce together; build refuses this, rfactor avoids it");
}

}  // namespace

Stage Stage::bind(const IterVar& given, const IterVar& thread, SourceLocation where) const {
  const StageEdit edit(*this, "bind", where);
  const IterVar axis = edit.leaf(given);
  check_can_bind(edit, axis, thread);
  warn_of_binding(edit, axis, thread);
  edit.attributes(axis).thread = ThreadMark{thread, where};
  return *this;
}

Stage Stage::pragma(const IterVar& given, Name key, PragmaValue value, SourceLocation where) const {
  if (key == "unroll") return unroll(given, where);
  if (key == "vectorize") return vectorize(given, where);
  const StageEdit edit(*this, "pragma", where);
  const IterVar axis = edit.leaf(given);
  if (axis.kind() == IterKind::ThreadIndex)
    edit.fail(axis, "the axis is a thread of the whole scan, not a loop");
  if (key.empty()) edit.fail(axis, "the key is empty");
  check_pragma_value(edit, axis, key, value.expr());
  warn_of_unknown_key(edit, axis, key);
  edit.attributes(axis).pragmas.push_back({std::move(key), value.expr(), where});
  return *this;
}

Stage Stage::prefetch(const Tensor& tensor, const IterVar& given, const Operand& offset,
                      SourceLocation where) const {
  const StageEdit edit(*this, "prefetch", where);
  const IterVar axis = edit.leaf(given);
  const StageOutput wanted = schedule_->require(tensor, "prefetch", where);
  const std::vector<StageOutput>& read = schedule_->reads(edit.number());
  if (std::ranges::find(read, wanted) == read.end())
    edit.fail(axis, "the stage does not read tensor `" + tensor.name() + "`");
  Expr distance = offset.alone();
  if (!is_integer_scalar(distance.dtype()))
    edit.fail(axis, "the offset must be an integer, is " + distance.dtype().str());
  check_known_at_call(edit, axis, distance, "the offset");
  distance = tir::as_index(distance);
  edit.attributes(axis).prefetches.push_back({tensor, std::move(distance), where});
  return *this;
}

Stage Stage::tensorize(const IterVar& given, const TensorIntrin& intrin,
                       SourceLocation where) const {
  const StageEdit edit(*this, "tensorize", where);
  const StageData& stage = edit.stage();
  const IterVar axis = edit.leaf(given);
  if (!stage.op.as<Compute>())
    edit.fail(axis, "only the loops of a compute can be replaced by an intrinsic");
  if (std::holds_alternative<AttachInline>(stage.attach))
    edit.fail(axis, "the stage is inlined and has no loops");
  if (const ThreadMark* bound = stage.thread_mark_of(axis))
    edit.fail(axis,
              "it is bound to `" + bound->axis.name() + "`, but one thread calls the intrinsic");
  for (const auto& [other, attributes] : stage.attributes)
    if (attributes.tensorize && !other.same_as(axis) && stage.has_leaf(other))
      edit.fail(axis, "the stage is already tensorized at axis `" + other.name() + "`");
  AxisAttributes& attributes = edit.attributes(axis);
  // The tensorized loop does not exist, so its mark is dropped.
  attributes.run = std::nullopt;
  attributes.tensorize = intrin;
  attributes.tensorize_where = where;
  return *this;
}

}  // namespace tenon::te

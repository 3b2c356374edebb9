// Primitives that say how a loop runs: they attach attributes to axes and change no loops.
#include <algorithm>
#include <array>

#include "te/operations/reducer_laws.h"
#include "te/relations/propagate.h"
#include "te/schedule/operand_checks.h"
#include "te/schedule/warnings.h"
#include "tenon/te/stage.h"

namespace tenon::te {

namespace {

AxisAttributes& mark(StageData& stage, const IterVar& axis, const SourceLocation& where) {
  AxisAttributes& attributes = stage.attributes_of_or_new(axis);
  attributes.where = where;
  return attributes;
}

/// A loop that the threads of a launch run is no loop of its own any more.
void check_not_bound(std::string_view primitive, const StageData& stage, const IterVar& axis,
                     const SourceLocation& where) {
  const AxisAttributes* attributes = stage.attributes_of(axis);
  if (attributes && attributes->thread)
    fail(primitive, stage, axis, "the axis is bound to `" + attributes->thread->name() + "`",
         where);
}

/// Threads that reduce together sum up all that they hold, in an order of their own.
void check_reduces_together(const StageData& stage, const IterVar& axis,
                            const SourceLocation& where) {
  AxisMarks from_data;
  for (const IterVar& data : stage.op.axis()) from_data.set(data, 1);
  mark_reached(stage.relations, from_data);
  if (from_data.value_or(axis, 0) != 0)
    fail(
        "bind", stage, axis,
        "it runs over elements of the output as well as over their reduction, and threads that reduce "
        "together would mix the elements; bind the axes apart, or fuse reduction axes alone",
        where);
  const Compute* compute = stage.op.as<Compute>();
  const tir::ReduceNode* reduction = compute ? compute->reduction() : nullptr;
  if (!reduction) return;
  if (const std::optional<std::string> found = find_dependence_on_order(*reduction))
    fail("bind", stage, axis,
         "its reducer `" + reduction->combiner->name + "` depends on the order: " + *found, where);
}

/// Those that some step or code generator looks at.
constexpr std::array<std::string_view, 10> kPragmaKeys = {"auto_unroll_max_step",
                                                          "unroll_explicit",
                                                          "import_llvm",
                                                          "import_c",
                                                          "parallel_launch_point",
                                                          "parallel_stride_pattern",
                                                          "parallel_barrier_when_finish",
                                                          "debug_skip_region",
                                                          "loop_partition_hint",
                                                          "tensor_core"};

void warn_of_unknown_key(ScheduleData& schedule, const StageData& stage, const IterVar& axis,
                         const std::string& key, const SourceLocation& where) {
  if (std::find(kPragmaKeys.begin(), kPragmaKeys.end(), key) != kPragmaKeys.end()) return;
  std::string known = "unroll, vectorize";
  for (std::string_view name : kPragmaKeys) known.append(", ").append(name);
  warn_once(schedule,
            "pragma of " + describe(stage, axis) + ": nothing knows the key `" + key +
                "`; it is printed and has no effect. The keys that have one are " + known,
            where);
}

}  // namespace

Stage Stage::vectorize(const IterVar& given, SourceLocation where) const {
  StageData& stage = require_stage(*schedule_, index_, is_group_, "vectorize", where);
  const IterVar axis = require_leaf("vectorize", stage, given, where);
  if (axis.kind() == IterKind::Reduce)
    fail(
        "vectorize", stage, axis,
        "the axis carries a reduction, whose steps depend on each other; rfactor it first, or vectorize a "
        "data axis",
        where);
  if (axis.kind() == IterKind::Ordered || axis.kind() == IterKind::ThreadIndex)
    fail("vectorize", stage, axis,
         "the axis is " + std::string(to_string(axis.kind())) +
             "; only a data axis can be vectorized",
         where);
  check_not_bound("vectorize", stage, axis, where);
  check_not_tensorized("vectorize", stage, axis, where);
  mark(stage, axis, where).kind = IterKind::Vectorized;
  return *this;
}

Stage Stage::unroll(const IterVar& given, SourceLocation where) const {
  StageData& stage = require_stage(*schedule_, index_, is_group_, "unroll", where);
  const IterVar axis = require_leaf("unroll", stage, given, where);
  if (axis.kind() == IterKind::ThreadIndex)
    fail("unroll", stage, axis, "the axis is a thread of the whole scan, and no loop", where);
  check_not_bound("unroll", stage, axis, where);
  check_not_tensorized("unroll", stage, axis, where);
  mark(stage, axis, where).kind = IterKind::Unrolled;
  return *this;
}

Stage Stage::parallel(const IterVar& given, SourceLocation where) const {
  StageData& stage = require_stage(*schedule_, index_, is_group_, "parallel", where);
  const IterVar axis = require_leaf("parallel", stage, given, where);
  if (axis.kind() == IterKind::Ordered || axis.kind() == IterKind::ThreadIndex)
    fail("parallel", stage, axis,
         "the axis is " + std::string(to_string(axis.kind())) +
             "; its iterations cannot run at once",
         where);
  check_not_bound("parallel", stage, axis, where);
  if (axis.kind() == IterKind::Reduce)
    warn_once(
        *schedule_,
        "parallel of " + describe(stage, axis) +
            ": the axis carries a reduction, so its iterations race for the result; build refuses "
            "this, rfactor avoids it",
        where);
  check_not_tensorized("parallel", stage, axis, where);
  mark(stage, axis, where).kind = IterKind::Parallelized;
  return *this;
}

Stage Stage::bind(const IterVar& given, const IterVar& thread, SourceLocation where) const {
  StageData& stage = require_stage(*schedule_, index_, is_group_, "bind", where);
  const IterVar axis = require_leaf("bind", stage, given, where);
  if (thread.kind() != IterKind::ThreadIndex)
    fail("bind", stage, axis,
         "`" + thread.name() + "` is a " + std::string(to_string(thread.kind())) +
             " axis; an axis is bound to one made by te::thread_axis",
         where);
  if (axis.kind() == IterKind::ThreadIndex || axis.kind() == IterKind::Ordered)
    fail("bind", stage, axis,
         "the axis is " + std::string(to_string(axis.kind())) + " and cannot be bound", where);
  if (axis.kind() == IterKind::Reduce && thread.thread()->is_virtual())
    fail(
        "bind", stage, axis,
        "the axis carries a reduction, and virtual threads, which run one after another, have no sum in "
        "common; "
        "leave the loop as it is, or rfactor it and bind the new data axis",
        where);
  if (axis.kind() == IterKind::Reduce) check_reduces_together(stage, axis, where);
  check_not_tensorized("bind", stage, axis, where);
  const AxisAttributes* before = stage.attributes_of(axis);
  if (before && before->kind)
    fail("bind", stage, axis,
         "the axis is already " + std::string(to_string(*before->kind)) +
             ", and a loop runs in one way",
         where);
  if (before && before->thread && !before->thread->same_as(thread))
    warn_once(*schedule_,
              "bind of " + describe(stage, axis) + " to `" + thread.name() +
                  "`: it was bound to `" + before->thread->name() + "`, which no longer holds",
              where);
  for (const auto& [other, attributes] : stage.attributes)
    if (attributes.thread && attributes.thread->same_as(thread) && !other.same_as(axis) &&
        stage.has_leaf(other))
      warn_once(
          *schedule_,
          "bind of " + describe(stage, axis) + " to `" + thread.name() + "`: axis `" +
              other.name() +
              "` is bound to the same thread, so only their diagonal is computed; build refuses this",
          where);
  if (axis.kind() == IterKind::Reduce && thread.thread()->is_block())
    warn_once(*schedule_,
              "bind of " + describe(stage, axis) + " to `" + thread.name() +
                  "`: blocks cannot reduce together; build refuses this, rfactor avoids it",
              where);
  mark(stage, axis, where).thread = thread;
  return *this;
}

Stage Stage::pragma(const IterVar& given, Name key, PragmaValue value, SourceLocation where) const {
  if (key == "unroll") return unroll(given, where);
  if (key == "vectorize") return vectorize(given, where);
  StageData& stage = require_stage(*schedule_, index_, is_group_, "pragma", where);
  const IterVar axis = require_leaf("pragma", stage, given, where);
  if (axis.kind() == IterKind::ThreadIndex)
    fail("pragma", stage, axis, "the axis is a thread of the whole scan, and no loop", where);
  if (key.empty()) fail("pragma", stage, axis, "the key is empty", where);
  check_pragma_value(stage, axis, key, value.expr(), where);
  warn_of_unknown_key(*schedule_, stage, axis, key, where);
  mark(stage, axis, where).pragmas.push_back({std::move(key), value.expr()});
  return *this;
}

Stage Stage::prefetch(const Tensor& tensor, const IterVar& given, const Operand& offset,
                      SourceLocation where) const {
  StageData& stage = require_stage(*schedule_, index_, is_group_, "prefetch", where);
  const IterVar axis = require_leaf("prefetch", stage, given, where);
  const StageOutput wanted = schedule_->require(tensor, "prefetch", where);
  const std::vector<StageOutput> read = schedule_->reads(index_);
  if (std::find(read.begin(), read.end(), wanted) == read.end())
    fail("prefetch", stage, axis, "the stage does not read tensor `" + tensor.name() + "`", where);
  Expr distance = offset.alone();
  const DataType type = distance.dtype();
  if (!type.is_integral() || !type.is_scalar() || type.is_bool())
    fail("prefetch", stage, axis, "the offset must be an integer, is " + type.str(), where);
  check_known_at_call("prefetch", *schedule_, stage, axis, distance, "the offset", where);
  mark(stage, axis, where).prefetches.push_back({tensor, std::move(distance)});
  return *this;
}

Stage Stage::tensorize(const IterVar& given, const TensorIntrin& intrin,
                       SourceLocation where) const {
  StageData& stage = require_stage(*schedule_, index_, is_group_, "tensorize", where);
  const IterVar axis = require_leaf("tensorize", stage, given, where);
  if (!stage.op.as<Compute>())
    fail("tensorize", stage, axis, "only the loops of a compute can be replaced by an intrinsic",
         where);
  if (std::holds_alternative<AttachInline>(stage.attach))
    fail("tensorize", stage, axis, "the stage is inlined and has no loops", where);
  if (const AxisAttributes* said = stage.attributes_of(axis); said && said->thread)
    fail("tensorize", stage, axis,
         "it is bound to `" + said->thread->name() + "`, but one thread calls the intrinsic",
         where);
  for (const auto& [other, attributes] : stage.attributes)
    if (attributes.kind == IterKind::Tensorized && !other.same_as(axis) && stage.has_leaf(other))
      fail("tensorize", stage, axis,
           "the stage is already tensorized at axis `" + other.name() + "`", where);
  AxisAttributes& attributes = mark(stage, axis, where);
  attributes.kind = IterKind::Tensorized;
  attributes.intrin = intrin;
  return *this;
}

}  // namespace tenon::te

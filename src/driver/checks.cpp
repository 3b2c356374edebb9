#include "tenon/driver/checks.h"

#include <algorithm>

#include "tenon/driver/arguments.h"
#include "tenon/support/error.h"
#include "tenon/te/graph.h"
#include "tenon/tir/buffer.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/verify.h"

namespace tenon {

using namespace tir;

namespace {

void refuse(const te::FrozenStage& stage, const IterVar& axis, const std::string& what,
            const SourceLocation& where) {
  throw ScheduleError(
      "build: axis `" + axis.name() + "` of stage `" + stage.origin_op.name() + "` " + what, where);
}

}  // namespace

void refuse_races(const te::StageGraph& graph) {
  for (te::StageId id : graph.ids()) {
    const te::FrozenStage& stage = graph.stage(id);
    std::vector<std::pair<IterVar, IterVar>> bound;
    for (const IterVar& axis : stage.leaf_iter_vars) {
      const te::AxisAttributes* attributes = stage.attributes_of(axis);
      if (!attributes) continue;
      const bool reduces = axis.kind() == IterKind::Reduce;
      if (reduces && attributes->run == tir::ForKind::Parallel)
        refuse(stage, axis,
               "carries a reduction and is parallel, so that its iterations race for the result; "
               "rfactor the axis first, and run the new data axis in parallel",
               attributes->run_where);
      const auto& mark = attributes->thread;
      if (!mark || !mark->axis.thread()) continue;
      if (reduces && mark->axis.thread()->is_block())
        refuse(stage, axis,
               "carries a reduction and is bound to " + mark->axis.name() +
                   ": blocks cannot reduce together; rfactor the axis first, and bind the new data "
                   "axis",
               mark->where);
      for (const auto& [other, first] : bound)
        if (te::is_same_thread(other, mark->axis))
          refuse(stage, axis,
                 "is bound to " + mark->axis.thread()->str() + ", and so is axis `" + first.name() +
                     "`: only their diagonal would be computed; fuse the axes, or bind one to "
                     "another thread axis",
                 mark->where);
      bound.emplace_back(mark->axis, axis);
    }
  }
}

namespace {

bool is_of_device(const std::optional<ThreadTag>& thread) {
  return thread && !thread->is_virtual();
}

/// Calls `found(stage, axis, thread, where)` for the first axis that is bound to a device thread,
/// or for the first thread around a whole scan. Returns whether there is one.
template <class F>
bool find_device_axis(const te::StageGraph& graph, const F& found) {
  for (te::StageId id : graph.ids()) {
    const te::FrozenStage& stage = graph.stage(id);
    for (const IterVar& axis : stage.leaf_iter_vars) {
      const te::ThreadMark* bound = stage.thread_mark_of(axis);
      const bool is_thread = is_of_device(axis.thread());
      if (!is_thread && !(bound && is_of_device(bound->axis.thread()))) continue;
      if (is_thread)
        found(stage, axis, *axis.thread(), stage.op.where());
      else
        found(stage, axis, *bound->axis.thread(), bound->where);
      return true;
    }
  }
  return false;
}

}  // namespace

bool runs_on_device(const te::StageGraph& graph) {
  return find_device_axis(graph, [](const auto&...) {});
}

void refuse_device_threads(const te::StageGraph& graph) {
  find_device_axis(graph, [](const te::FrozenStage& stage, const IterVar& axis,
                             const ThreadTag& thread, const SourceLocation& where) {
    throw TargetError(
        "build: axis `" + axis.name() + "` of stage `" + stage.origin_op.name() +
            "` is bound to `" + thread.str() +
            "`, which a CPU does not have; on CPUs use parallel, vectorize and unroll",
        where);
  });
}

void refuse_unbound_outputs(const te::StageGraph& graph, const std::vector<LowerArgument>& args,
                            const std::vector<std::pair<te::Tensor, Buffer>>& binds,
                            const SourceLocation& where) {
  std::vector<te::StageId> passed;
  for (const te::Tensor& tensor : tensors_among(args, binds)) {
    if (const std::optional<te::StageId> stage = graph.find(tensor.op())) {
      passed.push_back(*stage);
    } else if (!tensor.op().as<te::Placeholder>()) {
      throw LowerError(
          "build: no stage computes argument `" + tensor.name() +
              "`, so that its array would never be written: it is inlined, or not part of the "
              "schedule; leave it out of the arguments, or compute it at root",
          where);
    }
  }
  for (te::StageId output : graph.outputs()) {
    if (std::find(passed.begin(), passed.end(), output) != passed.end()) continue;
    throw LowerError(
        "build: `" + graph.stage(output).origin_op.name() +
            "` is an output of the schedule and not among the arguments, so that its result would "
            "be lost; pass it, or create the schedule of what is passed",
        where);
  }
}

void refuse_partial_arguments(const te::StageGraph& graph, const te::Bounds& bounds,
                              const std::vector<LowerArgument>& args,
                              const std::vector<std::pair<te::Tensor, Buffer>>& binds,
                              const SourceLocation& where) {
  const std::vector<te::StageId> outputs = graph.outputs();
  for (const te::Tensor& tensor : tensors_among(args, binds)) {
    const std::optional<te::StageId> id = graph.find(tensor.op());
    if (!id || std::ranges::find(outputs, *id) != outputs.end() || !graph.attach_path(*id).empty())
      continue;
    for (const IterVar& axis : graph.stage(*id).op.axis()) {
      const Range* range = bounds.find(axis);
      const std::int64_t all = constant_int(axis.dom()->extent).value_or(0);
      const std::int64_t computed = range ? constant_int(range->extent).value_or(all) : all;
      if (computed >= all) continue;
      throw LowerError("build: `" + tensor.name() + "` is an argument, but only " +
                           std::to_string(computed) + " of the " + std::to_string(all) +
                           " elements along `" + axis.name() +
                           "` are computed, which its readers need; make it an output of "
                           "create_schedule, or leave it out of the arguments",
                       where);
    }
  }
}

namespace {

/// Checks the parameters of the function, in particular its arrays.
void check_parameters(const PrimFunc& func, const std::string& what) {
  for (const BufferParam& array : func.buffers) {
    const std::string text = what + "array `" + array.declared->name + "`";
    const auto places = std::count_if(func.params.begin(), func.params.end(),
                                      [&](const Var& param) { return param.same_as(array.param); });
    if (places == 0)
      throw LowerError(text + " belongs to `" + array.param.name() + "`, which is not a parameter");
    if (func.buffer_of(array.param) != &array)
      throw LowerError(text + ": parameter `" + array.param.name() +
                       "` belongs to another array too");
    if (!array.param.dtype().is_handle())
      throw LowerError(text + ": parameter `" + array.param.name() + "` must be a handle, is " +
                       array.param.dtype().str());
  }
}

}  // namespace

bool is_unlowered(const PrimFunc& func) {
  return func.form == Form::Blocks || func.form == Form::MultiDimensional;
}

void check_function(const PrimFunc& func, const std::string& name) {
  const std::string what = "function `" + name + "`: ";
  check_parameters(func, what);
  const std::vector<Violation> violations = tir::verify(func, func.form);
  if (violations.empty()) return;
  throw LowerError(what + violations.front().what + " (" + violations.front().where + ")" +
                   (violations.size() == 1 ? ""
                                           : "; and " + std::to_string(violations.size() - 1) +
                                                 " more faults like this"));
}

namespace {

/// The attribute that stores the message about a conflict between iterations. Its value is empty if
/// no conflict was found.
constexpr const char* kConflictNote = "tenon.conflict";

std::optional<std::string> noted_conflict(const PrimFunc& func) {
  if (!func.attrs.others) return std::nullopt;
  const auto found = func.attrs.others->find(kConflictNote);
  return found == func.attrs.others->end() ? std::nullopt : annotation_text(found->second);
}

std::string conflict_in(const PrimFunc& loops, lowering::LoopsToProve which) {
  for (const lowering::LoopProof& proof : lowering::prove_loops(loops, which))
    if (proof.conflict) return "build: " + lowering::conflict_text(loops, proof);
  return "";
}

}  // namespace

void note_conflicts(PrimFunc& loops, lowering::LoopsToProve which,
                    const std::optional<std::string>& racing) {
  if (noted_conflict(loops)) return;
  Annotations notes = loops.attrs.others ? *loops.attrs.others : Annotations();
  notes[kConflictNote] = {make_string(racing ? *racing : conflict_in(loops, which))};
  loops.attrs.others = std::make_shared<const Annotations>(std::move(notes));
}

void refuse_conflicts(const PrimFunc& func) {
  const std::optional<std::string> noted = noted_conflict(func);
  const std::string text = noted ? *noted : conflict_in(func, lowering::LoopsToProve::All);
  if (!text.empty()) throw LowerError(text);
}

}  // namespace tenon

#include "tenon/te/schedule_ops_as_text.h"

#include <algorithm>
#include <unordered_set>

#include "te/loop_program.h"
#include "te/loops/apply_layouts.h"
#include "te/loops/check_factors.h"
#include "te/loops/check_launches.h"
#include "te/operations/collect_reads.h"
#include "te/operations/count.h"
#include "te/operations/declare.h"
#include "te/stage_builder.h"
#include "tenon/support/match.h"
#include "tenon/te/analysis.h"
#include "tenon/te/check_reads.h"
#include "tenon/tir/print.h"
#include "tenon/tir/stage_lines.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;

namespace {

/// Returns the number of elements that an operation stores if each is computed once.
Count stores_of(const Operation& op) {
  if (!op.as<Compute>()) return std::nullopt;
  const auto number = [](const std::vector<IterVar>& axes) {
    Count result = 1;
    for (const IterVar& axis : axes)
      result = product(result, axis.dom() ? constant_int(axis.dom()->extent) : std::nullopt);
    return result;
  };
  const Count steps = op.reduce_axis().empty() ? 0 : number(op.reduce_axis());
  return product(number(op.axis()), sum(1, steps));
}

/// Whether the user changed the loops of the stage or attached it, without calling autotune_loops.
bool is_scheduled(const FrozenStage& stage) {
  const bool is_attached = stage.place && !stage.is_scan_update;
  return !stage.autotunes_loops &&
         (is_attached || stage.store_predicate || !stage.has_default_loops());
}

/// A dimension that is a single variable may be 1 at run time and is then read with any index. It
/// gets a stride variable, which may be 0.
bool may_broadcast(const Tensor& tensor) {
  return std::any_of(tensor.shape().begin(), tensor.shape().end(),
                     [](const Expr& extent) { return extent.as<VarNode>() != nullptr; });
}

Buffer make_argument_buffer(const Tensor& tensor, bool compact) {
  BufferOptions options{.name = tensor.op().name()};
  if (!compact && may_broadcast(tensor)) options.kind = BufferKind::AutoBroadcast;
  return decl_buffer(tensor.shape(), tensor.dtype(), std::move(options));
}

Stmt build_loops(Program& program, Unread unread) {
  Stmt loops = StageBuilder(program, unread).build();
  check_launches(program, loops);
  return loops;
}

class FunctionMaker {
 public:
  FunctionMaker(const StageGraph& graph, const FunctionOptions& options, SourceLocation where)
      : graph_(graph),
        options_(options),
        where_(where),
        compact_(needs_compact_buffers(graph)),
        buffers_(graph) {
    if (options.name.empty())
      throw ScheduleError("the name of a function must not be empty", where);
    for (const auto& [tensor, buffer] : options.binds) {
      if (!graph.find(tensor.op()))
        throw ScheduleError("binds: tensor `" + tensor.name() + "` is not part of this schedule",
                            where);
      check_buffer_of(tensor, buffer, ShapeRule::NotContradicted, "binds", where);
      if (buffer->scope() != StorageScope::Global)
        throw ScheduleError("binds: buffer `" + buffer.name() + "` for tensor `" + tensor.name() +
                                "` lies in scope \"" + std::string(to_string(buffer->scope())) +
                                "\"; arguments are in global memory",
                            where);
    }
    for (std::size_t n = 0; n < options.binds.size(); ++n)
      for (std::size_t m = 0; m < n; ++m)
        if (options.binds[n].first.same_as(options.binds[m].first))
          throw ScheduleError("binds: tensor `" + options.binds[n].first.name() +
                                  "` has two buffers, `" + options.binds[m].second.name() +
                                  "` and `" + options.binds[n].second.name() + "`",
                              where);
    for (std::size_t n = 0; n < options.binds.size(); ++n)
      for (std::size_t m = 0; m < n; ++m)
        if (options.binds[n].second->data.same_as(options.binds[m].second->data))
          check_in_place(options.binds[m].first, options.binds[n].first,
                         options.binds[n].second.name());
  }

  void add(const FunctionArgument& argument) {
    match(
        argument, [&](const Tensor& tensor) { add_array(tensor_buffer(tensor)); },
        [&](const Buffer& buffer) { add_array(buffer); }, [&](const Var& var) { add_scalar(var); });
  }

  /// Precondition: finish() has been called.
  std::vector<std::pair<OutputId, Buffer>> memory() {
    std::vector<std::pair<OutputId, Buffer>> buffers;
    for (StageId id : graph_.ids()) {
      const FrozenStage& stage = graph_.stage(id);
      for (int k = 0; k < stage.op.num_outputs(); ++k)
        if (!stage.scan_part(k))
          buffers.emplace_back(OutputId{id, k}, buffers_.buffer_of(stage.op.output(k)));
    }
    return buffers;
  }

  PrimFunc apply(PrimFunc func) { return apply_layouts(std::move(func), stored_layouts()); }

  /// Makes the function, with every tensor in the layout of its operation.
  PrimFunc finish(const Bounds& bounds, Unread unread) {
    for (const auto& [tensor, buffer] : options_.binds) {
      if (!is_parameter(buffer))
        throw ScheduleError("binds: buffer `" + buffer.name() + "` for tensor `" + tensor.name() +
                                "` is none of the arguments; pass the buffer or the tensor",
                            where_);
      buffers_.set_argument(tensor, buffer);
    }
    check_placeholders();
    // Reads that are only partly out of bounds can be printed; `build` rejects them.
    check_reads(graph_, bounds, Outside::Wholly);
    Program program(graph_, bounds, buffers_);
    program.check_intrinsics = options_.check_intrinsics;
    func_.body = check_factors(program, build_loops(program, unread));
    func_.attrs.global_symbol = options_.name;
    note_stage_lines(func_.attrs, lines());
    check_variables(bounds);
    return std::move(func_);
  }

 private:
  /// Checks that two tensors may share a buffer: one is computed elementwise from the other, and
  /// overwritten elements have no other reader.
  void check_in_place(const Tensor& a, const Tensor& b, const std::string& buffer) const {
    const bool in_order = *graph_.find(a.op()) < *graph_.find(b.op());
    const Tensor& before = in_order ? a : b;
    const Tensor& after = in_order ? b : a;
    const auto refuse = [&](const std::string& reason) {
      throw ScheduleError("binds: buffer `" + buffer + "` holds tensors `" + before.name() +
                              "` and `" + after.name() + "`, but " + reason,
                          where_);
    };
    const FrozenStage& stage = graph_.stage(*graph_.find(after.op()));
    const Compute* compute = stage.op.as<Compute>();
    if (!compute || compute->reduction())
      refuse("`" + after.name() + "` is not computed element by element");
    if (stage.layout || graph_.stage(*graph_.find(before.op())).layout)
      refuse("their layouts are transformed");
    for (const TensorReaders& output : graph_.output_readers(*graph_.find(before.op())))
      for (const StageId reader : output.readers)
        if (reader != *graph_.find(after.op()))
          refuse("stage `" + graph_.stage(reader).origin_op.name() + "` reads `" + before.name() +
                 "` as well");
    for (const TensorReads& reads : collect_reads(stage.op)) {
      if (!reads.tensor.op().same_as(graph_.stage(*graph_.find(before.op())).op)) continue;
      for (const std::vector<Expr>& indices : reads.indices) {
        const bool is_own =
            std::equal(indices.begin(), indices.end(), compute->axis.begin(), compute->axis.end(),
                       [](const Expr& e, const IterVar& axis) { return e.same_as(axis.var()); });
        if (!is_own)
          refuse("`" + after.name() + "` reads other elements than the one that it writes");
      }
    }
  }

  Buffer tensor_buffer(const Tensor& tensor) {
    if (buffers_.is_argument(tensor))
      throw ScheduleError("argument `" + tensor.name() + "` is given twice", where_);
    for (const auto& [bound, buffer] : options_.binds) {
      if (bound.same_as(tensor)) return buffer;
    }
    Buffer buffer = make_argument_buffer(tensor, compact_);
    buffers_.set_argument(tensor, buffer);
    return buffer;
  }

  bool is_parameter(const Buffer& buffer) const {
    return std::any_of(func_.buffers.begin(), func_.buffers.end(),
                       [&](const BufferParam& param) { return param.declared.same_as(buffer); });
  }

  void add_array(const Buffer& buffer) {
    if (is_parameter(buffer))
      throw ScheduleError("argument `" + buffer->name + "` is given twice", where_);
    Var handle(buffer->name, Handle());
    func_.params.push_back(handle);
    func_.buffers.push_back({handle, buffer, buffer});
  }

  void add_scalar(const Var& var) {
    const bool is_given = std::any_of(func_.params.begin(), func_.params.end(),
                                      [&](const Var& param) { return param.same_as(var); });
    if (is_given) throw ScheduleError("argument `" + var.name() + "` is given twice", where_);
    func_.params.push_back(var);
  }

  std::vector<StoredLayout> stored_layouts() {
    std::vector<StoredLayout> layouts;
    for (StageId id : graph_.ids()) {
      const FrozenStage& stage = graph_.stage(id);
      if (!stage.layout) continue;
      for (int n = 0; n < stage.op.num_outputs(); ++n) {
        layouts.push_back({buffers_.buffer_of(stage.op.output(n)), *stage.layout,
                           stage.axis_separators, stage.layout_where});
      }
    }
    return layouts;
  }

  std::vector<StageLine> lines() {
    std::vector<StageLine> lines;
    for (StageId id : graph_.ids()) {
      const Operation& op = graph_.stage(id).op;
      if (op.as<Placeholder>()) continue;
      for (int n = 0; n < op.num_outputs(); ++n)
        lines.push_back({buffers_.buffer_of(op.output(n))->name,
                         op.name() + ", " + to_string(op.where()),
                         n == 0 ? stores_of(op) : std::nullopt, is_scheduled(graph_.stage(id))});
    }
    return lines;
  }

  void check_placeholders() const {
    for (StageId id : graph_.ids()) {
      const FrozenStage& stage = graph_.stage(id);
      if (!stage.op.as<Placeholder>() || graph_.readers(id).empty()) continue;
      const Tensor tensor = stage.op.output(0);
      if (buffers_.is_argument(tensor) || buffers_.is_scan_state(tensor)) continue;
      throw ScheduleError("placeholder `" + stage.op.name() + "`, declared at " +
                              to_string(stage.op.where()) + ", is read by stage `" +
                              graph_.stage(graph_.readers(id).front()).origin_op.name() +
                              "` but is none of the arguments; add it to the arguments",
                          where_);
    }
  }

  /// Checks that every variable has a value. Programs that use an axis or thread outside its scope,
  /// or in a store predicate, can be printed; `build` rejects them.
  void check_variables(const Bounds& bounds) const {
    std::vector<Var> used = free_vars(func_.body);
    std::erase_if(used, [&](const Var& var) {
      return var.dtype().is_handle() ||
             std::ranges::any_of(func_.params, [&](const Var& p) { return p.same_as(var); });
    });
    if (used.empty()) return;
    std::unordered_set<const void*> given;
    auto give = [&](const Expr& e) {
      for (const Var& var : free_vars(e)) given.insert(&var.node());
    };
    for (const Bounds::Entry& entry : bounds.entries()) give(entry.axis.var());
    for (StageId id : graph_.ids()) {
      const FrozenStage& stage = graph_.stage(id);
      if (stage.store_predicate) give(*stage.store_predicate);
      for (const auto& [axis, attributes] : stage.attributes)
        if (attributes.thread) give(attributes.thread->axis.var());
    }
    // A size that is an expression of other variables can be printed. `build` rejects it unless the
    // variables have values from other parameters.
    for (const BufferParam& param : func_.buffers) {
      give(param.declared->elem_offset);
      for (const auto* sizes : {&param.declared->shape, &param.declared->strides})
        for (const Expr& size : *sizes) give(size);
    }
    walk(func_.body, [&](const BufferView& view) {
      give(view.view->elem_offset);
      for (const auto* sizes : {&view.view->shape, &view.view->strides})
        for (const Expr& size : *sizes) give(size);
    });
    for (const Var& var : used)
      if (!given.contains(&var.node()))
        throw LowerError(
            "variable `" + var.name() + "`" + user_of(var) +
                " is neither an argument nor in the shape of one; add it to the arguments",
            where_);
  }

  /// Returns " in stage `B`" for the stage that uses the variable.
  std::string user_of(const Var& var) const {
    for (StageId id : graph_.ids())
      for (const Expr& body : graph_.stage(id).op.body())
        for (const Var& used : free_vars(body))
          if (used.same_as(var)) return " in stage `" + graph_.stage(id).origin_op.name() + "`";
    return "";
  }

  const StageGraph& graph_;
  const FunctionOptions& options_;
  SourceLocation where_;
  bool compact_;
  BufferTable buffers_;
  PrimFunc func_{{}, {}, make_nop()};
};

}  // namespace

namespace {

PrimFunc schedule_ops(const StageGraph& graph, const Bounds& bounds,
                      const std::vector<FunctionArgument>& arguments,
                      const FunctionOptions& options, Unread unread, SourceLocation where) {
  FunctionMaker maker(graph, options, where);
  for (const FunctionArgument& argument : arguments) maker.add(argument);
  return maker.apply(maker.finish(bounds, unread));
}

}  // namespace

PrimFunc schedule_ops(const StageGraph& graph, const Bounds& bounds,
                      const std::vector<FunctionArgument>& arguments,
                      const FunctionOptions& options, SourceLocation where) {
  return schedule_ops(graph, bounds, arguments, options, Unread::Skipped, where);
}

PrimFunc schedule_ops_as_text(const StageGraph& graph, const Bounds& bounds,
                              const std::vector<FunctionArgument>& arguments,
                              const FunctionOptions& options, SourceLocation where) {
  return schedule_ops(graph, bounds, arguments, options, Unread::Computed, where);
}

LoopProgram make_loop_program(const StageGraph& graph, const Bounds& bounds,
                              const std::vector<FunctionArgument>& arguments,
                              SourceLocation where) {
  const FunctionOptions options;
  FunctionMaker maker(graph, options, where);
  for (const FunctionArgument& argument : arguments) maker.add(argument);
  PrimFunc func = maker.finish(bounds, Unread::Skipped);
  return {std::move(func), maker.memory()};
}

Stmt schedule_ops(const StageGraph& graph, const Bounds& bounds) {
  BufferTable buffers(graph);
  Program program(graph, bounds, buffers);
  return build_loops(program, Unread::Skipped);
}

Stmt schedule_ops(const Schedule& schedule, const Bounds& bounds, SourceLocation where) {
  if (bounds.graph() == nullptr)
    throw ScheduleError(
        "schedule_ops: the bounds are those of a frozen graph; pass that graph instead of the "
        "schedule, or infer_bound(schedule)",
        where);
  const Stmt result = schedule_ops(*bounds.graph(), bounds);
  // Compares texts, because the loops of the current schedule have new variables.
  const Bounds now = infer_bound(schedule, where);
  if (print_stmt(schedule_ops(*now.graph(), now)) != print_stmt(result))
    throw ScheduleError(
        "schedule_ops: the bounds are those of another schedule, or of this one before it was "
        "changed; call infer_bound(schedule) when the schedule is done",
        where);
  return result;
}

}  // namespace tenon::te

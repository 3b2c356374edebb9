#include "tenon/te/schedule_ops.h"

#include <algorithm>

#include "te/apply_layouts.h"
#include "te/check_factors.h"
#include "te/declare.h"
#include "te/stage_builder.h"
#include "tenon/support/match.h"
#include "tenon/te/check_reads.h"

namespace tenon::te {

using namespace tir;

namespace {

/// Statements that see buffers as blocks of memory, extern operations and intrinsics, want them compact.
bool needs_compact_buffers(const StageGraph& graph) {
  for (StageId id = 0; id < graph.size(); ++id) {
    const StageData& stage = graph.stage(id);
    if (stage.op.as<Extern>() || stage.op.as<TensorCompute>()) return true;
    for (const auto& [axis, attributes] : stage.attributes) {
      if (attributes.intrin) return true;
    }
  }
  return false;
}

/// A dimension that is a variable by itself may be 1 at run time and then be read with any index: it gets a
/// stride of its own, which may be 0.
bool may_broadcast(const Tensor& tensor) {
  return std::any_of(tensor.shape().begin(), tensor.shape().end(),
                     [](const Expr& extent) { return extent.as<VarNode>() != nullptr; });
}

Buffer make_argument_buffer(const Tensor& tensor, bool compact) {
  BufferOptions options{.name = tensor.op().name()};
  if (!compact && may_broadcast(tensor)) {
    options.kind = BufferKind::AutoBroadcast;
    for (const Expr& extent : tensor.shape()) options.strides.push_back(Var("stride", extent.dtype()));
  }
  return decl_buffer(tensor.shape(), tensor.dtype(), std::move(options));
}

class FunctionMaker {
 public:
  FunctionMaker(const StageGraph& graph, const FunctionOptions& options, SourceLocation where)
      : graph_(graph),
        options_(options),
        where_(where),
        compact_(needs_compact_buffers(graph)),
        buffers_(graph) {
    if (options.name.empty()) throw ScheduleError("the name of a function must not be empty", where);
    for (const auto& [tensor, buffer] : options.binds) {
      if (!graph.find(tensor.op()))
        throw ScheduleError("binds: tensor `" + tensor.name() + "` is not part of this schedule", where);
      check_buffer_of(tensor, buffer, "binds: buffer `" + buffer.name() + "`", where);
    }
  }

  void add(const FunctionArgument& argument) {
    match(
        argument, [&](const Tensor& tensor) { add_array(tensor_buffer(tensor)); },
        [&](const Buffer& buffer) { add_array(buffer); },
        [&](const Var& var) { add_scalar(var); });
  }

  PrimFunc finish(const Bounds& bounds) {
    for (const auto& [tensor, buffer] : options_.binds) buffers_.set_argument(tensor, buffer);
    check_placeholders();
    // What reads beyond an end alone still prints; `build` refuses it.
    check_reads(graph_, bounds, Outside::Wholly);
    Program program(graph_, bounds, buffers_);
    program.check_intrinsics = options_.check_intrinsics;
    func_.body = check_factors(program, StageBuilder(program).build());
    func_.attrs.global_symbol = options_.name;
    return apply_layouts(std::move(func_), stored_layouts());
  }

 private:
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

  void add_array(const Buffer& buffer) {
    for (const BufferParam& param : func_.buffers) {
      if (param.declared.same_as(buffer)) {
        throw ScheduleError("argument `" + buffer->name + "` is given twice", where_);
      }
    }
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
    for (StageId id = 0; id < graph_.size(); ++id) {
      const StageData& stage = graph_.stage(id);
      if (!stage.layout) continue;
      for (int n = 0; n < stage.op.num_outputs(); ++n) {
        layouts.push_back({buffers_.buffer_of(stage.op.output(n)), *stage.layout, stage.axis_separators,
                           stage.layout_where});
      }
    }
    return layouts;
  }

  void check_placeholders() const {
    for (StageId id = 0; id < graph_.size(); ++id) {
      const StageData& stage = graph_.stage(id);
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

  const StageGraph& graph_;
  const FunctionOptions& options_;
  SourceLocation where_;
  bool compact_;
  BufferTable buffers_;
  PrimFunc func_{{}, {}, make_nop()};
};

}  // namespace

PrimFunc schedule_ops(const StageGraph& graph, const Bounds& bounds,
                      const std::vector<FunctionArgument>& arguments, const FunctionOptions& options,
                      SourceLocation where) {
  FunctionMaker maker(graph, options, where);
  for (const FunctionArgument& argument : arguments) maker.add(argument);
  return maker.finish(bounds);
}

Stmt schedule_ops(const StageGraph& graph, const Bounds& bounds) {
  BufferTable buffers(graph);
  Program program(graph, bounds, buffers);
  return StageBuilder(program).build();
}

Stmt schedule_ops(const Schedule&, const Bounds& bounds) {
  internal_check(bounds.graph() != nullptr, "bounds that were not inferred from a schedule");
  return schedule_ops(*bounds.graph(), bounds);
}

}  // namespace tenon::te

#include <algorithm>
#include <ranges>
#include <unordered_set>

#include "te/binds.h"
#include "te/loops/program.h"
#include "te/operations/body.h"
#include "te/operations/declare.h"
#include "te/stage_builder.h"
#include "tenon/arith/interval.h"
#include "tenon/arith/simplify.h"
#include "tenon/support/match.h"
#include "tenon/te/analysis.h"
#include "tenon/te/check_reads.h"
#include "tenon/te/relation.h"
#include "tenon/te/schedule_ops.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/function.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"
#include "tenon/tir/stage_lines.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;

namespace {

// The last step of schedule_ops: rewrites accesses and declarations of arguments to the layouts set
// by transform_layout.

/// The stored layout of a buffer. Element (i...) of `logical` is stored at forward(i...) of
/// `stored`.
struct StoredLayout {
  Buffer logical, stored;
  Transform::Map forward;
  /// The line of the user's call of transform_layout.
  SourceLocation where;
};

/// Rewrites the function to the stored layouts. Throws ScheduleError if a statement accesses a
/// buffer of another layout as a block of memory (extern operations, outputs of intrinsics).
PrimFunc apply_layouts(PrimFunc func, const std::vector<StoredLayout>& layouts) {
  if (layouts.empty()) return func;
  const auto find = [&](const Buffer& logical) -> const StoredLayout* {
    for (const StoredLayout& layout : layouts)
      if (layout.logical.same_as(logical)) return &layout;
    return nullptr;
  };
  const auto refuse = [&](const Buffer& buffer) {
    if (const StoredLayout* known = find(buffer))
      throw ScheduleError(
          "transform_layout of tensor `" + buffer.name() +
              "`: an extern operation, an intrinsic or a prefetch sees its memory as a block; its layout "
              "cannot be changed",
          known->where);
  };
  walk(
      func.body, [&](const BufferView& view) { refuse(view.source); },
      [&](const Prefetch& prefetch) { refuse(prefetch.buffer); });
  func.body = rewrite(
      func.body,
      [&](const Load& load, const Expr&) -> std::optional<Expr> {
        const StoredLayout* known = find(load.buffer);
        if (!known) return std::nullopt;
        return make_load(known->stored, moved(known->forward, load.indices));
      },
      [&](const Store& store, const Stmt&) -> std::optional<Stmt> {
        const StoredLayout* known = find(store.buffer);
        if (!known) return std::nullopt;
        return make_store(known->stored, store.value, moved(known->forward, store.indices));
      },
      [&](const Realize& realize, const Stmt&) -> std::optional<Stmt> {
        const StoredLayout* known = find(realize.buffer);
        if (!known) return std::nullopt;
        Realize changed = realize;
        changed.buffer = known->stored;
        changed.bounds = image_of(known->forward, realize.bounds);
        return make_stmt(std::move(changed));
      });
  for (BufferParam& param : func.buffers)
    for (Buffer* buffer : {&param.declared, &param.buffer})
      if (const StoredLayout* known = find(*buffer)) *buffer = known->stored;
  func.attrs.reversed_in_text = true;
  return func;
}

// Checks of symbolic split factors, whose values are known only at run time.

/// Returns the statement preceded by checks of every factor and number of parts that is not
/// constant. They must be positive, because loops with other values would not terminate correctly.
/// Returns the statement itself if all of them are constant.
Stmt check_factors(const Program& program, Stmt body) {
  std::vector<Expr> checked;
  const auto check = [&](const Split& split, const std::string& parent) {
    const Expr& size = split.count;
    Expr is_valid = make_int(size.dtype(), 0) < size;
    // A value of a wider type is checked before it is converted to the axis' type.
    const Cast* cast = size.as<Cast>();
    const Expr& given = cast ? cast->value : size;
    const bool is_wider = given.dtype().bits > size.dtype().bits;
    if (is_wider) is_valid = is_valid && 0 < given && given <= max_value(size.dtype());
    const bool is_known = std::ranges::any_of(
        checked, [&](const Expr& known) { return structural_equal(known, size); });
    if (constant_int(size) || is_known || arith::can_prove(is_valid, program.facts)) return;
    checked.push_back(size);
    std::string text = (split.is_by_parts ? "split_by_nparts of " : "split of ") + parent +
                       ": the " + (split.is_by_parts ? "number of parts" : "factor") + " `" +
                       print_expr(given) + "` must be positive" +
                       (is_wider ? " and fit " + size.dtype().str() : "");
    body = make_stmt(Assert{is_valid, std::move(text), std::move(body)});
  };
  for (StageId id : program.graph.ids() | std::views::reverse) {
    const FrozenStage& stage = program.graph.stage(id);
    for (const Relation& relation : stage.relations)
      if (const Split* split = std::get_if<Split>(&relation))
        check(*split, describe(stage, split->parent));
  }
  for (const auto& [split, parent] : program.graph.replaced_splits()) check(split, parent);
  return body;
}

// Checks that memory of one launch of threads is not used in another.

class LaunchChecker {
 public:
  explicit LaunchChecker(const Program& program) : program_(program) {}

  void stmt(const Stmt& s) {
    const Attr* attr = s.as<Attr>();
    if (attr && attr->kind == AttrKind::ThreadExtent && !launch_) {
      launch_ = &std::get<IterVar>(attr->subject);
      children(s);
      launch_ = nullptr;
      return;
    }
    if (const Realize* n = s.as<Realize>(); n && !launch_ && belongs_to_launch(*n)) {
      outside_.emplace(&n->buffer->data.node(), n->buffer);
      children(s);
      outside_.erase(&n->buffer->data.node());
      return;
    }
    if (const Store* n = s.as<Store>()) use(n->buffer->data);
    if (const Prefetch* n = s.as<Prefetch>()) use(n->buffer->data);
    if (const BufferView* n = s.as<BufferView>()) view(*n);
    children(s);
  }

 private:
  /// Whether the memory exists only during a launch. Memory whose scope is inferred later is global
  /// if it is allocated outside threads.
  static bool belongs_to_launch(const Realize& n) {
    return n.traits.scope_is_set && n.buffer->scope() != StorageScope::Global;
  }

  void children(const Stmt& s) {
    for_each_child(
        s, [&](const Expr& e) { expr(e); }, [&](const Stmt& child) { stmt(child); });
  }

  void expr(const Expr& e) {
    if (!launch_ || outside_.empty()) return;
    if (const Load* n = e.as<Load>()) use(n->buffer->data);
    if (e.as<VarNode>()) use(e);
    for_each_child(e, [&](const Expr& child) { expr(child); });
  }

  void view(const BufferView& n) {
    const auto source = outside_.find(&n.source->data.node());
    if (source == outside_.end()) return;
    use(n.source->data);
    outside_.insert_or_assign(&n.view->data.node(), source->second);
  }

  void use(const Expr& data) {
    if (!launch_) return;
    if (const auto found = outside_.find(&data.node()); found != outside_.end())
      refuse(found->second);
  }

  [[noreturn]] void refuse(const Buffer& buffer) const {
    const StageGraph& graph = program_.graph;
    for (StageId id : graph.ids()) {
      const FrozenStage& stage = graph.stage(id);
      for (int n = 0; n < stage.op.num_outputs(); ++n)
        if (program_.buffers.buffer_of(stage.op.output(n)).same_as(buffer)) refuse(stage);
    }
    internal_error("memory `" + buffer->name + "` of no stage");
  }

  [[noreturn]] void refuse(const FrozenStage& stage) const {
    const std::string place =
        stage.place
            ? "in " + describe(program_.graph.stage(stage.place->stage), stage.place->axis) +
                  ", outside of the launch"
            : "at root, outside of the launch";
    throw ScheduleError(
        describe(stage) + " is kept in " + std::string(to_string(stage.scope)) +
            " memory, which each launch of threads has for itself, but is computed " + place +
            " of `" + launch_->name() +
            "` that uses it; compute_at a loop inside of that thread axis, or set_scope(\"global\")",
        stage.place ? stage.attach_where : stage.scope_where);
  }

  const Program& program_;
  /// The outermost thread axis around the current statement; null outside launches.
  const IterVar* launch_ = nullptr;
  /// Buffers that were allocated before the current launch. The key is the data pointer.
  std::unordered_map<const ExprNode*, Buffer> outside_;
};

/// Throws ScheduleError for a stage whose memory is not global and exists outside the threads that
/// use it:
///
///   realize B in shared { attr threadIdx.x { B[x] = A[x] }   attr threadIdx.x { C[x] = B[x] } }
///
/// Shared memory does not survive from the first launch to the second. Without threads, a scope has
/// no effect on visibility, and the program is accepted.
void check_launches(const Program& program, const Stmt& body) {
  const StageGraph& graph = program.graph;
  const bool has_scopes = std::ranges::any_of(graph.ids(), [&](StageId id) {
    return graph.stage(id).scope_is_set && graph.stage(id).scope != StorageScope::Global;
  });
  if (has_scopes) LaunchChecker(program).stmt(body);
}

/// Returns the number of stores of an operation that computes each element once; nullopt if
/// unknown.
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

Stmt build_loops(Program& program, bool computes_unread = false) {
  Stmt loops = StageBuilder(program, computes_unread).build();
  check_launches(program, loops);
  return loops;
}

class FunctionMaker {
 public:
  FunctionMaker(const StageGraph& graph, const std::vector<FunctionArgument>& arguments,
                const FunctionOptions& options, SourceLocation where)
      : graph_(graph),
        options_(options),
        where_(where),
        compact_(needs_compact_buffers(graph)),
        buffers_(graph) {
    if (options.name.empty())
      throw ScheduleError("the name of a function must not be empty", where);
    check_binds(graph, options.binds, where);
    for (const FunctionArgument& argument : arguments)
      match(
          argument, [&](const Tensor& tensor) { add_array(tensor_buffer(tensor)); },
          [&](const Buffer& buffer) { add_array(buffer); },
          [&](const Var& var) { add_scalar(var); });
  }

  /// Precondition: finish() has been called.
  TensorBuffers memory() {
    TensorBuffers buffers;
    for (StageId id : graph_.ids()) {
      const FrozenStage& stage = graph_.stage(id);
      for (int k = 0; k < stage.op.num_outputs(); ++k)
        if (!stage.scan_part(k))
          buffers.emplace_back(OutputId{id, k}, buffers_.buffer_of(stage.op.output(k)));
    }
    return buffers;
  }

  PrimFunc apply(PrimFunc func) { return apply_layouts(std::move(func), stored_layouts()); }

  /// Makes the function. Every tensor still has the layout that its operation declares.
  PrimFunc finish(const Bounds& bounds, bool computes_unread = false) {
    for (const auto& [tensor, buffer] : options_.binds) {
      if (!is_parameter(buffer))
        throw ScheduleError("binds: buffer `" + buffer.name() + "` for tensor `" + tensor.name() +
                                "` is not among the arguments; pass the buffer or the tensor",
                            where_);
      check_has_memory(tensor);
      buffers_.set_argument(tensor, buffer);
    }
    check_placeholders();
    // `lower` accepts reads that are only partly out of bounds; `build` rejects them.
    check_reads(graph_, bounds, Outside::Wholly);
    Program program(graph_, bounds, buffers_);
    program.check_intrinsics = options_.check_intrinsics;
    func_.body = check_factors(program, build_loops(program, computes_unread));
    func_.attrs.global_symbol = options_.name;
    note_stage_lines(func_.attrs, lines());
    check_variables(bounds);
    return std::move(func_);
  }

 private:
  void check_has_memory(const Tensor& tensor) const {
    // The placeholder of a scan's state may be an argument, because its array holds all steps, as
    // in TVM.
    if (buffers_.is_scan_state(tensor) && !tensor.op().as<Placeholder>())
      throw ScheduleError("argument `" + tensor.name() +
                              "` is stored in the state of a scan; pass the scan, or make the "
                              "tensor an output of the schedule",
                          where_);
  }

  Buffer tensor_buffer(const Tensor& tensor) {
    check_has_memory(tensor);
    if (buffers_.is_argument(tensor))
      throw ScheduleError("argument `" + tensor.name() + "` is given twice", where_);
    for (const auto& [bound, buffer] : options_.binds) {
      if (bound.same_as(tensor)) return buffer;
    }
    BufferOptions options{.name = tensor.op().name()};
    // A dimension whose extent is a variable may have extent 1 at run time and is then broadcast.
    // Its stride is a variable, which is 0 in this case.
    const auto is_variable = [](const Expr& extent) { return extent.as<VarNode>() != nullptr; };
    if (!compact_ && std::ranges::any_of(tensor.shape(), is_variable))
      options.kind = BufferKind::AutoBroadcast;
    Buffer buffer = decl_buffer(tensor.shape(), tensor.dtype(), std::move(options));
    buffers_.set_argument(tensor, buffer);
    return buffer;
  }

  bool is_parameter(const Buffer& buffer) const {
    return std::ranges::any_of(
        func_.buffers, [&](const BufferParam& param) { return param.declared.same_as(buffer); });
  }

  void add_array(const Buffer& buffer) {
    if (is_parameter(buffer))
      throw ScheduleError("argument `" + buffer->name + "` is given twice", where_);
    Var handle(buffer->name, Handle());
    func_.params.push_back(handle);
    func_.buffers.push_back({handle, buffer, buffer});
  }

  void add_scalar(const Var& var) {
    const bool is_given =
        std::ranges::any_of(func_.params, [&](const Var& param) { return param.same_as(var); });
    if (is_given) throw ScheduleError("argument `" + var.name() + "` is given twice", where_);
    func_.params.push_back(var);
  }

  std::vector<StoredLayout> stored_layouts() {
    std::vector<StoredLayout> layouts;
    for (StageId id : graph_.ids()) {
      const FrozenStage& stage = graph_.stage(id);
      if (!stage.layout) continue;
      for (int n = 0; n < stage.op.num_outputs(); ++n) {
        const Buffer logical = buffers_.buffer_of(stage.op.output(n));
        layouts.push_back({logical, *buffers_.stored_buffer_of(stage.op.output(n)), *stage.layout,
                           stage.layout_where});
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
        lines.push_back({buffers_.buffer_of(op.output(n))->name, op.name(), to_string(op.where()),
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
                              "` but is not among the arguments; add it to the arguments",
                          where_);
    }
  }

  /// Checks that every variable has a value. Axes and threads of the schedule count as defined
  /// everywhere. `lower` accepts programs that use one outside its scope; `build` rejects them.
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
    // A size such as n*2 counts as a definition of n here, although it does not determine n,
    // because `lower` accepts such programs. `build` rejects the program unless another parameter
    // determines n.
    const auto give_layout = [&](const Buffer& buffer) {
      give(buffer->elem_offset);
      for (const auto* sizes : {&buffer->shape, &buffer->strides})
        for (const Expr& size : *sizes) give(size);
    };
    for (const BufferParam& param : func_.buffers) give_layout(param.declared);
    walk(func_.body, [&](const BufferView& view) { give_layout(view.view); });
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

PrimFunc schedule_ops(const StageGraph& graph, const Bounds& bounds,
                      const std::vector<FunctionArgument>& arguments,
                      const FunctionOptions& options, bool computes_unread, SourceLocation where) {
  FunctionMaker maker(graph, arguments, options, where);
  return maker.apply(maker.finish(bounds, computes_unread));
}

}  // namespace

PrimFunc schedule_ops(const StageGraph& graph, const Bounds& bounds,
                      const std::vector<FunctionArgument>& arguments,
                      const FunctionOptions& options, SourceLocation where) {
  return schedule_ops(graph, bounds, arguments, options, /*computes_unread=*/false, where);
}

PrimFunc schedule_ops_as_text(const StageGraph& graph, const Bounds& bounds,
                              const std::vector<FunctionArgument>& arguments,
                              const FunctionOptions& options, SourceLocation where) {
  return schedule_ops(graph, bounds, arguments, options, /*computes_unread=*/true, where);
}

std::pair<PrimFunc, TensorBuffers> make_loop_program(const StageGraph& graph, const Bounds& bounds,
                                                     const std::vector<FunctionArgument>& arguments,
                                                     SourceLocation where) {
  const FunctionOptions options;
  FunctionMaker maker(graph, arguments, options, where);
  PrimFunc func = maker.finish(bounds);
  return {std::move(func), maker.memory()};
}

Stmt schedule_ops(const StageGraph& graph, const Bounds& bounds) {
  BufferTable buffers(graph);
  Program program(graph, bounds, buffers);
  return build_loops(program);
}

Stmt schedule_ops(const Schedule& schedule, const Bounds& bounds, SourceLocation where) {
  if (bounds.graph() == nullptr)
    throw ScheduleError(
        "schedule_ops: the bounds are those of a frozen graph; pass that graph instead of the "
        "schedule, or infer_bound(schedule)",
        where);
  if (!bounds.are_of(schedule))
    throw ScheduleError(
        "schedule_ops: the bounds are those of another schedule, or of this one before it was "
        "changed; call infer_bound(schedule) when the schedule is done",
        where);
  return schedule_ops(*bounds.graph(), bounds);
}

}  // namespace tenon::te

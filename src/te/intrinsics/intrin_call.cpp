#include "te/intrinsics/intrin_call.h"

#include <algorithm>

#include "tenon/arith/simplify.h"
#include "tenon/tir/print.h"

namespace tenon::te {

using namespace tir;

// ---- views --------------------------------------------------------------------------------------

std::vector<Expr> IntrinView::index(const std::vector<Expr>& theirs) const {
  if (dims.are_the_last()) return theirs;
  std::vector<Expr> result;
  for (const std::optional<std::size_t>& partner : dims.theirs)
    result.push_back(partner ? theirs[*partner] : Expr(0));
  return result;
}

std::vector<Expr> IntrinView::index_of_tensor(const std::vector<Expr>& theirs) const {
  std::vector<Expr> result;
  for (std::size_t d = 0; d < region.size(); ++d)
    result.push_back(dims.theirs[d] ? region[d].min + theirs[*dims.theirs[d]] : region[d].min);
  return result;
}

namespace {

/// The declared buffer with the region's dimensions. Strides of dimensions that the region lacks
/// get values, because the code may use them.
Buffer with_dims_of_region(const Buffer& declared, const DimPairs& dims, VarMap& values) {
  BufferNode node = *declared.get();
  node.shape.clear();
  node.strides.clear();
  node.axis_separators.clear();
  const bool is_strided = !declared->strides.empty();
  for (const std::optional<std::size_t>& partner : dims.theirs) {
    node.shape.push_back(partner ? declared->shape[*partner] : Expr(1));
    // A dimension of one element may have any stride.
    if (is_strided)
      node.strides.push_back(partner ? declared->strides[*partner] : Expr(Var("stride")));
  }
  for (std::size_t t : dims.unpaired) {
    if (!is_strided || !declared->strides[t].as<VarNode>()) continue;
    const bool is_last = t + 1 == declared->shape.size();
    set(values, Var::of(declared->strides[t]),
        is_last ? Expr(1) : declared->strides[t + 1] * declared->shape[t + 1]);
  }
  return make_buffer(std::move(node));
}

/// Code on the declared buffer, rewritten to the view's buffer.
Stmt on_view(const Stmt& code, const Buffer& declared, const IntrinView& view) {
  if (view.buffer.same_as(declared)) return code;
  return rewrite(
      code,
      [&](const Load& load, const Expr&) -> std::optional<Expr> {
        if (!load.buffer.same_as(declared)) return std::nullopt;
        return make_load(view.buffer, view.index(load.indices));
      },
      [&](const Store& store, const Stmt&) -> std::optional<Stmt> {
        if (!store.buffer.same_as(declared)) return std::nullopt;
        return make_store(view.buffer, store.value, view.index(store.indices));
      });
}

/// The memory of a tensor.
struct Memory {
  /// The index of its first element.
  std::vector<Expr> origin;
  /// Absent if later steps decide them.
  std::optional<std::vector<Expr>> strides;
  StorageScope scope;
};

Memory memory_of(const Tensor& tensor, const Program& program) {
  Memory memory{std::vector<Expr>(tensor.shape().size(), Expr(0)), std::nullopt,
                StorageScope::Global};
  const std::optional<StageId> id = program.graph.find(tensor.op());
  const bool has_layout = id && program.graph.stage(*id).layout;
  if (program.buffers.is_argument(tensor)) {
    const Buffer buffer = program.buffers.buffer_of(tensor);
    memory.scope = buffer->scope();
    if (!has_layout)
      memory.strides = buffer->strides.empty() ? compact_strides(buffer->shape) : buffer->strides;
    return memory;
  }
  if (!id) return memory;
  const FrozenStage& stage = program.graph.stage(*id);
  memory.scope = stage.scope;
  if (stage.op.axis().size() != tensor.shape().size()) return memory;
  std::vector<Expr> extents;
  for (std::size_t d = 0; d < memory.origin.size(); ++d) {
    memory.origin[d] = program.bounds[stage.op.axis()[d]].min;
    extents.push_back(program.bounds[stage.op.axis()[d]].extent);
  }
  const bool is_padded = std::ranges::any_of(
      stage.attributes, [](const auto& entry) { return entry.second.align.has_value(); });
  if (!has_layout && !is_padded) memory.strides = compact_strides(extents);
  return memory;
}

/// The reason why the buffer cannot view the region, and what would work; nullopt if nothing is
/// known against it.
std::optional<std::string> misfit(const IntrinView& view, const Program& program) {
  const Buffer& buffer = view.buffer;
  const std::string tensor = "`" + view.tensor.name() + "`",
                    name = "its buffer `" + buffer->name + "`";
  const Memory memory = memory_of(view.tensor, program);
  if (const std::optional<PointerType>& pointer = buffer->data.as<VarNode>()->pointer;
      pointer && pointer->scope && *pointer->scope != memory.scope)
    return name + " is declared in scope \"" + std::string(to_string(*pointer->scope)) +
           "\", but " + tensor + " is kept in \"" + std::string(to_string(memory.scope)) + "\"";
  const bool is_compact = buffer->strides.empty();
  const std::vector<Expr> strides = is_compact ? compact_strides(buffer->shape) : buffer->strides;
  const std::size_t missing = view.region.size() - std::min(view.region.size(), strides.size());
  for (std::size_t d = 0; d < view.region.size(); ++d) {
    const Expr begin = view.region[d].min - memory.origin[d];
    if (is_zero(buffer->elem_offset) && !arith::can_prove_equal(begin, 0, program.facts))
      return name + " has no offset, but stands for a part of " + tensor + " that begins at " +
             print_expr(arith::simplify(begin, program.facts)) + " of dimension " +
             std::to_string(d) + "; declare it with offset_factor = 1";
    if (!memory.strides || !view.dims.theirs[d] || d < missing) continue;
    const Expr &declared = strides[d - missing], &actual = (*memory.strides)[d];
    if (declared.as<VarNode>() || is_one(arith::simplify(view.region[d].extent, program.facts)))
      continue;
    if (is_false(arith::simplify(declared == actual, program.facts)))
      return name + (is_compact ? " is compact, so that" : " declares strides by which") +
             " neighbours along its dimension " + std::to_string(*view.dims.theirs[d]) + " lie " +
             print_expr(declared) + " elements apart, but in " + tensor + " it is " +
             print_expr(arith::simplify(actual, program.facts)) +
             "; declare the stride as a variable: {.strides = {te::var(\"s\"), ...}}";
  }
  return std::nullopt;
}

/// Whether the variable is in the shape of some tensor of the program.
bool is_size(const Expr& var, const StageGraph& graph) {
  const auto uses = [&](const Expr& extent) { return uses_var(extent, Var::of(var)); };
  for (StageId id : graph.ids())
    for (int k = 0; k < graph.stage(id).op.num_outputs(); ++k)
      if (std::ranges::any_of(graph.stage(id).op.output(k).shape(), uses)) return true;
  return false;
}

/// Checks that the buffer's offset and strides determine their variables. A variable by itself gets
/// its value from the tensor; an expression may use variables of the buffers before this one, and
/// sizes of the program.
void check_variables(const IntrinCall& call, const Buffer& declared, const Program& program) {
  const auto is_known = [&](const Expr& var) {
    const auto is_var = [&](const Expr& e) { return e.same_as(var); };
    const auto defines_it = [&](const IntrinView& view) {
      return is_var(view.buffer->elem_offset) || std::ranges::any_of(view.buffer->shape, is_var) ||
             std::ranges::any_of(view.buffer->strides, is_var);
    };
    return call.values.contains(&var.node()) || is_size(var, program.graph) ||
           std::ranges::any_of(call.inputs, defines_it) ||
           std::ranges::any_of(call.outputs, defines_it);
  };
  const auto check = [&](const Expr& e, const std::string& what) {
    if (e.as<VarNode>()) return;
    for (const Var& var : free_vars(e))
      if (!is_known(var))
        call.refuse(
            "its buffer `" + declared->name + "` has the " + what + " " + print_expr(e) +
            ", from which `" + var.name() +
            "` is not deduced; declare a variable by itself, with offset_factor for multiples");
  };
  check(declared->elem_offset, "offset");
  for (const Expr& stride : declared->strides) check(stride, "stride");
}

/// Adds the view of the next input of the intrinsic or, after the inputs, of its next output.
void add_view(IntrinCall& call, const Tensor& tensor, std::vector<Range> region, DimPairs dims,
              const Program& program) {
  const Buffer& declared = call.intrin.buffers[call.inputs.size() + call.outputs.size()];
  check_variables(call, declared, program);
  const Buffer buffer =
      dims.are_the_last() ? declared : with_dims_of_region(declared, dims, call.values);
  const IntrinView view{buffer, tensor, std::move(region), std::move(dims)};
  if (const std::optional<std::string> reason = misfit(view, program)) call.refuse(*reason);
  for (std::optional<Stmt>* part : {&call.code.body, &call.code.reset, &call.code.update})
    if (*part) *part = on_view(**part, declared, view);
  (call.inputs.size() < call.intrin.inputs.size() ? call.inputs : call.outputs).push_back(view);
}

// ---- calls of tensorized stages -----------------------------------------------------------------

/// The range of every root axis in the loops from `depth` on, in terms of the loops around.
AxisRanges part_inside(const FrozenStage& stage, std::size_t depth, const Program& program) {
  AxisDomains domains;
  for (std::size_t n = 0; n < stage.leaf_iter_vars.size(); ++n) {
    const IterVar& leaf = stage.leaf_iter_vars[n];
    const Range& range = program.bounds[leaf];
    const bool is_around = n < depth && !is_one(range.extent);
    domains.set(leaf, is_around ? Interval::point(leaf.var()) : Interval::from_range(range));
  }
  pass_domains_up(stage.relations, program.bounds.ranges(), domains);
  AxisRanges part;
  for (const IterVar& axis : stage.op.root_iter_vars())
    part.set(axis, domains.at(axis).to_range(program.bounds[axis], Facts()));
  return part;
}

/// Checks that the loops inside compute all iterations of the box that the intrinsic computes. They
/// do if their product is that of the box. It may be larger if they overrun an axis.
void check_is_box(const IntrinCall& call, const FrozenStage& stage, const AxisRanges& part,
                  const Program& program) {
  Expr loops = make_int(Int(64), 1), box = loops;
  for (std::size_t n = call.depth; n < stage.leaf_iter_vars.size(); ++n)
    loops = loops * cast(Int(64), program.bounds[stage.leaf_iter_vars[n]].extent);
  for (const IterVar& axis : stage.op.root_iter_vars())
    box = box * cast(Int(64), part.at(axis).extent);
  loops = arith::simplify(loops, program.facts);
  box = arith::simplify(box, program.facts);
  if (arith::can_prove_equal(box, loops, program.facts) ||
      arith::can_prove(box <= loops, program.facts))
    return;
  const auto plain = [](const Expr& e) {
    const std::optional<std::int64_t> value = constant_int(e);
    return value ? std::to_string(*value) : print_expr(e);
  };
  call.refuse("the loops that it replaces have " + plain(loops) +
              " iterations, which are not contiguous in a box of " + plain(box) +
              "; move all loops of neighbouring iterations inside");
}

void check_loops(const IntrinCall& call, StageId id, const StageGraph& graph) {
  const FrozenStage& stage = graph.stage(id);
  for (std::size_t n = 0; n < stage.leaf_iter_vars.size(); ++n) {
    const IterVar& leaf = stage.leaf_iter_vars[n];
    const ThreadMark* bound = stage.thread_mark_of(leaf);
    if (leaf.kind() == IterKind::Reduce && bound)
      call.refuse(
          "axis `" + leaf.name() + "` of the reduction is bound to `" + bound->axis.name() +
          "`, but what an intrinsic computes cannot be summed up across threads; rfactor the axis "
          "first");
    if (n < call.depth) continue;
    if (bound)
      call.refuse("axis `" + leaf.name() + "` inside of it is bound to `" + bound->axis.name() +
                  "`, but the intrinsic is called by one thread");
    for (StageId attached : graph.attached_at(id, leaf))
      call.refuse(describe(graph.stage(attached)) + " is computed at axis `" + leaf.name() +
                  "`, which the intrinsic replaces; compute it further outside");
  }
}

IntrinCall call_of_tensorized(StageId id, std::size_t leaf, const Program& program,
                              const ComputeNest& nest) {
  const FrozenStage& stage = program.graph.stage(id);
  const IterVar& axis = stage.leaf_iter_vars[leaf];
  const TensorizeMark& mark = *stage.attributes_of(axis)->tensorize;
  const TensorIntrinNode& intrin = mark.intrin.node();
  IntrinCall call{intrin, leaf, leaf > nest.common,
                  "tensorize of " + describe(stage, axis) + " with intrinsic `" + intrin.name + "`",
                  mark.where};
  check_loops(call, id, program.graph);
  for (const Var& scalar : intrin.scalar_params)
    if (std::ranges::none_of(stage.op.body(),
                             [&](const Expr& body) { return uses_var(body, scalar); }))
      call.refuse("it takes the scalar `" + scalar.name() +
                  "`, which only a call in a tensor_compute provides; " + describe(stage) +
                  " has no such variable");
  const AxisRanges part = part_inside(stage, leaf, program);
  check_is_box(call, stage, part, program);
  Facts facts;
  for (const IterVar& loop : stage.leaf_iter_vars)
    facts.bind(loop.var(), program.bounds[loop], /*replace=*/true);
  const IntrinMatch match = match_intrin(stage.op, intrin, part, facts);
  if (!match.difference.empty())
    call.refuse("the two compute different things: " + match.difference);
  call.values = match.sizes;
  for (const MatchedInput& input : match.inputs)
    add_view(call, stage.op.inputs()[input.tensor], input.region, input.dims, program);
  std::vector<Range> region;
  for (const IterVar& root : stage.op.axis()) region.push_back(part.at(root));
  for (int k = 0; k < stage.op.num_outputs(); ++k)
    add_view(call, stage.op.output(k), region, match.output_dims, program);
  return call;
}

// ---- calls of operations on regions -------------------------------------------------------------

/// Adds the view of a region whose dimensions were compared when the operation was declared.
void add_declared_view(IntrinCall& call, const Tensor& tensor, const std::vector<Range>& region,
                       const Tensor& theirs, const Program& program) {
  Facts facts;
  std::vector<Expr> extents;
  for (const Range& range : region) extents.push_back(arith::simplify(range.extent, facts));
  const std::optional<DimPairs> pairs = pair_dims(extents, theirs.shape(), facts);
  if (!pairs)
    call.refuse("its region for `" + theirs.name() + "` of the intrinsic has other extents");
  for (std::size_t d = 0; d < extents.size(); ++d)
    if (pairs->theirs[d] && theirs.shape()[*pairs->theirs[d]].as<VarNode>())
      set(call.values, Var::of(theirs.shape()[*pairs->theirs[d]]), extents[d]);
  add_view(call, tensor, region, *pairs, program);
}

IntrinCall call_of(const TensorCompute& compute, StageId id, const Program& program) {
  const FrozenStage& stage = program.graph.stage(id);
  const TensorIntrinNode& intrin = *compute.intrin;
  IntrinCall call{intrin, stage.leaf_iter_vars.size(), !compute.reduce_axis.empty(),
                  "tensor_compute `" + stage.op.name() + "` with intrinsic `" + intrin.name + "`",
                  stage.op.where()};
  check_loops(call, id, program.graph);
  for (std::size_t n = 0; n < intrin.scalar_params.size(); ++n)
    set(call.values, intrin.scalar_params[n], compute.scalar_inputs[n]);
  for (std::size_t n = 0; n < compute.inputs.size(); ++n)
    add_declared_view(call, compute.inputs[n].tensor, compute.inputs[n].ranges, intrin.inputs[n],
                      program);
  std::vector<Range> region;
  for (std::size_t n = 0; n < compute.axis.size(); ++n) {
    const IterVar& axis = compute.axis[n];
    const bool is_loop = n < static_cast<std::size_t>(compute.schedulable_ndim);
    region.push_back(is_loop ? Range::from_min_extent(axis.var(), make_int(axis.var().dtype(), 1))
                             : *axis.dom());
  }
  for (int k = 0; k < stage.op.num_outputs(); ++k)
    add_declared_view(call, stage.op.output(k), region, intrin.op.output(k), program);
  return call;
}

}  // namespace

std::optional<std::size_t> tensorized_leaf(const FrozenStage& stage) {
  for (std::size_t n = 0; n < stage.leaf_iter_vars.size(); ++n)
    if (const auto* marks = stage.attributes_of(stage.leaf_iter_vars[n]); marks && marks->tensorize)
      return n;
  return std::nullopt;
}

IntrinCall make_intrin_call(StageId id, const Program& program, const ComputeNest& nest) {
  const FrozenStage& stage = program.graph.stage(id);
  if (const TensorCompute* compute = stage.op.as<TensorCompute>())
    return call_of(*compute, id, program);
  return call_of_tensorized(id, *tensorized_leaf(stage), program, nest);
}

}  // namespace tenon::te

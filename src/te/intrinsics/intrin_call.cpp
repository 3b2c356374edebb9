#include "te/intrinsics/intrin_call.h"

#include <algorithm>

#include "tenon/arith/simplify.h"
#include "tenon/tir/print.h"

namespace tenon::te {

using namespace tir;

std::optional<std::size_t> tensorized_leaf(const FrozenStage& stage) {
  for (std::size_t n = 0; n < stage.leaf_iter_vars.size(); ++n) {
    const AxisAttributes* attributes = stage.attributes_of(stage.leaf_iter_vars[n]);
    if (attributes && attributes->tensorize) return n;
  }
  return std::nullopt;
}

namespace {

// ---- the part that the loops inside compute -----------------------------------------------------

/// Returns the domains of the axes when outer loops are symbolic and inner loops take all their
/// values.
AxisDomains domains_inside(const FrozenStage& stage, std::size_t depth, const Program& program) {
  AxisDomains domains;
  for (std::size_t n = 0; n < stage.leaf_iter_vars.size(); ++n) {
    const IterVar& leaf = stage.leaf_iter_vars[n];
    const Range& range = program.bounds[leaf];
    if (is_one(range.extent)) {
      domains.set(leaf, Interval::point(range.min));
    } else {
      domains.set(leaf, n < depth ? Interval::point(leaf.var()) : Interval::from_range(range));
    }
  }
  pass_domains_up(stage.relations, program.bounds.ranges(), domains);
  return domains;
}

TensorizedPart part_inside(const FrozenStage& stage, std::size_t depth, const Program& program) {
  const AxisDomains domains = domains_inside(stage, depth, program);
  TensorizedPart part;
  for (const IterVar& axis : stage.op.root_iter_vars()) {
    const Range range = domains.at(axis).to_range(program.bounds[axis], Facts());
    part.axes.set(axis, range);
    part.values.set(axis.var(), domains.at(axis));
    part.facts.bind(axis.var(), range, /*replace=*/true);
  }
  return part;
}

/// Returns a number without its type.
std::string plain(const Expr& e) {
  const std::optional<std::int64_t> value = constant_int(e);
  return value ? std::to_string(*value) : print_expr(e);
}

/// Checks that the inner loops cover a box of iterations completely, as an intrinsic does: there
/// must be as many iterations as box elements, or more where a loop overshoots its axis.
void check_is_box(const IntrinCall& call, const FrozenStage& stage, const TensorizedPart& part,
                  const Program& program) {
  Expr loops = make_int(Int(64), 1), box = loops;
  for (std::size_t n = call.depth; n < stage.leaf_iter_vars.size(); ++n)
    loops = loops * cast(Int(64), program.bounds[stage.leaf_iter_vars[n]].extent);
  for (const IterVar& axis : stage.op.root_iter_vars())
    box = box * cast(Int(64), part.axes.at(axis).extent);
  loops = arith::simplify(loops, program.facts);
  box = arith::simplify(box, program.facts);
  if (arith::can_prove_equal(box, loops, program.facts) ||
      arith::can_prove(box <= loops, program.facts))
    return;
  call.refuse("the loops that it replaces have " + plain(loops) +
              " iterations, which lie apart in a box of " + plain(box) +
              "; move all loops of neighbouring iterations inside");
}

// ---- views --------------------------------------------------------------------------------------

/// Whether the variable occurs in the shape of a tensor of the program.
bool is_size(const Expr& var, const StageGraph& graph) {
  const auto uses = [&](const Expr& extent) { return uses_var(extent, Var::of(var)); };
  for (StageId id : graph.ids())
    for (int k = 0; k < graph.stage(id).op.num_outputs(); ++k) {
      const std::vector<Expr>& shape = graph.stage(id).op.output(k).shape();
      if (std::any_of(shape.begin(), shape.end(), uses)) return true;
    }
  return false;
}

/// Checks that the variables of a declared buffer are determined. A variable that is a stride or an
/// offset by itself is bound to the tensor's. Other expressions may only use variables of preceding
/// buffers and sizes of the program.
void check_can_be_told(const IntrinCall& call, const Buffer& declared, const Program& program) {
  const auto is_told = [&](const Expr& var) {
    if (call.values.contains(&var.node()) || is_size(var, program.graph)) return true;
    const auto stands_alone = [&](const Buffer& buffer) {
      const auto is_var = [&](const Expr& e) { return e.same_as(var); };
      return is_var(buffer->elem_offset) ||
             std::any_of(buffer->shape.begin(), buffer->shape.end(), is_var) ||
             std::any_of(buffer->strides.begin(), buffer->strides.end(), is_var);
    };
    const auto tells = [&](const IntrinView& view) { return stands_alone(view.buffer); };
    return std::any_of(call.inputs.begin(), call.inputs.end(), tells) ||
           std::any_of(call.outputs.begin(), call.outputs.end(), tells);
  };
  const auto check = [&](const Expr& e, const std::string& what) {
    if (e.as<VarNode>()) return;
    for (const Var& var : free_vars(e))
      if (!is_told(var))
        call.refuse(
            "its buffer `" + declared->name + "` has the " + what + " " + print_expr(e) +
            ", from which `" + var.name() +
            "` is not deduced; declare a variable by itself, with offset_factor for multiples");
  };
  check(declared->elem_offset, "offset");
  for (const Expr& stride : declared->strides) check(stride, "stride");
}

void add_view(IntrinCall& call, std::vector<IntrinView>& views, const Buffer& declared,
              const Tensor& tensor, std::vector<Range> region, DimPairs dims,
              const Program& program) {
  check_can_be_told(call, declared, program);
  IntrinView view =
      make_intrin_view(declared, tensor, std::move(region), std::move(dims), call.values);
  if (const std::optional<std::string> reason = misfit(view, program)) call.refuse(*reason);
  for (std::optional<Stmt>* part : {&call.code.body, &call.code.reset, &call.code.update})
    if (*part) *part = on_view(**part, declared, view);
  views.push_back(std::move(view));
}

void check_loops(const IntrinCall& call, StageId id, const StageGraph& graph) {
  const FrozenStage& stage = graph.stage(id);
  for (const IterVar& leaf : stage.leaf_iter_vars) {
    const ThreadMark* bound = stage.thread_mark_of(leaf);
    if (leaf.kind() == IterKind::Reduce && bound)
      call.refuse(
          "axis `" + leaf.name() + "` of the reduction is bound to `" + bound->axis.name() +
          "`, but what an intrinsic computes cannot be summed up across threads; rfactor the axis first");
  }
  for (std::size_t n = call.depth; n < stage.leaf_iter_vars.size(); ++n) {
    const IterVar& leaf = stage.leaf_iter_vars[n];
    if (const ThreadMark* bound = stage.thread_mark_of(leaf))
      call.refuse("axis `" + leaf.name() + "` inside of it is bound to `" + bound->axis.name() +
                  "`, but the intrinsic is called by one thread");
    for (StageId attached : graph.attached_at(id, leaf))
      call.refuse(describe(graph.stage(attached)) + " is computed at axis `" + leaf.name() +
                  "`, which the intrinsic replaces; compute it further outside");
  }
}

std::vector<Expr> extents_of(const std::vector<Range>& region, const Facts& facts) {
  std::vector<Expr> extents;
  for (const Range& range : region) extents.push_back(arith::simplify(range.extent, facts));
  return extents;
}

/// Pairs the dimensions of an operation's region with those of the declared tensor.
DimPairs declared_pairs(IntrinCall& call, const std::vector<Range>& region, const Tensor& theirs) {
  Facts facts;
  const std::vector<Expr> extents = extents_of(region, facts);
  const std::optional<DimPairs> pairs = pair_dims(extents, theirs.shape(), facts);
  if (!pairs)
    call.refuse("its region for `" + theirs.name() + "` of the intrinsic has other extents");
  for (std::size_t d = 0; d < extents.size(); ++d)
    if (pairs->theirs[d] && theirs.shape()[*pairs->theirs[d]].as<VarNode>())
      set(call.values, Var::of(theirs.shape()[*pairs->theirs[d]]), extents[d]);
  return *pairs;
}

}  // namespace

IntrinCall match_tensorized(StageId id, std::size_t leaf, const Program& program,
                            const ComputeNest& nest) {
  const FrozenStage& stage = program.graph.stage(id);
  const IterVar& axis = stage.leaf_iter_vars[leaf];
  const TensorizeMark& mark = *stage.attributes_of(axis)->tensorize;
  const TensorIntrinNode& intrin = mark.intrin.node();
  IntrinCall call{intrin,
                  leaf,
                  {},
                  {},
                  intrin.body,
                  {},
                  leaf > nest.common,
                  "tensorize of " + describe(stage, axis) + " with intrinsic `" + intrin.name + "`",
                  mark.where};
  check_loops(call, id, program.graph);
  for (const Var& scalar : intrin.scalar_params)
    if (std::none_of(stage.op.body().begin(), stage.op.body().end(),
                     [&](const Expr& body) { return uses_var(body, scalar); }))
      call.refuse("it takes the scalar `" + scalar.name() +
                  "`, which a call in a tensor_compute would give; " + describe(stage) +
                  " has no such variable");

  const TensorizedPart part = part_inside(stage, leaf, program);
  check_is_box(call, stage, part, program);
  Facts facts;
  for (const IterVar& loop : stage.leaf_iter_vars)
    facts.bind(loop.var(), program.bounds[loop], /*replace=*/true);
  const IntrinMatch match = match_intrin(stage.op, intrin, part, facts);
  if (!match.difference.empty())
    call.refuse("the two compute different things: " + match.difference);
  call.values = match.sizes;

  for (std::size_t n = 0; n < intrin.inputs.size(); ++n) {
    const MatchedInput& input = match.inputs[n];
    add_view(call, call.inputs, intrin.buffers[n], stage.op.inputs()[input.tensor], input.region,
             input.dims, program);
  }
  std::vector<Range> region;
  for (const IterVar& root : stage.op.axis()) region.push_back(part.axes.at(root));
  for (int k = 0; k < stage.op.num_outputs(); ++k)
    add_view(call, call.outputs, intrin.buffers[intrin.inputs.size() + static_cast<std::size_t>(k)],
             stage.op.output(k), region, match.output_dims, program);
  return call;
}

IntrinCall call_of(StageId id, const Program& program) {
  const FrozenStage& stage = program.graph.stage(id);
  const TensorCompute& compute = *stage.op.as<TensorCompute>();
  const TensorIntrinNode& intrin = *compute.intrin;
  IntrinCall call{intrin,
                  stage.leaf_iter_vars.size(),
                  {},
                  {},
                  intrin.body,
                  {},
                  !compute.reduce_axis.empty(),
                  "tensor_compute `" + stage.op.name() + "` with intrinsic `" + intrin.name + "`",
                  stage.op.where()};
  check_loops(call, id, program.graph);
  for (std::size_t n = 0; n < intrin.scalar_params.size(); ++n)
    set(call.values, intrin.scalar_params[n], compute.scalar_inputs[n]);
  for (std::size_t n = 0; n < compute.inputs.size(); ++n) {
    const TensorRegion& input = compute.inputs[n];
    add_view(call, call.inputs, intrin.buffers[n], input.tensor, input.ranges,
             declared_pairs(call, input.ranges, intrin.inputs[n]), program);
  }
  std::vector<Range> region;
  for (std::size_t n = 0; n < compute.axis.size(); ++n) {
    const IterVar& axis = compute.axis[n];
    const bool is_loop = n < static_cast<std::size_t>(compute.schedulable_ndim);
    region.push_back(is_loop ? Range::from_min_extent(axis.var(), make_int(axis.var().dtype(), 1))
                             : *axis.dom());
  }
  for (int k = 0; k < stage.op.num_outputs(); ++k)
    add_view(call, call.outputs, intrin.buffers[intrin.inputs.size() + static_cast<std::size_t>(k)],
             stage.op.output(k), region, declared_pairs(call, region, intrin.op.output(k)),
             program);
  return call;
}

}  // namespace tenon::te

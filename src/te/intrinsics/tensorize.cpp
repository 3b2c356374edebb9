#include "te/intrinsics/tensorize.h"

#include <algorithm>
#include <array>

#include "te/loops/compute_nest.h"
#include "te/operations/body.h"
#include "te/relations/propagate.h"
#include "tenon/arith/simplify.h"
#include "tenon/support/element_differs.h"
#include "tenon/tir/fresh_copy.h"
#include "tenon/tir/print.h"

namespace tenon::te {

using namespace tir;

namespace {

// One call of a tensor intrinsic in a stage: the loops that it replaces, and the region of each
// tensor that its buffers view.

/// A region of a tensor that is viewed as a buffer of the intrinsic. The region of an input is in
/// the layout in which the tensor is stored.
struct IntrinView {
  /// The intrinsic's declared buffer, if the intrinsic has the last dimensions of the region.
  /// Otherwise a buffer with all dimensions of the region. A dimension that the intrinsic lacks has
  /// extent 1.
  tir::Buffer buffer;
  Tensor tensor;
  std::vector<Range> region;
  DimPairs dims;

  /// Converts an index of the intrinsic's tensor to an index of `buffer`.
  std::vector<Expr> index(const std::vector<Expr>& theirs) const;
  /// Converts an index of the intrinsic's tensor to an index of `tensor`.
  std::vector<Expr> index_of_tensor(const std::vector<Expr>& theirs) const;
};

struct IntrinCall {
  const TensorIntrinNode& intrin;
  /// The number of the stage's outermost loops that the call does not replace.
  std::size_t depth;
  /// Whether some loops of the reduction are around the call.
  bool is_split_reduction;
  /// "tensorize of axis `j` of stage `C` with intrinsic `vadd`", for messages.
  std::string what;
  SourceLocation where;
  /// The views of the intrinsic's inputs and outputs, in the intrinsic's order.
  std::vector<IntrinView> inputs = {}, outputs = {};
  /// The intrinsic's code, which accesses the buffers of the views.
  TensorIntrinBody code = intrin.body;
  /// The values of variables that the intrinsic declares, such as sizes and strides.
  tir::VarMap values = {};

  [[noreturn]] void refuse(const std::string& text) const {
    throw ScheduleError(what + ": " + text, where);
  }
};

// ---- views --------------------------------------------------------------------------------------

std::vector<Expr> IntrinView::index(const std::vector<Expr>& theirs) const {
  if (are_the_last(dims, theirs.size())) return theirs;
  std::vector<Expr> result;
  for (const std::optional<std::size_t>& partner : dims)
    result.push_back(partner ? theirs[*partner] : Expr(0));
  return result;
}

std::vector<Expr> IntrinView::index_of_tensor(const std::vector<Expr>& theirs) const {
  std::vector<Expr> result;
  for (std::size_t d = 0; d < region.size(); ++d)
    result.push_back(dims[d] ? region[d].min + theirs[*dims[d]] : region[d].min);
  return result;
}

/// Returns a buffer like `declared`, but with the dimensions of the region. If the region lacks a
/// dimension, its stride variable gets a value, because the code may use the variable.
Buffer with_dims_of_region(const Buffer& declared, const DimPairs& dims, VarMap& values) {
  BufferNode node = *declared.get();
  node.shape.clear();
  node.strides.clear();
  node.axis_separators.clear();
  const bool is_strided = !declared->strides.empty();
  for (const std::optional<std::size_t>& partner : dims) {
    node.shape.push_back(partner ? declared->shape[*partner] : Expr(1));
    // A dimension of one element may have any stride.
    if (is_strided)
      node.strides.push_back(partner ? declared->strides[*partner] : Expr(Var("stride")));
  }
  for (std::size_t t = declared->strides.size(); t-- > 0;) {
    const bool is_paired = std::ranges::find(dims, std::optional(t)) != dims.end();
    if (is_paired || !declared->strides[t].as<VarNode>()) continue;
    const bool is_last = t + 1 == declared->shape.size();
    set(values, Var::of(declared->strides[t]),
        is_last ? Expr(1) : declared->strides[t + 1] * declared->shape[t + 1]);
  }
  return make_buffer(std::move(node));
}

/// Returns the code with accesses to the declared buffer replaced by accesses to the view's buffer.
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

using Strides = std::optional<std::vector<Expr>>;

/// Returns the layout of the memory that contains a tensor: the tensor index of the first element
/// in the memory, the strides (nullopt if a later compilation step chooses them) and the scope.
std::tuple<std::vector<Expr>, Strides, StorageScope> memory_of(const Tensor& tensor,
                                                               std::size_t rank,
                                                               const Program& program) {
  std::vector<Expr> origin(rank, Expr(0));
  const std::optional<StageId> id = program.graph.find(tensor.op());
  const bool has_layout = id && program.graph.stage(*id).layout;
  if (program.buffers.is_argument(tensor)) {
    const Buffer buffer = program.buffers.buffer_of(tensor);
    Strides strides;
    if (!has_layout)
      strides = buffer->strides.empty() ? compact_strides(buffer->shape) : buffer->strides;
    return {std::move(origin), std::move(strides), buffer->scope()};
  }
  if (!id) return {std::move(origin), std::nullopt, StorageScope::Global};
  const FrozenStage& stage = program.graph.stage(*id);
  if (stage.op.axis().size() != tensor.shape().size())
    return {std::move(origin), std::nullopt, stage.scope};
  std::vector<Range> box;
  for (const IterVar& axis : stage.op.axis()) box.push_back(program.bounds[axis]);
  if (has_layout) box = image_of(*stage.layout, box);
  std::vector<Expr> extents;
  for (std::size_t d = 0; d < rank; ++d) {
    origin[d] = box[d].min;
    extents.push_back(box[d].extent);
  }
  const bool is_padded = std::ranges::any_of(
      stage.attributes, [](const auto& entry) { return entry.second.align.has_value(); });
  return {std::move(origin), is_padded ? std::nullopt : Strides(compact_strides(extents)),
          stage.scope};
}

/// Returns the reason why the buffer cannot view the region, with a remedy; nullopt if no reason is
/// known.
std::optional<std::string> misfit(const IntrinView& view, const Program& program) {
  const Buffer& buffer = view.buffer;
  const std::string tensor = "`" + view.tensor.name() + "`",
                    name = "its buffer `" + buffer->name + "`";
  const auto [origin, strides_in_memory, scope] =
      memory_of(view.tensor, view.region.size(), program);
  if (const std::optional<PointerType>& pointer = buffer->data.as<VarNode>()->pointer;
      pointer && pointer->scope && *pointer->scope != scope)
    return name + " is declared in scope \"" + std::string(to_string(*pointer->scope)) +
           "\", but " + tensor + " is kept in \"" + std::string(to_string(scope)) + "\"";
  const bool is_compact = buffer->strides.empty();
  const std::vector<Expr> strides = is_compact ? compact_strides(buffer->shape) : buffer->strides;
  const std::size_t missing = view.region.size() - std::min(view.region.size(), strides.size());
  for (std::size_t d = 0; d < view.region.size(); ++d) {
    const Expr begin = view.region[d].min - origin[d];
    if (is_zero(buffer->elem_offset) && !arith::can_prove_equal(begin, 0, program.facts))
      return name + " has no offset, but is bound to a part of " + tensor + " that begins at " +
             print_expr(arith::simplify(begin, program.facts)) + " of dimension " +
             std::to_string(d) + "; declare it with offset_factor = 1";
    if (!strides_in_memory || !view.dims[d] || d < missing) continue;
    const Expr &declared = strides[d - missing], &actual = (*strides_in_memory)[d];
    if (declared.as<VarNode>() || is_one(arith::simplify(view.region[d].extent, program.facts)))
      continue;
    if (is_false(arith::simplify(declared == actual, program.facts)))
      return name + (is_compact ? " is compact, so" : " declares strides, so") +
             " adjacent elements of its dimension " + std::to_string(*view.dims[d]) + " are " +
             print_expr(declared) + " elements apart, but in " + tensor + " the distance is " +
             print_expr(arith::simplify(actual, program.facts)) +
             "; declare the stride as a variable: {.strides = {te::var(\"s\"), ...}}";
  }
  return std::nullopt;
}

/// Whether the variable occurs in the shape of a tensor of the schedule.
bool is_size(const Expr& var, const StageGraph& graph) {
  const auto uses = [&](const Expr& extent) { return uses_var(extent, Var::of(var)); };
  for (StageId id : graph.ids())
    for (const Tensor& output : outputs_of(graph.stage(id).op))
      if (std::ranges::any_of(output.shape(), uses)) return true;
  return false;
}

/// Checks that the buffer's offset and strides determine their variables. An offset or stride that
/// is a single variable gets its value from the tensor. Any other expression may use variables of
/// preceding buffers and sizes of the program.
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
  const Buffer buffer = are_the_last(dims, declared->shape.size())
                            ? declared
                            : with_dims_of_region(declared, dims, call.values);
  const IntrinView view{buffer, tensor, std::move(region), std::move(dims)};
  if (const std::optional<std::string> reason = misfit(view, program)) call.refuse(*reason);
  for (std::optional<Stmt>* part : {&call.code.body, &call.code.reset, &call.code.update})
    if (*part) *part = on_view(**part, declared, view);
  (call.inputs.size() < call.intrin.inputs.size() ? call.inputs : call.outputs).push_back(view);
}

// ---- calls of tensorized stages -----------------------------------------------------------------

/// Returns the range that every root axis takes in one iteration of the outermost `depth` loops, in
/// terms of these loops. `ranges` has the ranges of these loops.
AxisRanges part_inside(const FrozenStage& stage, std::size_t depth, const AxisRanges& ranges,
                       const Program& program) {
  AxisDomains domains;
  for (std::size_t n = 0; n < stage.leaf_iter_vars.size(); ++n) {
    const IterVar& leaf = stage.leaf_iter_vars[n];
    const Range& range = n < depth ? ranges.at(leaf) : program.bounds[leaf];
    const bool is_around = n < depth && !is_one(range.extent);
    domains.set(leaf, is_around ? Interval::point(leaf.var()) : Interval::from_range(range));
  }
  pass_domains_up(stage.relations, ranges, domains);
  AxisRanges part;
  for (const IterVar& axis : stage.op.root_iter_vars())
    part.set(axis, domains.at(axis).to_range(ranges.at(axis), Facts()));
  return part;
}

/// Checks that the replaced loops compute the whole box that the intrinsic computes. They must have
/// at least as many iterations as the box has elements. They have more if they overrun an axis.
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
  call.refuse("the loops that it replaces have " + plain_text(loops) +
              " iterations, but they span a box of " + plain_text(box) +
              "; move the loops over all adjacent iterations inside");
}

void check_loops(const IntrinCall& call, StageId id, const StageGraph& graph) {
  const FrozenStage& stage = graph.stage(id);
  for (std::size_t n = 0; n < stage.leaf_iter_vars.size(); ++n) {
    const IterVar& leaf = stage.leaf_iter_vars[n];
    const ThreadMark* bound = stage.thread_mark_of(leaf);
    if (leaf.kind() == IterKind::Reduce && bound)
      call.refuse(
          "axis `" + leaf.name() + "` of the reduction is bound to `" + bound->axis.name() +
          "`, but results of an intrinsic cannot be reduced across threads; rfactor the axis first");
    if (n < call.depth) continue;
    if (bound)
      call.refuse("axis `" + leaf.name() + "` inside of it is bound to `" + bound->axis.name() +
                  "`, but the intrinsic is called by one thread");
    for (StageId attached : graph.attached_at(id, leaf))
      call.refuse(describe(graph.stage(attached)) + " is computed at axis `" + leaf.name() +
                  "`, which the intrinsic replaces; compute it further outside");
  }
}

/// Returns the operation without its reduction's condition.
Operation without_condition(const Operation& op) {
  const Compute& compute = *op.as<Compute>();
  ReduceNode reduction = *compute.reduction();
  reduction.condition = make_true();
  const auto shared = std::make_shared<const ReduceNode>(std::move(reduction));
  std::vector<Expr> bodies;
  for (std::size_t k = 0; k < compute.body.size(); ++k)
    bodies.push_back(make_reduce(shared, static_cast<int>(k)));
  return make_operation(op.name(), op.tag(),
                        Compute{compute.axis, compute.reduce_axis, std::move(bodies)}, op.where(),
                        op.attrs());
}

/// Returns an operation whose reads are expressed in the layouts in which its inputs are stored,
/// and the original tensor for each of its inputs, which may be placeholders for stored layouts.
std::pair<Operation, std::vector<Tensor>> with_stored_reads(const Operation& op,
                                                            const Program& program) {
  std::vector<std::pair<Tensor, Tensor>> stored;
  const auto stored_of = [&](const Tensor& tensor, const Buffer& buffer) {
    for (const auto& [known, placeholder] : stored)
      if (known.same_as(tensor)) return placeholder;
    stored.emplace_back(tensor, te::placeholder(buffer->shape, tensor.name(), tensor.dtype()));
    return stored.back().second;
  };
  const auto replace = [&](const ProducerLoad& load) -> std::optional<Expr> {
    const Tensor tensor = Tensor::of(load);
    const std::optional<Buffer> buffer = program.buffers.stored_buffer_of(tensor);
    if (!buffer) return std::nullopt;
    const FrozenStage& stage = program.graph.stage(*program.graph.find(tensor.op()));
    return make_producer_load(stored_of(tensor, *buffer).producer(),
                              moved(*stage.layout, load.indices));
  };
  const Compute& compute = *op.as<Compute>();
  ExprMemo done;
  std::vector<Expr> bodies =
      map_bodies(compute.body, [&](const Expr& e) { return rewrite_loads(e, replace, done); });
  if (stored.empty()) return {op, op.inputs()};
  const Operation result = make_operation(
      op.name(), op.tag(), Compute{compute.axis, compute.reduce_axis, std::move(bodies)},
      op.where(), op.attrs());
  std::vector<Tensor> originals;
  for (const Tensor& input : result.inputs()) {
    const auto found = std::ranges::find_if(
        stored, [&](const auto& entry) { return entry.second.same_as(input); });
    originals.push_back(found == stored.end() ? input : found->first);
  }
  return {result, std::move(originals)};
}

IntrinCall call_of_tensorized(StageId id, std::size_t leaf, const Program& program,
                              const ComputeNest& nest) {
  const FrozenStage& stage = program.graph.stage(id);
  const IterVar& axis = stage.leaf_iter_vars[leaf];
  const AxisAttributes& attributes = *stage.attributes_of(axis);
  const TensorIntrinNode& intrin = attributes.tensorize->node();
  IntrinCall call{intrin, leaf, leaf > nest.common,
                  "tensorize of " + describe(stage, axis) + " with intrinsic `" + intrin.name + "`",
                  attributes.tensorize_where};
  check_loops(call, id, program.graph);
  for (const Var& scalar : intrin.scalar_params)
    if (std::ranges::none_of(stage.op.body(),
                             [&](const Expr& body) { return uses_var(body, scalar); }))
      call.refuse("it takes the scalar `" + scalar.name() +
                  "`, which a call in a tensor_compute would give; " + describe(stage) +
                  " has no such variable");
  const AxisRanges part = part_inside(
      stage, leaf, nest.with_a_step ? *nest.with_a_step : program.bounds.ranges(), program);
  check_is_box(call, stage, part, program);
  Facts facts;
  for (const IterVar& loop : stage.leaf_iter_vars)
    facts.bind(loop.var(), program.bounds[loop], /*replace=*/true);
  const auto [op, tensors] =
      with_stored_reads(nest.skips_condition ? without_condition(stage.op) : stage.op, program);
  const auto overruns = [&, &tensors = tensors](std::size_t input, std::size_t dim) {
    const std::optional<StageId> producer = program.graph.find(tensors[input].op());
    if (!producer) return false;
    const FrozenStage& made = program.graph.stage(*producer);
    if (!made.op.as<Compute>()) return false;
    // In a transformed layout, each stored dimension may depend on any dimension of the tensor.
    const std::vector<IterVar>& axes = made.op.axis();
    return made.layout
               ? std::ranges::any_of(axes, [&](const IterVar& x) { return made.rounds_up(x); })
               : made.rounds_up(axes[dim]);
  };
  const IntrinMatch match = match_intrin(op, intrin, part, facts, overruns);
  if (!match.difference.empty())
    call.refuse("the two compute different things: " + match.difference);
  call.values = match.sizes;
  for (const auto& [input, part_of_input, dims] : match.inputs)
    add_view(call, tensors[input], part_of_input, dims, program);
  std::vector<Range> region;
  for (const IterVar& root : stage.op.axis()) region.push_back(part.at(root));
  for (const Tensor& output : outputs_of(stage.op))
    add_view(call, output, region, match.output_dims, program);
  return call;
}

// ---- calls of operations on regions -------------------------------------------------------------

/// Adds the view of a region of a tensor_compute, whose shape was checked at its declaration.
void add_declared_view(IntrinCall& call, const Tensor& tensor, const std::vector<Range>& region,
                       const Tensor& theirs, const Program& program) {
  if (call.inputs.size() < call.intrin.inputs.size() && program.buffers.stored_buffer_of(tensor))
    call.refuse("the layout of `" + tensor.name() +
                "` is transformed, but the region of a tensor_compute is in the original layout");
  Facts facts;
  std::vector<Expr> extents;
  for (const Range& range : region) extents.push_back(arith::simplify(range.extent, facts));
  const std::optional<DimPairs> pairs = pair_dims(extents, theirs.shape(), facts);
  if (!pairs)
    call.refuse("its region for `" + theirs.name() + "` of the intrinsic has other extents");
  for (std::size_t d = 0; d < extents.size(); ++d)
    if (const auto partner = (*pairs)[d]; partner && theirs.shape()[*partner].as<VarNode>())
      set(call.values, Var::of(theirs.shape()[*partner]), extents[d]);
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

/// Returns the index of the leaf that is marked as tensorized; nullopt if no leaf is marked.
std::optional<std::size_t> tensorized_leaf(const FrozenStage& stage) {
  for (std::size_t n = 0; n < stage.leaf_iter_vars.size(); ++n)
    if (const auto* marks = stage.attributes_of(stage.leaf_iter_vars[n]); marks && marks->tensorize)
      return n;
  return std::nullopt;
}

/// Makes the call of a tensorized stage or of a tensor_compute. Throws ScheduleError if the
/// intrinsic does not compute what the stage computes, or if its buffers cannot view the regions.
IntrinCall make_intrin_call(StageId id, const Program& program, const ComputeNest& nest) {
  const FrozenStage& stage = program.graph.stage(id);
  if (const TensorCompute* compute = stage.op.as<TensorCompute>())
    return call_of(*compute, id, program);
  return call_of_tensorized(id, *tensorized_leaf(stage), program, nest);
}

// The debug check of tensor intrinsics. Next to each call, loops compute what the intrinsic
// declares to compute. The first element that differs is reported as an error.
//
//   gemv_update(C, A, B)   ->   expected = C; loops on expected, A and B; gemv_update(C, A, B);
//                               for each element: if C and expected differ, report it

enum class IntrinPart : std::uint8_t { Body, Reset, Update };

/// Returns the relative tolerance for sums of reordered terms. It is also used as absolute
/// tolerance.
double tolerance_of(DataType type) {
  if (type.bits >= 64) return 1e-9;
  return type.bits >= 32 ? 1e-3 : 5e-2;
}

Expr is_same(const Expr& actual, const Expr& expected) {
  if (!actual.dtype().is_floating()) return actual == expected;
  const Expr x = cast(Float(64), actual), y = cast(Float(64), expected);
  const Expr tolerance = make_float(Float(64), tolerance_of(actual.dtype()));
  const Expr is_near = abs(x - y) <= tolerance + tolerance * abs(y);
  // The difference of two infinities or NaNs is NaN, so equal ones are tested separately.
  return is_near || x == y || (x != x && y != y);
}

/// Returns the headers of a loop nest over the axes, and its loop variables, which are fresh.
std::pair<LoopHeaders, std::vector<Expr>> loops_over(
    const std::vector<IterVar>& axes, const std::function<Expr(const Expr&)>& lowered) {
  LoopHeaders headers;
  std::vector<Expr> vars;
  for (const IterVar& axis : axes) {
    const Var var = axis.var().fresh();
    headers.push_back(make_stmt(For{var, lowered(axis.dom()->min), lowered(axis.dom()->extent),
                                    ForKind::Serial, make_nop()}));
    vars.push_back(var);
  }
  return {std::move(headers), std::move(vars)};
}

void set_all(VarMap& map, const std::vector<IterVar>& axes, const std::vector<Expr>& values) {
  for (std::size_t n = 0; n < axes.size(); ++n) set(map, axes[n].var(), values[n]);
}

/// The check of one part of a call. Floats may differ as much as reordered sums do.
class Check {
 public:
  /// `what` is the beginning of the report, such as "intrinsic `gemv` of stage `C`". `lowered`
  /// lowers expressions at this point of the program.
  Check(const IntrinCall& call, IntrinPart part, const std::string& what,
        const std::function<Expr(const Expr&)>& lowered, const Program& program)
      : call_(call),
        part_(part),
        what_(what),
        op_(*call.intrin.op.as<Compute>()),
        lowered_([&](const Expr& e) { return lowered(substitute(e, call.values)); }),
        program_(program) {
    for (const Tensor& output : outputs_of(call.intrin.op)) {
      std::vector<Expr> shape;
      for (const Expr& extent : output.shape()) shape.push_back(lowered_(extent));
      expected_.push_back(
          decl_buffer(std::move(shape), output.dtype(), {.name = output.name() + ".expected"}));
    }
  }

  /// Returns `code`, the part of the call that is inside its views, with the check around it.
  Stmt around(const Stmt& code) const {
    std::vector<Stmt> all;
    if (op_.reduction()) all.push_back(start_values());
    if (part_ != IntrinPart::Reset) all.push_back(computation());
    all.push_back(code);
    for (std::size_t k = 0; k < expected_.size(); ++k) all.push_back(comparison(k));
    Stmt result = make_seq(std::move(all));
    for (const Buffer& buffer : expected_)
      result = make_stmt(Realize{buffer, whole_region(buffer->shape), make_true(), result});
    return result;
  }

 private:
  /// Returns the element of output `k` that the intrinsic has written.
  Expr actual(std::size_t k, const std::vector<Expr>& index) const {
    return make_load(program_.buffers.buffer_of(call_.outputs[k].tensor), place(k, index));
  }
  std::vector<Expr> place(std::size_t k, const std::vector<Expr>& index) const {
    std::vector<Expr> indices;
    for (const Expr& of_tensor : call_.outputs[k].index_of_tensor(index))
      indices.push_back(lowered_(of_tensor));
    return indices;
  }

  /// Stores the values with which the reduction starts: the old values for an update, otherwise the
  /// start values.
  Stmt start_values() const {
    const ReduceNode& reduction = *op_.reduction();
    const std::vector<Expr>& starts =
        reduction.init.empty() ? reduction.combiner->identity : reduction.init;
    const auto [headers, index] = loops_over(op_.axis, lowered_);
    VarMap vars;
    set_all(vars, op_.axis, index);
    std::vector<Stmt> stores;
    for (std::size_t k = 0; k < expected_.size(); ++k)
      stores.push_back(make_store(
          expected_[k], part_ == IntrinPart::Update ? actual(k, index) : on_views(starts[k], vars),
          index));
    return wrap(headers, make_seq(std::move(stores)));
  }

  Stmt computation() const {
    const auto [headers, index] = loops_over(op_.axis, lowered_);
    const auto [inner_headers, steps] = loops_over(op_.reduce_axis, lowered_);
    VarMap vars;
    set_all(vars, op_.axis, index);
    set_all(vars, op_.reduce_axis, steps);
    const auto lowered = [&](const Expr& e) { return on_views(e, vars); };
    const ReduceNode* reduction = op_.reduction();
    std::vector<Expr> old, values;
    for (std::size_t k = 0; k < expected_.size(); ++k) {
      old.push_back(make_load(expected_[k], index));
      values.push_back(lowered(reduction ? reduction->source[k] : op_.body[k]));
    }
    if (reduction) values = combine(*map_reducer(reduction->combiner, lowered), old, values);
    Stmt stores = store_together(expected_, std::move(values), index);
    const Expr condition = reduction ? lowered(reduction->condition) : make_true();
    if (!is_true(condition)) stores = make_stmt(If{condition, stores, std::nullopt});
    return wrap(headers, wrap(inner_headers, stores));
  }

  /// Reports, lane by lane, each element of an output that differs from the expected one.
  Stmt comparison(std::size_t k) const {
    const auto [headers, index] = loops_over(op_.axis, lowered_);
    const Expr is = actual(k, index), should_be = make_load(expected_[k], index);
    const DataType type = is.dtype(), wide = type.is_floating() ? Float(64) : Int(64);
    constexpr std::array<const char*, 3> kNames{"body", "reset", "update"};
    std::vector<Stmt> lanes;
    for (int l = 0; l < type.lanes; ++l) {
      const auto lane = [&](const Expr& e) {
        return type.is_scalar() ? e : make_shuffle({e}, {l});
      };
      const std::string what = what_ + " (" + kNames[static_cast<std::size_t>(part_)] + ")" +
                               (type.is_scalar() ? "" : ", lane " + std::to_string(l));
      std::vector<Expr> arguments{make_string(std::string(kElementDiffers)), make_string(what),
                                  cast(wide, lane(is)), cast(wide, lane(should_be))};
      for (const Expr& at : place(k, index)) arguments.push_back(at);
      const Stmt report =
          make_evaluate(make_call(Int(32), Intrin::tvm_call_packed, std::move(arguments)));
      lanes.push_back(make_stmt(If{!is_same(lane(is), lane(should_be)), report, std::nullopt}));
    }
    return wrap(headers, make_seq(std::move(lanes)));
  }

  /// Returns the intrinsic's expression with its reads replaced by loads from the views.
  Expr on_views(const Expr& e, const VarMap& vars) const {
    const Expr loads = rewrite(
        substitute(e, vars), [&](const ProducerLoad& load, const Expr&) -> std::optional<Expr> {
          const IntrinView& view = call_.inputs[index_of_input(load, call_.intrin.inputs)];
          return make_load(view.buffer, view.index(load.indices));
        });
    return lowered_(loads);
  }

  const IntrinCall& call_;
  const IntrinPart part_;
  const std::string& what_;
  const Compute& op_;
  /// Substitutes the values of the intrinsic's variables in an expression, and lowers it.
  const std::function<Expr(const Expr&)> lowered_;
  const Program& program_;
  std::vector<Buffer> expected_;
};

/// Appends the positions of the leaves that derive from an axis, from the slowest to the fastest.
/// Returns false if a relation is not a split, fuse or rebase.
bool append_leaves(const FrozenStage& stage, const IterVar& axis,
                   std::vector<std::ptrdiff_t>& leaves) {
  const auto leaf = std::ranges::find_if(stage.leaf_iter_vars,
                                         [&](const IterVar& other) { return other.same_as(axis); });
  if (leaf != stage.leaf_iter_vars.end()) {
    leaves.push_back(leaf - stage.leaf_iter_vars.begin());
    return true;
  }
  for (const Relation& relation : stage.relations) {
    if (const Split* split = std::get_if<Split>(&relation); split && split->parent.same_as(axis))
      return append_leaves(stage, split->outer, leaves) &&
             append_leaves(stage, split->inner, leaves);
    if (const Fuse* fuse = std::get_if<Fuse>(&relation);
        fuse && (fuse->outer.same_as(axis) || fuse->inner.same_as(axis)))
      return append_leaves(stage, fuse->fused, leaves);
    if (const Rebase* rebase = std::get_if<Rebase>(&relation);
        rebase && rebase->parent.same_as(axis))
      return append_leaves(stage, rebase->rebased, leaves);
  }
  return false;
}

/// The guards around a call of an intrinsic. Guards in `outside` depend only on the loops around
/// the call. Guards in `inside` also depend on the replaced loops and may fail in some of their
/// iterations.
struct GuardParts {
  std::vector<Expr> outside, inside;
  /// The condition that all guards in `inside` hold in all iterations of the replaced loops.
  /// Nullopt if `inside` is empty.
  std::optional<Expr> whole;
};

// ---- statements ---------------------------------------------------------------------------------

class BodyMaker {
 public:
  BodyMaker(StageId id, const Program& program, const ComputeNest& nest, const IntrinCall& call)
      : stage_(program.graph.stage(id)),
        program_(program),
        nest_(nest),
        call_(call),
        main_(split(nest.main_guards, nest.main)) {
    if (nest.init) init_ = split(nest.init_guards, *nest.init);
  }

  std::pair<Stmt, std::optional<Stmt>> make() const {
    if (!call_.is_split_reduction)
      return {main_part(whole_body(), [&] { return loops_of_all(); }), std::nullopt};
    if (call_.code.reset)
      return {main_part(update(), [&] { return loops_of_update(); }), init_part()};
    const auto loops = [&] { return make_seq({first_loops_of_init(), loops_of_update()}); };
    return {main_part(body_first(), loops), init_where_empty()};
  }

 private:
  // ---- guards

  GuardParts split(const std::vector<Expr>& guards, const LoopNest& nest) const {
    const auto is_inside = [&](const Expr& var) {
      return std::any_of(nest.levels.begin() + static_cast<std::ptrdiff_t>(call_.depth),
                         nest.levels.end(),
                         [&](const LoopHeaders& level) { return defines(level, var); });
    };
    GuardParts parts;
    for (const Expr& guard : guards) {
      if (!uses_var(guard, is_inside)) {
        parts.outside.push_back(guard);
        continue;
      }
      const Expr holds = always_inside(guard, nest);
      parts.inside.push_back(guard);
      parts.whole = parts.whole ? *parts.whole && holds : holds;
    }
    return parts;
  }

  /// Returns the condition under which `condition` holds in all iterations of the replaced loops.
  /// The result depends only on the loops around the call.
  Expr always_inside(const Expr& condition, const LoopNest& nest) const {
    const Call* hinted = as_call(condition, Intrin::likely);
    const Expr bare = hinted ? hinted->args[0] : condition;
    const Binary* n = bare.as<Binary>();
    if (n && n->op == BinaryOp::And) return always_inside(n->a, nest) && always_inside(n->b, nest);
    if (n && n->a.dtype().is_integral()) {
      const arith::IntervalMap loops = replaced_loops(nest);
      const Interval a = values_of(n->a, loops, program_.facts),
                     b = values_of(n->b, loops, program_.facts);
      const bool is_below = n->op == BinaryOp::Lt || n->op == BinaryOp::Le;
      const bool is_above = n->op == BinaryOp::Gt || n->op == BinaryOp::Ge;
      const std::optional<Expr>& left = is_below ? a.max() : a.min();
      const std::optional<Expr>& right = is_below ? b.min() : b.max();
      if ((is_below || is_above) && left && right)
        return arith::simplify(make_binary(n->op, *left, *right), program_.facts);
    }
    call_.refuse("only iterations where " + print_expr(bare) +
                 " exist, and the calls in which all iterations exist cannot be deduced");
  }

  /// Returns the intervals of the variables of the replaced loops.
  arith::IntervalMap replaced_loops(const LoopNest& nest) const {
    arith::IntervalMap loops;
    for (std::size_t n = call_.depth; n < stage_.leaf_iter_vars.size(); ++n) {
      const IterVar& leaf = stage_.leaf_iter_vars[n];
      const Expr* value = nest.values.find(leaf);
      if (value && value->as<VarNode>())
        loops.set(Var::of(*value),
                  Interval::from_range(program_.lower(program_.bounds[leaf], nest.vars)));
      for (const LoopHeader& header : nest.levels[n])
        if (const Let* let = header_as<Let>(header))
          loops.set(let->var, values_of(let->value, loops, program_.facts));
    }
    return loops;
  }

  // ---- calls

  Stmt require(const std::optional<Stmt>& part, const std::string& name) const {
    if (part) return *part;
    call_.refuse(
        "it has no " + name +
        ", which it needs where loops of the reduction remain around it; declare it as {.body, "
        ".reset, .update}");
  }

  Stmt whole_body() const {
    if (call_.code.body) return on_views(*call_.code.body, IntrinPart::Body);
    if (!call_.code.reset || !call_.code.update)
      call_.refuse("it has no body, nor both of reset and update to take its place");
    return make_seq({on_views(*call_.code.reset, IntrinPart::Reset), update()});
  }

  Stmt update() const { return on_views(require(call_.code.update, "update"), IntrinPart::Update); }

  /// Returns the code of an intrinsic without a reset. The first iteration of the reduction runs
  /// the body, and later iterations run the update.
  Stmt body_first() const {
    const Stmt later = update();
    const Stmt first = on_views(require(call_.code.body, "reset, and no body"), IntrinPart::Body);
    const std::optional<Expr> is_later = is_later_iteration();
    return is_later ? make_stmt(If{likely(*is_later), later, first}) : first;
  }

  /// Returns the initialization for a reduction without iterations, in which the body would never
  /// run. Returns nullopt if the reduction provably has an iteration.
  std::optional<Stmt> init_where_empty() const {
    std::optional<Expr> is_empty;
    for (const IterVar& axis : stage_.op.reduce_axis()) {
      const Expr& extent = program_.bounds[axis].extent;
      if (arith::can_prove_at_least(extent, 1, program_.facts)) continue;
      const Expr none = make_binary(BinaryOp::Le, program_.lower(extent, nest_.init->vars),
                                    make_int(extent.dtype(), 0));
      is_empty = is_empty ? *is_empty || none : none;
    }
    if (!is_empty) return std::nullopt;
    if (!stage_.op.as<Compute>())
      call_.refuse(
          "its reduction may have no iterations, and then no iteration would compute the body; "
          "give the "
          "intrinsic a reset");
    return make_stmt(If{*is_empty, guarded(init_->outside, loops_of_init()), std::nullopt});
  }

  /// Returns the axes that determine whether the reduction has begun for an element: it has begun
  /// if any of these axes is beyond its first value. They are the reduction's loops around the
  /// intrinsic. If one of these loops is fused with a data axis, they are the reduction's own axes.
  ///
  /// The intrinsic's body computes the first step, so the loops must visit this step first. Fused
  /// loops may visit it later:
  ///   for k.outer for k.inner     k.outer = 0, k.inner = 0 comes first
  ///   f = fuse(k, i), split f by 2, for f.inner for f.outer
  ///                               element 1 is at f = 1, 14, 27, ...: f = 14 (k = 1)
  ///                               comes before f = 1 (k = 0)
  std::vector<IterVar> progress_axes() const {
    const AxisFlags from_data = derived_from(stage_.op.axis(), stage_.relations);
    const auto is_fused_with_data = [&](const IterVar& axis) {
      return axis.kind() == IterKind::Reduce && from_data.contains(axis);
    };
    std::vector<IterVar> around;
    for (std::size_t n = 0; n < call_.depth; ++n)
      if (stage_.leaf_iter_vars[n].kind() == IterKind::Reduce)
        around.push_back(stage_.leaf_iter_vars[n]);
    if (std::ranges::none_of(around, is_fused_with_data)) return around;
    for (const Relation& relation : stage_.relations) {
      const Fuse* fuse = std::get_if<Fuse>(&relation);
      std::vector<std::ptrdiff_t> leaves;
      if (fuse && is_fused_with_data(fuse->fused) &&
          !(append_leaves(stage_, fuse->fused, leaves) && std::ranges::is_sorted(leaves)))
        call_.refuse(
            "the first step of the reduction computes the body, but the loops of `" +
            fuse->fused.name() +
            "`, which fuses data and reduction axes, reach later steps of some elements first; "
            "give the intrinsic a reset, or keep these loops in their order");
    }
    return stage_.op.reduce_axis();
  }

  /// Returns the condition that the reduction has begun; nullopt if it has a single iteration.
  std::optional<Expr> is_later_iteration() const {
    std::optional<Expr> later;
    for (const IterVar& axis : progress_axes()) {
      const Range range = program_.lower(program_.bounds[axis], nest_.main.vars);
      if (is_one(range.extent)) continue;
      const Expr at =
          substitute_folding(program_.lower(axis.var(), nest_.main.vars),
                             first_of([&](std::size_t leaf) { return leaf >= call_.depth; }));
      const Expr is_later = make_binary(BinaryOp::Lt, range.min, at);
      later = later ? *later || is_later : is_later;
    }
    check_begins();
    return later;
  }

  /// Returns the values of variables in the first iteration of the loops for which `is_of_them` is
  /// true.
  template <class F>
  VarMap first_of(const F& is_of_them) const {
    VarMap first;
    for (std::size_t n = 0; n < stage_.leaf_iter_vars.size(); ++n) {
      const IterVar& leaf = stage_.leaf_iter_vars[n];
      if (is_of_them(n))
        set(first, leaf.var(), program_.lower(program_.bounds[leaf].min, nest_.main.vars));
      for (const LoopHeader& header : nest_.main.levels[n]) {
        const Let* let = header_as<Let>(header);
        if (!let) continue;
        const Expr value = substitute_folding(let->value, first);
        if (!value.same_as(let->value)) set(first, let->var, value);
      }
    }
    return first;
  }

  /// Checks that no guard skips the first iteration of the reduction, which runs the intrinsic's
  /// body.
  void check_begins() const {
    const VarMap first = first_of(
        [&](std::size_t leaf) { return stage_.leaf_iter_vars[leaf].kind() == IterKind::Reduce; });
    const auto is_reduced = [&](const Expr& var) { return first.contains(&var.node()); };
    for (const Expr& guard : main_.outside) {
      if (!uses_var(guard, is_reduced)) continue;
      const Expr at_first = arith::simplify(substitute_folding(guard, first), program_.facts);
      const Call* hinted = as_call(at_first, Intrin::likely);
      if (!is_true(hinted ? hinted->args[0] : at_first))
        call_.refuse(
            "the first iteration of the reduction computes the body, but runs only where " +
            print_expr(guard) + "; give the intrinsic a reset");
    }
  }

  Stmt on_views(const Stmt& code, IntrinPart part) const {
    return on_views(code, part, nest_.main, call_.inputs);
  }

  /// Returns the code inside views of the outputs and of the given inputs.
  Stmt on_views(const Stmt& code, IntrinPart part, const LoopNest& nest,
                const std::vector<IntrinView>& inputs) const {
    // The code is copied, because several stages may use one intrinsic.
    Stmt body = fresh_copy(program_.lower(substitute(code, call_.values), nest.vars));
    const auto lowered = [&](const Expr& e) { return program_.lower(e, nest.vars); };
    if (program_.check_intrinsics)
      body = Check(call_, part, "intrinsic `" + call_.intrin.name + "` of " + describe(stage_),
                   lowered, program_)
                 .around(body);
    for (const std::vector<IntrinView>* views : {&call_.outputs, &inputs})
      for (std::size_t n = views->size(); n-- > 0;) {
        const IntrinView& view = (*views)[n];
        std::vector<Range> region;
        for (const Range& range : view.region) region.push_back(program_.lower(range, nest.vars));
        const std::optional<Buffer> stored = program_.buffers.stored_buffer_of(view.tensor);
        const bool is_stored = stored && views == &inputs;
        body = make_stmt(BufferView{view.buffer,
                                    is_stored ? *stored : program_.buffers.buffer_of(view.tensor),
                                    std::move(region), body});
      }
    return body;
  }

  // ---- the call, and the loops of the tail

  Stmt main_part(const Stmt& call, const std::function<Stmt()>& loops) const {
    if (main_.whole && is_false(*main_.whole))
      call_.refuse(
          "it would be called nowhere: the loops that it replaces always run over the end of an "
          "axis");
    const Stmt all = main_.whole ? make_stmt(If{likely(*main_.whole), call, loops()}) : call;
    // Keeps the pragmas of replaced loops, which may import the function that the intrinsic calls.
    return guarded(main_.outside,
                   in_levels(nest_.main, call_.depth, num_levels(), all, /*pragmas=*/true));
  }

  Stmt init_part() const {
    const Stmt reset =
        on_views(*call_.code.reset, IntrinPart::Reset, *nest_.init, inputs_of_reset());
    if (!init_->whole) return guarded(init_->outside, reset);
    return guarded(init_->outside, make_stmt(If{likely(*init_->whole), reset, loops_of_init()}));
  }

  /// Returns the inputs that the reset reads. The reset runs before the reduction's loops, so the
  /// regions of these inputs must not vary with these loops.
  std::vector<IntrinView> inputs_of_reset() const {
    std::vector<IntrinView> read;
    for (std::size_t n = 0; n < call_.inputs.size(); ++n) {
      const IntrinView& view = call_.inputs[n];
      if (!resets_from(n)) continue;
      for (std::size_t l = nest_.common; l < call_.depth; ++l) {
        const IterVar& leaf = stage_.leaf_iter_vars[l];
        if (!nest_.init->values.at(leaf).same_as(leaf.var())) continue;
        for (const Range& range : view.region)
          if (uses_var(range.min, leaf.var()) || uses_var(range.extent, leaf.var()))
            call_.refuse("its reset reads `" + view.buffer->name +
                         "`, but each iteration of axis `" + leaf.name() +
                         "` of the reduction takes another part of `" + view.tensor.name() +
                         "`; leave the reset out, so that the body starts");
      }
      read.push_back(view);
    }
    return read;
  }

  /// Whether the reset depends on the input. This is the case if it accesses the buffer, if it
  /// passes on the buffer's pointer, offset or strides, or if its check reads a start value from
  /// the input.
  bool resets_from(std::size_t input) const {
    const Buffer& buffer = call_.inputs[input].buffer;
    const auto describes = [&](const Expr& var) {
      return var.same_as(buffer->data) || var.same_as(buffer->elem_offset) ||
             std::ranges::any_of(buffer->strides, [&](const Expr& e) { return var.same_as(e); });
    };
    bool found = uses_var(*call_.code.reset, describes);
    walk(*call_.code.reset, [&](const Load& load) { found |= load.buffer.same_as(buffer); });
    const ReduceNode* reduction = call_.intrin.op.as<Compute>()->reduction();
    if (program_.check_intrinsics && reduction)
      for (const Expr& start : reduction->init)
        walk(start, [&](const ProducerLoad& read) {
          found |= index_of_input(read, call_.intrin.inputs) == input;
        });
    return found;
  }

  static Stmt in_levels(const LoopNest& nest, std::size_t begin, std::size_t end, Stmt body,
                        bool pragmas = false) {
    for (std::size_t n = end; n-- > begin;) {
      LoopHeaders headers = nest.levels[n];
      std::erase_if(headers, [&](const LoopHeader& header) {
        const Attr* attr = header_as<Attr>(header);
        return (attr && attr->kind == AttrKind::Pragma) != pragmas;
      });
      body = wrap(headers, std::move(body));
    }
    return body;
  }

  std::size_t num_levels() const { return nest_.main.levels.size(); }

  Stmt loops_of_all() const {
    if (!nest_.init) {
      const Stmt stores = guarded(main_.inside, make_stores(stage_, program_, nest_));
      return in_levels(nest_.main, call_.depth, num_levels(), stores);
    }
    const auto [init, update] = make_reduction(stage_, program_, nest_);
    const Stmt inits =
        in_levels(*nest_.init, nest_.common, num_levels(), guarded(nest_.init_guards, init));
    const Stmt updates =
        in_levels(nest_.main, nest_.common, num_levels(), guarded(main_.inside, update));
    return in_levels(nest_.main, call_.depth, nest_.common, make_seq({inits, updates}));
  }

  Stmt loops_of_update() const {
    const Stmt update = make_reduction(stage_, program_, nest_).second;
    return in_levels(nest_.main, call_.depth, num_levels(), guarded(main_.inside, update));
  }

  Stmt loops_of_init() const {
    const Stmt init = make_reduction(stage_, program_, nest_).first;
    return in_levels(*nest_.init, call_.depth, num_levels(), guarded(init_->inside, init));
  }

  /// Returns the initialization as a statement inside the loops of the update. It runs in the
  /// iterations that begin the reduction.
  Stmt first_loops_of_init() const {
    const auto first_own = nest_.init->levels.begin() + static_cast<std::ptrdiff_t>(nest_.common);
    const auto first_inside = nest_.init->levels.begin() + static_cast<std::ptrdiff_t>(call_.depth);
    VarMap around;
    for (const IterVar& axis : stage_.all_iter_vars) {
      const Expr* value = nest_.init->values.find(axis);
      const auto defines_it = [&](const LoopHeaders& level) { return defines(level, *value); };
      if (value && std::any_of(first_own, first_inside, defines_it))
        set(around, Var::of(*value), nest_.main.values.at(axis));
    }
    const Stmt init = substitute(guarded(init_->outside, loops_of_init()), around);
    const std::optional<Expr> is_later = is_later_iteration();
    return is_later ? make_stmt(If{!*is_later, init, std::nullopt}) : init;
  }

  const FrozenStage& stage_;
  const Program& program_;
  const ComputeNest& nest_;
  const IntrinCall& call_;
  const GuardParts main_;
  std::optional<GuardParts> init_;
};

}  // namespace

bool calls_intrinsic(const FrozenStage& stage) {
  return stage.op.as<TensorCompute>() != nullptr ||
         (stage.op.as<Compute>() && tensorized_leaf(stage));
}

std::tuple<std::size_t, Stmt, std::optional<Stmt>> make_intrinsic_body(StageId id,
                                                                       const Program& program,
                                                                       const ComputeNest& nest) {
  const IntrinCall call = make_intrin_call(id, program, nest);
  auto [main, init] = BodyMaker(id, program, nest, call).make();
  return {call.depth, std::move(main), std::move(init)};
}

}  // namespace tenon::te

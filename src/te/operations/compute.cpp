// Placeholders, computes and axes, with checks of the user's arguments.
#include <algorithm>

#include "te/operations/body.h"
#include "te/operations/declare.h"
#include "tenon/te/operation_kind.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/print.h"
#include "tenon/tir/stmt.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

namespace {

/// Maximum number of nodes of an expression as a tree. Only an expression with shared parts exceeds
/// it, and processing such an expression is infeasible.
constexpr std::size_t kMaxBodyNodes = std::size_t{1} << 20;

void check_no_reduction_inside(const std::string& what, const Expr& body,
                               const SourceLocation& where) {
  const std::vector<Expr> parts =
      body.as<tir::Reduce>() ? tir::children_of(body) : std::vector<Expr>{body};
  if (std::ranges::any_of(parts, [](const Expr& e) { return tir::contains<tir::Reduce>(e); }))
    throw TypeError(
        what +
            ": a reduction must be the whole body, here it is inside of an expression; compute it "
            "as a separate tensor and read that",
        where);
}

void check_components(const std::string& what, const std::vector<Expr>& bodies,
                      const SourceLocation& where) {
  const tir::Reduce* first = bodies.front().as<tir::Reduce>();
  for (const Expr& body : bodies)
    if ((body.as<tir::Reduce>() != nullptr) != (first != nullptr))
      throw TypeError(what + ": either all outputs are reductions or none is", where);
  if (!first) return;
  const tir::ReduceNode* reduction = first->reduction.get();
  const tir::CommReducerNode& combiner = *reduction->combiner;
  for (std::size_t n = 0; n < reduction->source.size(); ++n)
    if (combiner.result[n].dtype() != reduction->source[n].dtype())
      throw TypeError(what + ": " + combiner.name + " of " + reduction->source[n].dtype().str() +
                          " gives " + combiner.result[n].dtype().str() + "; cast the terms" +
                          (reduction->source[n].dtype().is_bool() ? ", or use all or any" : ""),
                      where);
  bool in_order = reduction->source.size() == bodies.size();
  for (std::size_t n = 0; n < bodies.size(); ++n) {
    const tir::Reduce* component = bodies[n].as<tir::Reduce>();
    in_order = in_order && component->reduction.get() == reduction &&
               component->value_index == static_cast<int>(n);
  }
  if (in_order) return;
  throw TypeError(
      what + (bodies.size() == 1
                  ? ": a reduction of several components has several outputs: use compute_multi"
                  : ": the outputs must be all components of one tuple reduction, in order (see "
                    "comm_reducer)"),
      where);
}

/// A reduction axis may depend on the axes listed before it, whose loops are outside its own.
void check_reduce_axes(const std::string& what, const std::vector<IterVar>& axes,
                       const SourceLocation& where) {
  for (std::size_t n = 0; n < axes.size(); ++n)
    for (std::size_t later = n; later < axes.size(); ++later)
      if (tir::uses_var(axes[n].dom()->min, axes[later].var()) ||
          tir::uses_var(axes[n].dom()->extent, axes[later].var()))
        throw TypeError(what + ": the range of reduction axis `" + axes[n].name() +
                            "` depends on `" + axes[later].name() +
                            "`, which must be listed before it",
                        where);
}

/// The mark for variables of reduction axes. An expression that contains such a variable has the
/// mark as well. The mark's value must differ from the number of every node kind.
constexpr tir::Content kReductionAxis{31};
static_assert(16 + std::variant_size_v<tir::StmtNode::Value> <= 31);

Var reduction_var(Name name, DataType type) {
  Var var(std::move(name), type);
  // The node is not shared yet, so modifying it is safe.
  const_cast<tir::ExprNode&>(var.node()).contents.add(kReductionAxis);
  return var;
}

/// Checks that reduction axes are used only inside their reduction.
void check_is_reduced(const std::string& what, const std::vector<IterVar>& axes,
                      std::span<const Expr> bodies, const SourceLocation& where) {
  for (const Expr& body : bodies) {
    if (body.is_moved_from() || !body.node().contents.has(kReductionAxis)) continue;
    for (const Var& var : tir::free_vars(body)) {
      const bool is_axis =
          std::ranges::any_of(axes, [&](const IterVar& axis) { return axis.var().same_as(var); });
      if (var.node().contents.has(kReductionAxis) && !is_axis)
        throw TypeError(
            what + ": the body uses reduction axis `" + var.name() + "`, over which " +
                (body.as<tir::Reduce>()
                     ? "its reduction does not run; list it among the "
                       "axes of the reduction"
                     : "nothing reduces; reduce over it: te::sum(..., {" + var.name() + "})"),
            where);
    }
  }
}

/// Returns the outputs of a compute. `function` is the caller, for messages.
template <class Result>
std::vector<Tensor> declare_compute(std::vector<Expr> shape, std::vector<std::string> names,
                                    bool named, const IndexFunction<Result>& body, std::string name,
                                    ComputeOptions options, const std::string& function,
                                    const SourceLocation& where) {
  const std::string what = function + " `" + name + "`";
  check_shape(shape, what, where);
  std::vector<IterVar> axes = declare_axes(shape, std::move(names), named, what, where);
  check_arity(body.arity(), axes.size(), what, where);
  std::vector<Var> vars;
  for (const IterVar& axis : axes) vars.push_back(axis.var());
  std::vector<Expr> bodies{body(vars)};
  check_is_reduced(what, axes, bodies, where);
  for (Expr& body : bodies)
    if (!body.is_moved_from() && !body.as<tir::Reduce>()) body = tir::with_guards_on_indices(body);
  options.tag = declared_tag(std::move(options.tag));
  return outputs_of(
      make_compute(std::move(name), std::move(axes), std::move(bodies), std::move(options), where));
}

}  // namespace

// ---- constructors -------------------------------------------------------------------------------

namespace {

Tensor input(const char* function, const Name& name, Placeholder kind,
             const SourceLocation& where) {
  const std::string what = function + (" `" + name + "`");
  check_shape(kind.shape, what, where);
  check_element_type(kind.dtype, what, where);
  return make_operation(name, "", std::move(kind), where).output(0);
}

}  // namespace

Tensor placeholder(std::vector<Expr> shape, Name name, DataType dtype, SourceLocation where) {
  return input("placeholder", name, {std::move(shape), dtype}, where);
}
Tensor constant_input(std::vector<Expr> shape, Name name, DataType dtype, SourceLocation where) {
  return input("constant_input", name, {std::move(shape), dtype, true}, where);
}
bool is_constant_input(const Tensor& tensor) {
  const Placeholder* input = tensor.op().as<Placeholder>();
  return input && input->is_constant;
}

Operation make_compute(std::string name, std::vector<IterVar> axis, std::vector<Expr> body,
                       ComputeOptions options, SourceLocation where) {
  const std::string what = "compute `" + name + "`";
  if (body.empty()) throw TypeError(what + ": the body returns no output", where);
  for (const Expr& e : body) {
    if (e.is_moved_from())
      throw TypeError(what + ": the body returns an expression that has been moved from", where);
    check_element_type(e.dtype(), what, where);
    check_no_reduction_inside(what, e, where);
    if (tree_size(e, kMaxBodyNodes) >= kMaxBodyNodes)
      throw TypeError(what + ": expanded, the body has more than " + std::to_string(kMaxBodyNodes) +
                          " operations; compute shared parts as tensors of their own",
                      where);
  }
  check_components(what, body, where);
  Compute kind{std::move(axis), {}, std::move(body)};
  if (const tir::ReduceNode* reduction = kind.reduction()) {
    check_reduce_axes(what, reduction->axis, where);
    kind.reduce_axis = reduction->axis;
  }
  return make_operation(std::move(name), std::move(options.tag), std::move(kind), where,
                        std::move(options.attrs));
}

Tensor compute(std::vector<Expr> shape, AxisNames axes, ComputeBody body, Name name,
               ComputeOptions options, SourceLocation where) {
  return declare_compute(std::move(shape), std::move(axes), true, body, std::move(name),
                         std::move(options), "compute", where)
      .front();
}
Tensor compute(std::vector<Expr> shape, ComputeBody body, Name name, ComputeOptions options,
               SourceLocation where) {
  return declare_compute(std::move(shape), {}, false, body, std::move(name), std::move(options),
                         "compute", where)
      .front();
}
std::vector<Tensor> compute_multi(std::vector<Expr> shape, AxisNames axes, MultiBody body,
                                  Name name, ComputeOptions options, SourceLocation where) {
  return declare_compute(std::move(shape), std::move(axes), true, body, std::move(name),
                         std::move(options), "compute_multi", where);
}
std::vector<Tensor> compute_multi(std::vector<Expr> shape, MultiBody body, Name name,
                                  ComputeOptions options, SourceLocation where) {
  return declare_compute(std::move(shape), {}, false, body, std::move(name), std::move(options),
                         "compute_multi", where);
}

// ---- axes and variables -------------------------------------------------------------------------

IterVar reduce_axis(Range range, Name name, SourceLocation where) {
  const std::string what = "reduce_axis `" + name + "`";
  range.min = to_index(range.min, what + ": the begin", where);
  range.extent = to_index(range.extent, what + ": the extent", where);
  for (const Expr& end : {range.min, range.extent})
    if (tir::contains<tir::Reduce>(end))
      throw TypeError(what + ": the range holds a reduction; compute it first, and read that",
                      where);
  if (auto extent = tir::constant_int(range.extent); extent && *extent < 0)
    throw TypeError(what + ": the range ends before it begins, by " + std::to_string(-*extent),
                    where);
  const DataType type = range.extent.dtype().bits >= range.min.dtype().bits ? range.extent.dtype()
                                                                            : range.min.dtype();
  Range typed = Range::from_min_extent(tir::cast(type, range.min), tir::cast(type, range.extent));
  return IterVar(std::move(typed), reduction_var(std::move(name), type), IterKind::Reduce);
}

namespace {

IterVar make_thread_axis(std::optional<Range> range, std::string_view tag, std::string name,
                         const SourceLocation& where) {
  const tir::ThreadTag thread = tir::ThreadTag::parse(tag, where);
  const std::string what = "thread_axis `" + std::string(tag) + "`: ";
  if (range && !tir::is_zero(range->min))
    throw TypeError(what + "the range must begin at 0", where);
  if (range) {
    const DataType type = range->extent.dtype();
    if (!is_integer_scalar(type))
      throw TypeError(what + "the extent must be an integer, got " + type.str(), where);
    // Checks that the extent fits into int32, the type of thread indices.
    const auto extent = tir::constant_int(range->extent);
    if (extent && (*extent < 0 || !fits(*extent, Int(32))))
      throw TypeError(what + "there cannot be " + std::to_string(*extent) + " threads", where);
  }
  return IterVar(std::move(range), Var(name.empty() ? std::string(tag) : std::move(name)),
                 IterKind::ThreadIndex, thread);
}

}  // namespace

IterVar thread_axis_of_any_range(const Name& tag, Name name, SourceLocation where) {
  return make_thread_axis(std::nullopt, tag, std::move(name), where);
}
IterVar thread_axis(Range range, const Name& tag, Name name, SourceLocation where) {
  return make_thread_axis(std::move(range), tag, std::move(name), where);
}

Var var(Name name, DataType type) { return Var(std::move(name), type); }

Var size_var(Name name, DataType type, SourceLocation where) {
  if (!is_integer_scalar(type))
    throw TypeError("size_var `" + name + "`: a size is an integer, got " + type.str(), where);
  return Var::size(std::move(name), type);
}

}  // namespace tenon::te

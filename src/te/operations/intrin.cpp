#include "tenon/te/intrin.h"

#include <algorithm>

#include "te/operations/declare.h"
#include "tenon/arith/simplify.h"
#include "tenon/te/operation_kind.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

namespace {

tir::Buffer buffer_for(const std::string& what, const Tensor& tensor,
                       const TensorIntrinOptions& options, const SourceLocation& where) {
  for (const auto& [bound, buffer] : options.binds) {
    if (!bound.same_as(tensor)) continue;
    check_buffer_of(tensor, buffer, /*compared_at_run_time=*/false, what, where);
    return buffer;
  }
  return tir::decl_buffer(tensor.shape(), tensor.dtype(),
                          {.name = tensor.name(), .offset_factor = options.default_offset_factor},
                          where);
}

// ---- regions ----------------------------------------------------------------------------------

/// Checks that a box with these extents matches the intrinsic's tensor. Adds the values of
/// variables in the tensor's shape to `sizes`.
void fit_region(const std::string& box, const std::vector<Expr>& given, const Tensor& theirs,
                tir::VarMap& sizes, const SourceLocation& where) {
  std::vector<Expr> extents, shape;
  for (const Expr& extent : given) extents.push_back(arith::simplify(extent));
  for (const Expr& extent : theirs.shape()) shape.push_back(tir::substitute_folding(extent, sizes));
  arith::Facts facts;
  const std::optional<DimPairs> pairs = pair_dims(extents, shape, facts);
  if (!pairs)
    throw TypeError(box + " has the extents " + print_list(extents) + ", `" + theirs.name() +
                        "` of the intrinsic has " + print_list(shape) +
                        "; they must be the same, but for dimensions of one element",
                    where);
  for (std::size_t d = 0; d < extents.size(); ++d)
    if (const auto partner = (*pairs)[d]; partner && shape[*partner].as<tir::VarNode>())
      set(sizes, Var::of(shape[*partner]), extents[d]);
}

/// Returns the values of the variables in the intrinsic's shapes for a call on these regions.
tir::VarMap sizes_of(const TensorIntrinNode& intrin, const std::vector<TensorRegion>& inputs,
                     const std::string& what, const SourceLocation& where) {
  tir::VarMap sizes;
  for (std::size_t n = 0; n < inputs.size(); ++n) {
    std::vector<Expr> extents;
    for (const Range& range : inputs[n].ranges) extents.push_back(range.extent);
    fit_region(what + ": the region of `" + inputs[n].tensor.name() + "`", extents,
               intrin.inputs[n], sizes, where);
  }
  return sizes;
}

}  // namespace

TensorIntrin decl_tensor_intrin(const Operation& op, const TensorIntrinFunction& body,
                                TensorIntrinOptions options, SourceLocation where) {
  const std::string what = "decl_tensor_intrin `" + options.name + "`";
  if (!op.as<Compute>())
    throw TypeError(what + ": operation `" + op.name() + "` is not a compute", where);
  if (!body) throw TypeError(what + ": the code is an empty function", where);
  for (const Tensor& input : op.inputs())
    if (!input.op().as<Placeholder>())
      throw TypeError(what + ": input `" + input.name() +
                          "` is itself computed; an intrinsic is one operation on placeholders",
                      where);
  std::vector<tir::Buffer> buffers;
  std::vector<Tensor> tensors = op.inputs();
  for (int n = 0; n < op.num_outputs(); ++n) tensors.push_back(op.output(n));
  for (const Tensor& tensor : tensors) buffers.push_back(buffer_for(what, tensor, options, where));
  for (const auto& [bound, buffer] : options.binds)
    if (std::ranges::none_of(tensors, [&](const Tensor& t) { return t.same_as(bound); }))
      throw TypeError(what + ": tensor `" + bound.name() +
                          "` in binds is no input and no output of `" + op.name() + "`",
                      where);
  for (std::size_t n = 0; n < options.binds.size(); ++n)
    for (std::size_t m = 0; m < n; ++m)
      if (options.binds[n].first.same_as(options.binds[m].first))
        throw TypeError(what + ": tensor `" + options.binds[n].first.name() + "` has two buffers",
                        where);
  const std::span<const tir::Buffer> all(buffers);
  const std::span<const tir::Buffer> ins = all.first(op.inputs().size()),
                                     outs = all.subspan(op.inputs().size());
  TensorIntrinBody code = body(ins, outs);
  if (!code.body && !code.update)
    throw TypeError(what + ": has neither a body nor an update, so there is nothing to call",
                    where);
  for (const std::optional<Stmt>& part : {code.body, code.reset, code.update})
    if (part) check_body(*part, ins, outs, what, where);
  return TensorIntrin(std::make_shared<const TensorIntrinNode>(
      TensorIntrinNode{std::move(options.name), op, op.inputs(), std::move(buffers),
                       std::move(options.scalar_params), std::move(code), where}));
}

std::shared_ptr<const TensorIntrinNode> TensorIntrin::shared() const { return node_.pointer(); }
const std::string& TensorIntrin::name() const { return node_->name; }

TensorIntrinCall TensorIntrin::operator()(std::vector<TensorRegion> inputs,
                                          TensorIntrinCallOptions options,
                                          SourceLocation where) const {
  const std::string what = "intrinsic `" + name() + "`";
  if (inputs.size() != node_->inputs.size())
    throw TypeError(what + ": takes " + std::to_string(node_->inputs.size()) + " tensors, got " +
                        std::to_string(inputs.size()),
                    where);
  for (std::size_t n = 0; n < inputs.size(); ++n) {
    const Tensor& expected = node_->inputs[n];
    const TensorRegion& given = inputs[n];
    if (given.tensor.dtype() != expected.dtype())
      throw TypeError(what + ": input " + std::to_string(n) + " is " + given.tensor.dtype().str() +
                          ", `" + expected.name() + "` is " + expected.dtype().str(),
                      where);
  }
  sizes_of(*node_, inputs, what, where);
  if (options.scalars.size() != node_->scalar_params.size())
    throw TypeError(what + ": takes " + std::to_string(node_->scalar_params.size()) +
                        " scalars, got " + std::to_string(options.scalars.size()),
                    where);
  for (std::size_t n = 0; n < options.scalars.size(); ++n) {
    Expr& scalar = options.scalars[n];
    const Var& param = node_->scalar_params[n];
    if (!scalar.is_moved_from() && tir::is_constant(scalar) &&
        scalar.dtype().code == param.dtype().code)
      scalar = tir::cast(param.dtype(), scalar);
    if (scalar.dtype() != param.dtype())
      throw TypeError(
          what + ": scalar `" + param.name() + "` is " + param.dtype().str() + ", got " +
              (scalar.is_moved_from() ? "one that has been moved from" : scalar.dtype().str()),
          where);
  }
  if (!options.reduce_axis.empty() && !node_->body.update)
    throw TypeError(what + ": is called over axis `" + options.reduce_axis.front().name() +
                        "`, but has no update, which would add one call's result to the last one's",
                    where);
  for (const IterVar& axis : options.reduce_axis)
    if (axis.kind() != IterKind::Reduce)
      throw TypeError(what + ": axis `" + axis.name() + "` is not made by te::reduce_axis", where);
  return {*this, std::move(inputs), std::move(options)};
}

std::vector<Tensor> tensor_compute_multi(std::vector<Expr> shape, AxisNames axes,
                                         IndexFunction<TensorIntrinCall> body, Name name, Name tag,
                                         SourceLocation where) {
  const std::string what = "tensor_compute `" + name + "`";
  check_shape(shape, what, where);
  const std::size_t scheduled = axes.size();
  if (scheduled > shape.size())
    throw TypeError(what + ": got " + std::to_string(scheduled) + " axis names for " +
                        std::to_string(shape.size()) + " dimensions",
                    where);
  check_arity(body.arity(), scheduled, what, where);
  for (std::size_t n = scheduled; n < shape.size(); ++n) axes.push_back("ax" + std::to_string(n));
  std::vector<IterVar> all = declare_axes(shape, std::move(axes), true, what, where);
  for (std::size_t n = scheduled; n < all.size(); ++n)
    all[n] = IterVar(all[n].dom(), all[n].var(), IterKind::Opaque);
  std::vector<Var> vars;
  for (std::size_t n = 0; n < scheduled; ++n) vars.push_back(all[n].var());
  TensorIntrinCall call = body(vars);

  const TensorIntrinNode& intrin = call.intrin.node();
  tir::VarMap sizes = sizes_of(intrin, call.inputs, what, where);
  std::vector<Expr> tile(scheduled, Expr(1));
  tile.insert(tile.end(), shape.begin() + static_cast<std::ptrdiff_t>(scheduled), shape.end());
  for (int n = 0; n < intrin.op.num_outputs(); ++n)
    fit_region(what + ": what each point of the named axes computes", tile, intrin.op.output(n),
               sizes, where);
  TensorCompute kind{std::move(all),       call.options.reduce_axis, static_cast<int>(scheduled),
                     call.intrin.shared(), std::move(call.inputs),   call.options.scalars};
  return outputs_of(
      make_operation(std::move(name), declared_tag(std::move(tag)), std::move(kind), where));
}

Tensor tensor_compute(std::vector<Expr> shape, AxisNames axes, IndexFunction<TensorIntrinCall> body,
                      Name name, Name tag, SourceLocation where) {
  return tensor_compute_multi(std::move(shape), std::move(axes), std::move(body), std::move(name),
                              std::move(tag), where)
      .front();
}

}  // namespace tenon::te

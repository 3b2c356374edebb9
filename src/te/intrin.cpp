#include "tenon/te/intrin.h"

#include <algorithm>

#include "te/declare.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/print.h"

namespace tenon::te {

namespace {

bool same_extent(const Expr& a, const Expr& b) { return arith::can_prove_equal(a, b); }

void check_buffer(const std::string& what, const Tensor& tensor, const tir::Buffer& buffer,
                  const SourceLocation& where) {
  const std::string pair = what + ": buffer `" + buffer.name() + "` for tensor `" + tensor.name() + "`";
  if (buffer.dtype() != tensor.dtype())
    throw TypeError(pair + " is " + buffer.dtype().str() + ", the tensor is " + tensor.dtype().str(), where);
  if (buffer.shape().size() != tensor.shape().size())
    throw TypeError(pair + " has " + std::to_string(buffer.shape().size()) + " dimensions, the tensor has " +
                        std::to_string(tensor.shape().size()),
                    where);
  for (std::size_t n = 0; n < buffer.shape().size(); ++n)
    if (!same_extent(buffer.shape()[n], tensor.shape()[n]))
      throw TypeError(pair + ": extent " + std::to_string(n) + " is " + tir::print_expr(buffer.shape()[n]) +
                          ", that of the tensor is " + tir::print_expr(tensor.shape()[n]),
                      where);
}

tir::Buffer buffer_for(const std::string& what, const Tensor& tensor, const TensorIntrinOptions& options,
                       const SourceLocation& where) {
  for (const auto& [bound, buffer] : options.binds) {
    if (!bound.same_as(tensor)) continue;
    check_buffer(what, tensor, buffer, where);
    return buffer;
  }
  return tir::decl_buffer(tensor.shape(), tensor.dtype(),
                          {.name = tensor.name(), .offset_factor = options.default_offset_factor}, where);
}

}  // namespace

TensorIntrin decl_tensor_intrin(const Operation& op, const TensorIntrinFunction& body,
                                TensorIntrinOptions options, SourceLocation where) {
  const std::string what = "decl_tensor_intrin `" + options.name + "`";
  if (!op.as<Compute>()) throw TypeError(what + ": operation `" + op.name() + "` is no compute", where);
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
    if (std::none_of(tensors.begin(), tensors.end(), [&](const Tensor& t) { return t.same_as(bound); }))
      throw TypeError(
          what + ": tensor `" + bound.name() + "` in binds is no input and no output of `" + op.name() + "`",
          where);
  const std::span<const tir::Buffer> all(buffers);
  TensorIntrinBody code = body(all.first(op.inputs().size()), all.subspan(op.inputs().size()));
  if (!code.body && !code.update)
    throw TypeError(what + ": gives neither a body nor an update, so there is nothing to call", where);
  return TensorIntrin(std::make_shared<const TensorIntrinNode>(
      TensorIntrinNode{std::move(options.name), op, op.inputs(), std::move(buffers),
                       std::move(options.scalar_params), std::move(code), where}));
}

TensorIntrinCall TensorIntrin::operator()(std::vector<TensorRegion> inputs, TensorIntrinCallOptions options,
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
      throw TypeError(what + ": input " + std::to_string(n) + " is " + given.tensor.dtype().str() + ", `" +
                          expected.name() + "` is " + expected.dtype().str(),
                      where);
    if (given.ranges.size() < expected.shape().size())
      throw TypeError(what + ": region " + std::to_string(n) + " has " + std::to_string(given.ranges.size()) +
                          " dimensions, `" + expected.name() + "` has " +
                          std::to_string(expected.shape().size()),
                      where);
  }
  if (options.scalars.size() != node_->scalar_params.size())
    throw TypeError(what + ": takes " + std::to_string(node_->scalar_params.size()) + " scalars, got " +
                        std::to_string(options.scalars.size()),
                    where);
  for (const IterVar& axis : options.reduce_axis)
    if (axis.kind() != IterKind::Reduce)
      throw TypeError(what + ": axis `" + axis.name() + "` is not made by te::reduce_axis", where);
  return TensorIntrinCall(*this, std::move(inputs), std::move(options));
}

std::vector<Tensor> tensor_compute_multi(std::vector<Expr> shape, std::vector<std::string> axes,
                                         IndexFunction<TensorIntrinCall> body, std::string name,
                                         std::string tag, SourceLocation where) {
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

  const Operation& op = call.intrin.node().op;
  const std::vector<Expr>& tile = op.output(0).shape();
  const std::size_t tile_dims = shape.size() - scheduled;
  if (tile.size() < tile_dims)
    throw TypeError(what + ": " + std::to_string(tile_dims) +
                        " dimensions are left to the intrinsic, which has " + std::to_string(tile.size()),
                    where);
  for (std::size_t n = 0; n < tile_dims; ++n)
    if (!same_extent(shape[scheduled + n], tile[tile.size() - tile_dims + n]))
      throw TypeError(what + ": extent " + std::to_string(scheduled + n) + " is " +
                          tir::print_expr(shape[scheduled + n]) + ", the intrinsic gives " +
                          tir::print_expr(tile[tile.size() - tile_dims + n]),
                      where);
  TensorCompute kind{std::move(all),       call.options.reduce_axis, static_cast<int>(scheduled),
                     call.intrin.shared(), std::move(call.inputs),   call.options.scalars};
  const Operation result = make_operation(std::move(name), std::move(tag), std::move(kind), where);
  std::vector<Tensor> outputs;
  for (int n = 0; n < result.num_outputs(); ++n) outputs.push_back(result.output(n));
  return outputs;
}

Tensor tensor_compute(std::vector<Expr> shape, std::vector<std::string> axes,
                      IndexFunction<TensorIntrinCall> body, std::string name, std::string tag,
                      SourceLocation where) {
  return tensor_compute_multi(std::move(shape), std::move(axes), std::move(body), std::move(name),
                              std::move(tag), where)
      .front();
}

}  // namespace tenon::te

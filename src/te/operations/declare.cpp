// Placeholders, computes and axes, with the checks of what users give.
#include "te/operations/declare.h"

#include <algorithm>

#include "te/operations/body.h"
#include "te/operations/tag_scope.h"
#include "tenon/tir/print.h"

namespace tenon::te {

namespace {

/// Past it, an expression is too long to be worked on: it must have been built of shared parts.
constexpr std::size_t kMaxBodyNodes = std::size_t{1} << 20;

std::string count(std::size_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

void check_no_reduction_inside(const std::string& what, const Expr& body,
                               const SourceLocation& where) {
  bool nested = false;
  if (body.as<tir::Reduce>()) {
    tir::for_each_child(body,
                        [&](const Expr& child) { nested = nested || contains_reduction(child); });
  } else {
    nested = contains_reduction(body);
  }
  if (nested)
    throw TypeError(
        what +
            ": a reduction must be the whole body, here it is inside of an expression; compute it as a "
            "tensor of its own and read that",
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
      what +
          (bodies.size() == 1
               ? ": a reduction of several components has several outputs: use compute_multi"
               : ": the outputs must be all components of one tuple reduction, in order (see comm_reducer)"),
      where);
}

std::vector<IterVar> make_axes(const std::vector<Expr>& shape,
                               const std::vector<std::string>& names) {
  std::vector<IterVar> axes;
  for (std::size_t n = 0; n < shape.size(); ++n) {
    const DataType type = shape[n].dtype();
    axes.emplace_back(Range::from_min_extent(tir::make_int(type, 0), shape[n]), Var(names[n], type),
                      IterKind::DataParallel);
  }
  return axes;
}

template <class Result>
std::pair<std::vector<IterVar>, Result> call_body(std::vector<Expr> shape,
                                                  std::vector<std::string> names, bool named,
                                                  const IndexFunction<Result>& body,
                                                  const std::string& what,
                                                  const SourceLocation& where) {
  check_shape(shape, what, where);
  std::vector<IterVar> axes = declare_axes(shape, std::move(names), named, what, where);
  check_arity(body.arity(), axes.size(), what, where);
  std::vector<Var> vars;
  for (const IterVar& axis : axes) vars.push_back(axis.var());
  Result result = body(vars);
  return {std::move(axes), std::move(result)};
}

std::vector<Tensor> outputs_of(const Operation& op) {
  std::vector<Tensor> outputs;
  for (int n = 0; n < op.num_outputs(); ++n) outputs.push_back(op.output(n));
  return outputs;
}

Tensor compute_one(std::vector<Expr> shape, std::vector<std::string> names, bool named,
                   const ComputeBody& body, std::string name, ComputeOptions options,
                   const SourceLocation& where) {
  const std::string what = "compute `" + name + "`";
  auto [axes, result] = call_body(std::move(shape), std::move(names), named, body, what, where);
  options.tag = declared_tag(std::move(options.tag));
  return make_compute(std::move(name), std::move(axes), {std::move(result)}, std::move(options),
                      where)
      .output(0);
}

std::vector<Tensor> compute_many(std::vector<Expr> shape, std::vector<std::string> names,
                                 bool named, const MultiBody& body, std::string name,
                                 ComputeOptions options, const SourceLocation& where) {
  const std::string what = "compute_multi `" + name + "`";
  auto [axes, result] = call_body(std::move(shape), std::move(names), named, body, what, where);
  options.tag = declared_tag(std::move(options.tag));
  return outputs_of(
      make_compute(std::move(name), std::move(axes), std::move(result), std::move(options), where));
}

}  // namespace

// ---- checks that other makers share -------------------------------------------------------------

void check_shape(std::vector<Expr>& shape, const std::string& what, const SourceLocation& where) {
  std::int64_t elements = 1;
  for (std::size_t n = 0; n < shape.size(); ++n) {
    Expr& extent = shape[n];
    if (extent.is_moved_from())
      throw TypeError(what + ": extent " + std::to_string(n) + " has been moved from", where);
    if (!extent.dtype().is_integral() || !extent.dtype().is_scalar() || extent.dtype().is_bool())
      throw TypeError(what + ": extent " + std::to_string(n) + " must be an integer, got `" +
                          tir::print_expr(extent) + "` of type " + extent.dtype().str(),
                      where);
    if (contains_reduction(extent))
      throw TypeError(what + ": extent " + std::to_string(n) +
                          " is a reduction; compute it first, and pass its "
                          "value as a variable",
                      where);
    if (const tir::IntImm* big = extent.as<tir::IntImm>();
        big && extent.dtype().is_uint() && big->value < 0)
      throw TypeError(what + ": extent " + std::to_string(n) + ", " + tir::print_expr(extent) +
                          ", is more than a 64-bit index can count",
                      where);
    if (!extent.dtype().is_index())
      extent = tir::cast(Int(extent.dtype().bits > 32 ? 64 : 32), extent);
    const std::optional<std::int64_t> value = tir::constant_int(extent);
    if (value && *value < 0)
      throw TypeError(
          what + ": extent " + std::to_string(n) + " is negative: " + std::to_string(*value),
          where);
    if (value && __builtin_mul_overflow(elements, std::max<std::int64_t>(*value, 1), &elements))
      throw TypeError(what + ": it would have more elements than a 64-bit index can count", where);
  }
}

void check_element_type(DataType type, const std::string& what, const SourceLocation& where) {
  if (type.is_handle())
    throw TypeError(what + ": a tensor has numbers as elements, not values of type handle", where);
}

std::vector<IterVar> declare_axes(const std::vector<Expr>& shape, std::vector<std::string> names,
                                  bool named, const std::string& what,
                                  const SourceLocation& where) {
  if (!named)
    for (std::size_t n = 0; n < shape.size(); ++n) names.push_back("i" + std::to_string(n));
  if (names.size() != shape.size())
    throw TypeError(what + ": got " + count(names.size(), "axis name") + " for " +
                        count(shape.size(), "dimension"),
                    where);
  return make_axes(shape, names);
}

void check_arity(std::optional<int> arity, std::size_t rank, const std::string& what,
                 const SourceLocation& where) {
  if (!arity || static_cast<std::size_t>(*arity) == rank) return;
  throw TypeError(what + ": the body takes " + count(static_cast<std::size_t>(*arity), "variable") +
                      ", but the shape has " + count(rank, "dimension"),
                  where);
}

namespace {

std::string shape_text(const std::vector<Expr>& shape) {
  std::string text = "[";
  for (std::size_t n = 0; n < shape.size(); ++n)
    text += (n == 0 ? "" : ", ") + tir::print_expr(shape[n]);
  return text + "]";
}

}  // namespace

void check_buffer_of(const Tensor& tensor, const tir::Buffer& buffer, const std::string& what,
                     const SourceLocation& where) {
  const std::vector<Expr>&a = tensor.shape(), &b = buffer.shape();
  bool agrees = a.size() == b.size();
  for (std::size_t n = 0; agrees && n < a.size(); ++n) {
    const std::optional<std::int64_t> x = tir::constant_int(a[n]), y = tir::constant_int(b[n]);
    agrees = !x || !y || *x == *y;
  }
  if (!agrees)
    throw TypeError(what + ": tensor `" + tensor.name() + "` has shape " + shape_text(a) +
                        ", its buffer " + shape_text(b),
                    where);
  if (tensor.dtype() != buffer.dtype())
    throw TypeError(what + ": tensor `" + tensor.name() + "` is " + tensor.dtype().str() +
                        ", its buffer " + buffer.dtype().str(),
                    where);
}

// ---- makers -------------------------------------------------------------------------------------

Tensor placeholder(std::vector<Expr> shape, Name name, DataType dtype, SourceLocation where) {
  const std::string what = "placeholder `" + name + "`";
  check_shape(shape, what, where);
  check_element_type(dtype, what, where);
  return make_operation(std::move(name), "", Placeholder{std::move(shape), dtype}, where).output(0);
}

Operation make_compute(std::string name, std::vector<IterVar> axis, std::vector<Expr> body,
                       ComputeOptions options, SourceLocation where) {
  const std::string what = "compute `" + name + "`";
  if (body.empty()) throw TypeError(what + ": the body gives no output", where);
  for (const Expr& e : body) {
    if (e.is_moved_from())
      throw TypeError(what + ": the body gives an expression that has been moved from", where);
    check_element_type(e.dtype(), what, where);
    check_no_reduction_inside(what, e, where);
    if (tree_size(e, kMaxBodyNodes) >= kMaxBodyNodes)
      throw TypeError(what + ": written out, the body has more than " +
                          std::to_string(kMaxBodyNodes) +
                          " operations; compute shared parts as tensors of their own",
                      where);
  }
  check_components(what, body, where);
  Compute kind{std::move(axis), {}, std::move(body)};
  if (const tir::ReduceNode* reduction = kind.reduction()) kind.reduce_axis = reduction->axis;
  return make_operation(std::move(name), std::move(options.tag), std::move(kind), where,
                        std::move(options.attrs));
}

Tensor compute(std::vector<Expr> shape, AxisNames axes, ComputeBody body, Name name,
               ComputeOptions options, SourceLocation where) {
  return compute_one(std::move(shape), std::move(axes), true, body, std::move(name),
                     std::move(options), where);
}
Tensor compute(std::vector<Expr> shape, ComputeBody body, Name name, ComputeOptions options,
               SourceLocation where) {
  return compute_one(std::move(shape), {}, false, body, std::move(name), std::move(options), where);
}
std::vector<Tensor> compute_multi(std::vector<Expr> shape, AxisNames axes, MultiBody body,
                                  Name name, ComputeOptions options, SourceLocation where) {
  return compute_many(std::move(shape), std::move(axes), true, body, std::move(name),
                      std::move(options), where);
}
std::vector<Tensor> compute_multi(std::vector<Expr> shape, MultiBody body, Name name,
                                  ComputeOptions options, SourceLocation where) {
  return compute_many(std::move(shape), {}, false, body, std::move(name), std::move(options),
                      where);
}

// ---- axes and variables -------------------------------------------------------------------------

IterVar reduce_axis(Range range, Name name, SourceLocation where) {
  const std::string what = "reduce_axis `" + name + "`";
  for (const Expr& end : {range.min, range.extent})
    if (!end.dtype().is_index())
      throw TypeError(what + ": the range must be of integers, got `" + tir::print_expr(end) +
                          "` of type " + end.dtype().str(),
                      where);
  for (const Expr& end : {range.min, range.extent})
    if (contains_reduction(end))
      throw TypeError(what + ": the range holds a reduction; compute it first, and read that",
                      where);
  if (auto extent = tir::constant_int(range.extent); extent && *extent < 0)
    throw TypeError(what + ": the range ends before it begins, by " + std::to_string(-*extent),
                    where);
  const DataType type = range.extent.dtype().bits >= range.min.dtype().bits ? range.extent.dtype()
                                                                            : range.min.dtype();
  Range typed = Range::from_min_extent(tir::cast(type, range.min), tir::cast(type, range.extent));
  return IterVar(std::move(typed), Var(std::move(name), type), IterKind::Reduce);
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
    if (!type.is_integral() || type.is_bool() || !type.is_scalar())
      throw TypeError(what + "the extent must be an integer, got " + type.str(), where);
    // Threads are counted in int32.
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
  if (!type.is_integral() || type.is_bool() || !type.is_scalar())
    throw TypeError("size_var `" + name + "`: a size is an integer, got " + type.str(), where);
  return Var::size(std::move(name), type);
}

}  // namespace tenon::te

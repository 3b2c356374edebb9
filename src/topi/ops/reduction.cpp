#include "tenon/topi/reduction.h"

#include <algorithm>

#include "tenon/te/reduce.h"
#include "tenon/tir/expr.h"
#include "tenon/topi/tags.h"
#include "topi/ops/declare.h"

namespace tenon::topi {

namespace {

/// A reduction over some dimensions of a tensor. Provides the shape of the result, and the indices
/// of the terms of each element.
class Reduction {
 public:
  const std::string name, what;
  std::vector<te::IterVar> axes;

  Reduction(const std::string& function, const Tensor& x, const std::vector<int>& dimensions,
            const ReductionOptions& options, const SourceLocation& where)
      : name(options.name.empty() ? x.op().name() + "_red" : std::string(options.name)),
        what(describe(function, name, x)),
        x_(x),
        keepdims_(options.keepdims),
        reduced_(x.shape().size(), std::nullopt) {
    if (x.ndim() == 0)
      throw TypeError(what + ": a tensor of rank 0 has no dimension to reduce", where);
    const std::vector<std::size_t> listed = dimensions_of(what, dimensions, reduced_.size(), where);
    for (std::size_t n = 0; n < reduced_.size(); ++n) {
      if (!dimensions.empty() && std::ranges::find(listed, n) == listed.end()) continue;
      axes.push_back(te::reduce_axis({0, x.shape()[n]}, "k" + std::to_string(n), where));
      reduced_[n] = axes.back();
    }
  }

  std::vector<Expr> shape() const {
    std::vector<Expr> shape;
    for (std::size_t n = 0; n < reduced_.size(); ++n) {
      const Expr& extent = x_.shape()[n];
      if (!reduced_[n]) shape.push_back(extent);
      if (reduced_[n] && keepdims_) shape.push_back(tir::make_int(extent.dtype(), 1));
    }
    return shape;
  }

  Expr term(std::span<const Var> indices, const SourceLocation& where) const {
    std::vector<Expr> read;
    std::size_t next = 0;
    for (const std::optional<te::IterVar>& axis : reduced_) {
      read.push_back(axis ? Expr(*axis) : Expr(indices[next]));
      if (!axis || keepdims_) ++next;
    }
    return x_(read, where);
  }

  /// Returns the row-major position of the term among the reduced dimensions.
  Expr position() const {
    std::vector<Expr> extents;
    for (const te::IterVar& axis : axes) extents.push_back(axis.dom()->extent);
    Expr position = tir::make_int(counting_type(extents), 0);
    for (std::size_t n = 0; n < axes.size(); ++n) position = position * extents[n] + axes[n];
    return position;
  }

 private:
  const Tensor& x_;
  bool keepdims_;
  /// The reduction axis of each dimension; nullopt for a dimension that is not reduced.
  std::vector<std::optional<te::IterVar>> reduced_;
};

/// The type of te::max and similar functions, which are overloaded.
using ConstReducer = Expr (*)(const Operand& e, const std::vector<te::IterVar>& axis,
                              te::ReduceOptions options);

template <class F>
Tensor reduce(const std::string& function, F f, const Tensor& x, const std::vector<int>& axes,
              const ReductionOptions& options, const SourceLocation& where) {
  const Reduction reduction(function, x, axes, options, where);
  const auto element = [&](Indices indices) {
    return f(Operand(reduction.term(indices, where), where), reduction.axes, te::ReduceOptions());
  };
  return declare(reduction.what, reduction.shape(), element, reduction.name, kCommReduce, where);
}

/// Returns a reducer of pairs of position and value, which selects the pair with the better value.
/// If the values are equal, it selects the smaller position. The identity has the worst value and a
/// position after all others.
te::Reducer make_best(Expr (*is_better)(const Operand&, const Operand&), bool greatest) {
  const auto combine = [is_better](std::span<const Var> x,
                                   std::span<const Var> y) -> std::vector<Expr> {
    // Comparisons with a NaN in y are false, so a NaN never replaces a number.
    const Expr take = is_better(y[1], x[1]) || (y[1] == x[1] && y[0] < x[0]);
    return {tir::select(take, y[0], x[0]), tir::select(take, y[1], x[1])};
  };
  const auto identity = [greatest](std::span<const DataType> types) -> std::vector<Expr> {
    const DataType type = types[1];
    const Expr none = tir::max_value(types[0]);
    if (!type.is_floating()) return {none, greatest ? tir::min_value(type) : tir::max_value(type)};
    const Expr infinity = tir::infinity(type);
    return {none, greatest ? -infinity : infinity};
  };
  return te::comm_reducer(combine, identity, greatest ? "argmax" : "argmin");
}

Tensor reduce_to_position(const std::string& function, const te::Reducer& best, const Tensor& x,
                          const std::vector<int>& axes, const ReductionOptions& options,
                          const SourceLocation& where) {
  const Reduction reduction(function, x, axes, options, where);
  if (!x.dtype().is_scalar() || x.dtype().is_bool() || x.dtype().is_handle())
    throw TypeError(reduction.what + ": the terms must be numbers, got " + x.dtype().str(), where);
  const std::vector<Expr> shape = reduction.shape();
  const auto pairs = [&](Indices indices) {
    return best({reduction.position(), reduction.term(indices, where)}, reduction.axes, {}, where);
  };
  const Tensor found = te::compute_multi(shape, axis_names(shape.size()), pairs,
                                         reduction.name + "_temp", {.tag = kCommReduceIndex}, where)
                           .front();
  const auto element = [&](Indices indices) {
    const Expr position = found(indices, where);
    // The position is still that of the identity if there are no values or all values are NaN.
    return tir::select(position == tir::max_value(position.dtype()), 0, position);
  };
  return declare(reduction.what, shape, element, reduction.name, kCommReduceIndex, where);
}

}  // namespace

Tensor sum(const Tensor& x, std::vector<int> axes, ReductionOptions options, SourceLocation where) {
  return reduce("sum", te::sum, x, axes, options, where);
}
Tensor prod(const Tensor& x, std::vector<int> axes, ReductionOptions options,
            SourceLocation where) {
  return reduce("prod", te::prod, x, axes, options, where);
}
Tensor max(const Tensor& x, std::vector<int> axes, ReductionOptions options, SourceLocation where) {
  return reduce("max", ConstReducer{te::max}, x, axes, options, where);
}
Tensor min(const Tensor& x, std::vector<int> axes, ReductionOptions options, SourceLocation where) {
  return reduce("min", ConstReducer{te::min}, x, axes, options, where);
}
Tensor all(const Tensor& x, std::vector<int> axes, ReductionOptions options, SourceLocation where) {
  return reduce("all", ConstReducer{te::all}, x, axes, options, where);
}
Tensor any(const Tensor& x, std::vector<int> axes, ReductionOptions options, SourceLocation where) {
  return reduce("any", ConstReducer{te::any}, x, axes, options, where);
}

Tensor argmax(const Tensor& x, std::vector<int> axes, ReductionOptions options,
              SourceLocation where) {
  return reduce_to_position("argmax", make_best(tir::operator>, true), x, axes, options, where);
}
Tensor argmin(const Tensor& x, std::vector<int> axes, ReductionOptions options,
              SourceLocation where) {
  return reduce_to_position("argmin", make_best(tir::operator<, false), x, axes, options, where);
}

}  // namespace tenon::topi

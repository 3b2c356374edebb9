#include "tenon/topi/nn.h"

#include <algorithm>

#include "tenon/te/reduce.h"
#include "tenon/tir/combination.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/print.h"
#include "tenon/topi/broadcast.h"
#include "tenon/topi/parts.h"
#include "tenon/topi/tags.h"
#include "topi/ops/declare.h"
#include "topi/ops/windows.h"

namespace tenon::topi {

// ---- products -----------------------------------------------------------------------------------

namespace {

/// Declares a matrix product over the last two of `rank` dimensions. A preceding dimension, if any,
/// is the batch. `function` is also the tag.
Tensor product_of_matrices(const char* function, const std::string& name, int rank, const Tensor& a,
                           const Tensor& b, const MatmulOptions& options,
                           const SourceLocation& where) {
  const std::string what = describe_two(function, name, a, b);
  for (const Tensor* x : {&a, &b}) check_rank(what, *x, rank, where);
  const std::size_t first = a.shape().size() - 2;
  const std::size_t row_of_a = first + (options.transpose_a ? 1 : 0),
                    k_of_a = first + (options.transpose_a ? 0 : 1);
  const std::size_t k_of_b = first + (options.transpose_b ? 1 : 0),
                    column_of_b = first + (options.transpose_b ? 0 : 1);
  check_same(what, a, k_of_a, b, k_of_b, where);
  const te::IterVar k = te::reduce_axis({0, a.shape()[k_of_a]}, "k", where);
  std::vector<Expr> shape;
  const bool one_a = first == 1 && tir::is_one(a.shape()[0]),
             one_b = first == 1 && tir::is_one(b.shape()[0]);
  if (first == 1) {
    if (!one_a && !one_b) check_same(what, a, 0, b, 0, where);
    shape.push_back(one_a ? b.shape()[0] : a.shape()[0]);
  }
  shape.push_back(a.shape()[row_of_a]);
  shape.push_back(b.shape()[column_of_b]);
  const auto read = [&](const Tensor& x, bool is_one, std::size_t outer, std::size_t outer_place,
                        std::size_t k_place, Indices indices) {
    std::vector<Expr> own(first + 2, 0);
    if (first == 1 && !is_one) own[0] = indices[0];
    own[outer_place] = indices[outer];
    own[k_place] = k;
    return x(own, where);
  };
  const auto element = [&](Indices indices) {
    const Expr left = read(a, one_a, first, row_of_a, k_of_a, indices);
    const Expr right = read(b, one_b, first + 1, column_of_b, k_of_b, indices);
    return te::sum(Operand(product(left, right, options.out_dtype, where), where), {k});
  };
  return declare(what, shape, element, name, function, where);
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, MatmulOptions options, SourceLocation where) {
  return product_of_matrices(kMatmul, or_else(options.name, "T_matmul"), 2, a, b, options, where);
}

Tensor batch_matmul(const Tensor& a, const Tensor& b, MatmulOptions options, SourceLocation where) {
  return product_of_matrices(kBatchMatmul, or_else(options.name, "T_batch_matmul"), 3, a, b,
                             options, where);
}

Tensor dense(const Tensor& x, const Tensor& weight, DenseOptions options, SourceLocation where) {
  return product_of_matrices(kDense, options.name, 2, x, weight,
                             {.transpose_b = true, .out_dtype = options.out_dtype}, where);
}

Tensor dense(const Tensor& x, const Tensor& weight, const Tensor& bias, DenseOptions options,
             SourceLocation where) {
  const std::string what = describe("dense", options.name, x);
  check_rank(what, bias, 1, where);
  check_rank(what, weight, 2, where);
  check_same(what, weight, 0, bias, 0, where);
  return add(Term(dense(x, weight, std::move(options), where), where), Term(bias, where));
}

// ---- softmax ------------------------------------------------------------------------------------

Tensor softmax(const Tensor& x, int axis, Name name, SourceLocation where) {
  const std::string what = describe("softmax", name, x);
  const std::size_t along = dimension_of(what, axis, x.shape().size(), where);
  if (!x.dtype().is_floating())
    throw TypeError(what + ": exp takes floats, got " + x.dtype().str(), where);
  const std::vector<Expr> rest = without(x.shape(), along);
  const auto inside = [&](const Tensor& t, Indices others, const te::IterVar& k) {
    return Operand(t(with(others, along, k), where), where);
  };
  const te::IterVar k = te::reduce_axis({0, x.shape()[along]}, "k", where);
  const te::IterVar l = te::reduce_axis({0, x.shape()[along]}, "k", where);
  const Tensor greatest = declare(
      what, rest, [&](Indices i) { return te::max(inside(x, i, k), {k}); }, "T_softmax_maxelem",
      kCommReduce, where);
  const Tensor power = declare(
      what, x.shape(),
      [&](Indices i) { return tir::exp(x(i, where) - greatest(without(i, along), where)); },
      "T_softmax_exp", kElementwise, where);
  const Tensor sum = declare(
      what, rest, [&](Indices i) { return te::sum(inside(power, i, l), {l}); }, "T_softmax_expsum",
      kCommReduce, where);
  return declare(
      what, x.shape(), [&](Indices i) { return power(i, where) / sum(without(i, along), where); },
      std::move(name), kSoftmaxOutput, where);
}

// ---- windows ------------------------------------------------------------------------------------

namespace {

Window pooling_window(const std::string& what, const Tensor& x, const std::array<int, 2>& size,
                      const PoolOptions& options, const SourceLocation& where) {
  check_rank(what, x, 4, where);
  const Window window{{size[0], size[1]}, options.stride, {1, 1}, options.padding, options.layout};
  check_window(what, window, where);
  for (std::size_t n = 0; n < 2; ++n) {
    const int most = std::max(options.padding[n], options.padding[2 + n]);
    if (most >= size[n])
      throw TypeError(what + ": a padding of " + std::to_string(most) + " would leave windows of " +
                          std::to_string(size[n]) + " without any element",
                      where);
  }
  return window;
}

using Reduce = std::function<Expr(const Operand& term, const std::vector<te::IterVar>& axes)>;

/// Declares a reduction over each window of each channel.
Tensor reduce_windows(const std::string& what, const Tensor& x, const Window& window,
                      const Operand& outside, const Reduce& reduce, const std::string& name,
                      const char* tag, const SourceLocation& where) {
  std::vector<Expr> shape = x.shape();
  std::vector<te::IterVar> points;
  for (std::size_t n = 0; n < 2; ++n) {
    shape[window.dimension(n)] = window_count(what, window, x, n, where);
    points.push_back(te::reduce_axis({0, window.size[n]}, n == 0 ? "dh" : "dw", where));
  }
  const Tensor source = padded(x, window, outside, where);
  const auto element = [&](Indices i) {
    std::vector<Expr> at(i.begin(), i.end());
    for (std::size_t n = 0; n < 2; ++n)
      at[window.dimension(n)] = window.place(n, i[window.dimension(n)], points[n]);
    return reduce(Operand(source(at, where), where), points);
  };
  return declare(what, shape, element, name, tag, where);
}

}  // namespace

Tensor max_pool2d(const Tensor& x, std::array<int, 2> size, PoolOptions options,
                  SourceLocation where) {
  const std::string name = or_else(options.name, "T_max_pool2d");
  const std::string what = describe("max_pool2d", name, x);
  const Window window = pooling_window(what, x, size, options, where);
  const auto reduce = [](const Operand& term, const std::vector<te::IterVar>& axes) {
    return te::max(term, axes);
  };
  return reduce_windows(what, x, window, tir::identity_of(tir::BinaryOp::Max, x.dtype()), reduce,
                        name, kMaxPool, where);
}

Tensor avg_pool2d(const Tensor& x, std::array<int, 2> size, PoolOptions options,
                  SourceLocation where) {
  const std::string name = or_else(options.name, "T_avg_pool2d");
  const std::string what = describe("avg_pool2d", name, x);
  const Window window = pooling_window(what, x, size, options, where);
  if (!x.dtype().is_floating())
    throw TypeError(what + ": the elements must be floats, got " + x.dtype().str(), where);
  const auto reduce = [](const Operand& term, const std::vector<te::IterVar>& axes) {
    return te::sum(term, axes);
  };
  const Tensor sums = reduce_windows(what, x, window, 0, reduce, name + "_sum", kSumPool, where);
  // Returns the number of points of a window that are inside of the dimension, and not in the
  // padding.
  const auto inside = [&](std::size_t n, const Expr& index) -> Expr {
    if (window.padding[n] == 0 && window.padding[2 + n] == 0) return window.size[n];
    const Expr begin = index * window.stride[n] - window.padding[n];
    return tir::min(begin + window.size[n], x.shape()[window.dimension(n)]) - tir::max(begin, 0);
  };
  const auto element = [&](Indices i) {
    return sums(i, where) / tir::cast(x.dtype(), inside(0, i[window.dimension(0)]) *
                                                     inside(1, i[window.dimension(1)]));
  };
  return declare(what, sums.shape(), element, name, kElementwise, where);
}

}  // namespace tenon::topi

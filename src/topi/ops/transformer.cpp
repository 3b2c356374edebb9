#include "tenon/topi/transformer.h"

#include <cmath>
#include <numbers>

#include "tenon/te/reduce.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/print.h"
#include "tenon/topi/tags.h"
#include "topi/ops/declare.h"

namespace tenon::topi {

namespace {

void check_floats(const std::string& what, const Tensor& x, const SourceLocation& where) {
  if (!x.dtype().is_floating())
    throw TypeError(what + ": `" + x.name() + "` must hold floats, holds " + x.dtype().str(),
                    where);
}

Expr constant(const Tensor& like, double value) { return tir::make_const(like.dtype(), value); }

/// Throws unless `x` can be normalized along its last dimension, and each weight or bias has one
/// value for each element of a row.
void check_rows(const std::string& what, const Tensor& x,
                std::initializer_list<const Tensor*> weights, const SourceLocation& where) {
  if (x.ndim() == 0) throw TypeError(what + ": a tensor of rank 0 has no dimension", where);
  check_floats(what, x, where);
  for (const Tensor* weight : weights) {
    if (weight->ndim() != 1 || weight->dtype() != x.dtype())
      throw TypeError(what + ": `" + weight->name() + "` must have one dimension and elements of " +
                          x.dtype().str(),
                      where);
    check_same(what, x, x.shape().size() - 1, *weight, 0, where);
  }
}

/// Declares the sum of `term` over each row of `x`.
Tensor sum_of_rows(const std::string& what, const Tensor& x, const std::string& name,
                   const std::function<Expr(const Expr& x, Indices row)>& term,
                   const SourceLocation& where) {
  const std::vector<Expr> rows(x.shape().begin(), x.shape().end() - 1);
  const te::IterVar k = te::reduce_axis({0, x.shape().back()}, "k", where);
  const auto element = [&](Indices row) {
    return te::sum(Operand(term(x(with(row, row.size(), k), where), row), where), {k});
  };
  return declare(what, rows, element, name, kCommReduce, where);
}

/// Returns the mean of a row of `x`, given the sums of the rows.
Expr mean_of_row(const Tensor& x, const Tensor& sums, Indices row, const SourceLocation& where) {
  return sums(row, where) / tir::cast(x.dtype(), x.shape().back());
}

}  // namespace

Tensor gelu(const Tensor& x, Name name, SourceLocation where) {
  const std::string what = describe("gelu", name, x);
  check_floats(what, x, where);
  const auto element = [&](Indices i) -> Expr {
    const Expr e = x(i, where);
    return e * constant(x, 0.5) *
           (constant(x, 1) + tir::erf(e * constant(x, 1 / std::numbers::sqrt2)));
  };
  return declare(what, x.shape(), element, std::move(name), kElementwise, where);
}

Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, double epsilon,
                  Name name, SourceLocation where) {
  const std::string what = describe("layer_norm", name, x), prefix = name;
  check_rows(what, x, {&gamma, &beta}, where);
  const Tensor sum = sum_of_rows(
      what, x, prefix + "_sum", [](const Expr& e, Indices) { return e; }, where);
  const auto distance = [&](const Expr& e, Indices row) {
    return e - mean_of_row(x, sum, row, where);
  };
  const Tensor squares = sum_of_rows(
      what, x, prefix + "_squares",
      [&](const Expr& e, Indices row) {
        const Expr d = distance(e, row);
        return d * d;
      },
      where);
  const auto element = [&](Indices i) {
    const Indices row = i.first(i.size() - 1);
    const Expr width = tir::rsqrt(mean_of_row(x, squares, row, where) + constant(x, epsilon));
    return distance(x(i, where), row) * width * gamma(i.back()) + beta(i.back());
  };
  return declare(what, x.shape(), element, prefix, kLayerNorm, where);
}

Tensor rms_norm(const Tensor& x, const Tensor& gamma, double epsilon, Name name,
                SourceLocation where) {
  const std::string what = describe("rms_norm", name, x), prefix = name;
  check_rows(what, x, {&gamma}, where);
  const Tensor squares = sum_of_rows(
      what, x, prefix + "_squares", [](const Expr& e, Indices) { return e * e; }, where);
  const auto element = [&](Indices i) {
    const Expr mean = mean_of_row(x, squares, i.first(i.size() - 1), where);
    return x(i, where) * tir::rsqrt(mean + constant(x, epsilon)) * gamma(i.back());
  };
  return declare(what, x.shape(), element, prefix, kRmsNorm, where);
}

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, AttentionOptions options,
                 SourceLocation where) {
  const std::string prefix = options.name;
  const std::string what =
      describe("attention", prefix, q) + ", " + describe(k) + " and " + describe(v);
  for (const Tensor* x : {&q, &k, &v}) {
    check_rank(what, *x, 3, where);
    check_floats(what, *x, where);
    if (x->dtype() != q.dtype())
      throw TypeError(what + ": the tensors must have the same type", where);
  }
  check_same(what, q, 0, k, 0, where);
  check_same(what, q, 0, v, 0, where);
  check_same(what, q, 2, k, 2, where);
  check_same(what, k, 1, v, 1, where);
  const std::optional<std::int64_t> width = tir::constant_int(q.shape()[2]);
  if (!options.scale && !width)
    throw TypeError(what + ": .scale must be given if the width is known only at run time", where);
  if (options.scale && !(*options.scale > 0))
    throw TypeError(what + ": .scale must be positive", where);
  const Expr scale = constant(
      q,
      options.scale.value_or(width && *width > 0 ? 1 / std::sqrt(static_cast<double>(*width)) : 1));
  const Expr heads = q.shape()[0], m = q.shape()[1], n = k.shape()[1];
  const te::IterVar w = te::reduce_axis({0, q.shape()[2]}, "w", where);
  const auto along_keys = [&](const char* axis) { return te::reduce_axis({0, n}, axis, where); };
  const te::IterVar for_greatest = along_keys("k"), for_sum = along_keys("k"),
                    for_values = along_keys("k");
  const Tensor scores = declare(
      what, {heads, m, n},
      [&](Indices i) {
        const Expr product = q(i[0], i[1], w) * k(i[0], i[2], w);
        return te::sum(Operand(product, where), {w});
      },
      prefix + "_scores", kAttention, where);
  const Tensor greatest = declare(
      what, {heads, m},
      [&](Indices i) {
        return te::max(Operand(scores(i[0], i[1], for_greatest), where), {for_greatest});
      },
      prefix + "_maxelem", kCommReduce, where);
  const Tensor power = declare(
      what, {heads, m, n},
      [&](Indices i) { return tir::exp((scores(i, where) - greatest(i[0], i[1])) * scale); },
      prefix + "_exp", kElementwise, where);
  const Tensor sum = declare(
      what, {heads, m},
      [&](Indices i) { return te::sum(Operand(power(i[0], i[1], for_sum), where), {for_sum}); },
      prefix + "_expsum", kCommReduce, where);
  const Tensor values = declare(
      what, {heads, m, v.shape()[2]},
      [&](Indices i) {
        const Expr product = power(i[0], i[1], for_values) * v(i[0], for_values, i[2]);
        return te::sum(Operand(product, where), {for_values});
      },
      prefix + "_values", kAttention, where);
  return declare(
      what, values.shape(), [&](Indices i) { return values(i, where) / sum(i[0], i[1]); }, prefix,
      kAttention, where);
}

}  // namespace tenon::topi

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

/// A tensor that is normalized along its last dimension.
class Rows {
 public:
  Rows(std::string what, const Tensor& x, const SourceLocation& where)
      : what_(std::move(what)), x_(x), where_(where) {
    if (x.ndim() == 0) throw TypeError(what_ + ": a tensor of rank 0 has no dimension", where);
    check_floats(what_, x, where);
  }

  /// Throws unless the weight or bias has one value for each element of a row.
  void check_weight(const Tensor& weight) const {
    if (weight.ndim() != 1 || weight.dtype() != x_.dtype())
      throw TypeError(what_ + ": `" + weight.name() + "` must have one dimension and elements of " +
                          x_.dtype().str(),
                      where_);
    check_same(what_, x_, x_.shape().size() - 1, weight, 0, where_);
  }

  /// Declares the sum of `term` over each row.
  Tensor sum(const std::string& name, const std::function<Expr(const Expr& x, Indices row)>& term) {
    const std::vector<Expr> rows(x_.shape().begin(), x_.shape().end() - 1);
    const te::IterVar k = te::reduce_axis({0, x_.shape().back()}, "k", where_);
    const auto element = [&](Indices row) {
      std::vector<Expr> at(row.begin(), row.end());
      at.push_back(k);
      return te::sum(Operand(term(x_(at, where_), row), where_), {k});
    };
    return declare(what_, rows, element, name, kCommReduce, where_);
  }

  Expr mean(const Tensor& sum, Indices row) const {
    return sum(row, where_) / tir::cast(x_.dtype(), x_.shape().back());
  }

  Tensor map(const std::string& name, const char* tag,
             const std::function<Expr(const Expr& x, Indices row, const Expr& column)>& element) {
    const auto of = [&](Indices all) {
      return element(x_(all, where_), all.first(all.size() - 1), all.back());
    };
    return declare(what_, x_.shape(), of, name, tag, where_);
  }

 private:
  std::string what_;
  const Tensor& x_;
  const SourceLocation& where_;
};

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
  Rows rows(describe("layer_norm", name, x), x, where);
  rows.check_weight(gamma);
  rows.check_weight(beta);
  const std::string prefix = name;
  const Tensor sum = rows.sum(prefix + "_sum", [](const Expr& e, Indices) { return e; });
  const Tensor squares = rows.sum(prefix + "_squares", [&](const Expr& e, Indices row) {
    const Expr distance = e - rows.mean(sum, row);
    return distance * distance;
  });
  return rows.map(prefix, kLayerNorm, [&](const Expr& e, Indices row, const Expr& column) {
    const Expr width = tir::rsqrt(rows.mean(squares, row) + constant(x, epsilon));
    return (e - rows.mean(sum, row)) * width * gamma(column) + beta(column);
  });
}

Tensor rms_norm(const Tensor& x, const Tensor& gamma, double epsilon, Name name,
                SourceLocation where) {
  Rows rows(describe("rms_norm", name, x), x, where);
  rows.check_weight(gamma);
  const std::string prefix = name;
  const Tensor squares =
      rows.sum(prefix + "_squares", [](const Expr& e, Indices) { return e * e; });
  return rows.map(prefix, kRmsNorm, [&](const Expr& e, Indices row, const Expr& column) {
    return e * tir::rsqrt(rows.mean(squares, row) + constant(x, epsilon)) * gamma(column);
  });
}

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, AttentionOptions options,
                 SourceLocation where) {
  const std::string prefix = options.name;
  const std::string what =
      describe("attention", prefix, q) + ", " + describe(k) + " and " + describe(v);
  for (const Tensor* x : {&q, &k, &v}) {
    if (x->ndim() != 3)
      throw TypeError(
          what + ": `" + x->name() + "` must have 3 dimensions, has " + std::to_string(x->ndim()),
          where);
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

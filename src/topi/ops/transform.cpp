#include "tenon/topi/transform.h"

#include <algorithm>
#include <numeric>

#include "tenon/tir/expr.h"
#include "tenon/tir/print.h"
#include "topi/ops/declare.h"

namespace tenon::topi {

// ---- order --------------------------------------------------------------------------------------

Tensor transpose(const Tensor& x, std::vector<int> axes, Name name, SourceLocation where) {
  const std::string what = describe("transpose", name, x);
  const std::size_t rank = x.shape().size();
  if (axes.empty()) {
    axes.resize(rank);
    std::iota(axes.rbegin(), axes.rend(), 0);
  }
  const std::vector<std::size_t> order = dimensions_of(what, axes, rank, where);
  if (order.size() != rank)
    throw TypeError(what + ": " + std::to_string(order.size()) + " of " + std::to_string(rank) +
                        " dimensions are listed; list all of them",
                    where);
  std::vector<Expr> shape;
  for (std::size_t n : order) shape.push_back(x.shape()[n]);
  const auto element = [&](Indices indices) {
    std::vector<Expr> read(rank, 0);
    for (std::size_t n = 0; n < rank; ++n) read[order[n]] = indices[n];
    return x(read, where);
  };
  return declare_injective(what, std::move(shape), element, std::move(name), where);
}

// ---- shape --------------------------------------------------------------------------------------

namespace {

/// Replaces extents that are products by their operands.
std::vector<Expr> without_products(const std::vector<Expr>& extents) {
  std::vector<Expr> result;
  const auto add = [&](const auto& self, const Expr& e) -> void {
    const tir::Binary* product = e.as<tir::Binary>();
    if (!product || product->op != tir::BinaryOp::Mul) return result.push_back(e);
    self(self, product->a);
    self(self, product->b);
  };
  for (const Expr& extent : extents) add(add, extent);
  return result;
}

/// Whether the numbers of elements are provably equal: either both have the constant factor 0, or
/// their constant factors are equal and their other factors are the same in any order.
bool same_count(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  const auto [x, factors_of_a] = factors_of(without_products(a));
  const auto [y, factors_of_b] = factors_of(without_products(b));
  if (x == 0 && y == 0) return true;
  return x && x == y && std::ranges::is_permutation(factors_of_a, factors_of_b, same_extent);
}

/// Returns the row-major position of an element.
Expr place_of(const std::vector<Expr>& indices, const std::vector<Expr>& shape, DataType type) {
  Expr place = tir::make_int(type, 0);
  for (std::size_t n = 0; n < shape.size(); ++n) place = place * shape[n] + indices[n];
  return place;
}

/// Returns the indices of the element at a row-major position.
std::vector<Expr> indices_at(Expr place, const std::vector<Expr>& shape) {
  std::vector<Expr> indices(shape.size(), place);
  for (std::size_t n = shape.size(); n-- > 0;) {
    // The first index needs no remainder, because the position is within the tensor.
    indices[n] = n == 0 ? place : tir::floormod(place, shape[n]);
    if (n > 0) place = tir::floordiv(place, shape[n]);
  }
  return indices;
}

/// Returns the indices in shape `to` of the element that has the given indices in shape `from`.
/// Leading and trailing dimensions of equal extents keep their indices. This avoids divisions by
/// extents, which may be symbolic.
std::vector<Expr> reshaped_indices(const std::vector<Expr>& indices, const std::vector<Expr>& from,
                                   const std::vector<Expr>& to) {
  // The numbers of leading and trailing dimensions.
  const std::ptrdiff_t first =
      std::mismatch(from.begin(), from.end(), to.begin(), to.end(), same_extent).first -
      from.begin();
  const std::ptrdiff_t last =
      std::mismatch(from.rbegin(), from.rend() - first, to.rbegin(), to.rend() - first, same_extent)
          .first -
      from.rbegin();
  const auto inner = [&](const std::vector<Expr>& list) {
    return std::vector<Expr>(list.begin() + first, list.end() - last);
  };
  const std::vector<Expr> own = inner(from);
  std::vector<Expr> result(indices.begin(), indices.begin() + first);
  const std::vector<Expr> middle =
      indices_at(place_of(inner(indices), own, counting_type(own)), inner(to));
  result.insert(result.end(), middle.begin(), middle.end());
  result.insert(result.end(), indices.end() - last, indices.end());
  return result;
}

Tensor in_shape(const std::string& what, const Tensor& x, std::vector<Expr> shape, std::string name,
                const SourceLocation& where) {
  const bool is_empty = factors_of(x.shape()).first == 0;
  const auto element = [&](Indices indices) {
    // An empty tensor has no elements to read. Computing their indices would divide by 0.
    if (is_empty) return tir::make_const(x.dtype(), 0);
    return x(reshaped_indices({indices.begin(), indices.end()}, shape, x.shape()), where);
  };
  return declare_injective(what, shape, element, std::move(name), where);
}

}  // namespace

Tensor reshape(const Tensor& x, std::vector<Expr> shape, Name name, SourceLocation where) {
  const std::string what = describe("reshape", name, x);
  check_given(what, "extent", shape, where);
  if (!same_count(x.shape(), shape))
    throw TypeError(what + " to " + shape_text(shape) +
                        ": the shapes are not known to have the same number of elements",
                    where);
  return in_shape(what, x, std::move(shape), std::move(name), where);
}

Tensor flatten(const Tensor& x, Name name, SourceLocation where) {
  const std::string what = describe("flatten", name, x);
  if (x.ndim() == 0) throw TypeError(what + ": a tensor of rank 0 has no first dimension", where);
  const Expr rest = product_of(what, {x.shape().begin() + 1, x.shape().end()}, where);
  return in_shape(what, x, {x.shape().front(), rest}, std::move(name), where);
}

namespace {

constexpr int kMaxNewDimensions = 64;

}  // namespace

Tensor expand_dims(const Tensor& x, int axis, int count, Name name, SourceLocation where) {
  const std::string what = describe("expand_dims", name, x);
  if (count < 0 || count > kMaxNewDimensions)
    throw TypeError(what + ": there can be 0 to " + std::to_string(kMaxNewDimensions) +
                        " new dimensions, not " + std::to_string(count),
                    where);
  // There are rank + 1 positions, because the new dimension may also follow the last one.
  const std::size_t first = dimension_of(what, axis, x.shape().size() + 1, where);
  const auto added = static_cast<std::size_t>(count);
  std::vector<Expr> shape = x.shape();
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(first), added, 1);
  const auto element = [&](Indices indices) {
    std::vector<Expr> read(indices.begin(), indices.begin() + static_cast<std::ptrdiff_t>(first));
    read.insert(read.end(), indices.begin() + static_cast<std::ptrdiff_t>(first + added),
                indices.end());
    return x(read, where);
  };
  return declare_injective(what, shape, element, std::move(name), where);
}

Tensor squeeze(const Tensor& x, std::vector<int> axes, Name name, SourceLocation where) {
  const std::string what = describe("squeeze", name, x);
  const std::size_t rank = x.shape().size();
  std::vector<bool> is_removed(rank, false);
  for (std::size_t n : dimensions_of(what, axes, rank, where)) is_removed[n] = true;
  for (std::size_t n = 0; n < rank; ++n) {
    const bool is_one = tir::is_one(x.shape()[n]);
    if (is_removed[n] && !is_one)
      throw TypeError(what + ": dimension " + std::to_string(n) + " has extent " +
                          tir::print_expr(x.shape()[n]) +
                          "; only a dimension of extent 1 can be removed",
                      where);
    if (axes.empty()) is_removed[n] = is_one;
  }
  std::vector<Expr> shape;
  for (std::size_t n = 0; n < rank; ++n)
    if (!is_removed[n]) shape.push_back(x.shape()[n]);
  const auto element = [&](Indices indices) {
    std::vector<Expr> read;
    std::size_t next = 0;
    for (std::size_t n = 0; n < rank; ++n)
      read.push_back(is_removed[n] ? zero_like(x.shape()[n]) : Expr(indices[next++]));
    return x(read, where);
  };
  return declare_injective(what, shape, element, std::move(name), where);
}

}  // namespace tenon::topi

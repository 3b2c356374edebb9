#include "topi/declare.h"

#include <algorithm>

#include "tenon/tir/compare.h"
#include "tenon/tir/print.h"

namespace tenon::topi {

namespace {

/// What the error says, without the place.
std::string sentence_of(const Error& error) {
  std::string text = error.what();
  if (!error.where()) return text;
  const std::string place = " (at " + to_string(*error.where()) + ")";
  if (text.ends_with(place)) text.resize(text.size() - place.size());
  return text;
}

}  // namespace

Tensor declare(const std::string& what, std::vector<Expr> shape, const Element& element, std::string name,
               std::string tag, const SourceLocation& where) {
  std::vector<std::string> axes = axis_names(shape.size());
  const auto body = [&](std::span<const Var> indices) {
    try {
      return element(indices);
    } catch (const TypeError& error) {
      throw TypeError(what + ": " + sentence_of(error), where);
    }
  };
  return te::compute(std::move(shape), std::move(axes), body, std::move(name), {.tag = std::move(tag)},
                     where);
}

std::vector<std::string> axis_names(std::size_t rank) {
  std::vector<std::string> names;
  for (std::size_t n = 0; n < rank; ++n) names.push_back("ax" + std::to_string(n));
  return names;
}

std::string describe(const std::string& function, const std::string& name, const Tensor& x) {
  return "topi::" + function + " `" + name + "` of " + describe(x);
}

std::string shape_text(const std::vector<Expr>& shape) {
  std::string text = "[";
  for (std::size_t n = 0; n < shape.size(); ++n) text += (n == 0 ? "" : ", ") + tir::print_expr(shape[n]);
  return text + "]";
}

std::string describe(const Tensor& x) { return "tensor `" + x.name() + "` " + shape_text(x.shape()); }

std::size_t dimension_of(const std::string& what, int axis, std::size_t rank, const SourceLocation& where) {
  const int count = static_cast<int>(rank);
  if (axis < -count || axis >= count)
    throw TypeError(
        what + ": there is no dimension " + std::to_string(axis) + " among " + std::to_string(rank), where);
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

std::vector<std::size_t> dimensions_of(const std::string& what, const std::vector<int>& axes,
                                       std::size_t rank, const SourceLocation& where) {
  std::vector<std::size_t> dimensions;
  for (int axis : axes) {
    const std::size_t dimension = dimension_of(what, axis, rank, where);
    if (std::find(dimensions.begin(), dimensions.end(), dimension) != dimensions.end())
      throw TypeError(what + ": dimension " + std::to_string(dimension) + " is listed twice", where);
    dimensions.push_back(dimension);
  }
  return dimensions;
}

bool same_extent(const Expr& a, const Expr& b) {
  const std::optional<std::int64_t> x = tir::constant_int(a), y = tir::constant_int(b);
  return x && y ? *x == *y : tir::structural_equal(a, b);
}

}  // namespace tenon::topi

#include "topi/ops/declare.h"

#include <algorithm>

#include "tenon/tir/compare.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/print.h"
#include "tenon/topi/tags.h"

namespace tenon::topi {

Tensor declare(const std::string& what, std::vector<Expr> shape, const Element& element,
               std::string name, std::string tag, const SourceLocation& where) {
  std::vector<std::string> axes = axis_names(shape.size());
  const auto body = [&](Indices indices) {
    try {
      return element(indices);
    } catch (const TypeError& error) {
      throw TypeError(what + ": " + error.sentence(), where);
    }
  };
  return te::compute(std::move(shape), std::move(axes), body, std::move(name),
                     {.tag = std::move(tag)}, where);
}

Tensor declare_injective(const std::string& what, std::vector<Expr> shape, const Element& element,
                         std::string name, const SourceLocation& where) {
  return declare(what, std::move(shape), element, std::move(name), kInjective, where);
}

Expr zero_like(const Expr& e) { return tir::make_int(e.dtype(), 0); }

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
  for (std::size_t n = 0; n < shape.size(); ++n)
    text += (n == 0 ? "" : ", ") + tir::print_expr(shape[n]);
  return text + "]";
}

std::string describe(const Tensor& x) {
  return "tensor `" + x.name() + "` " + shape_text(x.shape());
}

std::size_t dimension_of(const std::string& what, int axis, std::size_t rank,
                         const SourceLocation& where) {
  const int count = static_cast<int>(rank);
  if (axis < -count || axis >= count)
    throw TypeError(what + ": axis " + std::to_string(axis) + " is out of range for " +
                        std::to_string(rank) + " dimensions",
                    where);
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

std::vector<std::size_t> dimensions_of(const std::string& what, const std::vector<int>& axes,
                                       std::size_t rank, const SourceLocation& where) {
  std::vector<std::size_t> dimensions;
  for (int axis : axes) {
    const std::size_t dimension = dimension_of(what, axis, rank, where);
    if (std::find(dimensions.begin(), dimensions.end(), dimension) != dimensions.end())
      throw TypeError(what + ": dimension " + std::to_string(dimension) + " is listed twice",
                      where);
    dimensions.push_back(dimension);
  }
  return dimensions;
}

void check_given(const std::string& what, const std::string& role, const std::vector<Expr>& values,
                 const SourceLocation& where) {
  for (std::size_t n = 0; n < values.size(); ++n)
    if (values[n].is_moved_from())
      throw TypeError(what + ": " + role + " " + std::to_string(n) + " has been moved from", where);
}

namespace {

/// Combines the constants of the list. Returns the combined constant, and the expressions that are
/// not constant. The constant is nullopt if it needs more than 64 bits.
ConstantAndOthers part_constants(const std::vector<Expr>& list, std::int64_t start,
                                 bool (*combine)(std::int64_t a, std::int64_t b,
                                                 std::int64_t* result)) {
  std::optional<std::int64_t> constant = start;
  std::vector<Expr> others;
  for (const Expr& e : list) {
    const std::optional<std::int64_t> value = tir::constant_int(e);
    if (!value) {
      others.push_back(e);
    } else if (constant && combine(*constant, *value, &*constant)) {
      constant = std::nullopt;
    }
  }
  return {constant, others};
}

bool add_overflows(std::int64_t a, std::int64_t b, std::int64_t* sum) {
  return __builtin_add_overflow(a, b, sum);
}
bool multiply_overflows(std::int64_t a, std::int64_t b, std::int64_t* product) {
  return __builtin_mul_overflow(a, b, product);
}

bool is_wide(const Expr& e) { return e.dtype().bits > 32; }

/// Combines the expressions that are not constant, and then the constant. The constant has the type
/// int32, or int64 if it or an extent needs 64 bits.
Expr combined(const std::string& what, const std::vector<Expr>& extents, std::int64_t neutral,
              bool (*combine_constants)(std::int64_t, std::int64_t, std::int64_t*),
              Expr (*combine)(const Operand&, const Operand&), const SourceLocation& where) {
  const auto [value, others] = part_constants(extents, neutral, combine_constants);
  if (!value) throw TypeError(what + ": it would have more elements than 64 bits count", where);
  const bool needs_64_bits = !tenon::fits(*value, Int(32)) || std::ranges::any_of(extents, is_wide);
  const Expr constant = tir::make_int(Int(needs_64_bits ? 64 : 32), *value);
  if (others.empty()) return constant;
  Expr result = others.front();
  for (std::size_t n = 1; n < others.size(); ++n) result = combine(result, others[n]);
  return *value == neutral ? result : combine(result, constant);
}

}  // namespace

Expr sum_of(const std::string& what, const std::vector<Expr>& extents,
            const SourceLocation& where) {
  return combined(what, extents, 0, add_overflows, tir::operator+, where);
}

Expr product_of(const std::string& what, const std::vector<Expr>& extents,
                const SourceLocation& where) {
  return combined(what, extents, 1, multiply_overflows, tir::operator*, where);
}

ConstantAndOthers factors_of(const std::vector<Expr>& extents) {
  return part_constants(extents, 1, multiply_overflows);
}

DataType counting_type(const std::vector<Expr>& shape) {
  const auto [constant, others] = factors_of(shape);
  const bool one_variable = constant == 1 && others.size() == 1;
  const bool is_small = others.empty() && constant && tenon::fits(*constant, Int(32));
  return Int(std::ranges::none_of(shape, is_wide) && (one_variable || is_small) ? 32 : 64);
}

bool same_extent(const Expr& a, const Expr& b) {
  const std::optional<std::int64_t> x = tir::constant_int(a), y = tir::constant_int(b);
  return x && y ? *x == *y : tir::structural_equal(a, b);
}

void check_same(const std::string& what, const Tensor& a, std::size_t n, const Tensor& b,
                std::size_t m, const SourceLocation& where) {
  const Expr &x = a.shape()[n], &y = b.shape()[m];
  if (!same_extent(x, y))
    throw TypeError(what + ": dimension " + std::to_string(n) + " of `" + a.name() +
                        "` has extent " + tir::print_expr(x) + ", dimension " + std::to_string(m) +
                        " of `" + b.name() + "` has extent " + tir::print_expr(y) +
                        "; they must be known to be equal",
                    where);
}

std::string describe_two(const std::string& function, const std::string& name, const Tensor& a,
                         const Tensor& b) {
  return describe(function, name, a) + " and " + describe(b);
}

std::string or_else(const std::string& name, const char* unnamed) {
  return name.empty() ? unnamed : name;
}

Expr product(const Expr& a, const Expr& b, std::optional<DataType> type,
             const SourceLocation& where) {
  if (!type) return Operand(a, where) * Operand(b, where);
  return tir::cast(*type, Operand(a, where)) * tir::cast(*type, Operand(b, where));
}

void check_rank(const std::string& what, const Tensor& x, int rank, const SourceLocation& where) {
  if (x.ndim() != rank)
    throw TypeError(what + ": `" + x.name() + "` must have " + std::to_string(rank) +
                        " dimensions, has " + std::to_string(x.ndim()),
                    where);
}

}  // namespace tenon::topi

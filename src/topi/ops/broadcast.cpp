#include "tenon/topi/broadcast.h"

#include <algorithm>

#include "tenon/tir/expr.h"
#include "tenon/tir/print.h"
#include "tenon/topi/elementwise.h"
#include "tenon/topi/tags.h"
#include "topi/ops/declare.h"

namespace tenon::topi {

// ---- shapes -------------------------------------------------------------------------------------

namespace {

/// Returns the element of a tensor that is broadcast to a shape. The last dimensions are aligned.
Expr repeated(const Tensor& tensor, const std::vector<Expr>& shape, Indices indices,
              const SourceLocation& where) {
  const std::vector<Expr>& extents = tensor.shape();
  const std::size_t missing = shape.size() - extents.size();
  std::vector<Expr> own;
  for (std::size_t n = 0; n < extents.size(); ++n) {
    const Var& index = indices[missing + n];
    const bool repeats = !same_extent(extents[n], shape[missing + n]);
    own.push_back(repeats ? zero_like(index) : Expr(index));
  }
  return tensor(own, where);
}

std::string extent_of(const Tensor& tensor, std::size_t n) {
  return "dimension " + std::to_string(n) + " of `" + tensor.name() + "` has extent " +
         tir::print_expr(tensor.shape()[n]);
}

/// Returns the extent to which both extents are broadcast; nullopt if they are incompatible.
std::optional<Expr> common_extent(const Expr& a, const Expr& b) {
  if (same_extent(a, b)) return a.dtype().bits >= b.dtype().bits ? a : b;
  if (tir::is_one(a)) return b;
  if (tir::is_one(b)) return a;
  return std::nullopt;
}

std::vector<Expr> common_shape(const std::string& what, const Tensor& a, const Tensor& b,
                               const SourceLocation& where) {
  const Tensor& longer = a.ndim() >= b.ndim() ? a : b;
  const Tensor& shorter = a.ndim() >= b.ndim() ? b : a;
  const std::size_t missing = longer.shape().size() - shorter.shape().size();
  std::vector<Expr> shape = longer.shape();
  for (std::size_t n = 0; n < shorter.shape().size(); ++n) {
    const std::optional<Expr> extent = common_extent(shape[missing + n], shorter.shape()[n]);
    if (!extent)
      throw TypeError(what + ": " + extent_of(longer, missing + n) + ", " + extent_of(shorter, n) +
                          "; extents must be 1 or known to be equal",
                      where);
    shape[missing + n] = *extent;
  }
  return shape;
}

}  // namespace

// ---- functions of two operands ------------------------------------------------------------------

namespace {

std::string describe_term(const Term& term) {
  if (const Tensor* tensor = term.tensor()) return describe(*tensor);
  return "`" + tir::print_expr(term.value()->alone()) + "`";
}

using BinaryFunction = Expr (*)(const Operand& a, const Operand& b);

/// Returns the operand at the given indices: an element of the tensor, or the scalar value.
Operand operand_at(const Term& term, const std::vector<Expr>& shape, Indices indices) {
  if (!term.tensor()) return *term.value();
  return {repeated(*term.tensor(), shape, indices, term.where()), term.where()};
}

Tensor binary(const std::string& function, BinaryFunction f, const Term& a, const Term& b,
              std::string name) {
  const std::string what =
      "topi::" + function + " `" + name + "` of " + describe_term(a) + " and " + describe_term(b);
  const Tensor *x = a.tensor(), *y = b.tensor();
  if (!x && !y) throw TypeError(what + ": at least one must be a tensor", a.where());
  const std::vector<Expr> shape =
      x && y ? common_shape(what, *x, *y, a.where()) : (x ? *x : *y).shape();
  const auto element = [&](Indices indices) {
    return f(operand_at(a, shape, indices), operand_at(b, shape, indices));
  };
  return declare(what, shape, element, std::move(name), x && y ? kBroadcast : kElementwise,
                 a.where());
}

/// Implements the operator `/`. The error for integers suggests functions that divide whole
/// tensors.
Expr divide_elements(const Operand& a, const Operand& b) {
  const DataType type = tir::promote(a, b).first.dtype();
  if (!type.is_floating())
    throw TypeError(
        "`/` takes floats, got " + type.str() +
        "; integers divide by floor_divide or trunc_divide, with the remainders floor_mod and "
        "trunc_mod (of elements: floordiv, truncdiv, floormod, truncmod)");
  return a / b;
}

}  // namespace

Tensor add(const Term& a, const Term& b, Name name) {
  return binary("add", tir::operator+, a, b, std::move(name));
}
Tensor subtract(const Term& a, const Term& b, Name name) {
  return binary("subtract", tir::operator-, a, b, std::move(name));
}
Tensor multiply(const Term& a, const Term& b, Name name) {
  return binary("multiply", tir::operator*, a, b, std::move(name));
}
Tensor divide(const Term& a, const Term& b, Name name) {
  return binary("divide", divide_elements, a, b, std::move(name));
}
Tensor floor_divide(const Term& a, const Term& b, Name name) {
  return binary("floor_divide", tir::floordiv, a, b, std::move(name));
}
Tensor floor_mod(const Term& a, const Term& b, Name name) {
  return binary("floor_mod", tir::floormod, a, b, std::move(name));
}
Tensor trunc_divide(const Term& a, const Term& b, Name name) {
  return binary("trunc_divide", tir::truncdiv, a, b, std::move(name));
}
Tensor trunc_mod(const Term& a, const Term& b, Name name) {
  return binary("trunc_mod", tir::truncmod, a, b, std::move(name));
}
Tensor power(const Term& a, const Term& b, Name name) {
  return binary("power", tir::pow, a, b, std::move(name));
}
Tensor minimum(const Term& a, const Term& b, Name name) {
  return binary("minimum", tir::min, a, b, std::move(name));
}
Tensor maximum(const Term& a, const Term& b, Name name) {
  return binary("maximum", tir::max, a, b, std::move(name));
}

Tensor less(const Term& a, const Term& b, Name name) {
  return binary("less", tir::operator<, a, b, std::move(name));
}
Tensor less_equal(const Term& a, const Term& b, Name name) {
  return binary("less_equal", tir::operator<=, a, b, std::move(name));
}
Tensor greater(const Term& a, const Term& b, Name name) {
  return binary("greater", tir::operator>, a, b, std::move(name));
}
Tensor greater_equal(const Term& a, const Term& b, Name name) {
  return binary("greater_equal", tir::operator>=, a, b, std::move(name));
}
Tensor equal(const Term& a, const Term& b, Name name) {
  return binary("equal", tir::operator==, a, b, std::move(name));
}
Tensor not_equal(const Term& a, const Term& b, Name name) {
  return binary("not_equal", tir::operator!=, a, b, std::move(name));
}

Tensor logical_and(const Term& a, const Term& b, Name name) {
  return binary("logical_and", tir::operator&&, a, b, std::move(name));
}
Tensor logical_or(const Term& a, const Term& b, Name name) {
  return binary("logical_or", tir::operator||, a, b, std::move(name));
}
Tensor bitwise_and(const Term& a, const Term& b, Name name) {
  return binary("bitwise_and", tir::operator&, a, b, std::move(name));
}
Tensor bitwise_or(const Term& a, const Term& b, Name name) {
  return binary("bitwise_or", tir::operator|, a, b, std::move(name));
}
Tensor bitwise_xor(const Term& a, const Term& b, Name name) {
  return binary("bitwise_xor", tir::operator^, a, b, std::move(name));
}
Tensor left_shift(const Term& a, const Term& b, Name name) {
  return binary("left_shift", tir::operator<<, a, b, std::move(name));
}
Tensor right_shift(const Term& a, const Term& b, Name name) {
  return binary("right_shift", tir::operator>>, a, b, std::move(name));
}

// ---- broadcast_to -------------------------------------------------------------------------------

Tensor broadcast_to(const Tensor& x, std::vector<Expr> shape, Name name, SourceLocation where) {
  const std::string what = describe("broadcast_to", name, x);
  const std::vector<Expr>& extents = x.shape();
  check_given(what, "extent", shape, where);
  if (shape.size() < extents.size())
    throw TypeError(what + ": the shape has " + std::to_string(shape.size()) +
                        " dimensions, the tensor has " + std::to_string(extents.size()),
                    where);
  const std::size_t missing = shape.size() - extents.size();
  for (std::size_t n = 0; n < extents.size(); ++n)
    if (!tir::is_one(extents[n]) && !same_extent(extents[n], shape[missing + n]))
      throw TypeError(what + ": " + extent_of(x, n) + ", dimension " + std::to_string(missing + n) +
                          " of the shape " + tir::print_expr(shape[missing + n]) +
                          "; the tensor's extents must be 1 or known to be equal",
                      where);
  const auto element = [&](Indices indices) { return repeated(x, shape, indices, where); };
  return declare(what, shape, element, std::move(name), kBroadcast, where);
}

}  // namespace tenon::topi

// ---- operators ----------------------------------------------------------------------------------

namespace tenon::te {

namespace {

topi::Term term(const TensorOperand& operand) { return {operand.tensor, operand.where}; }

}  // namespace

Tensor operator+(const TensorOperand& a, const TensorOperand& b) {
  return topi::add(term(a), term(b));
}
Tensor operator+(const TensorOperand& a, const Operand& b) { return topi::add(term(a), b); }
Tensor operator+(const Operand& a, const TensorOperand& b) { return topi::add(a, term(b)); }
Tensor operator-(const TensorOperand& a, const TensorOperand& b) {
  return topi::subtract(term(a), term(b));
}
Tensor operator-(const TensorOperand& a, const Operand& b) { return topi::subtract(term(a), b); }
Tensor operator-(const Operand& a, const TensorOperand& b) { return topi::subtract(a, term(b)); }
Tensor operator*(const TensorOperand& a, const TensorOperand& b) {
  return topi::multiply(term(a), term(b));
}
Tensor operator*(const TensorOperand& a, const Operand& b) { return topi::multiply(term(a), b); }
Tensor operator*(const Operand& a, const TensorOperand& b) { return topi::multiply(a, term(b)); }
Tensor operator/(const TensorOperand& a, const TensorOperand& b) {
  return topi::divide(term(a), term(b));
}
Tensor operator/(const TensorOperand& a, const Operand& b) { return topi::divide(term(a), b); }
Tensor operator/(const Operand& a, const TensorOperand& b) { return topi::divide(a, term(b)); }
Tensor operator-(const TensorOperand& a) { return topi::negative(a.tensor, "T_negative", a.where); }

}  // namespace tenon::te

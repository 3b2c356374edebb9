// Helpers for functions that declare the operations of the library.
#pragma once

#include <functional>

#include "tenon/te/operation.h"

namespace tenon::topi {

using te::Tensor;
using tir::Expr;
using tir::Operand;
using tir::Var;

using Indices = std::span<const Var>;
/// A function that returns the element of an operation at the given indices.
using Element = std::function<Expr(Indices indices)>;

/// Returns the expressions of a list of indices, extents or axes, without expression `n`.
template <class List>
std::vector<Expr> without(const List& list, std::size_t n) {
  std::vector<Expr> others(list.begin(), list.end());
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(n));
  return others;
}
/// Returns the expressions of a list of indices, extents or axes, with `e` inserted as expression
/// `n`.
template <class List>
std::vector<Expr> with(const List& list, std::size_t n, const Expr& e) {
  std::vector<Expr> all(list.begin(), list.end());
  all.insert(all.begin() + static_cast<std::ptrdiff_t>(n), e);
  return all;
}

/// Declares an operation with axes ax0, ax1, .... `what` describes it in errors, which point to
/// `where`.
Tensor declare(const std::string& what, std::vector<Expr> shape, const Element& element,
               std::string name, std::string tag, const SourceLocation& where);

/// Like declare, with the tag of operations that only move elements (injective operations).
Tensor declare_injective(const std::string& what, std::vector<Expr> shape, const Element& element,
                         std::string name, const SourceLocation& where);

/// Returns the names "ax0", "ax1", ...
std::vector<std::string> axis_names(std::size_t rank);

/// Returns a text such as "topi::exp `T_exp` of tensor `A` [4, n]".
std::string describe(const std::string& function, const std::string& name, const Tensor& x);

/// Returns a text such as "[4, n]".
std::string shape_text(const std::vector<Expr>& shape);
/// Returns a text such as "tensor `A` [4, n]".
std::string describe(const Tensor& x);

/// Returns a text such as "topi::dense `T_dense` of tensor `A` [4, n] and tensor `W` [8, n]".
std::string describe_two(const std::string& function, const std::string& name, const Tensor& a,
                         const Tensor& b);

/// Returns the name, or `unnamed` if it is empty.
std::string or_else(const std::string& name, const char* unnamed);

/// Returns a * b with both operands converted to the type of the result.
Expr product(const Expr& a, const Expr& b, std::optional<DataType> type,
             const SourceLocation& where);

/// Throws TypeError unless the tensor has `rank` dimensions.
void check_rank(const std::string& what, const Tensor& x, int rank, const SourceLocation& where);

/// Returns the dimension that `axis` denotes. A negative `axis` counts from the end. Throws
/// TypeError if it is out of range.
std::size_t dimension_of(const std::string& what, int axis, std::size_t rank,
                         const SourceLocation& where);
/// Returns the dimensions that a list denotes, in the order of the list. Throws TypeError for a
/// duplicate.
std::vector<std::size_t> dimensions_of(const std::string& what, const std::vector<int>& axes,
                                       std::size_t rank, const SourceLocation& where);

/// Throws TypeError if one of the expressions is undefined. `role` describes the expressions in the
/// message, for example "extent".
void check_given(const std::string& what, const std::string& role, const std::vector<Expr>& values,
                 const SourceLocation& where);

/// Return the sum or product of extents. Constants get a type that represents the result. Throw
/// TypeError if there is no such type.
Expr sum_of(const std::string& what, const std::vector<Expr>& extents, const SourceLocation& where);
Expr product_of(const std::string& what, const std::vector<Expr>& extents,
                const SourceLocation& where);

/// A constant, and the expressions with which it is combined.
using ConstantAndOthers = std::pair<std::optional<std::int64_t>, std::vector<Expr>>;
/// Returns the factors of a number of elements: the product of the constant extents, and the other
/// extents. The constant is nullopt if it needs more than 64 bits.
ConstantAndOthers factors_of(const std::vector<Expr>& extents);

/// Returns 0 in the type of `e`.
Expr zero_like(const Expr& e);

/// Returns an integer type that can represent the number of elements of any tensor of the shape.
DataType counting_type(const std::vector<Expr>& shape);

/// Whether the extents are provably equal: equal constants, or the same expression.
bool same_extent(const Expr& a, const Expr& b);
/// Throws TypeError unless dimension `n` of `a` and `m` of `b` have the same extent.
void check_same(const std::string& what, const Tensor& a, std::size_t n, const Tensor& b,
                std::size_t m, const SourceLocation& where);

}  // namespace tenon::topi

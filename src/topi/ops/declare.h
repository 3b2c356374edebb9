// What the makers of the library's operations share.
#pragma once

#include <functional>

#include "tenon/te/operation.h"

namespace tenon::topi {

using te::Tensor;
using tir::Expr;
using tir::Operand;
using tir::Var;

/// An element of an operation, of its indices.
using Element = std::function<Expr(std::span<const Var> indices)>;

/// An operation with axes ax0, ax1, .... What its element is refused for is said of `what`, at
/// `where`.
Tensor declare(const std::string& what, std::vector<Expr> shape, const Element& element,
               std::string name, std::string tag, const SourceLocation& where);

/// The same with the tag of operations that only move elements.
Tensor declare_injective(const std::string& what, std::vector<Expr> shape, const Element& element,
                         std::string name, const SourceLocation& where);

/// "ax0", "ax1", ...
std::vector<std::string> axis_names(std::size_t rank);

/// "topi::exp `T_exp` of tensor `A` [4, n]"
std::string describe(const std::string& function, const std::string& name, const Tensor& x);

/// "[4, n]"
std::string shape_text(const std::vector<Expr>& shape);
/// "tensor `A` [4, n]"
std::string describe(const Tensor& x);

/// "topi::dense `T_dense` of tensor `A` [4, n] and tensor `W` [8, n]"
std::string describe_two(const std::string& function, const std::string& name, const Tensor& a,
                         const Tensor& b);

/// What it is called unless it has a name.
std::string or_else(const std::string& name, const char* unnamed);

/// a * b, of operands in the type of the result.
Expr product(const Expr& a, const Expr& b, std::optional<DataType> type,
             const SourceLocation& where);

/// TypeError: the tensor has another number of dimensions.
void check_rank(const std::string& what, const Tensor& x, int rank, const SourceLocation& where);

/// The dimension that the number means, which counts from the end if negative. TypeError if it is
/// not below the rank.
std::size_t dimension_of(const std::string& what, int axis, std::size_t rank,
                         const SourceLocation& where);
/// The dimensions of a list, in its order, each once.
std::vector<std::size_t> dimensions_of(const std::string& what, const std::vector<int>& axes,
                                       std::size_t rank, const SourceLocation& where);

/// TypeError for an expression without a value; `role` says what it is: "extent".
void check_given(const std::string& what, const std::string& role, const std::vector<Expr>& values,
                 const SourceLocation& where);

/// Sums and products of extents: of constants in a type that holds it; TypeError if none does.
Expr sum_of(const std::string& what, const std::vector<Expr>& extents, const SourceLocation& where);
Expr product_of(const std::string& what, const std::vector<Expr>& extents,
                const SourceLocation& where);

/// 0 in the type of the expression.
Expr zero_like(const Expr& e);

/// An integer type that surely counts the elements of the shape.
DataType counting_type(const std::vector<Expr>& shape);

/// Whether the extents are surely the same number: constants of one value, or the same expression.
bool same_extent(const Expr& a, const Expr& b);
/// TypeError unless dimension `n` of `a` and `m` of `b` have the same extent.
void check_same(const std::string& what, const Tensor& a, std::size_t n, const Tensor& b,
                std::size_t m, const SourceLocation& where);

}  // namespace tenon::topi

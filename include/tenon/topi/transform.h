// The same elements in other places: shapes, orders, parts, and tensors side by side.
//
//   te::Tensor B = topi::transpose(A);                              // {n, m} to {m, n}
//   te::Tensor C = topi::reshape(A, {2, 3, 4});
//   te::Tensor D = topi::concatenate({A, B}, 1);
//   te::Tensor E = topi::strided_slice(A, {0, 8}, {4, 0}, {1, -2});
//
// Dimensions count from 0, from the end if negative. Each function declares an operation with axes
// ax0, ax1,
// ..., named "T_<function>" unless said and tagged injective. Nothing is moved until a schedule
// computes it: automatic inlining lets readers read in the original.
//
// TypeError: dimensions that the tensor does not have or that are listed twice; extents that do not
// fit, or that are not known to.
#pragma once

#include "tenon/te/operation.h"

namespace tenon::topi {

using te::Tensor;

/// Dimension n of the result is dimension axes[n]; none listed: in reverse.
Tensor transpose(const Tensor& x, std::vector<int> axes = {}, Name name = "T_transpose",
                 SourceLocation where = SourceLocation::current());

/// The elements in row-major order in a shape of as many.
Tensor reshape(const Tensor& x, std::vector<te::Expr> shape, Name name = "T_reshape",
               SourceLocation where = SourceLocation::current());
/// {b, c, h, w} to {b, c * h * w}: all dimensions after the first as one.
Tensor flatten(const Tensor& x, Name name = "T_flatten",
               SourceLocation where = SourceLocation::current());
/// `count` dimensions of extent 1, the first of them as dimension `axis` of the result (-1: at the
/// end).
Tensor expand_dims(const Tensor& x, int axis, int count = 1, Name name = "T_expand_dims",
                   SourceLocation where = SourceLocation::current());
/// Without the listed dimensions, which have extent 1; none listed: without any of extent 1.
Tensor squeeze(const Tensor& x, std::vector<int> axes = {}, Name name = "T_squeeze",
               SourceLocation where = SourceLocation::current());

/// One after another along a dimension; all others are the same, and so is the type.
Tensor concatenate(std::vector<Tensor> tensors, int axis = 0, Name name = "T_concat",
                   SourceLocation where = SourceLocation::current());
/// Tensors of one shape and type along a new dimension `axis` of the result.
Tensor stack(std::vector<Tensor> tensors, int axis = 0, Name name = "T_stack",
             SourceLocation where = SourceLocation::current());
/// Parts along a dimension: up to at[0], from there to at[1], ..., from the last to the end.
std::vector<Tensor> split(const Tensor& x, std::vector<int> at, int axis = 0, Name name = "T_split",
                          SourceLocation where = SourceLocation::current());
/// That many parts of one extent, which must divide the tensor's.
std::vector<Tensor> split_sections(const Tensor& x, int sections, int axis = 0,
                                   Name name = "T_split_sections",
                                   SourceLocation where = SourceLocation::current());

/// From begin[n] to before end[n], in steps of strides[n] (1 where none is listed), which may be
/// negative. Begins and ends count from the end of the dimension if negative, and stop at its ends;
/// dimensions that are not listed are whole. The extents of those that are listed must be constant.
Tensor strided_slice(const Tensor& x, std::vector<int> begin, std::vector<int> end,
                     std::vector<int> strides = {}, Name name = "T_strided_slice",
                     SourceLocation where = SourceLocation::current());
/// The places of a dimension that an integer tensor names, whose shape stands in that dimension's
/// place. An index beyond either end takes the element there.
Tensor take(const Tensor& x, const Tensor& indices, int axis = 0, Name name = "T_take",
            SourceLocation where = SourceLocation::current());
/// With `before[n]` elements of the value in front of dimension n and `after[n]` behind it; none
/// listed: none.
Tensor pad(const Tensor& x, std::vector<te::Expr> before, std::vector<te::Expr> after,
           const tir::Operand& value = 0, Name name = "T_pad",
           SourceLocation where = SourceLocation::current());

}  // namespace tenon::topi

// The same elements in another order or shape.
//
//   te::Tensor B = topi::transpose(A);                              // {n, m} to {m, n}
//   te::Tensor C = topi::reshape(A, {2, 3, 4});
//
// Dimensions count from 0, from the end if negative. Each function declares an operation with axes
// ax0, ax1, ..., named "T_<function>" unless said and tagged injective. Nothing is moved until a
// schedule computes it: automatic inlining lets readers read in the original.
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

}  // namespace tenon::topi

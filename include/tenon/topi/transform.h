// Changes of the shape or order of elements.
//
//   te::Tensor B = topi::transpose(A);                              // {n, m} to {m, n}
//   te::Tensor C = topi::reshape(A, {2, 3, 4});
//
// Dimensions count from 0, or from the end if negative. Each function declares an operation with
// axes ax0, ax1, ..., the default name "T_<function>" and the tag injective. Data is moved only if
// the schedule computes the operation; automatic inlining makes consumers read the original.
//
// TypeError for dimensions that do not exist or are listed twice, and for extents that do not or
// may not match.
#pragma once

#include "tenon/te/operation.h"

namespace tenon::topi {

using te::Tensor;

/// Permutes dimensions: dimension n of the result is dimension axes[n]. An empty list reverses
/// them.
Tensor transpose(const Tensor& x, std::vector<int> axes = {}, Name name = "T_transpose",
                 SourceLocation where = SourceLocation::current());

/// Gives the tensor another shape with the same number of elements. Elements keep their row-major
/// order.
Tensor reshape(const Tensor& x, std::vector<te::Expr> shape, Name name = "T_reshape",
               SourceLocation where = SourceLocation::current());
/// Reshapes {b, c, h, w} to {b, c * h * w}: fuses all dimensions after the first.
Tensor flatten(const Tensor& x, Name name = "T_flatten",
               SourceLocation where = SourceLocation::current());
/// Inserts `count` dimensions of extent 1. The first becomes dimension `axis` of the result (-1: at
/// the end).
Tensor expand_dims(const Tensor& x, int axis, int count = 1, Name name = "T_expand_dims",
                   SourceLocation where = SourceLocation::current());
/// Removes the listed dimensions, which must have extent 1. An empty list removes all dimensions of
/// extent 1.
Tensor squeeze(const Tensor& x, std::vector<int> axes = {}, Name name = "T_squeeze",
               SourceLocation where = SourceLocation::current());

}  // namespace tenon::topi

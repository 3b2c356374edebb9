// Reductions of a tensor over whole dimensions.
//
//   te::Tensor B = topi::sum(A, {1});                          // {n, m} to {n}: sums of rows
//   te::Tensor C = topi::max(A, {-1}, {.keepdims = true});     // {n, m} to {n, 1}
//   te::Tensor D = topi::argmax(A, {1});                       // {n}: index of each row's maximum
//
// Dimensions count from 0, or from the end if negative; an empty list means all dimensions. Reduced
// dimensions are removed from the result, or kept with extent 1 (keepdims). The operation has axes
// ax0, ax1, ... and reduction axes k<dimension>, the default name "<tensor>_red", and the tag
// comm_reduce.
//
// TypeError for a dimension that does not exist or is listed twice, for a tensor of rank 0, and for
// element types that te::sum and the other reductions do not support.
#pragma once

#include "tenon/te/operation.h"

namespace tenon::topi {

using te::Tensor;

/// Options of a reduction.
struct ReductionOptions {
  bool keepdims = false;
  Name name = "";
};

/// Reductions in the element type.
Tensor sum(const Tensor& x, std::vector<int> axes = {}, ReductionOptions options = {},
           SourceLocation where = SourceLocation::current());
Tensor prod(const Tensor& x, std::vector<int> axes = {}, ReductionOptions options = {},
            SourceLocation where = SourceLocation::current());
Tensor max(const Tensor& x, std::vector<int> axes = {}, ReductionOptions options = {},
           SourceLocation where = SourceLocation::current());
Tensor min(const Tensor& x, std::vector<int> axes = {}, ReductionOptions options = {},
           SourceLocation where = SourceLocation::current());
/// Reductions of Bool.
Tensor all(const Tensor& x, std::vector<int> axes = {}, ReductionOptions options = {},
           SourceLocation where = SourceLocation::current());
Tensor any(const Tensor& x, std::vector<int> axes = {}, ReductionOptions options = {},
           SourceLocation where = SourceLocation::current());

/// Computes the position of the maximum (minimum) among the reduced elements, in row-major order.
/// Ties give the first position. NaNs are ignored; if there are only NaNs, the result is 0. The
/// type is int32, or int64 if an extent is int64 or int32 might not be able to count the elements.
/// Declares two operations with the tag comm_reduce_idx: pairs of position and value,
/// "<name>_temp", and the positions.
Tensor argmax(const Tensor& x, std::vector<int> axes = {}, ReductionOptions options = {},
              SourceLocation where = SourceLocation::current());
Tensor argmin(const Tensor& x, std::vector<int> axes = {}, ReductionOptions options = {},
              SourceLocation where = SourceLocation::current());

}  // namespace tenon::topi

// Reductions over whole dimensions of a tensor.
//
//   te::Tensor B = topi::sum(A, {1});                          // {n, m} to {n}: of each row
//   te::Tensor C = topi::max(A, {-1}, {.keepdims = true});     // {n, m} to {n, 1}
//   te::Tensor D = topi::argmax(A, {1});                       // {n}: where in its row the greatest is
//
// Dimensions count from 0, from the end if negative; none listed are all. Those that are reduced
// are left out of the result, or stay with extent 1 (keepdims). The operation has axes ax0, ax1,
// ... and reduction axes named k<dimension>, is named "<tensor>_red" unless said, and tagged
// comm_reduce.
//
// TypeError: a dimension that the tensor does not have or that is listed twice; a tensor of rank 0;
// terms that te::sum and its kin refuse.
#pragma once

#include "tenon/te/operation.h"

namespace tenon::topi {

using te::Tensor;

/// Which axes stay, and the result's name.
struct ReductionOptions {
  bool keepdims = false;
  Name name = "";
};

/// In the type of the terms.
Tensor sum(const Tensor& x, std::vector<int> axes = {}, ReductionOptions options = {},
           SourceLocation where = SourceLocation::current());
Tensor prod(const Tensor& x, std::vector<int> axes = {}, ReductionOptions options = {},
            SourceLocation where = SourceLocation::current());
Tensor max(const Tensor& x, std::vector<int> axes = {}, ReductionOptions options = {},
           SourceLocation where = SourceLocation::current());
Tensor min(const Tensor& x, std::vector<int> axes = {}, ReductionOptions options = {},
           SourceLocation where = SourceLocation::current());
/// Of Bool.
Tensor all(const Tensor& x, std::vector<int> axes = {}, ReductionOptions options = {},
           SourceLocation where = SourceLocation::current());
Tensor any(const Tensor& x, std::vector<int> axes = {}, ReductionOptions options = {},
           SourceLocation where = SourceLocation::current());

/// The position of the greatest (the least) element among those that are reduced, counted row by
/// row; of equals, the first; 0 where all are NaN, which otherwise do not count. int32, or int64
/// where an extent is or where int32 may be too small to count them all. Two operations: pairs of
/// position and value,
/// "<name>_temp", and the positions alone, both tagged comm_reduce_idx.
Tensor argmax(const Tensor& x, std::vector<int> axes = {}, ReductionOptions options = {},
              SourceLocation where = SourceLocation::current());
Tensor argmin(const Tensor& x, std::vector<int> axes = {}, ReductionOptions options = {},
              SourceLocation where = SourceLocation::current());

}  // namespace tenon::topi

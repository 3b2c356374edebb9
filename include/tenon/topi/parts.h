// Tensors put together, and parts of tensors.
//
//   te::Tensor D = topi::concatenate({A, B}, 1);
//   te::Tensor E = topi::strided_slice(A, {0, 8}, {4, 0}, {1, -2});
//
// Dimensions, names, tags and errors are as in transform.h.
#pragma once

#include "tenon/te/operation.h"

namespace tenon::topi {

using te::Tensor;

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

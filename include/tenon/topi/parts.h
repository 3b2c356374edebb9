// Concatenation, slicing and padding of tensors.
//
//   te::Tensor D = topi::concatenate({A, B}, 1);
//   te::Tensor E = topi::strided_slice(A, {0, 8}, {4, 0}, {1, -2});
//
// Dimensions, names, tags and errors are as in transform.h.
#pragma once

#include "tenon/te/operation.h"

namespace tenon::topi {

using te::Tensor;

/// Concatenates tensors along a dimension. Their other extents and types must be equal.
Tensor concatenate(std::vector<Tensor> tensors, int axis = 0, Name name = "T_concat",
                   SourceLocation where = SourceLocation::current());
/// Stacks tensors of one shape and type along a new dimension, `axis` of the result.
Tensor stack(std::vector<Tensor> tensors, int axis = 0, Name name = "T_stack",
             SourceLocation where = SourceLocation::current());
/// Splits a dimension at the given indices: [0, at[0]), [at[0], at[1]), ..., [at.back(), extent).
std::vector<Tensor> split(const Tensor& x, std::vector<int> at, int axis = 0, Name name = "T_split",
                          SourceLocation where = SourceLocation::current());
/// Splits a dimension into `sections` parts of equal extent. The number must divide the extent.
std::vector<Tensor> split_sections(const Tensor& x, int sections, int axis = 0,
                                   Name name = "T_split_sections",
                                   SourceLocation where = SourceLocation::current());

/// Extracts the elements from begin[n] up to end[n] (exclusive) in steps of strides[n] (default 1),
/// which may be negative. Negative begins and ends count from the end of the dimension; values
/// beyond its ends are clamped. Dimensions that are not listed are kept in full. Listed dimensions
/// must have constant extents.
Tensor strided_slice(const Tensor& x, std::vector<int> begin, std::vector<int> end,
                     std::vector<int> strides = {}, Name name = "T_strided_slice",
                     SourceLocation where = SourceLocation::current());
/// Gathers elements along a dimension by an integer tensor, whose shape replaces that dimension in
/// the result. Indices out of bounds are clamped.
Tensor take(const Tensor& x, const Tensor& indices, int axis = 0, Name name = "T_take",
            SourceLocation where = SourceLocation::current());
/// Pads dimension n with before[n] elements at its begin and after[n] elements at its end, all
/// equal to `value`. Missing entries of `before` and `after` are 0.
Tensor pad(const Tensor& x, std::vector<te::Expr> before, std::vector<te::Expr> after,
           const tir::Operand& value = 0, Name name = "T_pad",
           SourceLocation where = SourceLocation::current());

}  // namespace tenon::topi

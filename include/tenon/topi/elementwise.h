// Math functions, casts and choice on tensors.
//
//   te::Tensor B = topi::exp(A);
//   te::Tensor C = topi::cast(B, Float(64));
//
// Each function declares an elementwise operation (tag elemwise) of the argument's shape with axes
// ax0, ax1, ... The default name is "T_<function>". Types and errors are those of the function on
// expressions.
#pragma once

#include "tenon/te/operation.h"

namespace tenon::topi {

using te::Tensor;

Tensor abs(const Tensor& x, Name name = "T_abs", SourceLocation where = SourceLocation::current());
Tensor negative(const Tensor& x, Name name = "T_negative",
                SourceLocation where = SourceLocation::current());
Tensor sign(const Tensor& x, Name name = "T_sign",
            SourceLocation where = SourceLocation::current());
Tensor exp(const Tensor& x, Name name = "T_exp", SourceLocation where = SourceLocation::current());
Tensor exp2(const Tensor& x, Name name = "T_exp2",
            SourceLocation where = SourceLocation::current());
Tensor exp10(const Tensor& x, Name name = "T_exp10",
             SourceLocation where = SourceLocation::current());
Tensor log(const Tensor& x, Name name = "T_log", SourceLocation where = SourceLocation::current());
Tensor log2(const Tensor& x, Name name = "T_log2",
            SourceLocation where = SourceLocation::current());
Tensor log10(const Tensor& x, Name name = "T_log10",
             SourceLocation where = SourceLocation::current());
Tensor log1p(const Tensor& x, Name name = "T_log1p",
             SourceLocation where = SourceLocation::current());
Tensor sqrt(const Tensor& x, Name name = "T_sqrt",
            SourceLocation where = SourceLocation::current());
Tensor rsqrt(const Tensor& x, Name name = "T_rsqrt",
             SourceLocation where = SourceLocation::current());
Tensor erf(const Tensor& x, Name name = "T_erf", SourceLocation where = SourceLocation::current());
Tensor sigmoid(const Tensor& x, Name name = "T_sigmoid",
               SourceLocation where = SourceLocation::current());
Tensor sin(const Tensor& x, Name name = "T_sin", SourceLocation where = SourceLocation::current());
Tensor cos(const Tensor& x, Name name = "T_cos", SourceLocation where = SourceLocation::current());
Tensor tan(const Tensor& x, Name name = "T_tan", SourceLocation where = SourceLocation::current());
Tensor asin(const Tensor& x, Name name = "T_asin",
            SourceLocation where = SourceLocation::current());
Tensor acos(const Tensor& x, Name name = "T_acos",
            SourceLocation where = SourceLocation::current());
Tensor atan(const Tensor& x, Name name = "T_atan",
            SourceLocation where = SourceLocation::current());
Tensor sinh(const Tensor& x, Name name = "T_sinh",
            SourceLocation where = SourceLocation::current());
Tensor cosh(const Tensor& x, Name name = "T_cosh",
            SourceLocation where = SourceLocation::current());
Tensor tanh(const Tensor& x, Name name = "T_tanh",
            SourceLocation where = SourceLocation::current());
Tensor asinh(const Tensor& x, Name name = "T_asinh",
             SourceLocation where = SourceLocation::current());
Tensor acosh(const Tensor& x, Name name = "T_acosh",
             SourceLocation where = SourceLocation::current());
Tensor atanh(const Tensor& x, Name name = "T_atanh",
             SourceLocation where = SourceLocation::current());
Tensor floor(const Tensor& x, Name name = "T_floor",
             SourceLocation where = SourceLocation::current());
Tensor ceil(const Tensor& x, Name name = "T_ceil",
            SourceLocation where = SourceLocation::current());
Tensor trunc(const Tensor& x, Name name = "T_trunc",
             SourceLocation where = SourceLocation::current());
Tensor round(const Tensor& x, Name name = "T_round",
             SourceLocation where = SourceLocation::current());
Tensor isnan(const Tensor& x, Name name = "T_isnan",
             SourceLocation where = SourceLocation::current());
Tensor isinf(const Tensor& x, Name name = "T_isinf",
             SourceLocation where = SourceLocation::current());
Tensor isfinite(const Tensor& x, Name name = "T_isfinite",
                SourceLocation where = SourceLocation::current());
Tensor logical_not(const Tensor& x, Name name = "T_logical_not",
                   SourceLocation where = SourceLocation::current());
Tensor bitwise_not(const Tensor& x, Name name = "T_bitwise_not",
                   SourceLocation where = SourceLocation::current());

/// Converts the elements to a type. Returns the tensor itself if it already has the type.
Tensor cast(const Tensor& x, DataType type, Name name = "T_cast",
            SourceLocation where = SourceLocation::current());
/// Reinterprets the bits as another type of the same width.
Tensor reinterpret(const Tensor& x, DataType type, Name name = "T_reinterpret",
                   SourceLocation where = SourceLocation::current());
/// Computes min(max(x, low), high). NaN stays NaN.
Tensor clip(const Tensor& x, const tir::Operand& low, const tir::Operand& high,
            Name name = "T_clip", SourceLocation where = SourceLocation::current());
/// Computes max(x, 0).
Tensor relu(const Tensor& x, Name name = "T_relu",
            SourceLocation where = SourceLocation::current());
/// Declares a tensor with the same value everywhere.
Tensor full(std::vector<te::Expr> shape, DataType type, const tir::Operand& value,
            Name name = "T_full", SourceLocation where = SourceLocation::current());

}  // namespace tenon::topi

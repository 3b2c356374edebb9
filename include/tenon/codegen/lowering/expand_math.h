// Functions of mathematics as expressions: range reduction followed by a polynomial. Scalars and
// vectors use the same operations, so that a function gives the same bits under every schedule, and
// a vector costs about as much as a scalar.
//
// The errors, in units in the last place of the result, with and without fused multiply-adds, over
// every seventh float32 and four million float64 values each (pow: a few million pairs):
//
//            exp exp2 exp10 log log2 log10 tanh erf  sin  cos  tan  pow
//   float32  1.0  1.2   1.2 0.8  1.5   1.8  1.3 2.1 0.51 0.51 0.51 0.51
//   float64  1.0  1.2   1.4 0.9  0.8   0.8  1.4 1.4  0.8  0.8  2.2  1.3
//
// Infinities, NaN, denormal results and the sign of zero agree with libm.
//
// The reductions are those of Cody and Waite (Software Manual for the Elementary Functions, 1980);
// the polynomials are minimax polynomials (Remez), rounded to the format.
#pragma once

#include <optional>
#include <vector>

#include "tenon/tir/expr.h"

namespace tenon::codegen {

/// Optional instructions that the expansions may use. Not every processor has them.
struct MathInstructions {
  /// Computes a * b + c with one rounding, for float32 and float64.
  bool fused_multiply_add = false;
  /// Computes p * 2^n on x86, for vectors of all widths (vscalef of AVX-512).
  bool scaling = false;
};

/// The magnitude from which the results of sin, cos and tan are unspecified, because range
/// reduction fails for larger angles.
inline constexpr float kMaxAngle = 0x1p20f;

/// Returns the function of the parameters as an expression. The parameters are of type float32,
/// float64 or vectors of them. Every operation must be rounded separately: contraction or
/// reassociation would change how the expression rounds to integers. Nullopt if the function has no
/// expansion.
std::optional<tir::Expr> expand_math(tir::Intrin function, const std::vector<tir::Var>& params,
                                     const MathInstructions& instructions);

}  // namespace tenon::codegen

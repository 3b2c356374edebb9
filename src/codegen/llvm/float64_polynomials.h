// Functions of float64 as arithmetic, like those of float32 in polynomials.h: scalars and vectors
// use the same operations.
//
// The errors, in units in the last place of the result, over four million values each, with and
// without fused multiply-adds: exp 1.0, exp2 1.2, exp10 1.4, log 0.9, log2 0.8, log10 0.8, tanh
// 1.4, erf 1.4; sin 0.8, cos 0.8, tan 2.2 and pow 1.3, which compute with pairs (float64_pairs.h),
// also near multiples of pi / 2. Infinities, NaN, denormal results and the sign of zero agree with
// libm.
//
// Range reduction is shared with float32 (range_reduction.h). The polynomials are minimax
// polynomials (Remez), rounded to float64. The logarithm is that of (1 + s) / (1 - s), as in
// FreeBSD's msun; those to bases 2 and 10 are multiplied in two parts, as there. erfc(x) exp(x^2)
// is a polynomial in (x - 2) / (x + 2): Shepherd and Laframboise, "Chebyshev approximation of (1 +
// 2x) exp(x^2) erfc(x)", 1981.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <optional>
#include <span>

#include "tenon/tir/intrin.h"

namespace tenon::codegen {

/// Accepts doubles or vectors of them. Returns nullopt for functions without a polynomial here and
/// for other types. `has_scaling`: see RangeReduction. The results of sin, cos and tan are
/// unspecified for magnitudes of at least kGreatestAngle.
std::optional<llvm::Value*> float64_polynomial(llvm::IRBuilderBase& builder, tir::Intrin function,
                                               std::span<llvm::Value* const> args,
                                               bool has_scaling);

}  // namespace tenon::codegen

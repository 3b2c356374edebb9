// Functions of float64 as arithmetic, as polynomials.h has those of float32: one value and a vector
// get the same operations.
//
// The errors, in units in the last place of the result, over four million values each, with and
// without fused multiply-adds: exp 1.0, exp2 1.2, exp10 1.4, log 0.9, log2 0.8, log10 0.8, tanh
// 1.4, erf 1.4; sin 0.8, cos 0.8, tan 2.2 and pow 1.3, which compute with pairs
// (float64_pairs.h), near multiples of pi / 2 too. Infinities, NaN, results that are denormal and
// the sign of zero are those of libm.
//
// Ranges are reduced as there (range_reduction.h). The polynomials are minimax ones (Remez),
// rounded to float64. The logarithm is that of (1 + s) / (1 - s), as FreeBSD's (msun) is; those of
// bases 2 and 10 are multiplied in two parts, as there. erfc(x) exp(x^2) is a polynomial of (x - 2)
// / (x + 2): Shepherd and Laframboise, "Chebyshev approximation of (1 + 2x) exp(x^2) erfc(x)",
// 1981.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <optional>
#include <span>

#include "tenon/tir/intrin.h"

namespace tenon::codegen {

/// For doubles or vectors of them; absent for functions that have no polynomial here and for other
/// types. `has_scaling`: see RangeReduction. Of magnitudes from kGreatestAngle on sin, cos and tan
/// give anything.
std::optional<llvm::Value*> float64_polynomial(llvm::IRBuilderBase& builder, tir::Intrin function,
                                               std::span<llvm::Value* const> args,
                                               bool has_scaling);

}  // namespace tenon::codegen

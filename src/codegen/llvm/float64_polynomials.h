// Functions of float64 as arithmetic, as polynomials.h has those of float32: one value and a vector
// get the same operations.
//
// The errors, in units in the last place of the result, over four million values each, with and
// without fused multiply-adds: exp 1.0, exp2 1.2, exp10 1.4, log 0.9, log2 0.8, log10 0.8, tanh
// 1.4, erf 1.4. Infinities, NaN, results that are denormal and the sign of zero are those of libm.
//
// Ranges are reduced as there (range_reduction.h). The polynomials are minimax ones (Remez),
// rounded to float64. The logarithm is that of (1 + s) / (1 - s), as FreeBSD's (msun) is; those of
// bases 2 and 10 are multiplied in two parts, as there. erfc(x) exp(x^2) is a polynomial of (x - 2)
// / (x + 2): Shepherd and Laframboise, "Chebyshev approximation of (1 + 2x) exp(x^2) erfc(x)",
// 1981.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <optional>

#include "tenon/tir/intrin.h"

namespace tenon::codegen {

/// For doubles or vectors of them: exp, exp2, exp10, log, log2, log10, tanh and erf; absent for
/// other functions and for other types. `has_scaling`: see RangeReduction.
std::optional<llvm::Value*> float64_polynomial(llvm::IRBuilderBase& builder, tir::Intrin function,
                                               llvm::Value* x, bool has_scaling);

}  // namespace tenon::codegen

// Functions of float32 as arithmetic: range reduction followed by a polynomial. Scalars and vectors
// use the same operations, so that a function gives the same bits under every schedule, and a
// vector costs about as much as a scalar.
//
// The errors, in units in the last place of the result, over every seventh float32, with and
// without fused multiply-adds: exp 1.0, exp2 1.2, exp10 1.4, log 0.8, log2 1.5, log10 1.8, tanh
// 1.3, erf 1.3. Those of sin, cos, tan and pow, which compute in double, are 0.51 (pow over a few
// million pairs). Infinities, NaN, denormal results and the sign of zero agree with libm.
//
// The reductions are those of Cody and Waite (Software Manual for the Elementary Functions, 1980);
// the polynomials are minimax polynomials (Remez), rounded to float32.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <optional>
#include <span>

#include "tenon/tir/intrin.h"

namespace tenon::codegen {

/// The magnitude from which on sin, cos and tan cannot be reduced: the results of the polynomials
/// are then unspecified.
inline constexpr float kGreatestAngle = 0x1p20f;

/// Accepts floats or vectors of them. Returns nullopt for functions without a polynomial here and
/// for other types. `has_scaling`: see RangeReduction.
std::optional<llvm::Value*> float32_polynomial(llvm::IRBuilderBase& builder, tir::Intrin function,
                                               std::span<llvm::Value* const> args,
                                               bool has_scaling);

}  // namespace tenon::codegen

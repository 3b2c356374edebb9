// Functions of float32 as arithmetic: ranges are reduced, and a polynomial does the rest. One value
// and a vector get the same operations, so that a function gives the same bits under every
// schedule, and a vector costs about what one value does.
//
// The errors, in units in the last place of the result, over every seventh float32, with and
// without fused multiply-adds: exp 1.0, exp2 1.2, exp10 1.4, log 0.8, log2 1.5, log10 1.8,
// tanh 1.3, erf 1.3. Those of sin, cos, tan and pow, which compute in double, are 0.51 (pow over a
// few million pairs). Infinities, NaN, results that are denormal and the sign of zero are those of
// libm.
//
// The reductions are those of Cody and Waite (Software Manual for the Elementary Functions, 1980);
// the polynomials are minimax ones (Remez), rounded to float32.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <optional>
#include <span>

#include "tenon/tir/intrin.h"

namespace tenon::codegen {

/// Magnitudes from here on are too large to be reduced for sin, cos and tan: the polynomials then
/// give anything.
inline constexpr float kGreatestAngle = 0x1p20f;

/// For floats or vectors of them; absent for functions that have no polynomial here and for other
/// types. `has_scaling`: see RangeReduction.
std::optional<llvm::Value*> float32_polynomial(llvm::IRBuilderBase& builder, tir::Intrin function,
                                               std::span<llvm::Value* const> args,
                                               bool has_scaling);

}  // namespace tenon::codegen

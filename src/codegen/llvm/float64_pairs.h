// sin, cos, tan and pow of float64, whose ranges cannot be reduced in float64 without losing
// digits: values are kept as sums of two numbers (Dekker, "A floating-point technique for extending
// the available precision", 1971). See float64_polynomials.h.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace tenon::codegen {

// For doubles or vectors of them, of magnitudes below kGreatestAngle; NaN for NaN.
llvm::Value* sine_in_pairs(llvm::IRBuilderBase& builder, llvm::Value* x);
llvm::Value* cosine_in_pairs(llvm::IRBuilderBase& builder, llvm::Value* x);
llvm::Value* tangent_in_pairs(llvm::IRBuilderBase& builder, llvm::Value* x);
/// For any doubles; the special values are those of C's pow. `has_scaling`: see RangeReduction.
llvm::Value* power_in_pairs(llvm::IRBuilderBase& builder, llvm::Value* x, llvm::Value* y,
                            bool has_scaling);

}  // namespace tenon::codegen

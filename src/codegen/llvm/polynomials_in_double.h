// Functions of float32 whose arguments cannot be reduced in float32 without losing digits: they are
// computed in double and rounded once. See polynomials.h.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace tenon::codegen {

// Accept floats or vectors of them, with magnitudes below kGreatestAngle. NaN gives NaN.
llvm::Value* sine_in_double(llvm::IRBuilderBase& builder, llvm::Value* x);
llvm::Value* cosine_in_double(llvm::IRBuilderBase& builder, llvm::Value* x);
llvm::Value* tangent_in_double(llvm::IRBuilderBase& builder, llvm::Value* x);
/// Accepts any floats; the special values are those of C's pow.
llvm::Value* power_in_double(llvm::IRBuilderBase& builder, llvm::Value* x, llvm::Value* y);

}  // namespace tenon::codegen

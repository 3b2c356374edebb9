// sin, cos, tan and pow of float64, whose arguments cannot be reduced in float64 without losing
// digits: values are represented as sums of two numbers (Dekker, "A floating-point technique for
// extending the available precision", 1971). See float64_polynomials.h.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <initializer_list>

namespace tenon::codegen {

/// The coefficients of P in 2^r = 1 + r P(r) for |r| <= 1 / 2; exp2 of single doubles uses them,
/// too.
inline constexpr std::initializer_list<double> kFloat64Exp2 = {
    0x1.ea045c39bbed1p-32, 0x1.e6066090a1846p-28, 0x1.b524dcabd8dafp-24, 0x1.62bfd466d9b7p-20,
    0x1.ffcbfc74470c6p-17, 0x1.43091309754f2p-13, 0x1.5d87fe78a2cafp-10, 0x1.3b2ab6fba1dc5p-7,
    0x1.c6b08d704a0cbp-5,  0x1.ebfbdff82c598p-3,  0x1.62e42fefa39efp-1};

// Accept doubles or vectors of them, with magnitudes below kGreatestAngle. NaN gives NaN.
llvm::Value* sine_in_pairs(llvm::IRBuilderBase& builder, llvm::Value* x);
llvm::Value* cosine_in_pairs(llvm::IRBuilderBase& builder, llvm::Value* x);
llvm::Value* tangent_in_pairs(llvm::IRBuilderBase& builder, llvm::Value* x);
/// Accepts any doubles; the special values are those of C's pow. `has_scaling`: see RangeReduction.
llvm::Value* power_in_pairs(llvm::IRBuilderBase& builder, llvm::Value* x, llvm::Value* y,
                            bool has_scaling);

}  // namespace tenon::codegen

// Operations of the polynomials on float or double values or vectors of them, and on their bits.
// They are not reassociated, even if the rest of the function is, because rounding to integers
// depends on the order.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <initializer_list>

namespace tenon::codegen {

class LaneMaths {
 public:
  /// `floats` is float or double, or a vector of them.
  LaneMaths(llvm::IRBuilderBase& builder, llvm::Type* floats)
      : builder_(builder),
        guard_(builder),
        floats_(floats),
        ints_(floats->getWithNewType(builder.getIntNTy(floats->getScalarSizeInBits()))) {
    builder_.setFastMathFlags({});
  }

 protected:
  llvm::Constant* number(double value) const { return llvm::ConstantFP::get(floats_, value); }
  llvm::Constant* infinity(bool negative = false) const {
    return llvm::ConstantFP::getInfinity(floats_, negative);
  }
  llvm::Constant* not_a_number() const { return llvm::ConstantFP::getNaN(floats_); }
  llvm::Constant* integer(std::int64_t value) const {
    return llvm::ConstantInt::getSigned(ints_, value);
  }
  llvm::Value* bits(llvm::Value* x) { return builder_.CreateBitCast(x, ints_); }
  llvm::Value* from_bits(llvm::Value* x) { return builder_.CreateBitCast(x, floats_); }

  llvm::Value* negated(llvm::Value* x) { return builder_.CreateFNeg(x); }
  llvm::Value* fabs(llvm::Value* x) {
    return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  }
  /// Returns a * b + c, fused if the processor supports it, for scalars and vectors alike.
  llvm::Value* multiply_add(llvm::Value* a, llvm::Value* b, llvm::Value* c) {
    return builder_.CreateIntrinsic(llvm::Intrinsic::fmuladd, {floats_}, {a, b, c});
  }
  /// Evaluates a polynomial; coefficients start with the highest power.
  llvm::Value* horner(llvm::Value* x, std::initializer_list<double> coefficients) {
    llvm::Value* sum = nullptr;
    for (double c : coefficients) sum = sum ? multiply_add(sum, x, number(c)) : number(c);
    return sum;
  }
  /// Returns `below` if x < limit; otherwise, also if x is NaN, `otherwise`.
  llvm::Value* choose_below(llvm::Value* x, double limit, llvm::Value* below,
                            llvm::Value* otherwise) {
    return builder_.CreateSelect(builder_.CreateFCmpOLT(x, number(limit)), below, otherwise);
  }
  /// Returns x limited to [low, high]; NaN remains NaN.
  llvm::Value* clamped(llvm::Value* x, double low, double high) {
    x = choose_below(x, low, number(low), x);
    return builder_.CreateSelect(builder_.CreateFCmpOGT(x, number(high)), number(high), x);
  }

  llvm::IRBuilderBase& builder_;
  llvm::IRBuilderBase::FastMathFlagGuard guard_;
  llvm::Type* floats_;
  llvm::Type* ints_;
};

}  // namespace tenon::codegen

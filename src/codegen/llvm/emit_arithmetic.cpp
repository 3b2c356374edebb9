#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/types.h"
#include "tenon/support/error.h"

namespace tenon::codegen {

using namespace tir;

llvm::Value* FunctionEmitter::arithmetic(BinaryOp op, llvm::Value* a, llvm::Value* b,
                                         DataType type) {
  if (type.is_integral()) return integer_arithmetic(op, a, b, type.is_int());
  if (type.is_handle()) {
    if (op == BinaryOp::Eq) return builder_.CreateICmpEQ(a, b);
    if (op == BinaryOp::Ne) return builder_.CreateICmpNE(a, b);
    internal_error("pointers are only compared for equality");
  }
  const bool is_narrow = is_computed_in_float32(type);
  auto wide = [&](llvm::Value* x) { return is_narrow ? to_float32(x, type) : x; };
  auto rounded = [&](llvm::Value* x) { return is_narrow ? round_float32(x, type) : x; };
  if (op == BinaryOp::Min || op == BinaryOp::Max) return rounded(extremum(op, wide(a), wide(b)));
  if (op == BinaryOp::TruncDiv || op == BinaryOp::FloorDiv) {
    llvm::Value* quotient = wide(arithmetic(BinaryOp::Div, a, b, type));
    return rounded(builder_.CreateUnaryIntrinsic(
        op == BinaryOp::FloorDiv ? llvm::Intrinsic::floor : llvm::Intrinsic::trunc, quotient));
  }
  llvm::Value* result = float_arithmetic(op, wide(a), wide(b));
  return is_comparison(op) ? result : rounded(result);
}

/// Returns the minimum or maximum, or NaN if an operand is NaN. On x86 this is one instruction and
/// a NaN check of its first operand. LLVM omits the check if it knows that one operand is not NaN.
/// In a reduction step, `b` is the new value. It is passed first, so that the NaN check is not on
/// the critical path of the reduction.
llvm::Value* FunctionEmitter::extremum(BinaryOp op, llvm::Value* a, llvm::Value* b) {
  const bool is_min = op == BinaryOp::Min;
  if (module_.has_fast_math())
    return builder_.CreateSelect(
        builder_.CreateFCmp(is_min ? llvm::CmpInst::FCMP_OLT : llvm::CmpInst::FCMP_OGT, b, a), b,
        a);
  // The sign of a zero result does not matter.
  const llvm::IRBuilder<>::FastMathFlagGuard guard(builder_);
  llvm::FastMathFlags flags = builder_.getFastMathFlags();
  flags.setNoSignedZeros();
  builder_.setFastMathFlags(flags);
  return builder_.CreateBinaryIntrinsic(
      is_min ? llvm::Intrinsic::minimum : llvm::Intrinsic::maximum, b, a);
}

llvm::Value* FunctionEmitter::float_arithmetic(BinaryOp op, llvm::Value* a, llvm::Value* b) {
  switch (op) {
    case BinaryOp::Add:
      return builder_.CreateFAdd(a, b);
    case BinaryOp::Sub:
      return builder_.CreateFSub(a, b);
    case BinaryOp::Mul:
      return builder_.CreateFMul(a, b);
    case BinaryOp::Div:
      return builder_.CreateFDiv(a, b);
    case BinaryOp::TruncMod:
      return builder_.CreateFRem(a, b);
    case BinaryOp::FloorMod: {
      // FRem returns a remainder with the sign of the dividend, but FloorMod needs the divisor's
      // sign.
      llvm::Value* zero = llvm::Constant::getNullValue(a->getType());
      llvm::Value* remainder = builder_.CreateFRem(a, b);
      llvm::Value* differs =
          builder_.CreateAnd(builder_.CreateFCmpONE(remainder, zero),
                             builder_.CreateXor(builder_.CreateFCmpOLT(remainder, zero),
                                                builder_.CreateFCmpOLT(b, zero)));
      return builder_.CreateSelect(differs, builder_.CreateFAdd(remainder, b), remainder);
    }
    case BinaryOp::Eq:
      return builder_.CreateFCmpOEQ(a, b);
    case BinaryOp::Ne:
      return builder_.CreateFCmpUNE(a, b);
    case BinaryOp::Lt:
      return builder_.CreateFCmpOLT(a, b);
    case BinaryOp::Le:
      return builder_.CreateFCmpOLE(a, b);
    case BinaryOp::Gt:
      return builder_.CreateFCmpOGT(a, b);
    case BinaryOp::Ge:
      return builder_.CreateFCmpOGE(a, b);
    default:
      break;
  }
  internal_error("an operator that floats do not have here");
}

llvm::Value* FunctionEmitter::integer_arithmetic(BinaryOp op, llvm::Value* a, llvm::Value* b,
                                                 bool is_signed) {
  auto is_index = [&](llvm::Value* v) {
    return llvm::isa<llvm::Constant>(v) || index_values_.contains(v);
  };
  const bool of_indices =
      is_signed && a->getType()->getScalarSizeInBits() >= 32 && is_index(a) && is_index(b);
  const bool no_wrap = of_indices && index_mode_;
  auto derived = [&](llvm::Value* v) {
    if (of_indices) index_values_.insert(v);
    return v;
  };
  auto compare = [&](llvm::CmpInst::Predicate of_signed, llvm::CmpInst::Predicate of_unsigned) {
    return builder_.CreateICmp(is_signed ? of_signed : of_unsigned, a, b);
  };
  using llvm::CmpInst;
  switch (op) {
    case BinaryOp::Add:
      return derived(builder_.CreateAdd(a, b, "", false, no_wrap));
    case BinaryOp::Sub:
      return derived(builder_.CreateSub(a, b, "", false, no_wrap));
    case BinaryOp::Mul:
      return derived(builder_.CreateMul(a, b, "", false, no_wrap));
    case BinaryOp::TruncDiv:
    case BinaryOp::TruncMod:
    case BinaryOp::FloorDiv:
    case BinaryOp::FloorMod:
      return derived(integer_division(op, a, b, is_signed));
    case BinaryOp::Min:
      return derived(builder_.CreateBinaryIntrinsic(
          is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, a, b));
    case BinaryOp::Max:
      return derived(builder_.CreateBinaryIntrinsic(
          is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, a, b));
    case BinaryOp::Eq:
      return builder_.CreateICmpEQ(a, b);
    case BinaryOp::Ne:
      return builder_.CreateICmpNE(a, b);
    case BinaryOp::Lt:
      return compare(CmpInst::ICMP_SLT, CmpInst::ICMP_ULT);
    case BinaryOp::Le:
      return compare(CmpInst::ICMP_SLE, CmpInst::ICMP_ULE);
    case BinaryOp::Gt:
      return compare(CmpInst::ICMP_SGT, CmpInst::ICMP_UGT);
    case BinaryOp::Ge:
      return compare(CmpInst::ICMP_SGE, CmpInst::ICMP_UGE);
    case BinaryOp::And:
      return builder_.CreateAnd(a, b);
    case BinaryOp::Or:
      return builder_.CreateOr(a, b);
    case BinaryOp::Div:
      break;
  }
  internal_error("an integer division that does not say how it rounds");
}

namespace {

/// Returns the constant that all lanes have; null if the lanes differ or are not constant.
const llvm::ConstantInt* same_constant(const llvm::Value* value) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  if (!constant) return nullptr;
  if (constant->getType()->isVectorTy()) constant = constant->getSplatValue();
  return constant ? llvm::dyn_cast<llvm::ConstantInt>(constant) : nullptr;
}

}  // namespace

llvm::Value* FunctionEmitter::integer_division(BinaryOp op, llvm::Value* a, llvm::Value* b,
                                               bool is_signed) {
  const bool wants_remainder = op == BinaryOp::TruncMod || op == BinaryOp::FloorMod;
  const bool floors = op == BinaryOp::FloorDiv || op == BinaryOp::FloorMod;
  llvm::Value* zero = llvm::Constant::getNullValue(b->getType());
  llvm::Value* one = llvm::ConstantInt::get(b->getType(), 1);
  const llvm::ConstantInt* constant = same_constant(b);

  // The hardware traps on division by zero and on minimum / -1; neither may end the process.
  llvm::Value* is_minus_one = nullptr;
  llvm::Value* divisor = b;
  if (!constant || constant->isZero() || (is_signed && constant->isMinusOne())) {
    llvm::Value* traps = builder_.CreateICmpEQ(b, zero);
    if (is_signed) {
      is_minus_one = builder_.CreateICmpEQ(b, llvm::Constant::getAllOnesValue(b->getType()));
      traps = builder_.CreateOr(traps, is_minus_one);
    }
    divisor = builder_.CreateSelect(traps, one, b);
  }
  if (!is_signed)
    return wants_remainder ? builder_.CreateURem(a, divisor) : builder_.CreateUDiv(a, divisor);

  const bool power_of_two =
      constant && constant->getValue().isStrictlyPositive() && constant->getValue().isPowerOf2();
  if (floors && power_of_two) {
    const unsigned shift = constant->getValue().logBase2();
    if (wants_remainder)
      return builder_.CreateAnd(a, llvm::ConstantInt::get(a->getType(), constant->getValue() - 1));
    return builder_.CreateAShr(a, llvm::ConstantInt::get(a->getType(), shift));
  }

  llvm::Value* remainder = builder_.CreateSRem(a, divisor);
  llvm::Value* quotient = wants_remainder ? nullptr : builder_.CreateSDiv(a, divisor);
  if (floors) {
    // Truncated division gives the remainder the sign of the dividend. If the divisor has the
    // opposite sign, the quotient was rounded up.
    llvm::Value* differs =
        builder_.CreateAnd(builder_.CreateICmpNE(remainder, zero),
                           builder_.CreateICmpSLT(builder_.CreateXor(remainder, divisor), zero));
    if (constant && !constant->isNegative()) differs = builder_.CreateICmpSLT(remainder, zero);
    if (wants_remainder)
      return builder_.CreateAdd(remainder, builder_.CreateSelect(differs, divisor, zero));
    quotient = builder_.CreateAdd(quotient, builder_.CreateSExt(differs, a->getType()));
  }
  if (wants_remainder) return remainder;
  return is_minus_one ? builder_.CreateSelect(is_minus_one, builder_.CreateSub(zero, a), quotient)
                      : quotient;
}

}  // namespace tenon::codegen

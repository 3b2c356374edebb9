#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/PatternMatch.h>

#include <algorithm>

#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/types.h"
#include "tenon/codegen/lowering/expand_math.h"
#include "tenon/codegen/statements.h"
#include "tenon/support/error.h"
#include "tenon/support/match.h"

namespace tenon::codegen {

using namespace tir;

namespace {

/// Returns LLVM's intrinsic if LLVM compiles it to an instruction or simplifies it algebraically.
/// Otherwise returns not_intrinsic, and libm's function is called.
llvm::Intrinsic::ID llvm_intrinsic(Intrin intrin) {
  // Rounds half to even, like the reference interpreter.
  constexpr auto kNearest = llvm::Intrinsic::nearbyint;
  constexpr std::pair<Intrin, llvm::Intrinsic::ID> kRows[] = {
      {Intrin::sqrt, llvm::Intrinsic::sqrt},
      {Intrin::floor, llvm::Intrinsic::floor},
      {Intrin::ceil, llvm::Intrinsic::ceil},
      {Intrin::round, kNearest},
      {Intrin::nearbyint, kNearest},
      {Intrin::trunc, llvm::Intrinsic::trunc},
      {Intrin::fabs, llvm::Intrinsic::fabs},
      {Intrin::fma, llvm::Intrinsic::fma},
      {Intrin::copysign, llvm::Intrinsic::copysign}};
  const auto* row =
      std::ranges::find(kRows, intrin, &std::pair<Intrin, llvm::Intrinsic::ID>::first);
  return row == std::end(kRows) ? llvm::Intrinsic::not_intrinsic : row->second;
}

}  // namespace

llvm::Value* FunctionEmitter::math(Intrin intrin, const Call& n, DataType type) {
  if (type.is_integral()) {
    // Rounding an integer returns the integer; its absolute value is a select.
    llvm::Value* x = expr(n.args[0]);
    if (intrin != Intrin::fabs || type.is_uint()) return x;
    return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, builder_.getFalse());
  }
  const bool in_float32 = is_computed_in_float32(type) || type.bits == 16;
  // nextafter in float16: the neighbor of a float16 is not the rounded neighbor of a float32.
  if (intrin == Intrin::nextafter && in_float32)
    throw LowerError("nextafter is supported for float32 and float64, not for " + type.str());
  std::vector<llvm::Value*> args;
  for (const Expr& arg : n.args) {
    llvm::Value* value = expr(arg);
    args.push_back(in_float32 && arg.dtype().is_floating() ? to_float32(value, arg.dtype())
                                                           : value);
  }
  llvm::Value* result = math_on(intrin, args, in_float32 ? Float(32, type.lanes) : type);
  return in_float32 ? round_float32(result, type) : result;
}

llvm::Value* FunctionEmitter::math_on(Intrin intrin, const std::vector<llvm::Value*>& args,
                                      DataType type) {
  llvm::Value* one = llvm::ConstantFP::get(args[0]->getType(), 1.0);
  if (intrin == Intrin::rsqrt)
    return builder_.CreateFDiv(one, builder_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, args[0]));
  // A square is emitted as a product, which rounds like pow. Like any product, it may be
  // contracted.
  if (intrin == Intrin::pow &&
      llvm::PatternMatch::match(args[1], llvm::PatternMatch::m_SpecificFP(2)))
    return builder_.CreateFMul(args[0], args[0]);
  const std::vector<Var> params{Var("x", type), Var("y", type)};
  const auto expanded = expand_math(intrin, params, module_.traits().math);
  if (!expanded) return library_function(intrin, args);
  for (std::size_t k = 0; k < args.size(); ++k) define(params[k], args[k]);
  llvm::Value* value = exactly(*expanded);
  const bool is_of_angle = intrin == Intrin::sin || intrin == Intrin::cos || intrin == Intrin::tan;
  return is_of_angle ? reduced_or_called(intrin, args[0], value) : value;
}

/// Emits the expression without contraction and reassociation of its operations.
llvm::Value* FunctionEmitter::exactly(const Expr& e) {
  const llvm::IRBuilder<>::FastMathFlagGuard guard(builder_);
  builder_.clearFastMathFlags();
  return expr(e);
}

/// Returns `reduced` if x is small enough for the reduction. For larger angles, which are rare,
/// calls the library.
llvm::Value* FunctionEmitter::reduced_or_called(Intrin intrin, llvm::Value* x,
                                                llvm::Value* reduced) {
  llvm::Value* magnitude = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  llvm::Value* is_large =
      builder_.CreateFCmpOGE(magnitude, llvm::ConstantFP::get(x->getType(), kMaxAngle));
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* large = new_block("large_angle");
  llvm::BasicBlock* after = new_block("angle_end");
  builder_.CreateCondBr(lane_count(x) > 1 ? builder_.CreateOrReduce(is_large) : is_large, large,
                        after,
                        llvm::MDBuilder(builder_.getContext()).createUnlikelyBranchWeights());
  builder_.SetInsertPoint(large);
  // The calls must not be marked speculatable, because a vectorized loop would then make them for
  // every element.
  llvm::Value* called =
      builder_.CreateSelect(is_large, call_libm_by_lanes(*libm_name(intrin), {x}, false), reduced);
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
  llvm::PHINode* result = builder_.CreatePHI(x->getType(), 2);
  result->addIncoming(reduced, before);
  result->addIncoming(called, large);
  return result;
}

llvm::Value* FunctionEmitter::library_function(Intrin intrin, std::vector<llvm::Value*> args) {
  llvm::Type* t = args[0]->getType();
  // pow and hypot ignore a quiet NaN if the other argument is 0, 1 or infinity, but not a
  // signalling NaN. Quieting the arguments makes both behave alike.
  if (intrin == Intrin::pow || intrin == Intrin::hypot)
    for (llvm::Value*& arg : args)
      arg =
          builder_.CreateSelect(builder_.CreateFCmpUNO(arg, arg), llvm::ConstantFP::getNaN(t), arg);
  if (const auto id = llvm_intrinsic(intrin); id != llvm::Intrinsic::not_intrinsic) {
    // LLVM folds fma(x, 1, p) to x + p. If p is a product, `contract` would allow LLVM to fuse p
    // into that sum, which changes the result.
    const llvm::IRBuilder<>::FastMathFlagGuard guard(builder_);
    llvm::FastMathFlags flags = builder_.getFastMathFlags();
    flags.setAllowContract(flags.allowContract() && intrin != Intrin::fma);
    builder_.setFastMathFlags(flags);
    return builder_.CreateIntrinsic(id, {t}, args);
  }
  const auto name = libm_name(intrin);
  internal_check(name.has_value(), "a function of mathematics without a name");
  return call_libm_by_lanes(*name, args, true);
}

llvm::Value* FunctionEmitter::call_libm_by_lanes(const std::string& name,
                                                 const std::vector<llvm::Value*>& args,
                                                 bool speculatable) {
  const auto lanes = static_cast<unsigned>(lane_count(args[0]));
  if (lanes == 1) return call_libm(name, args, speculatable);
  llvm::Value* result = llvm::PoisonValue::get(args[0]->getType());
  for (unsigned lane = 0; lane < lanes; ++lane) {
    std::vector<llvm::Value*> scalars;
    for (llvm::Value* arg : args) scalars.push_back(builder_.CreateExtractElement(arg, lane));
    result = builder_.CreateInsertElement(result, call_libm(name, scalars, speculatable), lane);
  }
  return result;
}

llvm::Value* FunctionEmitter::call_libm(const std::string& name,
                                        const std::vector<llvm::Value*>& args, bool speculatable) {
  std::vector<llvm::Value*> given = args;
  if (name == "ldexp") given[1] = builder_.CreateSExtOrTrunc(given[1], builder_.getInt32Ty());
  std::vector<llvm::Type*> types;
  for (llvm::Value* arg : given) types.push_back(arg->getType());
  const bool is_single = args[0]->getType()->isFloatTy();
  llvm::FunctionType* signature = llvm::FunctionType::get(args[0]->getType(), types, false);
  llvm::FunctionCallee function = module_.extern_function(name + (is_single ? "f" : ""), signature);
  llvm::CallInst* call = builder_.CreateCall(signature, function.getCallee(), given);
  // The calls are treated as pure: their effects on errno are ignored.
  if (speculatable) call->setDoesNotAccessMemory();
  call->setDoesNotThrow();
  call->addFnAttr(llvm::Attribute::WillReturn);
  return call;
}

llvm::Value* FunctionEmitter::float_test(Intrin intrin, const Expr& argument) {
  llvm::Value* x = expr(argument);
  if (argument.dtype().bits == 16) x = to_float32(x, argument.dtype());
  if (intrin == Intrin::isnan) return builder_.CreateFCmpUNO(x, x);
  llvm::Value* magnitude = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  llvm::Value* infinity = llvm::ConstantFP::getInfinity(x->getType());
  if (intrin == Intrin::isinf) return builder_.CreateFCmpOEQ(magnitude, infinity);
  return builder_.CreateFCmpONE(magnitude, infinity);
}

llvm::Value* FunctionEmitter::bits_intrin(Intrin intrin, const Call& n, DataType type) {
  const DataType t = n.args[0].dtype();
  llvm::Value* x = expr(n.args[0]);
  if (intrin == Intrin::bitwise_not) return builder_.CreateNot(x);
  if (intrin == Intrin::popcount)
    return cast(builder_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, x), UInt(t.bits, t.lanes),
                type);
  if (intrin == Intrin::clz) {
    llvm::Value* count =
        builder_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, x, builder_.getFalse());
    return cast(count, UInt(t.bits, t.lanes), type);
  }
  llvm::Value* y = expr(n.args[1]);
  // Reduces the amount modulo the width: larger shifts are poison in LLVM.
  auto amount = [&](llvm::Value* by, std::uint64_t bits) {
    return builder_.CreateAnd(by, llvm::ConstantInt::get(by->getType(), bits - 1));
  };
  switch (intrin) {
    case Intrin::bitwise_and:
      return builder_.CreateAnd(x, y);
    case Intrin::bitwise_or:
      return builder_.CreateOr(x, y);
    case Intrin::bitwise_xor:
      return builder_.CreateXor(x, y);
    case Intrin::shift_left:
      return builder_.CreateShl(x, amount(y, t.bits));
    case Intrin::shift_right:
      return t.is_uint() ? builder_.CreateLShr(x, amount(y, t.bits))
                         : builder_.CreateAShr(x, amount(y, t.bits));
    default:
      internal_error("an operation on bits without a meaning");
  }
}

}  // namespace tenon::codegen

// Sums of products of adjacent lanes (dp4a). They use the processor's instructions if available,
// and otherwise widened products of the even lanes and of the odd lanes.
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <array>

#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/llvm_versions.h"
#include "codegen/llvm/types.h"

namespace tenon::codegen {

using namespace tir;

namespace {

/// The variants of an instruction for vectors of 128, 256 and 512 bits.
using Variants = std::array<llvm::Intrinsic::ID, 3>;

llvm::Intrinsic::ID variant_of(const Variants& variants, int bits) {
  return bits == 128   ? variants[0]
         : bits == 256 ? variants[1]
         : bits == 512 ? variants[2]
                       : llvm::Intrinsic::not_intrinsic;
}

constexpr Variants kByteProducts{llvm::Intrinsic::x86_avx512_vpdpbusd_128,
                                 llvm::Intrinsic::x86_avx512_vpdpbusd_256,
                                 llvm::Intrinsic::x86_avx512_vpdpbusd_512};
constexpr Variants kBfloatProducts{llvm::Intrinsic::x86_avx512bf16_dpbf16ps_128,
                                   llvm::Intrinsic::x86_avx512bf16_dpbf16ps_256,
                                   llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512};
/// Instructions that add sums of two 16-bit products.
constexpr Variants kShortProducts{llvm::Intrinsic::x86_sse2_pmadd_wd,
                                  llvm::Intrinsic::x86_avx2_pmadd_wd,
                                  llvm::Intrinsic::x86_avx512_pmaddw_d_512};

/// Calls an intrinsic with bitcast arguments, because versions of LLVM declare different vector
/// types for the same bits.
llvm::Value* call_on_bits(llvm::IRBuilderBase& builder, llvm::Module& module,
                          llvm::Intrinsic::ID id, std::vector<llvm::Value*> args) {
  llvm::Function* function = declare_intrinsic(module, id, {});
  for (unsigned k = 0; k < args.size(); ++k)
    args[k] = builder.CreateBitCast(args[k], function->getFunctionType()->getParamType(k));
  return builder.CreateCall(function, args);
}

/// Adds sums of four byte products by instructions that multiply an unsigned by a signed factor. A
/// factor of the other signedness is offset by 128, which flips its sign bit. The offset's
/// contribution is subtracted from the sums. It depends only on the other factor, so several sums
/// can share its computation.
llvm::Value* sums_by_instruction(llvm::IRBuilderBase& builder, llvm::Module& module, llvm::Value* a,
                                 bool is_a_signed, llvm::Value* b, bool is_b_signed,
                                 llvm::Value* sums) {
  const int lanes = lane_count(sums);
  const auto product = [&](llvm::Value* x, llvm::Value* y, llvm::Value* start) {
    return call_on_bits(builder, module, variant_of(kByteProducts, 32 * lanes), {start, x, y});
  };
  const auto bytes = [&](std::uint64_t value) {
    return llvm::ConstantInt::get(with_lanes(builder.getInt8Ty(), 4 * lanes), value);
  };
  const auto moved = [&](llvm::Value* x) { return builder.CreateXor(x, bytes(0x80)); };
  if (is_a_signed && !is_b_signed) return product(b, a, sums);
  if (!is_a_signed && is_b_signed) return product(a, b, sums);
  llvm::Value* none = llvm::Constant::getNullValue(sums->getType());
  if (is_a_signed)  // an offset of +128: a = (a + 128) - 128
    return product(moved(a), b, builder.CreateSub(sums, product(bytes(0x80), b, none)));
  llvm::Value* of_ones = product(a, bytes(1), none);  // an offset of -128: b = (b - 128) + 128
  return product(a, moved(b), builder.CreateAdd(sums, builder.CreateShl(of_ones, 7)));
}

/// Adds adjacent 16-bit products. The sums fit in 32 bits, because the factors were bytes.
llvm::Value* products_of_pairs(llvm::IRBuilderBase& builder, llvm::Module& module, llvm::Value* a,
                               llvm::Value* b, int lanes) {
  const llvm::Intrinsic::ID id = variant_of(kShortProducts, 32 * lanes);
  if (llvm::Triple(module.getTargetTriple()).isX86() && id != llvm::Intrinsic::not_intrinsic)
    return call_on_bits(builder, module, id, {a, b});
  llvm::Type* wide = with_lanes(builder.getInt32Ty(), lanes);
  llvm::Constant* sixteen = llvm::ConstantInt::get(wide, 16);
  const auto one = [&](llvm::Value* x, bool is_upper) {
    x = builder.CreateBitCast(x, wide);
    if (!is_upper) x = builder.CreateShl(x, sixteen);
    return builder.CreateAShr(x, sixteen);
  };
  return builder.CreateAdd(builder.CreateMul(one(a, false), one(b, false)),
                           builder.CreateMul(one(a, true), one(b, true)));
}

/// Adds sums of four byte products. The even bytes and the odd bytes, each extended to 16 bits, are
/// multiplied separately.
llvm::Value* sums_by_halves(llvm::IRBuilderBase& builder, llvm::Module& module, llvm::Value* a,
                            bool is_a_signed, llvm::Value* b, bool is_b_signed, llvm::Value* sums) {
  const int lanes = lane_count(sums);
  llvm::Type* shorts = with_lanes(builder.getInt16Ty(), 2 * lanes);
  llvm::Constant* eight = llvm::ConstantInt::get(shorts, 8);
  const auto half = [&](llvm::Value* x, bool is_signed, bool is_odd) {
    x = builder.CreateBitCast(x, shorts);
    if (!is_odd) x = builder.CreateShl(x, eight);
    return is_signed ? builder.CreateAShr(x, eight) : builder.CreateLShr(x, eight);
  };
  for (const bool is_odd : {false, true})
    sums = builder.CreateAdd(sums, products_of_pairs(builder, module, half(a, is_a_signed, is_odd),
                                                     half(b, is_b_signed, is_odd), lanes));
  return sums;
}

}  // namespace

llvm::Value* FunctionEmitter::sums_of_products(const Call& n) {
  llvm::Value *a = expr(n.args[0]), *b = expr(n.args[1]), *sums = expr(n.args[2]);
  const int lanes = n.args[2].dtype().lanes, neighbours = n.args[0].dtype().lanes / lanes;
  const int most = std::max(module_.traits().vector_bits / 32, 1);
  std::vector<llvm::Value*> parts;
  for (int first = 0; first < lanes; first += most) {
    const int count = std::min(most, lanes - first);
    const auto part = [&](llvm::Value* x, int of_each) {
      return count == lanes ? x : lanes_of(x, first * of_each, count * of_each);
    };
    llvm::Value *x = part(a, neighbours), *y = part(b, neighbours), *start = part(sums, 1);
    parts.push_back(n.args[2].dtype().is_float() ? sums_of_bfloat_products(x, y, start, count)
                                                 : sums_of_byte_products(n, x, y, start, count));
  }
  return concatenate(parts);
}

llvm::Value* FunctionEmitter::sums_of_byte_products(const Call& n, llvm::Value* a, llvm::Value* b,
                                                    llvm::Value* sums, int lanes) {
  const bool is_a_signed = n.args[0].dtype().is_int(), is_b_signed = n.args[1].dtype().is_int();
  const bool has_instruction =
      module_.traits().byte_products &&
      variant_of(kByteProducts, 32 * lanes) != llvm::Intrinsic::not_intrinsic;
  return (has_instruction ? sums_by_instruction : sums_by_halves)(
      builder_, module_.module(), a, is_a_signed, b, is_b_signed, sums);
}

llvm::Value* FunctionEmitter::sums_of_bfloat_products(llvm::Value* a, llvm::Value* b,
                                                      llvm::Value* sums, int lanes) {
  const llvm::Intrinsic::ID id = variant_of(kBfloatProducts, 32 * lanes);
  if (module_.traits().bfloat_products && id != llvm::Intrinsic::not_intrinsic)
    return call_on_bits(builder_, module_.module(), id, {sums, a, b});
  // A bfloat16 is the upper half of a float32.
  llvm::Type* bits = with_lanes(builder_.getInt32Ty(), lanes);
  llvm::Type* floats = with_lanes(builder_.getFloatTy(), lanes);
  const auto half = [&](llvm::Value* x, bool is_upper) {
    x = builder_.CreateBitCast(x, bits);
    x = is_upper ? builder_.CreateAnd(x, llvm::ConstantInt::get(bits, 0xffff0000u))
                 : builder_.CreateShl(x, llvm::ConstantInt::get(bits, 16));
    return builder_.CreateBitCast(x, floats);
  };
  for (const bool is_upper : {false, true})
    sums = builder_.CreateFAdd(builder_.CreateFMul(half(a, is_upper), half(b, is_upper)), sums);
  return sums;
}

}  // namespace tenon::codegen

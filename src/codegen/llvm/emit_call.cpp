#include <llvm/IR/Intrinsics.h>

#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/llvm_versions.h"
#include "codegen/llvm/types.h"
#include "tenon/codegen/statements.h"
#include "tenon/runtime/c_api.h"
#include "tenon/runtime/ndarray.h"
#include "tenon/support/error.h"
#include "tenon/support/match.h"
#include "tenon/tir/print.h"

namespace tenon::codegen {

using namespace tir;

llvm::Value* FunctionEmitter::emit(const Call& n, DataType type) {
  return match(
      n.callee, [&](Intrin intrin) { return call_intrin(intrin, n, type); },
      [&](const ExternCallee& callee) { return call_extern(callee, n, type, /*is_used=*/true); });
}

llvm::Value* FunctionEmitter::call_intrin(Intrin intrin, const Call& n, DataType type) {
  llvm::Value* none = int32(0);
  if (is_math(intrin)) return math(intrin, n, type);
  if (is_bit_operation(intrin)) return bits_intrin(intrin, n, type);
  if (is_matrix_operation(intrin)) {
    matrix_operation(intrin, n);
    return none;
  }
  switch (intrin) {
    case Intrin::isnan:
    case Intrin::isinf:
    case Intrin::isfinite:
      return float_test(intrin, n.args[0]);
    case Intrin::dp4a:
      return sums_of_products(n);
    case Intrin::if_then_else:
      if (n.args[0].dtype().is_vector()) return choose_lanes(expr(n.args[0]), n.args[1], n.args[2]);
      return choose(expr(n.args[0]), n.args[1], n.args[2]);
    case Intrin::likely:
      return expr(n.args[0]);
    case Intrin::reinterpret:
      return reinterpret(expr(n.args[0]), n.args[0].dtype(), type);
    case Intrin::address_of:
      return address_of(n.args[0]);
    case Intrin::tvm_access_ptr:
      return access_ptr(n);
    case Intrin::type_annotation:
      internal_error("a type annotation outside of tvm_access_ptr");
    case Intrin::handle_add_byte_offset: {
      llvm::Value* base = expr(n.args[0]);
      return builder_.CreateGEP(builder_.getInt8Ty(), base, index(n.args[1]));
    }
    case Intrin::isnullptr:
      return builder_.CreateIsNull(expr(n.args[0]));
    case Intrin::tvm_stack_make_array:
      return stack_array(n);
    case Intrin::tvm_stack_make_shape:
      return stack_shape(n);
    case Intrin::tvm_call_packed:
      return call_packed(n);
    case Intrin::tvm_tuple:
      for (const Expr& arg : n.args) none = expr(arg);
      return none;
    case Intrin::launch_kernel:
      return launch_kernel(n);
    case Intrin::prefetch:
      prefetch(n);
      return none;
    case Intrin::tvm_storage_sync:  // a single thread needs no barrier
      return none;
    case Intrin::call_llvm_intrin:
    case Intrin::call_llvm_pure_intrin:
      return call_llvm(n, type);
    case Intrin::ret:
      leave(cast(expr(n.args[0]), n.args[0].dtype(), Int(32)));
      builder_.SetInsertPoint(new_block("unreached"));
      return none;
    default:
      if (is_of_devices(intrin)) refuse_device_intrinsic(intrin);
      internal_error("@tir." + std::string(to_string(intrin)) + " is left in lowered code");
  }
}

// ---- addresses ----

llvm::Value* FunctionEmitter::address_of(const Expr& e) {
  const Load* load = e.as<Load>();
  if (!load) throw LowerError("address_of takes an element of a buffer, got " + print_expr(e));
  const Expr position = flat_index(load->buffer, load->indices);
  if (const Ramp* ramp = position.as<Ramp>()) return address(load->buffer, index(ramp->base));
  if (position.dtype().is_vector()) return address(load->buffer, lane_positions(position)[0]);
  return address(load->buffer, index(position));
}

llvm::Value* FunctionEmitter::access_ptr(const Call& n) {
  const DataType element = n.args[0].dtype();
  llvm::Value* base = expr(n.args[1]);
  return address(base, element, index(n.args[2]));
}

void FunctionEmitter::prefetch(const Call& n) {
  std::vector<llvm::Value*> args{expr(n.args[0])};
  for (std::size_t k = 1; k < 4; ++k)
    args.push_back(int32(constant_int(n.args[k]).value_or(k == 1 ? 0 : k == 2 ? 3 : 1)));
  builder_.CreateIntrinsic(llvm::Intrinsic::prefetch, {args[0]->getType()}, args);
}

// ---- C functions ----

namespace {

/// Returns the attribute that extends an integer narrower than int. C calling conventions extend
/// such integers according to their signedness.
llvm::Attribute::AttrKind extension_of(DataType t) {
  const bool is_narrow = t.is_integral() && t.is_scalar() && t.bits < 32;
  return !is_narrow   ? llvm::Attribute::None
         : t.is_int() ? llvm::Attribute::SExt
                      : llvm::Attribute::ZExt;
}

/// Marks the call as pure, so that LLVM may move or remove it.
void add_purity(llvm::CallBase& call, const Call& n) {
  call.setDoesNotThrow();
  call.addFnAttr(llvm::Attribute::WillReturn);
  // A pure function may still read memory through its pointer arguments.
  const bool has_pointer =
      std::ranges::any_of(n.args, [](const Expr& arg) { return arg.dtype().is_handle(); });
  if (has_pointer) {
    call.setOnlyReadsMemory();
  } else {
    call.setDoesNotAccessMemory();
  }
}

}  // namespace

llvm::Type* FunctionEmitter::type_in_c(DataType t) const {
  if (t.is_bool()) return with_lanes(llvm::Type::getInt8Ty(module_.context()), t.lanes);
  if (t.is_bfloat()) return with_lanes(llvm::Type::getBFloatTy(module_.context()), t.lanes);
  return type(t);
}

llvm::FunctionType* FunctionEmitter::signature_in_c(const ExternCallee& callee, const Call& n,
                                                    DataType result, bool is_used) {
  std::vector<llvm::Type*> types;
  for (const Expr& arg : n.args) types.push_back(type_in_c(arg.dtype()));
  llvm::Type* returned = type_in_c(result);
  const llvm::FunctionType* defined = module_.definition_of(callee.name);
  if (!defined) return llvm::FunctionType::get(returned, types, false);
  // clang represents bool as one bit. The result type of the definition is accepted if the result
  // is unused.
  const auto adapted = [](llvm::Type* ours, llvm::Type* theirs, DataType t) {
    return t.is_bool() && t.is_scalar() && theirs->isIntegerTy(1) ? theirs : ours;
  };
  if (defined->getNumParams() == types.size())
    for (std::size_t k = 0; k < types.size(); ++k)
      types[k] =
          adapted(types[k], defined->getParamType(static_cast<unsigned>(k)), n.args[k].dtype());
  returned =
      is_used ? adapted(returned, defined->getReturnType(), result) : defined->getReturnType();
  return llvm::FunctionType::get(returned, types, false);
}

llvm::Value* FunctionEmitter::call_extern(const ExternCallee& callee, const Call& n,
                                          DataType result, bool is_used) {
  llvm::FunctionType* signature = signature_in_c(callee, n, result, is_used);
  std::vector<llvm::Value*> args;
  for (unsigned k = 0; k < n.args.size(); ++k) {
    const DataType t = n.args[k].dtype();
    llvm::Value* value = expr(n.args[k]);
    if (t.is_bool()) value = builder_.CreateZExt(value, signature->getParamType(k));
    if (t.is_bfloat()) value = builder_.CreateBitCast(value, signature->getParamType(k));
    args.push_back(value);
  }
  llvm::FunctionCallee function = module_.extern_function(callee.name, signature);
  llvm::CallBase* call =
      callee.pure ? builder_.CreateCall(function, args) : call_foreign(function, args);
  for (unsigned k = 0; k < args.size(); ++k)
    if (const auto extension = extension_of(n.args[k].dtype()); extension != llvm::Attribute::None)
      call->addParamAttr(k, extension);
  if (callee.pure) add_purity(*call, n);
  if (!is_used) return int32(0);
  if (extension_of(result) != llvm::Attribute::None) call->addRetAttr(extension_of(result));
  if (result.is_bool())
    return builder_.CreateICmpNE(call, llvm::Constant::getNullValue(call->getType()));
  if (result.is_bfloat()) return builder_.CreateBitCast(call, type(result));
  return call;
}

llvm::CallBase* FunctionEmitter::call_foreign(llvm::FunctionCallee function,
                                              const std::vector<llvm::Value*>& args) {
  if (workspaces_.empty()) return builder_.CreateCall(function, args);
  llvm::BasicBlock* after = new_block("returned");
  llvm::CallBase* call = builder_.CreateInvoke(function, after, workspaces_.unwinding(), args);
  builder_.SetInsertPoint(after);
  return call;
}

llvm::Value* FunctionEmitter::call_llvm(const Call& n, DataType type) {
  const StringImm* name = n.args.empty() ? nullptr : n.args[0].as<StringImm>();
  if (!name)
    throw LowerError("call_llvm_intrin takes the intrinsic's name first, such as \"llvm.fabs\"");
  const llvm::Intrinsic::ID id = find_intrinsic(name->value);
  if (id == llvm::Intrinsic::not_intrinsic)
    throw LowerError("LLVM has no intrinsic `" + name->value + "`");
  std::vector<llvm::Value*> args;
  std::vector<llvm::Type*> types;
  for (std::size_t k = 2; k < n.args.size(); ++k) {
    args.push_back(expr(n.args[k]));
    types.push_back(args.back()->getType());
  }
  auto declare = [&](llvm::Type* result) -> llvm::Function* {
    llvm::SmallVector<llvm::Intrinsic::IITDescriptor, 8> table;
    llvm::Intrinsic::getIntrinsicInfoTableEntries(id, table);
    llvm::ArrayRef<llvm::Intrinsic::IITDescriptor> rest(table);
    llvm::SmallVector<llvm::Type*, 4> overloads;
    llvm::FunctionType* signature = llvm::FunctionType::get(result, types, false);
    const auto matched = llvm::Intrinsic::matchIntrinsicSignature(signature, rest, overloads);
    if (matched != llvm::Intrinsic::MatchIntrinsicTypes_Match || !rest.empty()) return nullptr;
    return declare_intrinsic(module_.module(), id, overloads);
  };
  llvm::Function* function = declare(this->type(type));
  if (!function) function = declare(builder_.getVoidTy());
  if (!function) {
    std::string given;
    for (std::size_t k = 2; k < n.args.size(); ++k)
      given += (k > 2 ? ", " : "") + n.args[k].dtype().str();
    throw LowerError("LLVM's intrinsic `" + name->value + "` does not take (" + given +
                     ") and give " + type.str());
  }
  llvm::Value* result = builder_.CreateCall(function, args);
  return result->getType()->isVoidTy() ? llvm::Constant::getNullValue(this->type(type)) : result;
}

// ---- packed functions ----

llvm::Value* FunctionEmitter::stack_values(llvm::Type* type, const char* name,
                                           const std::vector<llvm::Value*>& values) {
  const auto count = static_cast<std::int64_t>(values.size());
  const int alignment = static_cast<int>(type->getScalarSizeInBits() / 8);
  llvm::Value* memory =
      entry_alloca(type, int64(std::max<std::int64_t>(1, count)), alignment, name);
  for (std::size_t k = 0; k < values.size(); ++k)
    builder_.CreateStore(values[k], builder_.CreateConstInBoundsGEP1_64(type, memory, k));
  return memory;
}

llvm::Value* FunctionEmitter::stack_shape(const Call& n) {
  std::vector<llvm::Value*> extents;
  for (const Expr& extent : n.args) extents.push_back(index(extent));
  return stack_values(builder_.getInt64Ty(), "shape", extents);
}

/// Emits a DLTensor from the arguments (data, shape, strides or 0, rank, a value of the element
/// type, offset in elements).
llvm::Value* FunctionEmitter::stack_array(const Call& n) {
  const DataType element = n.args[4].dtype();
  llvm::Value* tensor =
      entry_alloca(builder_.getInt8Ty(), int64(sizeof(DLTensor)), alignof(DLTensor), "tensor");
  auto put = [&](std::size_t offset, llvm::Value* value) {
    builder_.CreateStore(value,
                         builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), tensor, offset));
  };
  const auto rank = constant_int(n.args[3]);
  internal_check(rank.has_value(), "the rank of an array is not constant");
  llvm::Value* shape = expr(n.args[1]);
  llvm::Value* strides = nullptr;
  if (n.args[2].dtype().is_handle()) {
    strides = expr(n.args[2]);
  } else {
    // c_api.h guarantees non-null strides, so the strides of a compact array are computed here.
    strides =
        entry_alloca(builder_.getInt64Ty(), int64(std::max<std::int64_t>(1, *rank)), 8, "strides");
    llvm::Value* stride = int64(1);
    for (std::int64_t d = *rank; d-- > 0;) {
      const auto at = static_cast<std::uint64_t>(d);
      builder_.CreateStore(stride,
                           builder_.CreateConstInBoundsGEP1_64(builder_.getInt64Ty(), strides, at));
      llvm::Value* extent = builder_.CreateConstInBoundsGEP1_64(builder_.getInt64Ty(), shape, at);
      stride = builder_.CreateMul(stride, builder_.CreateLoad(builder_.getInt64Ty(), extent));
    }
  }
  const DLDataType type = runtime::to_dlpack(element);
  put(offsetof(DLTensor, data), address(expr(n.args[0]), element, index(n.args[5])));
  put(offsetof(DLTensor, device), int32(kDLCPU));
  put(offsetof(DLTensor, device) + 4, int32(0));
  put(offsetof(DLTensor, ndim), int32(*rank));
  put(offsetof(DLTensor, dtype), builder_.getInt8(type.code));
  put(offsetof(DLTensor, dtype) + 1, builder_.getInt8(type.bits));
  put(offsetof(DLTensor, dtype) + 2, builder_.getInt16(type.lanes));
  put(offsetof(DLTensor, shape), shape);
  put(offsetof(DLTensor, strides), strides);
  put(offsetof(DLTensor, byte_offset), int64(0));
  return tensor;
}

/// Converts an argument to its representation in a TenonValue (c_api.h).
llvm::Value* FunctionEmitter::in_64_bits(const Expr& arg) {
  const DataType t = arg.dtype();
  llvm::Value* value = expr(arg);
  if (t.is_handle()) return value;
  return cast(value, t, t.is_floating() ? Float(64) : Int(64));
}

/// Emits the call of a TenonPackedFunction by name: (name, arguments...).
llvm::Value* FunctionEmitter::call_packed(const Call& n) {
  const StringImm* name = n.args.empty() ? nullptr : n.args[0].as<StringImm>();
  if (!name) throw LowerError("tvm_call_packed takes the function's name first");
  std::vector<llvm::Value*> values, codes;
  for (std::size_t k = 1; k < n.args.size(); ++k) {
    const auto [code, negative_code] = argument_codes(n.args[k]);
    values.push_back(in_64_bits(n.args[k]));
    codes.push_back(int32(code));
    if (negative_code != code)
      codes.back() = builder_.CreateSelect(builder_.CreateICmpSLT(values.back(), int64(0)),
                                           int32(negative_code), codes.back());
  }
  llvm::FunctionType* signature = llvm::FunctionType::get(
      builder_.getInt32Ty(), {builder_.getPtrTy(), builder_.getPtrTy(), builder_.getInt32Ty()},
      false);
  llvm::FunctionCallee function = module_.extern_function(name->value, signature);
  llvm::Value* status =
      call_foreign(function, {stack_values(builder_.getInt64Ty(), "values", values),
                              stack_values(builder_.getInt32Ty(), "codes", codes),
                              int32(static_cast<std::int64_t>(values.size()))});
  check_status(status);
  return status;
}

}  // namespace tenon::codegen

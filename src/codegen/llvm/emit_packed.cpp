// The packed function that callers use (c_api.h): it unpacks the arguments and calls the
// computation.
#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/types.h"
#include "tenon/codegen/c_names.h"
#include "tenon/runtime/c_api.h"

namespace tenon::codegen {

using namespace tir;

namespace {

void define_param(FunctionEmitter& emitter, const ModuleEmitter& module, const PrimFunc& func,
                  const Signature& signature, llvm::Argument* argument) {
  const std::size_t n = argument->getArgNo();
  const Var& param = func.params[n];
  const BufferParam* array = func.buffer_of(param);
  if (!array) return emitter.define(param, argument);
  emitter.define(array->buffer->data, argument);
  emitter.define(array->declared->data, argument);
  emitter.define(param, argument);
  const auto& spec = std::get<runtime::ArraySpec>(signature.spec.params[n].type);
  llvm::LLVMContext& context = module.context();
  if (func.attrs.noalias) argument->addAttr(llvm::Attribute::NoAlias);
  // Device memory is represented by an opaque handle.
  if (module.kernels()) return;
  const Expr& offset = array->declared->elem_offset;
  if (!is_zero(offset) && !offset.as<VarNode>()) return;
  argument->addAttr(llvm::Attribute::getWithAlignment(
      context, llvm::Align(static_cast<std::uint64_t>(spec.alignment))));
  const auto bytes = constant_bytes(array->declared->dtype, array->declared->shape);
  if (array->declared->strides.empty() && bytes && *bytes > 0)
    argument->addAttr(
        llvm::Attribute::getWithDereferenceableBytes(context, static_cast<std::uint64_t>(*bytes)));
}

}  // namespace

llvm::Function* emit_computation(ModuleEmitter& module, const PrimFunc& func,
                                 const Signature& signature, const Computation& analyses) {
  std::vector<Var> vars = func.params;
  for (const SizeBinding& size : signature.sizes) vars.push_back(size.var);
  vars.insert(vars.end(), signature.zero_offsets.begin(), signature.zero_offsets.end());
  std::vector<llvm::Type*> types;
  for (const Var& var : vars) types.push_back(register_type(module.context(), var.dtype()));
  llvm::Type* status = llvm::Type::getInt32Ty(module.context());
  if (module.kernels()) types.push_back(status);
  llvm::Function* function = module.make_function(llvm::FunctionType::get(status, types, false),
                                                  llvm::GlobalValue::InternalLinkage,
                                                  as_identifier(signature.spec.name) + "_compute");
  function->addFnAttr(llvm::Attribute::NoInline);
  FunctionEmitter emitter(module, function, analyses);
  for (unsigned n = 0; n < vars.size(); ++n) {
    if (n < func.params.size())
      define_param(emitter, module, func, signature, function->getArg(n));
    else
      emitter.define_size(vars[n], function->getArg(n));
  }
  if (module.kernels()) emitter.run_on(function->getArg(static_cast<unsigned>(vars.size())));
  emitter.stack_ = std::make_shared<VarSet>(stack_temporaries(func.body));
  emitter.stmt(func.body);
  emitter.finish();
  return function;
}

class PackedEmitter {
 public:
  PackedEmitter(ModuleEmitter& module, const PrimFunc& func, const Signature& signature)
      : module_(module), func_(func), signature_(signature) {}

  void run(const Computation& analyses, llvm::Function* computation) {
    const std::string& symbol = signature_.spec.symbol;
    llvm::Type* pointer = llvm::PointerType::getUnqual(module_.context());
    llvm::Type* status = llvm::Type::getInt32Ty(module_.context());
    packed_ =
        module_.make_function(llvm::FunctionType::get(status, {pointer, pointer, status}, false),
                              llvm::GlobalValue::ExternalLinkage, symbol);
    packed_->getArg(0)->setName("args");
    FunctionEmitter emitter(module_, packed_, analyses);
    std::vector<llvm::Value*> args;
    for (unsigned n = 0; n < func_.params.size(); ++n) args.push_back(unpack(emitter, n));
    for (const SizeBinding& size : signature_.sizes) args.push_back(bind(emitter, size));
    for (const Var& offset : signature_.zero_offsets) {
      args.push_back(llvm::Constant::getNullValue(emitter.type(offset.dtype())));
      emitter.define_size(offset, args.back());
    }
    for (const SizeCheck& check : signature_.checks) emit_check(emitter, check);
    for (unsigned n = 0; n < func_.params.size(); ++n)
      if (const BufferParam* array = func_.buffer_of(func_.params[n]))
        args[n] = move_to_base(emitter, *array, args[n]);
    if (module_.kernels()) args.push_back(device_id(emitter));
    emitter.builder_.CreateRet(call(emitter, computation, args));
    emitter.close_entry();
  }

 private:
  llvm::Value* call(FunctionEmitter& emitter, llvm::Function* computation,
                    const std::vector<llvm::Value*>& args) const {
    llvm::IRBuilder<>& builder = emitter.builder_;
    const CompileOptions& options = module_.options();
    if (!options.profiler) return builder.CreateCall(computation, args);
    llvm::Value* profiler = builder.CreateIntToPtr(
        builder.getInt64(reinterpret_cast<std::uintptr_t>(options.profiler.get())),
        builder.getPtrTy());
    const int region = options.profiled_functions.at(signature_.spec.name);
    llvm::Value* depth = builder.CreateCall(module_.runtime_function("tenon_profile_begin_call"),
                                            {profiler, emitter.int32(region)});
    llvm::Value* status = builder.CreateCall(computation, args);
    builder.CreateCall(module_.runtime_function("tenon_profile_end_call"), {profiler, depth});
    return status;
  }

  // ---- unpacking arguments ----

  llvm::Value* unpack(FunctionEmitter& emitter, unsigned n) {
    const Var& param = func_.params[n];
    llvm::IRBuilder<>& builder = emitter.builder_;
    llvm::Value* slot =
        builder.CreateConstInBoundsGEP1_64(builder.getInt64Ty(), packed_->getArg(0), n);
    if (func_.buffer_of(param)) {
      tensors_.push_back(builder.CreateLoad(builder.getPtrTy(), slot));
      return field(emitter, n, offsetof(DLTensor, data));
    }
    tensors_.push_back(nullptr);
    const DataType t = param.dtype();
    const DataType given = t.is_handle() ? t : t.is_floating() ? Float(64) : Int(64);
    llvm::Value* value = emitter.cast(builder.CreateLoad(emitter.type(given), slot), given, t);
    emitter.define(param, value);
    return value;
  }

  llvm::Value* field(FunctionEmitter& emitter, unsigned param, std::size_t offset) const {
    llvm::IRBuilder<>& builder = emitter.builder_;
    llvm::Value* at =
        builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), tensors_[param], offset);
    return builder.CreateLoad(builder.getPtrTy(), at);
  }

  /// Returns the device of the first array. The argument checks ensure that all arrays are on one
  /// device.
  llvm::Value* device_id(FunctionEmitter& emitter) const {
    llvm::IRBuilder<>& builder = emitter.builder_;
    for (llvm::Value* tensor : tensors_) {
      if (!tensor) continue;
      constexpr std::size_t kAt = offsetof(DLTensor, device) + offsetof(DLDevice, device_id);
      return builder.CreateLoad(builder.getInt32Ty(), builder.CreateConstInBoundsGEP1_64(
                                                          builder.getInt8Ty(), tensor, kAt));
    }
    return builder.getInt32(0);
  }

  llvm::Value* part(FunctionEmitter& emitter, int param, bool is_stride, int dimension) const {
    const std::size_t offset = is_stride ? offsetof(DLTensor, strides) : offsetof(DLTensor, shape);
    llvm::IRBuilder<>& builder = emitter.builder_;
    llvm::Value* numbers = field(emitter, static_cast<unsigned>(param), offset);
    llvm::Value* at = builder.CreateConstInBoundsGEP1_64(builder.getInt64Ty(), numbers,
                                                         static_cast<std::uint64_t>(dimension));
    return builder.CreateLoad(builder.getInt64Ty(), at);
  }

  llvm::Value* value_of(FunctionEmitter& emitter, const ArgumentSize& size) const {
    llvm::IRBuilder<>& builder = emitter.builder_;
    llvm::Value* value = part(emitter, size.param, size.is_stride, size.dimension);
    if (!size.zero_if_extent_is_one) return value;
    llvm::Value* extent = part(emitter, size.param, /*is_stride=*/false, size.dimension);
    return builder.CreateSelect(builder.CreateICmpEQ(extent, builder.getInt64(1)),
                                builder.getInt64(0), value);
  }

  llvm::Value* bind(FunctionEmitter& emitter, const SizeBinding& size) const {
    llvm::Value* value =
        emitter.builder_.CreateTrunc(value_of(emitter, size.size), emitter.type(size.var.dtype()));
    emitter.define_size(size.var, value);
    return value;
  }

  void emit_check(FunctionEmitter& emitter, const SizeCheck& check) const {
    llvm::IRBuilder<>& builder = emitter.builder_;
    llvm::Value* given = value_of(emitter, check.size);
    llvm::Value* holds = builder.CreateICmpEQ(given, emitter.index(check.expected));
    llvm::BasicBlock* right = emitter.new_block("size_holds");
    llvm::BasicBlock* wrong = emitter.new_block("size_differs");
    builder.CreateCondBr(holds, right, wrong);
    builder.SetInsertPoint(wrong);
    emitter.fail(check.message, kTenonInvalidArgument);
    builder.SetInsertPoint(right);
  }

  /// Returns the address of index 0. Indices include the offset of the first element, and the
  /// argument's data pointer is the address of the first element, so the offset is subtracted.
  llvm::Value* move_to_base(FunctionEmitter& emitter, const BufferParam& array,
                            llvm::Value* data) const {
    const Expr& offset = array.declared->elem_offset;
    if (is_zero(offset) || offset.as<VarNode>()) return data;
    if (module_.kernels() && module_.kernels()->device == runtime::DeviceType::OpenCL)
      throw LowerError("array `" + array.declared->name +
                       "` begins before its data pointer, which OpenCL memory does not support");
    llvm::IRBuilder<>& builder = emitter.builder_;
    const auto bytes = static_cast<std::uint64_t>(array.declared->dtype.bytes());
    llvm::Value* distance =
        builder.CreateMul(emitter.index(wide_size(offset)), builder.getInt64(bytes));
    return builder.CreateGEP(builder.getInt8Ty(), data, builder.CreateNeg(distance));
  }

  ModuleEmitter& module_;
  const PrimFunc& func_;
  const Signature& signature_;
  llvm::Function* packed_ = nullptr;
  /// The DLTensor pointer of each array parameter; null for other parameters.
  std::vector<llvm::Value*> tensors_;
};

void emit_packed(ModuleEmitter& module, const PrimFunc& func, const Signature& signature,
                 const Computation& analyses, llvm::Function* computation) {
  PackedEmitter(module, func, signature).run(analyses, computation);
}

}  // namespace tenon::codegen

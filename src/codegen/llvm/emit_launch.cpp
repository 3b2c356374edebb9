// Kernel launches, and the module data that they refer to.
#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/types.h"
#include "tenon/runtime/c_api.h"
#include "tenon/support/error.h"
#include "tenon/tir/launch.h"

namespace tenon::codegen {

using namespace tir;

namespace {

/// Returns the bytes with a terminating zero.
llvm::Constant* data_of(llvm::Module& module, const std::string& bytes, const char* name) {
  llvm::GlobalVariable* global =
      add_constant(module, llvm::ConstantDataArray::getString(module.getContext(), bytes),
                   llvm::GlobalValue::PrivateLinkage, name);
  global->setAlignment(llvm::Align(8));
  return global;
}

}  // namespace

void ModuleEmitter::add_kernels(const KernelCode& code) {
  llvm::IRBuilder<> builder(context());
  llvm::Constant* none = llvm::ConstantPointerNull::get(builder.getPtrTy());
  // The values of the fields of TenonKernels, in order.
  llvm::Constant* fields[] = {
      builder.getInt32(kTenonAbiVersion),
      builder.getInt32(static_cast<std::uint32_t>(code.device)),
      data_of(module_, runtime::to_kernel_manifest(code.specs), "kernel_manifest"),
      data_of(module_, code.text, "kernel_source"),
      builder.getInt64(code.text.size()),
      code.binary.empty() ? none : data_of(module_, code.binary, "kernel_binary"),
      builder.getInt64(code.binary.size()),
      code.ptx.empty() ? none : data_of(module_, code.ptx, "kernel_ptx"),
      builder.getInt64(code.ptx.size()),
      none};
  llvm::Constant* table = llvm::ConstantStruct::getAnon(fields);
  kernel_table_ = new llvm::GlobalVariable(module_, table->getType(), false,
                                           llvm::GlobalValue::InternalLinkage, table, "kernels");
  kernels_ = &code;
}

void FunctionEmitter::run_on(llvm::Value* device_id) {
  device_id_ = device_id;
  workspaces_.place_on(static_cast<int>(module_.kernels()->device), device_id);
}

llvm::Value* FunctionEmitter::launch_kernel(const Call& n) {
  const StringImm* name = n.args.empty() ? nullptr : n.args[kLaunchName].as<StringImm>();
  if (!name || !module_.kernels())
    throw LowerError("a kernel is launched by a function that was compiled without kernels");
  const KernelCode& kernels = *module_.kernels();
  const std::size_t number = number_of_kernel(kernels, name->value);
  const auto count = static_cast<std::int64_t>(n.args.size() - kLaunchArguments);
  internal_check(kernels.specs[number].params.size() == static_cast<std::size_t>(count),
                 "a launch whose arguments are not those of the kernel");
  std::vector<llvm::Value*> sizes, values;
  for (std::size_t k = kLaunchExtents; k < kLaunchArguments; ++k)
    sizes.push_back(cast(in_index_mode(n.args[k]), n.args[k].dtype(), Int(64)));
  for (std::size_t k = kLaunchArguments; k < n.args.size(); ++k)
    values.push_back(in_64_bits(n.args[k]));
  llvm::Type* word = builder_.getInt64Ty();
  llvm::Value* status = builder_.CreateCall(
      module_.runtime_function("tenon_launch_kernel"),
      {module_.kernel_table(), int32(static_cast<int>(number)), device_id_,
       stack_values(word, "values", values), int32(count), stack_values(word, "launch", sizes)});
  check_status(status);
  return status;
}

}  // namespace tenon::codegen

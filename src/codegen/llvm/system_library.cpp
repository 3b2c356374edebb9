#include "codegen/llvm/system_library.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "codegen/llvm/runtime_functions.h"

namespace tenon::codegen {

namespace {

llvm::Constant* private_data(llvm::Module& module, llvm::Constant* data, const char* name) {
  return new llvm::GlobalVariable(module, data->getType(), true, llvm::GlobalValue::PrivateLinkage,
                                  data, name);
}

llvm::Constant* text(llvm::Module& module, const std::string& value, const char* name) {
  const llvm::StringRef characters(value.data(), value.size());
  return private_data(module, llvm::ConstantDataArray::getString(module.getContext(), characters),
                      name);
}

llvm::Constant* addresses(llvm::Module& module,
                          const std::vector<runtime::FunctionSpec>& functions) {
  std::vector<llvm::Constant*> entries;
  for (const runtime::FunctionSpec& function : functions)
    entries.push_back(
        module.getFunction(llvm::StringRef(function.symbol.data(), function.symbol.size())));
  llvm::Type* pointer = llvm::PointerType::getUnqual(module.getContext());
  return private_data(
      module, llvm::ConstantArray::get(llvm::ArrayType::get(pointer, entries.size()), entries),
      "functions");
}

}  // namespace

void register_system_library(llvm::Module& module, const std::string& prefix,
                             const std::vector<runtime::FunctionSpec>& functions) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* none = llvm::Type::getVoidTy(context);
  const auto function = [&](const char* name, llvm::FunctionCallee callee,
                            llvm::ArrayRef<llvm::Value*> arguments) {
    llvm::Function* made = llvm::Function::Create(llvm::FunctionType::get(none, false),
                                                  llvm::GlobalValue::InternalLinkage, name, module);
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", made));
    builder.CreateCall(callee, arguments);
    builder.CreateRetVoid();
    return made;
  };
  llvm::Constant* list = addresses(module, functions);
  constexpr int kDefaultPriority = 65535;
  llvm::appendToGlobalCtors(
      module,
      function("tenon_start", declare_runtime_function(module, "tenon_register_system_library"),
               {text(module, prefix, "prefix"),
                text(module, runtime::to_manifest(functions), "manifest"), list}),
      kDefaultPriority);
  llvm::appendToGlobalDtors(
      module,
      function("tenon_stop", declare_runtime_function(module, "tenon_unregister_system_library"),
               {list}),
      kDefaultPriority);
}

}  // namespace tenon::codegen

#include "codegen/llvm/runtime_functions.h"

#include "tenon/runtime/symbols.h"
#include "tenon/support/error.h"

namespace tenon::codegen {

namespace {

llvm::Type* type_of(llvm::LLVMContext& context, runtime::CType type) {
  switch (type) {
    case runtime::CType::None:
      return llvm::Type::getVoidTy(context);
    case runtime::CType::Int32:
      return llvm::Type::getInt32Ty(context);
    case runtime::CType::Int64:
    case runtime::CType::UInt64:
      return llvm::Type::getInt64Ty(context);
    case runtime::CType::Pointer:
      return llvm::PointerType::getUnqual(context);
  }
  internal_error("a C type without a type of LLVM's");
}

}  // namespace

llvm::FunctionCallee declare_runtime_function(llvm::Module& module, std::string_view name) {
  const runtime::CSymbol& symbol = runtime::c_symbol(name);
  std::vector<llvm::Type*> params;
  for (const runtime::CType param : symbol.params)
    params.push_back(type_of(module.getContext(), param));
  llvm::FunctionCallee callee = module.getOrInsertFunction(
      llvm::StringRef(name.data(), name.size()),
      llvm::FunctionType::get(type_of(module.getContext(), symbol.result), params, false));
  // The allocated memory is new, so nothing aliases it.
  if (name == "tenon_workspace_alloc" || name == "tenon_profile_workspace_alloc")
    llvm::cast<llvm::Function>(callee.getCallee())->addRetAttr(llvm::Attribute::NoAlias);
  return callee;
}

}  // namespace tenon::codegen

#include "codegen/llvm/workspace_scopes.h"

#include "tenon/runtime/c_api.h"

namespace tenon::codegen {

void WorkspaceScopes::exit(llvm::IRBuilder<>& builder) {
  free(builder, scopes_.back().memory);
  scopes_.pop_back();
}

void WorkspaceScopes::leave(llvm::IRBuilder<>& builder, llvm::Value* status) {
  if (empty()) {
    builder.CreateRet(status);
    return;
  }
  go_to(builder, exit_of(scopes_.size() - 1, &Scope::status), status);
}

llvm::BasicBlock* WorkspaceScopes::unwinding() {
  Scope& scope = scopes_.back();
  if (scope.landing) return scope.landing;
  function_->setPersonalityFn(module_.cleanup_personality());
  llvm::PHINode* outer = exit_of(scopes_.size() - 1, &Scope::exception);
  scope.landing = new_block("unwinding");
  llvm::IRBuilder<> builder(scope.landing);
  llvm::LandingPadInst* exception = builder.CreateLandingPad(outer->getType(), 0);
  exception->setCleanup(true);
  go_to(builder, outer, exception);
  return scope.landing;
}

llvm::PHINode* WorkspaceScopes::exit_of(std::size_t n, llvm::PHINode* Scope::*exit) {
  llvm::PHINode*& value = scopes_[n].*exit;
  if (value) return value;
  const bool is_exception = exit == &Scope::exception;
  llvm::IRBuilder<> builder(new_block(is_exception ? "unwinding_of" : "give_back"));
  llvm::Type* type = builder.getInt32Ty();
  if (is_exception) type = llvm::StructType::get(builder.getPtrTy(), type);
  value = builder.CreatePHI(type, 2);
  free(builder, scopes_[n].memory);
  if (n > 0) {
    go_to(builder, exit_of(n - 1, exit), value);
  } else if (is_exception) {
    builder.CreateResume(value);
  } else {
    builder.CreateRet(value);
  }
  return value;
}

/// Ends the block: continues with the exit, to which it passes the value.
void WorkspaceScopes::go_to(llvm::IRBuilder<>& builder, llvm::PHINode* exit, llvm::Value* value) {
  exit->addIncoming(value, builder.GetInsertBlock());
  builder.CreateBr(exit->getParent());
}

void WorkspaceScopes::free(llvm::IRBuilder<>& builder, llvm::Value* memory) {
  builder.CreateCall(module_.runtime_function("tenon_workspace_free"),
                     {builder.getInt32(static_cast<std::uint32_t>(device_type_)),
                      device_id_ ? device_id_ : builder.getInt32(0), memory});
}

llvm::BasicBlock* WorkspaceScopes::new_block(const char* name) {
  return llvm::BasicBlock::Create(module_.context(), name, function_);
}

}  // namespace tenon::codegen

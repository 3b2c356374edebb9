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
  llvm::PHINode* outer = status_of(scopes_.size() - 1);
  outer->addIncoming(status, builder.GetInsertBlock());
  builder.CreateBr(outer->getParent());
}

llvm::BasicBlock* WorkspaceScopes::unwinding() {
  Scope& scope = scopes_.back();
  if (scope.landing) return scope.landing;
  function_->setPersonalityFn(module_.cleanup_personality());
  llvm::PHINode* outer = exception_of(scopes_.size() - 1);
  scope.landing = new_block("unwinding");
  llvm::IRBuilder<> builder(scope.landing);
  llvm::LandingPadInst* exception = builder.CreateLandingPad(outer->getType(), 0);
  exception->setCleanup(true);
  outer->addIncoming(exception, scope.landing);
  builder.CreateBr(outer->getParent());
  return scope.landing;
}

llvm::PHINode* WorkspaceScopes::status_of(std::size_t n) {
  if (scopes_[n].status) return scopes_[n].status;
  llvm::IRBuilder<> builder(new_block("give_back"));
  llvm::PHINode* status = builder.CreatePHI(builder.getInt32Ty(), 2);
  scopes_[n].status = status;
  free(builder, scopes_[n].memory);
  if (n == 0) {
    builder.CreateRet(status);
    return status;
  }
  llvm::PHINode* outer = status_of(n - 1);
  outer->addIncoming(status, status->getParent());
  builder.CreateBr(outer->getParent());
  return status;
}

llvm::PHINode* WorkspaceScopes::exception_of(std::size_t n) {
  if (scopes_[n].exception) return scopes_[n].exception;
  llvm::IRBuilder<> builder(new_block("unwinding_of"));
  llvm::Type* caught = llvm::StructType::get(builder.getPtrTy(), builder.getInt32Ty());
  llvm::PHINode* exception = builder.CreatePHI(caught, 2);
  scopes_[n].exception = exception;
  free(builder, scopes_[n].memory);
  if (n == 0) {
    builder.CreateResume(exception);
    return exception;
  }
  llvm::PHINode* outer = exception_of(n - 1);
  outer->addIncoming(exception, exception->getParent());
  builder.CreateBr(outer->getParent());
  return exception;
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

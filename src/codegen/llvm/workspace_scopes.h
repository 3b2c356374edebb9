// Temporaries from the workspace pool, of one function while it is emitted. Wherever the function
// is left, those in scope go back; the code that gives them back stands once for each:
//
//   T0 = tenon_workspace_alloc(...)                give_back.T1:  free T1, go to give_back.T0
//     T1 = tenon_workspace_alloc(...)              give_back.T0:  free T0, return the status
//       if (failed) go to give_back.T1
//
// so that a function of many temporaries and many ways out is not longer than both together.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <vector>

#include "codegen/llvm/module_emitter.h"
#include "tenon/runtime/dlpack.h"

namespace tenon::codegen {

class WorkspaceScopes {
 public:
  WorkspaceScopes(ModuleEmitter& module, llvm::Function* function)
      : module_(module), function_(function) {}

  /// Where the memory is; otherwise it is the host's.
  void place_on(int device_type, llvm::Value* device_id) {
    device_type_ = device_type;
    device_id_ = device_id;
  }
  bool empty() const { return scopes_.empty(); }
  /// The memory is in scope from here on.
  void enter(llvm::Value* memory) { scopes_.push_back({memory, nullptr, nullptr}); }
  /// Gives back the memory that came last.
  void exit(llvm::IRBuilder<>& builder);
  /// Ends the block: gives back all that is in scope and returns the status.
  void leave(llvm::IRBuilder<>& builder, llvm::Value* status);
  /// Where an exception of a call goes: gives back all that is in scope, and lets it go on.
  /// Precondition: something is in scope.
  llvm::BasicBlock* unwinding();

 private:
  struct Scope {
    llvm::Value* memory;
    /// Where a status (an exception) comes in, of all that leave from here and from scopes within;
    /// null before the first.
    llvm::PHINode* status;
    llvm::PHINode* exception;
    /// Takes the exceptions of calls in this scope itself.
    llvm::BasicBlock* landing = nullptr;
  };
  void free(llvm::IRBuilder<>& builder, llvm::Value* memory);
  llvm::PHINode* status_of(std::size_t n);
  llvm::PHINode* exception_of(std::size_t n);
  llvm::BasicBlock* new_block(const char* name);

  ModuleEmitter& module_;
  llvm::Function* function_;
  int device_type_ = kDLCPU;
  llvm::Value* device_id_ = nullptr;
  std::vector<Scope> scopes_;
};

}  // namespace tenon::codegen

// Workspace memory of one function while the function is emitted. Each exit of the function
// releases the workspaces in scope. The code that releases a workspace is emitted once:
//
//   T0 = tenon_workspace_alloc(...)                give_back.T1:  free T1, go to give_back.T0
//     T1 = tenon_workspace_alloc(...)              give_back.T0:  free T0, return the status
//       if (failed) go to give_back.T1
//
// The code size is therefore proportional to the number of workspaces plus the number of exits, not
// to the product of the two.
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

  /// Sets the device of the memory; the default is the host.
  void place_on(int device_type, llvm::Value* device_id) {
    device_type_ = device_type;
    device_id_ = device_id;
  }
  bool empty() const { return scopes_.empty(); }
  /// Adds a workspace, which becomes the innermost one in scope.
  void enter(llvm::Value* memory) { scopes_.push_back({memory, nullptr, nullptr}); }
  /// Releases the innermost workspace.
  void exit(llvm::IRBuilder<>& builder);
  /// Ends the block: releases all workspaces in scope and returns the status.
  void leave(llvm::IRBuilder<>& builder, llvm::Value* status);
  /// Returns the unwind destination of a call. It releases all workspaces in scope and resumes the
  /// exception. Precondition: at least one workspace is in scope.
  llvm::BasicBlock* unwinding();

 private:
  struct Scope {
    llvm::Value* memory;
    /// The phi that merges the status (or exception) of all exits from this scope and from scopes
    /// inside it; null before the first exit.
    llvm::PHINode* status;
    llvm::PHINode* exception;
    /// The landing pad of calls in this scope.
    llvm::BasicBlock* landing = nullptr;
  };
  void free(llvm::IRBuilder<>& builder, llvm::Value* memory);
  /// Returns the phi `exit` of the scope. On the first call, emits its block, which frees the
  /// memory and continues with the same exit of the next outer scope.
  llvm::PHINode* exit_of(std::size_t n, llvm::PHINode* Scope::*exit);
  static void go_to(llvm::IRBuilder<>& builder, llvm::PHINode* exit, llvm::Value* value);
  llvm::BasicBlock* new_block(const char* name);

  ModuleEmitter& module_;
  llvm::Function* function_;
  int device_type_ = kDLCPU;
  llvm::Value* device_id_ = nullptr;
  std::vector<Scope> scopes_;
};

}  // namespace tenon::codegen

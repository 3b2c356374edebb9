// A piece of a function that becomes a separate function. The outer variables that it uses become
// its first arguments:
//
//   for (i ...) C[i] = A[i] * n        ->      main_body(ptr noalias C, ptr noalias A, i32 n, ...)
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "codegen/llvm/function_emitter.h"

namespace tenon::codegen {

class OutlinedBody {
 public:
  /// `own` holds the types of the arguments that follow the captured ones. The function returns a
  /// status. `outer` must outlive this object.
  OutlinedBody(FunctionEmitter& outer, const tir::Stmt& body, const std::string& name,
               const std::vector<llvm::Type*>& own);

  /// Defines the captured variables in `inner`, the emitter of the body. The body's first
  /// instructions have the current source line of `outer`.
  void define_captured(FunctionEmitter& inner) const;
  llvm::Function* function() const { return function_; }
  llvm::Argument* own_argument(std::size_t n) const {
    return function_->getArg(static_cast<unsigned>(captured_.size() + n));
  }
  /// Returns the captured values in the outer function, in the order of the arguments.
  const std::vector<llvm::Value*>& captured() const { return captured_; }

 private:
  void describe(llvm::Argument* argument, llvm::Value* outer_value) const;

  FunctionEmitter& outer_;
  /// The captured variables, each with the position of the argument that passes it. Variables with
  /// the same value share an argument, because two noalias arguments must not overlap.
  std::vector<std::pair<tir::Var, std::size_t>> captures_;
  /// The values that the outer function passes.
  std::vector<llvm::Value*> captured_;
  llvm::Function* function_ = nullptr;
};

}  // namespace tenon::codegen

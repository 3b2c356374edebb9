// A piece of a function that becomes a function of its own. What it uses of the variables around it
// come as its first arguments:
//
//   for (i ...) C[i] = A[i] * n        ->      main_body(ptr noalias C, ptr noalias A, i32 n, ...)
#pragma once

#include <string>
#include <vector>

#include "codegen/llvm/function_emitter.h"

namespace tenon::codegen {

class OutlinedBody {
 public:
  /// `own` are the types of arguments after those captured; the function returns a status. `outer`
  /// must live as long as this.
  OutlinedBody(FunctionEmitter& outer, const tir::Stmt& body, const std::string& name,
               const std::vector<llvm::Type*>& own);

  /// Defines the captured variables inside the body's own emitter, which goes on with the line that
  /// the outer one is at.
  void define_captured(FunctionEmitter& inner) const;
  llvm::Function* function() const { return function_; }
  llvm::Argument* own_argument(std::size_t n) const {
    return function_->getArg(static_cast<unsigned>(captured_.size() + n));
  }
  /// The outer function's values of what is captured, in the order of the arguments.
  const std::vector<llvm::Value*>& captured() const { return captured_; }

 private:
  void describe(llvm::Argument* argument, llvm::Value* outer_value) const;

  FunctionEmitter& outer_;
  struct Capture {
    tir::Var var;
    /// The argument's number. Variables of one value share it: two would be said not to
    /// overlap.
    std::size_t argument;
  };
  std::vector<Capture> captures_;
  /// What the outer function passes.
  std::vector<llvm::Value*> captured_;
  llvm::Function* function_ = nullptr;
};

}  // namespace tenon::codegen

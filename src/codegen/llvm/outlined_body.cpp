#include "codegen/llvm/outlined_body.h"

#include <llvm/Analysis/AliasAnalysis.h>

#include "tenon/codegen/statements.h"

namespace tenon::codegen {

using namespace tir;

namespace {

bool is_data_pointer(const Var& var) { return var.as<VarNode>()->pointer.has_value(); }

}  // namespace

OutlinedBody::OutlinedBody(FunctionEmitter& outer, const Stmt& body, const std::string& name,
                           const std::vector<llvm::Type*>& own)
    : outer_(outer) {
  std::unordered_map<const llvm::Value*, std::size_t> arguments;
  for (const Var& var : used_variables(body)) {
    const auto found = outer.variables_.find(&var.node());
    if (found == outer.variables_.end()) continue;
    const auto [argument, is_new] = arguments.emplace(found->second, captured_.size());
    if (is_new) captured_.push_back(found->second);
    captures_.emplace_back(var, argument->second);
  }
  std::vector<llvm::Type*> types;
  for (const llvm::Value* value : captured_) types.push_back(value->getType());
  types.insert(types.end(), own.begin(), own.end());
  function_ = outer.module_.make_function(
      llvm::FunctionType::get(outer.builder_.getInt32Ty(), types, false),
      llvm::GlobalValue::InternalLinkage, name);
  // Parameter attributes state which pointers do not alias. Inlining would lose this information.
  function_->addFnAttr(llvm::Attribute::NoInline);
}

void OutlinedBody::define_captured(FunctionEmitter& inner) const {
  if (const DebugLines* lines = outer_.module_.debug_lines())
    inner.builder_.SetCurrentDebugLocation(
        lines->same_line(outer_.builder_.getCurrentDebugLocation(), *function_));
  // Pragmas around the body hold inside it too.
  inner.builder_.setFastMathFlags(outer_.builder_.getFastMathFlags());
  inner.streams_stores_ = outer_.streams_stores_;
  for (const auto& [var, n] : captures_) {
    llvm::Argument* argument = function_->getArg(static_cast<unsigned>(n));
    llvm::Value* value = captured_[n];
    if (value->getType()->isPointerTy() && is_data_pointer(var)) describe(argument, value);
    if (outer_.index_values_.contains(value)) {
      inner.define_size(var, argument);
    } else {
      inner.define(var, argument);
    }
  }
}

/// Adds the parameter attributes of a captured buffer: its alignment, and noalias if it is known
/// not to overlap other buffers. Parameters of the enclosing function may overlap.
void OutlinedBody::describe(llvm::Argument* argument, llvm::Value* outer_value) const {
  if (llvm::isIdentifiedObject(outer_value)) argument->addAttr(llvm::Attribute::NoAlias);
  const llvm::Align alignment =
      outer_value->getPointerAlignment(outer_.module_.module().getDataLayout());
  argument->addAttr(llvm::Attribute::getWithAlignment(outer_.module_.context(), alignment));
}

}  // namespace tenon::codegen

#include "codegen/llvm/outlined_body.h"

#include <llvm/Analysis/AliasAnalysis.h>
#include <functional>

#include "tenon/tir/walk.h"

namespace tenon::codegen {

using namespace tir;

namespace {

/// Variables that occur, in order of first appearance.
std::vector<Var> used_variables(const Stmt& body) {
  std::vector<Var> used;
  std::unordered_set<const ExprNode*> seen;
  const std::function<void(const Expr&)> visit_expr = [&](const Expr& e) {
    auto use_buffer = [&](const Buffer& buffer) {
      visit_expr(buffer->data);
      for (std::size_t n = 1; n < buffer->shape.size(); ++n) visit_expr(buffer->shape[n]);
    };
    if (e.as<VarNode>() && seen.insert(&e.node()).second) used.push_back(Var::of(e));
    if (const Load* load = e.as<Load>()) use_buffer(load->buffer);
    for_each_child(e, visit_expr);
  };
  const std::function<void(const Stmt&)> visit_stmt = [&](const Stmt& s) {
    if (const Store* store = s.as<Store>()) {
      visit_expr(store->buffer->data);
      for (std::size_t n = 1; n < store->buffer->shape.size(); ++n)
        visit_expr(store->buffer->shape[n]);
    }
    for_each_child(s, visit_expr, visit_stmt);
  };
  visit_stmt(body);
  return used;
}

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
    captures_.push_back({var, argument->second});
  }
  std::vector<llvm::Type*> types;
  for (const llvm::Value* value : captured_) types.push_back(value->getType());
  types.insert(types.end(), own.begin(), own.end());
  function_ = outer.module_.make_function(
      llvm::FunctionType::get(outer.builder_.getInt32Ty(), types, false),
      llvm::GlobalValue::InternalLinkage, name);
  // Arguments say which pointers do not overlap; inlined, that is lost.
  function_->addFnAttr(llvm::Attribute::NoInline);
}

void OutlinedBody::define_captured(FunctionEmitter& inner) const {
  for (const Capture& c : captures_) {
    llvm::Argument* argument = function_->getArg(static_cast<unsigned>(c.argument));
    llvm::Value* value = captured_[c.argument];
    if (value->getType()->isPointerTy() && is_data_pointer(c.var)) describe(argument, value);
    if (outer_.index_values_.contains(value)) {
      inner.define_size(c.var, argument);
    } else {
      inner.define(c.var, argument);
    }
  }
}

/// The body knows of a buffer what the function around it does: that it overlaps no other (not
/// known of parameters where the function says so), and how it is aligned.
void OutlinedBody::describe(llvm::Argument* argument, llvm::Value* outer_value) const {
  if (llvm::isIdentifiedObject(outer_value)) argument->addAttr(llvm::Attribute::NoAlias);
  const llvm::Align alignment =
      outer_value->getPointerAlignment(outer_.module_.module().getDataLayout());
  argument->addAttr(llvm::Attribute::getWithAlignment(outer_.module_.context(), alignment));
}

}  // namespace tenon::codegen

// Loops that run on several threads: the body becomes a function of its own, which gets what it
// uses in a structure.
#include <llvm/Analysis/AliasAnalysis.h>

#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/types.h"
#include "tenon/runtime/c_api.h"
#include "tenon/tir/walk.h"

namespace tenon::codegen {

using namespace tir;

namespace {

/// Variables that occur, in order of first appearance.
std::vector<Var> used_variables(const Stmt& body) {
  std::vector<Var> used;
  std::unordered_set<const ExprNode*> seen;
  const ExprVisit visit_expr = [&](const Expr& e) {
    auto use_buffer = [&](const Buffer& buffer) {
      visit_expr(buffer->data);
      for (std::size_t n = 1; n < buffer->shape.size(); ++n) visit_expr(buffer->shape[n]);
    };
    if (e.as<VarNode>() && seen.insert(&e.node()).second) used.push_back(Var::of(e));
    if (const Load* load = e.as<Load>()) use_buffer(load->buffer);
    for_each_child(e, visit_expr);
  };
  const StmtVisit visit_stmt = [&](const Stmt& s) {
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

/// The body of a parallel loop or region, parted from the function around it.
class OutlinedBody {
 public:
  /// `own` are the types of the arguments that the runtime passes after the closure.
  OutlinedBody(FunctionEmitter& outer, const Stmt& body, const std::vector<llvm::Type*>& own)
      : outer_(outer) {
    for (const Var& var : used_variables(body)) {
      auto found = outer.variables_.find(&var.node());
      if (found != outer.variables_.end()) captured_.push_back({var, found->second});
    }
    std::vector<llvm::Type*> types;
    for (const Capture& c : captured_) types.push_back(c.value->getType());
    closure_type_ = llvm::StructType::get(outer.module_.context(), types);
    types.insert(types.end(), own.begin(), own.end());
    const std::string name = outer.function_->getName().str();
    body_ = outer.module_.make_function(
        llvm::FunctionType::get(outer.builder_.getInt32Ty(), types, false),
        llvm::GlobalValue::InternalLinkage, name + "_body");
    // Arguments say which pointers do not overlap; inlined into the function that unpacks them,
    // that is lost.
    body_->addFnAttr(llvm::Attribute::NoInline);
    make_entry(name + "_task", own);
  }

  /// Defines the captured variables inside the body's own emitter.
  void define_captured(FunctionEmitter& inner) const {
    unsigned n = 0;
    for (const Capture& c : captured_) {
      llvm::Argument* argument = body_->getArg(n++);
      if (c.value->getType()->isPointerTy() && is_data_pointer(c.var)) describe(argument, c.value);
      const bool is_size = outer_.index_values_.contains(c.value);
      if (is_size) {
        inner.define_size(c.var, argument);
      } else {
        inner.define(c.var, argument);
      }
    }
  }

  llvm::Function* body() const { return body_; }
  llvm::Function* entry() const { return entry_; }
  llvm::Argument* own_argument(std::size_t n) const {
    return body_->getArg(static_cast<unsigned>(captured_.size() + n));
  }

  /// The structure with the values of the captured variables.
  llvm::Value* make_closure() const {
    llvm::Value* closure = outer_.entry_alloca(closure_type_, nullptr, 8, "closure");
    for (unsigned n = 0; n < captured_.size(); ++n)
      outer_.builder_.CreateStore(captured_[n].value,
                                  outer_.builder_.CreateStructGEP(closure_type_, closure, n));
    return closure;
  }

 private:
  struct Capture {
    Var var;
    llvm::Value* value;
  };

  /// The body knows of a buffer what the function around it does: that it overlaps no other (not
  /// known of parameters where the function says so), and how it is aligned.
  void describe(llvm::Argument* argument, llvm::Value* outer_value) const {
    if (llvm::isIdentifiedObject(outer_value)) argument->addAttr(llvm::Attribute::NoAlias);
    const llvm::Align alignment =
        outer_value->getPointerAlignment(outer_.module_.module().getDataLayout());
    argument->addAttr(llvm::Attribute::getWithAlignment(outer_.module_.context(), alignment));
  }

  void make_entry(const std::string& name, const std::vector<llvm::Type*>& own) {
    std::vector<llvm::Type*> types{outer_.builder_.getPtrTy()};
    types.insert(types.end(), own.begin(), own.end());
    entry_ = outer_.module_.make_function(
        llvm::FunctionType::get(outer_.builder_.getInt32Ty(), types, false),
        llvm::GlobalValue::InternalLinkage, name);
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(outer_.module_.context(), "entry", entry_));
    std::vector<llvm::Value*> args;
    for (unsigned n = 0; n < captured_.size(); ++n)
      args.push_back(
          builder.CreateLoad(closure_type_->getElementType(n),
                             builder.CreateStructGEP(closure_type_, entry_->getArg(0), n)));
    for (unsigned n = 0; n < own.size(); ++n) args.push_back(entry_->getArg(n + 1));
    builder.CreateRet(builder.CreateCall(body_, args));
  }

  FunctionEmitter& outer_;
  std::vector<Capture> captured_;
  llvm::StructType* closure_type_ = nullptr;
  llvm::Function* body_ = nullptr;
  llvm::Function* entry_ = nullptr;
};

void FunctionEmitter::parallel_loop(const For& n) {
  llvm::Type* wide = builder_.getInt64Ty();
  const OutlinedBody outlined(*this, n.body, {wide, wide});
  FunctionEmitter inner(module_, outlined.body(), index_uses_);
  outlined.define_captured(inner);
  llvm::Type* narrow = type(n.var.dtype());
  llvm::Value* begin = inner.builder_.CreateTrunc(outlined.own_argument(0), narrow);
  llvm::Value* end = inner.builder_.CreateTrunc(outlined.own_argument(1), narrow);
  inner.plan_stack(n.body);
  inner.serial_loop(n.var, begin, end, llvm::ConstantInt::get(narrow, 1), n.body, ForKind::Serial);
  inner.finish();

  llvm::Value* first = index(n.min);
  llvm::Value* last = builder_.CreateAdd(first, index(n.extent), "", false, true);
  check_status(builder_.CreateCall(module_.parallel_for(),
                                   {outlined.entry(), outlined.make_closure(), first, last}));
}

void FunctionEmitter::parallel_region(const Stmt& body) {
  llvm::Type* number = builder_.getInt32Ty();
  const OutlinedBody outlined(*this, body, {number, number});
  FunctionEmitter inner(module_, outlined.body(), index_uses_);
  outlined.define_captured(inner);
  inner.task_ = {.id = outlined.own_argument(0), .count = outlined.own_argument(1)};
  inner.body(body);
  check_status(builder_.CreateCall(module_.parallel_launch(),
                                   {outlined.entry(), outlined.make_closure(), int32(0)}));
}

void FunctionEmitter::shared_loop(const For& n) {
  // In 64 bits: the shares, rounded up, may add up to more than the loop's own type counts.
  llvm::Type* wide = builder_.getInt64Ty();
  llvm::Value* begin = index(n.min);
  // An extent below zero is a loop of no iterations, of which no task has a share.
  llvm::Value* extent =
      builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, index(n.extent), int64(0));
  llvm::Value* end = builder_.CreateAdd(begin, extent, "", false, true);
  llvm::Value* id = builder_.CreateSExt(task_->id, wide);
  llvm::Value* count = builder_.CreateSExt(task_->count, wide);
  // Loops within the body belong to the task.
  const std::optional<Task> task = std::exchange(task_, std::nullopt);
  if (strided_tasks_) {
    serial_loop(n.var, builder_.CreateAdd(begin, id), end, count, n.body, ForKind::Serial);
  } else {
    llvm::Value* share =
        builder_.CreateUDiv(builder_.CreateAdd(extent, builder_.CreateSub(count, int64(1))), count);
    llvm::Value* first = builder_.CreateAdd(begin, builder_.CreateMul(id, share));
    llvm::Type* narrow = type(n.var.dtype());
    auto up_to_end = [&](llvm::Value* value) {
      return builder_.CreateTrunc(builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, value, end),
                                  narrow);
    };
    llvm::Value* from = up_to_end(first);
    llvm::Value* to = up_to_end(builder_.CreateAdd(first, share));
    serial_loop(n.var, from, to, llvm::ConstantInt::get(narrow, 1), n.body, ForKind::Serial);
  }
  task_ = task;
}

}  // namespace tenon::codegen

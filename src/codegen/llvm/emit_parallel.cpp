// Multithreaded loops: the body becomes a separate function, which receives the captured variables
// in a struct.
#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/outlined_body.h"
#include "codegen/llvm/types.h"
#include "tenon/runtime/c_api.h"

namespace tenon::codegen {

using namespace tir;

namespace {

/// A body in the form that the runtime calls, with its captured variables in a struct.
class RuntimeTask {
 public:
  /// `own` are the types of the arguments that the runtime passes after the struct.
  RuntimeTask(ModuleEmitter& module, const OutlinedBody& body, const std::vector<llvm::Type*>& own)
      : values_(body.captured()) {
    std::vector<llvm::Type*> fields;
    for (llvm::Value* value : values_) fields.push_back(value->getType());
    closure_ = llvm::StructType::get(module.context(), fields);
    std::vector<llvm::Type*> types{llvm::PointerType::getUnqual(module.context())};
    types.insert(types.end(), own.begin(), own.end());
    entry_ = module.make_function(
        llvm::FunctionType::get(llvm::Type::getInt32Ty(module.context()), types, false),
        llvm::GlobalValue::InternalLinkage, body.function()->getName().str() + "_task");
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module.context(), "entry", entry_));
    std::vector<llvm::Value*> args;
    for (unsigned n = 0; n < fields.size(); ++n)
      args.push_back(
          builder.CreateLoad(fields[n], builder.CreateStructGEP(closure_, entry_->getArg(0), n)));
    for (unsigned n = 0; n < own.size(); ++n) args.push_back(entry_->getArg(n + 1));
    builder.CreateRet(builder.CreateCall(body.function(), args));
  }

  llvm::Function* entry() const { return entry_; }
  llvm::StructType* closure() const { return closure_; }
  /// Returns the alignment of the widest captured value: bodies of vector loops capture vectors.
  int alignment() const {
    const llvm::DataLayout& layout = entry_->getParent()->getDataLayout();
    return static_cast<int>(layout.getABITypeAlign(closure_).value());
  }
  void fill(llvm::IRBuilder<>& builder, llvm::Value* closure) const {
    for (unsigned n = 0; n < values_.size(); ++n)
      builder.CreateStore(values_[n], builder.CreateStructGEP(closure_, closure, n));
  }

 private:
  std::vector<llvm::Value*> values_;
  llvm::StructType* closure_;
  llvm::Function* entry_;
};

}  // namespace

void FunctionEmitter::parallel_loop(const For& n) {
  llvm::Type* wide = builder_.getInt64Ty();
  const OutlinedBody outlined(*this, n.body, function_->getName().str() + "_body", {wide, wide});
  FunctionEmitter inner(module_, outlined.function(), computation_);
  outlined.define_captured(inner);
  llvm::Type* counter = counter_type(n.var);
  llvm::Value* begin = inner.builder_.CreateTrunc(outlined.own_argument(0), counter);
  llvm::Value* end = inner.builder_.CreateTrunc(outlined.own_argument(1), counter);
  inner.stack_ = std::make_shared<StackPlan>(n.body);
  inner.serial_loop(n.var, begin, end, n.body, ForKind::Serial);
  inner.finish();

  llvm::Value* first = index(n.min);
  llvm::Value* last = builder_.CreateAdd(first, index(n.extent), "", false, true);
  const RuntimeTask task(module_, outlined, {wide, wide});
  llvm::Value* closure = entry_alloca(task.closure(), nullptr, task.alignment(), "closure");
  task.fill(builder_, closure);
  check_status(builder_.CreateCall(module_.runtime_function("tenon_parallel_for"),
                                   {task.entry(), closure, first, last}));
}

void FunctionEmitter::parallel_region(const Stmt& body) {
  llvm::Type* number = builder_.getInt32Ty();
  const OutlinedBody outlined(*this, body, function_->getName().str() + "_body", {number, number});
  FunctionEmitter inner(module_, outlined.function(), computation_);
  outlined.define_captured(inner);
  inner.task_.emplace();
  inner.define_size(inner.task_->id, outlined.own_argument(0));
  inner.define_size(inner.task_->count, outlined.own_argument(1));
  inner.body(body);
  const RuntimeTask task(module_, outlined, {number, number});
  llvm::Value* closure = entry_alloca(task.closure(), nullptr, task.alignment(), "closure");
  task.fill(builder_, closure);
  check_status(builder_.CreateCall(module_.runtime_function("tenon_parallel_launch"),
                                   {task.entry(), closure, int32(0)}));
}

}  // namespace tenon::codegen

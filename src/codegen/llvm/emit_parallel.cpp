// Multithreaded loops: the body becomes a separate function, which receives the captured variables
// in a struct.
#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/outlined_body.h"
#include "codegen/llvm/types.h"
#include "tenon/runtime/c_api.h"

namespace tenon::codegen {

using namespace tir;

/// Emits a call of the runtime function `runtime`, which runs the body as tasks. The body receives
/// its captured variables in a struct, followed by two arguments of type `own`.
void FunctionEmitter::run_tasks(const OutlinedBody& body, llvm::Type* own, std::string_view runtime,
                                std::vector<llvm::Value*> args) {
  const std::vector<llvm::Value*>& values = body.captured();
  std::vector<llvm::Type*> fields;
  for (llvm::Value* value : values) fields.push_back(value->getType());
  llvm::StructType* closure_type = llvm::StructType::get(module_.context(), fields);
  llvm::Function* entry = module_.make_function(
      llvm::FunctionType::get(builder_.getInt32Ty(), {builder_.getPtrTy(), own, own}, false),
      llvm::GlobalValue::InternalLinkage, body.function()->getName().str() + "_task");
  // The closure may hold vectors, which bodies of vector loops capture.
  const llvm::Align alignment = module_.module().getDataLayout().getABITypeAlign(closure_type);
  llvm::Value* closure =
      entry_alloca(closure_type, nullptr, static_cast<int>(alignment.value()), "closure");
  llvm::IRBuilder<> inside(llvm::BasicBlock::Create(module_.context(), "entry", entry));
  std::vector<llvm::Value*> unpacked;
  for (unsigned n = 0; n < values.size(); ++n) {
    builder_.CreateStore(values[n], builder_.CreateStructGEP(closure_type, closure, n));
    unpacked.push_back(
        inside.CreateLoad(fields[n], inside.CreateStructGEP(closure_type, entry->getArg(0), n)));
  }
  unpacked.insert(unpacked.end(), {entry->getArg(1), entry->getArg(2)});
  inside.CreateRet(inside.CreateCall(body.function(), unpacked));
  args.insert(args.begin(), {entry, closure});
  check_status(builder_.CreateCall(module_.runtime_function(runtime), args));
}

void FunctionEmitter::parallel_loop(const For& n) {
  llvm::Type* wide = builder_.getInt64Ty();
  const OutlinedBody outlined(*this, n.body, function_->getName().str() + "_body", {wide, wide});
  FunctionEmitter inner(module_, outlined.function(), computation_);
  outlined.define_captured(inner);
  llvm::Type* counter = counter_type(n.var);
  llvm::Value* begin = inner.builder_.CreateTrunc(outlined.own_argument(0), counter);
  llvm::Value* end = inner.builder_.CreateTrunc(outlined.own_argument(1), counter);
  inner.stack_ = std::make_shared<VarSet>(stack_temporaries(n.body));
  inner.serial_loop(n.var, begin, end, n.body, ForKind::Serial);
  inner.finish();

  llvm::Value* first = index(n.min);
  llvm::Value* last = builder_.CreateAdd(first, index(n.extent), "", false, true);
  run_tasks(outlined, wide, "tenon_parallel_for", {first, last});
}

void FunctionEmitter::parallel_region(const Stmt& body) {
  llvm::Type* number = builder_.getInt32Ty();
  const OutlinedBody outlined(*this, body, function_->getName().str() + "_body", {number, number});
  FunctionEmitter inner(module_, outlined.function(), computation_);
  outlined.define_captured(inner);
  inner.task_.emplace();
  inner.define_size(inner.task_->id, outlined.own_argument(0));
  inner.define_size(inner.task_->count, outlined.own_argument(1));
  inner.stack_ = std::make_shared<VarSet>(stack_temporaries(body));
  inner.stmt(body);
  inner.finish();
  run_tasks(outlined, number, "tenon_parallel_launch", {int32(0)});
}

}  // namespace tenon::codegen

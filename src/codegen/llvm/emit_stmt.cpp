#include <llvm/IR/MDBuilder.h>
#include <algorithm>

#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/types.h"
#include "tenon/codegen/statements.h"
#include "tenon/runtime/c_api.h"
#include "tenon/support/deep_stack.h"
#include "tenon/support/error.h"
#include "tenon/support/match.h"
#include "tenon/tir/pragma.h"
#include "tenon/tir/walk.h"

namespace tenon::codegen {

using namespace tir;

FunctionEmitter::FunctionEmitter(ModuleEmitter& module, llvm::Function* function,
                                 const Computation& computation)
    : module_(module),
      function_(function),
      computation_(computation),
      builder_(module.context()),
      entry_(new_block("entry")),
      workspaces_(module, function) {
  builder_.setFastMathFlags(module.fast_math_flags());
  builder_.SetInsertPoint(new_block("start"));
  if (DebugLines* lines = module.debug_lines())
    builder_.SetCurrentDebugLocation(lines->begin(*function));
}

void FunctionEmitter::finish() {
  builder_.CreateRet(int32(kTenonOk));
  close_entry();
}

void FunctionEmitter::close_entry() { llvm::IRBuilder<>(entry_).CreateBr(entry_->getNextNode()); }

void FunctionEmitter::stmt(const Stmt& s) {
  if (is_stack_low()) return with_deep_stack([&] { stmt(s); });
  const DebugLines* lines = module_.debug_lines();
  if (!lines) return stmt_code(s);
  const llvm::DebugLoc around = builder_.getCurrentDebugLocation();
  if (const auto own = lines->of(s.node(), *function_)) builder_.SetCurrentDebugLocation(*own);
  stmt_code(s);
  builder_.SetCurrentDebugLocation(around);
}

void FunctionEmitter::stmt_code(const Stmt& s) {
  if (begins_tiles(s)) return;
  visit_lowered(s, [&](const auto& n) { emit(n); });
}

void FunctionEmitter::emit(const Store& n) {
  const bool accumulates = n.value.dtype().is_vector() && any_node(n.value, [&](const Load& load) {
                             return load.buffer->data.same_as(n.buffer->data);
                           });
  llvm::Value* outer =
      std::exchange(accumulated_, accumulates ? variable(n.buffer->data) : nullptr);
  llvm::Value* value = expr(n.value);
  store(n.buffer, n.indices, value);
  accumulated_ = outer;
}

void FunctionEmitter::emit(const Let& n) {
  const bool is_index = !computation_.used_as_data.contains(&n.var.node());
  if (is_index && n.var.dtype() == Int(32) && is_wide_sum(n.value)) {
    define_wide(n.var, wide_index(n.value));
  } else {
    define(n.var, is_index ? in_index_mode(n.value) : expr(n.value));
  }
  stmt(n.body);
}

void FunctionEmitter::emit(const Evaluate& n) {
  const Call* call = n.value.as<Call>();
  const auto* callee = call ? std::get_if<ExternCallee>(&call->callee) : nullptr;
  if (callee) {
    call_extern(*callee, *call, n.value.dtype(), /*is_used=*/false);
  } else if (!is_constant(n.value)) {
    expr(n.value);
  }
}

// ---- loops ----

namespace {

/// Whether the body contains explicit vectors. The schedule has then already chosen the
/// vectorization.
bool has_explicit_vectors(const Stmt& body) {
  return contains<Ramp>(body) || contains<Broadcast>(body);
}

/// Returns the metadata of a loop; null if it needs none. `may_unroll` is whether LLVM may unroll
/// the loop.
llvm::MDNode* loop_metadata(llvm::LLVMContext& context, const Stmt& body, ForKind kind,
                            bool may_unroll) {
  std::vector<llvm::Metadata*> properties(1);
  auto add = [&](const char* name, std::optional<bool> value) {
    std::vector<llvm::Metadata*> parts{llvm::MDString::get(context, name)};
    if (value)
      parts.push_back(llvm::ConstantAsMetadata::get(
          llvm::ConstantInt::get(llvm::Type::getInt1Ty(context), *value)));
    properties.push_back(llvm::MDNode::get(context, parts));
  };
  if (has_explicit_vectors(body)) {
    add("llvm.loop.vectorize.enable", false);
    // LLVM may still unroll short loops completely, so that accumulators become registers.
    add("llvm.loop.unroll.runtime.disable", std::nullopt);
  }
  if (kind == ForKind::Unrolled) add("llvm.loop.unroll.full", std::nullopt);
  if (!may_unroll) add("llvm.loop.unroll.disable", std::nullopt);
  if (properties.size() == 1) return nullptr;
  llvm::MDNode* node = llvm::MDNode::getDistinct(context, properties);
  node->replaceOperandWith(0, node);
  return node;
}

/// Whether a loop only prefetches. Unrolling a long loop of this kind costs more than it saves.
bool only_prefetches(const Stmt& body) {
  if (const Seq* n = body.as<Seq>()) return std::ranges::all_of(n->stmts, only_prefetches);
  if (const For* n = body.as<For>()) return only_prefetches(n->body);
  if (const If* n = body.as<If>()) return !n->else_case && only_prefetches(n->then_case);
  if (const Let* n = body.as<Let>()) return only_prefetches(n->body);
  const Evaluate* n = body.as<Evaluate>();
  return n && as_call(n->value, Intrin::prefetch);
}

/// Whether the innermost loop with this body loads many vectors per iteration. Processors predict
/// the addresses of each load instruction separately: after a loop of 4 loads has been unrolled to
/// 32 loads, a sum reads the L2 cache at 0.7 times the speed (Zen 5).
bool reads_many_vectors(const Stmt& body) {
  constexpr int kMany = 4;
  int loads = 0;
  walk(body, [&](const Load& load) {
    if (!load.indices.empty() && load.indices.back().dtype().is_vector()) ++loads;
  });
  return loads >= kMany && !contains<For>(body);
}

/// Returns the number of operators of the statement after LLVM has unrolled the marked loops in it.
double operators_when_unrolled(const Stmt& s) {
  double count = 1;
  for_each_child(
      s, [&](const Expr& e) { count += static_cast<double>(node_count(e)); },
      [&](const Stmt& child) { count += operators_when_unrolled(child); });
  const For* loop = s.as<For>();
  const bool is_marked = loop && loop->kind == ForKind::Unrolled;
  return is_marked ? count * static_cast<double>(constant_int(loop->extent).value_or(1)) : count;
}

/// The maximum number of operators of an unrolled loop. LLVM's time grows faster than their number:
/// 100,000 operators take 10 seconds. Longer loops are unrolled as far as LLVM wants.
constexpr double kMaxUnrolledOperators = 1 << 15;

/// Whether a loop provably has few iterations.
bool is_short(const llvm::Value* begin, const llvm::Value* end) {
  constexpr std::int64_t kFew = 16;
  const auto* first = llvm::dyn_cast<llvm::ConstantInt>(begin);
  const auto* last = llvm::dyn_cast<llvm::ConstantInt>(end);
  return first && last && last->getSExtValue() - first->getSExtValue() <= kFew;
}

}  // namespace

void FunctionEmitter::emit(const For& n) {
  // Functions that launch kernels run their loops sequentially.
  if (n.kind == ForKind::Parallel && !device_id_) {
    if (!task_) return parallel_loop(n);
    // Parallel loops inside the body are not divided among the tasks of the region.
    const std::optional<Task> task = std::exchange(task_, std::nullopt);
    stmt_code(share_of_task(n, *task));
    task_ = task;
    return;
  }
  if (is_one(n.extent)) {
    define_size(n.var, in_index_mode(n.min));
    return stmt(n.body);
  }
  llvm::Type* counter = counter_type(n.var);
  llvm::Value* begin = builder_.CreateTrunc(index(n.min), counter);
  llvm::Value* extent = builder_.CreateTrunc(index(n.extent), counter);
  llvm::Value* end = builder_.CreateAdd(begin, extent, "", false, true);
  const bool is_long =
      n.kind == ForKind::Unrolled && operators_when_unrolled(make_stmt(n)) > kMaxUnrolledOperators;
  serial_loop(n.var, begin, end, n.body, is_long ? ForKind::Serial : n.kind);
}

llvm::Type* FunctionEmitter::counter_type(const Var& var) const {
  return type(var.dtype() == Int(32) ? Int(64) : var.dtype());
}

void FunctionEmitter::serial_loop(const Var& var, llvm::Value* begin, llvm::Value* end,
                                  const Stmt& body, ForKind kind) {
  llvm::BasicBlock* loop = new_block("loop");
  llvm::BasicBlock* after = new_block("loop_end");
  builder_.CreateCondBr(builder_.CreateICmpSLT(begin, end), loop, after);
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  builder_.SetInsertPoint(loop);
  llvm::PHINode* counter = builder_.CreatePHI(begin->getType(), 2);
  counter->addIncoming(begin, before);
  if (counter->getType() == type(var.dtype()))
    define_size(var, counter);
  else
    define_wide(var, counter);
  ++loop_depth_;
  stmt(body);
  --loop_depth_;
  llvm::Value* next =
      builder_.CreateAdd(counter, llvm::ConstantInt::get(counter->getType(), 1), "", false, true);
  counter->addIncoming(next, builder_.GetInsertBlock());
  llvm::BranchInst* back = builder_.CreateCondBr(builder_.CreateICmpSLT(next, end), loop, after);
  const bool may_unroll = kind == ForKind::Unrolled || is_short(begin, end) ||
                          !(is_divided_ || reads_many_vectors(body) || only_prefetches(body));
  llvm::MDNode* metadata = nullptr;
  if (may_unroll) {
    metadata = loop_metadata(module_.context(), body, kind, may_unroll);
  } else {
    // LLVM merges parts that are equal. Two parts with loops are equal only if corresponding loops
    // refer to the same metadata node, so loops of one kind share a node.
    llvm::MDNode*& shared = module_.loop_that_stays(has_explicit_vectors(body));
    if (!shared) shared = loop_metadata(module_.context(), body, kind, may_unroll);
    metadata = shared;
  }
  if (metadata) back->setMetadata(llvm::LLVMContext::MD_loop, metadata);
  builder_.SetInsertPoint(after);
}

void FunctionEmitter::emit(const While& n) {
  llvm::BasicBlock* test = new_block("while");
  llvm::BasicBlock* body = new_block("while_body");
  llvm::BasicBlock* after = new_block("while_end");
  builder_.CreateBr(test);
  builder_.SetInsertPoint(test);
  builder_.CreateCondBr(expr(n.condition), body, after);
  builder_.SetInsertPoint(body);
  ++loop_depth_;
  stmt(n.body);
  --loop_depth_;
  builder_.CreateBr(test);
  builder_.SetInsertPoint(after);
}

// ---- branches ----

void FunctionEmitter::emit(const If& n) {
  if (n.condition.dtype().is_vector()) return branch_by_lanes(n);
  llvm::BasicBlock* then_block = new_block("then");
  llvm::BasicBlock* after = new_block("if_end");
  llvm::BasicBlock* else_block = n.else_case ? new_block("else") : after;
  llvm::MDNode* weights = is_likely(n.condition)
                              ? llvm::MDBuilder(module_.context()).createLikelyBranchWeights()
                              : nullptr;
  builder_.CreateCondBr(in_index_mode(n.condition), then_block, else_block, weights);
  builder_.SetInsertPoint(then_block);
  stmt(n.then_case);
  builder_.CreateBr(after);
  if (n.else_case) {
    builder_.SetInsertPoint(else_block);
    stmt(*n.else_case);
    builder_.CreateBr(after);
  }
  builder_.SetInsertPoint(after);
}

void FunctionEmitter::branch_by_lanes(const If& n) {
  llvm::Value* condition = in_index_mode(n.condition);
  // If any lane is active, scalar expressions are evaluated, as they would be in a loop over the
  // lanes.
  const auto side = [&](const Stmt& s, llvm::Value* lanes) {
    llvm::Value* outer = stored_lanes_;
    stored_lanes_ = outer ? builder_.CreateAnd(outer, lanes) : lanes;
    const auto store_lanes = [&]() -> llvm::Value* {
      stmt(s);
      return nullptr;
    };
    branched(builder_.CreateOrReduce(stored_lanes_), store_lanes, [] { return nullptr; });
    stored_lanes_ = outer;
  };
  side(n.then_case, condition);
  if (n.else_case) side(*n.else_case, builder_.CreateNot(condition));
}

void FunctionEmitter::emit(const Assert& n) {
  llvm::BasicBlock* holds = new_block("assert_holds");
  llvm::BasicBlock* fails = new_block("assert_fails");
  builder_.CreateCondBr(expr(n.condition), holds, fails,
                        llvm::MDBuilder(module_.context()).createLikelyBranchWeights());
  builder_.SetInsertPoint(fails);
  fail(n.message, kTenonError);
  builder_.SetInsertPoint(holds);
  stmt(n.body);
}

void FunctionEmitter::allow_reciprocals(const Stmt& body) {
  const llvm::IRBuilder<>::FastMathFlagGuard guard(builder_);
  llvm::FastMathFlags flags = builder_.getFastMathFlags();
  flags.setAllowReciprocal();
  builder_.setFastMathFlags(flags);
  stmt(body);
}

void FunctionEmitter::emit(const Attr& n) {
  switch (n.kind) {
    case AttrKind::ThreadExtent:
    case AttrKind::VirtualThread:
      refuse_thread_axis(n);
    case AttrKind::Pragma: {
      if (is_pragma(n, PragmaKey::StreamStores)) return stream_stores(n.body);
      if (is_pragma(n, PragmaKey::AllowReciprocals)) return allow_reciprocals(n.body);
      // Code that launches kernels runs on one thread, so its parallel loops are serial.
      if (device_id_) return stmt(n.body);
      if (is_pragma(n, PragmaKey::ParallelLaunchPoint) && !task_) return parallel_region(n.body);
      const std::optional<Task> outer = std::exchange(task_, task_inside(n, task_));
      stmt(n.body);
      task_ = outer;
      if (is_pragma(n, PragmaKey::ParallelBarrierWhenFinish))
        check_status(builder_.CreateCall(module_.runtime_function("tenon_parallel_barrier")));
      return;
    }
    case AttrKind::ReduceScope:
    case AttrKind::ExternScope:
    case AttrKind::DoubleBufferWrite:
    case AttrKind::RollingBufferScope:
    case AttrKind::BufferBound:
      return stmt(n.body);
  }
}

// ---- leaving ----

void FunctionEmitter::check_status(llvm::Value* status) {
  llvm::BasicBlock* on_failure = new_block("failed");
  llvm::BasicBlock* after = new_block("succeeded");
  builder_.CreateCondBr(builder_.CreateICmpEQ(status, int32(kTenonOk)), after, on_failure,
                        llvm::MDBuilder(module_.context()).createLikelyBranchWeights());
  builder_.SetInsertPoint(on_failure);
  leave(status);
  builder_.SetInsertPoint(after);
}

void FunctionEmitter::fail(const std::string& message, int status) {
  builder_.CreateCall(module_.runtime_function("tenon_set_last_error"), {module_.text(message)});
  leave(int32(status));
}

void FunctionEmitter::leave(llvm::Value* status) { workspaces_.leave(builder_, status); }

}  // namespace tenon::codegen

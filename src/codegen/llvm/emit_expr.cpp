#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/types.h"
#include "tenon/support/deep_stack.h"
#include "tenon/support/error.h"
#include "tenon/support/float16.h"
#include "tenon/support/match.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::codegen {

using namespace tir;

llvm::Type* FunctionEmitter::type(DataType t) const { return register_type(module_.context(), t); }

llvm::BasicBlock* FunctionEmitter::new_block(const char* name) {
  return llvm::BasicBlock::Create(module_.context(), name, function_);
}

llvm::Value* FunctionEmitter::expr(const Expr& e) {
  if (is_stack_low()) return with_deep_stack([&] { return expr(e); });
  const DataType t = e.dtype();
  if (lanes_ && t.lanes != lane_count(lanes_) && (contains<Load>(e) || contains<Call>(e)))
    return evaluate_for_any_lane(e);
  auto never = [&](const char* what) -> llvm::Value* {
    internal_error(std::string(what) + " is left in lowered code: " + print_expr(e));
  };
  return match(
      e.node().value,
      [&](const IntImm& n) -> llvm::Value* {
        const llvm::APInt bits(64, static_cast<std::uint64_t>(n.value));
        return llvm::ConstantInt::get(type(t), bits.trunc(t.bits));
      },
      [&](const FloatImm& n) -> llvm::Value* {
        if (t.is_bfloat()) return llvm::ConstantInt::get(type(t), BFloat16(n.value).bits);
        if (t.bits == 16)
          return llvm::ConstantExpr::getBitCast(builder_.getInt16(Float16(n.value).bits), type(t));
        return llvm::ConstantFP::get(type(t), n.value);
      },
      [&](const StringImm& n) -> llvm::Value* { return module_.text(n.value); },
      [&](const VarNode&) { return variable(e); },
      [&](const Cast& n) { return cast(expr(n.value), n.value.dtype(), t); },
      [&](const Binary& n) { return emit(n); },
      [&](const Not& n) -> llvm::Value* { return builder_.CreateNot(expr(n.a)); },
      [&](const Select& n) { return emit(n); }, [&](const Ramp& n) { return emit(n); },
      [&](const Broadcast& n) { return splat(expr(n.value), n.lanes); },
      [&](const Shuffle& n) { return emit(n); }, [&](const LetExpr& n) { return emit(n); },
      [&](const Call& n) { return emit(n, t); }, [&](const Load& n) { return load(n); },
      [&](const ProducerLoad&) { return never("a read of a tensor"); },
      [&](const Reduce&) { return never("a reduction"); });
}

llvm::Value* FunctionEmitter::variable(const Expr& e) {
  auto found = variables_.find(&e.node());
  if (found != variables_.end()) return found->second;
  if (computation_.fragments.contains(e)) refuse_fragment(e);
  internal_error("variable `" + Var::of(e).name() + "` is not defined where it is used");
}

void FunctionEmitter::define(const Var& var, llvm::Value* value) {
  variables_.insert_or_assign(&var.node(), value);
  if (!llvm::isa<llvm::Constant>(value) && !value->hasName()) value->setName(var.name());
}

void FunctionEmitter::define_size(const Var& var, llvm::Value* value) {
  index_values_.insert(value);
  define(var, value);
}

void FunctionEmitter::define_wide(const Var& var, llvm::Value* value) {
  define_size(var, builder_.CreateTrunc(value, type(var.dtype()), "", false, true));
  wide_variables_.insert_or_assign(&var.node(), value);
}

llvm::Value* FunctionEmitter::in_index_mode(const Expr& e) {
  const bool outer = std::exchange(index_mode_, true);
  llvm::Value* value = expr(e);
  index_mode_ = outer;
  return value;
}

llvm::Value* FunctionEmitter::index(const Expr& e) {
  if (e.dtype() == Int(32) && is_wide_sum(e)) return wide_index(e);
  llvm::Value* value = in_index_mode(e);
  llvm::Type* wide = with_lanes(builder_.getInt64Ty(), e.dtype().lanes);
  if (e.dtype().is_uint()) return builder_.CreateZExt(value, wide);
  return builder_.CreateSExt(value, wide);
}

namespace {

/// Returns the expression if it is a sum, difference or product. If the operation does not
/// overflow, extending its operands is equivalent to extending its result.
const Binary* as_sum(const Expr& e) {
  const Binary* n = e.as<Binary>();
  const bool is_sum =
      n && (n->op == BinaryOp::Add || n->op == BinaryOp::Sub || n->op == BinaryOp::Mul);
  return is_sum ? n : nullptr;
}

}  // namespace

bool FunctionEmitter::is_wide_sum(const Expr& e) const {
  if (e.as<IntImm>()) return true;
  if (const auto* n = e.as<Binary>()) return is_wide_sum(n->a) && is_wide_sum(n->b);
  const auto found = variables_.find(&e.node());
  return found != variables_.end() &&
         (llvm::isa<llvm::Constant>(found->second) || index_values_.contains(found->second));
}

llvm::Value* FunctionEmitter::wide_index(const Expr& e) {
  if (const auto found = wide_variables_.find(&e.node()); found != wide_variables_.end())
    return found->second;
  const Binary* n = as_sum(e);
  if (!n) return builder_.CreateSExt(in_index_mode(e), builder_.getInt64Ty());
  llvm::Value* a = wide_index(n->a);
  llvm::Value* b = wide_index(n->b);
  if (n->op == BinaryOp::Add) return builder_.CreateAdd(a, b, "", false, true);
  if (n->op == BinaryOp::Sub) return builder_.CreateSub(a, b, "", false, true);
  return builder_.CreateMul(a, b, "", false, true);
}

bool FunctionEmitter::is_cheap_and_safe(const Expr& e) const {
  bool safe = true;
  int nodes = 0;
  const std::function<void(const Expr&)> visit = [&](const Expr& x) {
    if (x.as<Load>() || x.as<Call>() || ++nodes > 16) safe = false;
    if (safe) for_each_child(x, visit);
  };
  visit(e);
  return safe;
}

llvm::Value* FunctionEmitter::emit(const Binary& n) {
  const bool is_logic = n.op == BinaryOp::And || n.op == BinaryOp::Or;
  // `i < size && a[i] > 0` must not read a[i] if i is out of bounds.
  if (is_logic && n.a.dtype().is_scalar() && !is_cheap_and_safe(n.b)) {
    llvm::Value* a = expr(n.a);
    return n.op == BinaryOp::And ? choose(a, n.b, make_false()) : choose(a, make_true(), n.b);
  }
  llvm::Value* a = expr(n.a);
  llvm::Value* b = expr(n.b);
  return arithmetic(n.op, a, b, n.a.dtype());
}

llvm::Value* FunctionEmitter::emit(const Select& n) {
  llvm::Value* condition = expr(n.condition);
  llvm::Value* if_true = expr(n.if_true);
  return builder_.CreateSelect(condition, if_true, expr(n.if_false));
}

llvm::Value* FunctionEmitter::choose(llvm::Value* condition, const Expr& if_true,
                                     const Expr& if_false) {
  if (is_cheap_and_safe(if_true) && is_cheap_and_safe(if_false)) {
    llvm::Value* a = expr(if_true);
    return builder_.CreateSelect(condition, a, expr(if_false));
  }
  return branched(
      condition, [&] { return expr(if_true); }, [&] { return expr(if_false); });
}

llvm::Value* FunctionEmitter::branched(llvm::Value* condition, FunctionRef<llvm::Value*()> on_true,
                                       FunctionRef<llvm::Value*()> on_false) {
  llvm::BasicBlock* true_block = new_block("choice_true");
  llvm::BasicBlock* false_block = new_block("choice_false");
  llvm::BasicBlock* after = new_block("choice_end");
  builder_.CreateCondBr(condition, true_block, false_block);
  const auto side = [&](llvm::BasicBlock*& block, FunctionRef<llvm::Value*()> value_of) {
    builder_.SetInsertPoint(block);
    llvm::Value* value = value_of();
    block = builder_.GetInsertBlock();
    builder_.CreateBr(after);
    return value;
  };
  llvm::Value* a = side(true_block, on_true);
  llvm::Value* b = side(false_block, on_false);
  builder_.SetInsertPoint(after);
  if (!a) return nullptr;
  llvm::PHINode* result = builder_.CreatePHI(a->getType(), 2);
  result->addIncoming(a, true_block);
  result->addIncoming(b, false_block);
  return result;
}

llvm::Value* FunctionEmitter::choose_lanes(llvm::Value* condition, const Expr& if_true,
                                           const Expr& if_false) {
  llvm::Value* outer = lanes_;
  const auto side = [&](const Expr& e, llvm::Value* chosen) {
    lanes_ = outer ? builder_.CreateAnd(outer, chosen) : chosen;
    return expr(e);
  };
  llvm::Value* a = side(if_true, condition);
  llvm::Value* b =
      is_constant(if_false) ? expr(if_false) : side(if_false, builder_.CreateNot(condition));
  lanes_ = outer;
  return builder_.CreateSelect(condition, a, b);
}

llvm::Value* FunctionEmitter::evaluate_for_any_lane(const Expr& e) {
  llvm::Value* mask = std::exchange(lanes_, nullptr);
  llvm::Value* result = branched(
      builder_.CreateOrReduce(mask), [&] { return expr(e); },
      [&] { return llvm::Constant::getNullValue(type(e.dtype())); });
  lanes_ = mask;
  return result;
}

llvm::Value* FunctionEmitter::emit(const Ramp& n) {
  llvm::Value* base = expr(n.base);
  llvm::Value* stride = expr(n.stride);
  std::vector<llvm::Constant*> steps;
  for (int lane = 0; lane < n.lanes; ++lane)
    steps.push_back(llvm::ConstantInt::get(base->getType(), static_cast<std::uint64_t>(lane)));
  llvm::Value* offsets =
      builder_.CreateMul(splat(stride, n.lanes), llvm::ConstantVector::get(steps));
  return builder_.CreateAdd(splat(base, n.lanes), offsets);
}

llvm::Value* FunctionEmitter::lanes_picked(const Shuffle& n, int begin, int lanes) {
  llvm::Type* type = llvm::FixedVectorType::get(builder_.getInt1Ty(), static_cast<unsigned>(lanes));
  llvm::Value* picked = llvm::Constant::getNullValue(type);
  std::vector<llvm::Constant*> numbers;
  for (int lane = 0; lane < lanes; ++lane)
    numbers.push_back(builder_.getInt32(static_cast<std::uint32_t>(begin + lane)));
  for (std::size_t lane = 0; lane < n.indices.size(); ++lane) {
    llvm::Value* pick = builder_.CreateZExtOrTrunc(expr(n.indices[lane]), builder_.getInt32Ty());
    llvm::Value* is_it =
        builder_.CreateICmpEQ(llvm::ConstantVector::get(numbers), splat(pick, lanes));
    llvm::Value* is_chosen = splat(builder_.CreateExtractElement(lanes_, lane), lanes);
    picked = builder_.CreateOr(picked, builder_.CreateAnd(is_it, is_chosen));
  }
  return picked;
}

llvm::Value* FunctionEmitter::emit(const Shuffle& n) {
  std::vector<llvm::Value*> vectors;
  llvm::Value* chosen = lanes_;
  const bool is_masked = chosen && lane_count(chosen) == static_cast<int>(n.indices.size());
  int begin = 0;
  for (const Expr& v : n.vectors) {
    const int lanes = v.dtype().lanes;
    // Masks the loads of each operand: only the lanes that active result lanes use are loaded.
    if (is_masked && lanes > 1 && contains<Load>(v)) lanes_ = lanes_picked(n, begin, lanes);
    vectors.push_back(expr(v));
    lanes_ = chosen;
    begin += lanes;
  }
  llvm::Value* all = concatenate(vectors);
  if (!all->getType()->isVectorTy()) return splat(all, static_cast<int>(n.indices.size()));
  if (n.indices.size() == 1) return builder_.CreateExtractElement(all, expr(n.indices[0]));
  std::vector<int> picks;
  for (const Expr& i : n.indices)
    if (const auto pick = constant_int(i)) picks.push_back(static_cast<int>(*pick));
  if (picks.size() == n.indices.size()) return builder_.CreateShuffleVector(all, picks);
  llvm::Value* result = llvm::PoisonValue::get(llvm::FixedVectorType::get(
      all->getType()->getScalarType(), static_cast<unsigned>(n.indices.size())));
  for (std::size_t lane = 0; lane < n.indices.size(); ++lane)
    result = builder_.CreateInsertElement(
        result, builder_.CreateExtractElement(all, expr(n.indices[lane])), lane);
  return result;
}

llvm::Value* FunctionEmitter::emit(const LetExpr& n) {
  define(n.var, expr(n.value));
  return expr(n.body);
}

llvm::Value* FunctionEmitter::splat(llvm::Value* value, int lanes) {
  if (lanes == 1) return value;
  if (!value->getType()->isVectorTy())
    return builder_.CreateVectorSplat(static_cast<unsigned>(lanes), value);
  // A broadcast of a vector repeats the whole vector.
  return concatenate(std::vector<llvm::Value*>(static_cast<std::size_t>(lanes), value));
}

}  // namespace tenon::codegen

// Emits one LLVM function: the computation of a PrimFunc, or the body of a parallel loop. Reading
// order: statements (emit_stmt.cpp), long sequences (emit_parts.cpp), loops that run in parallel
// (emit_parallel.cpp), expressions
// (emit_expr.cpp), arithmetic (emit_arithmetic.cpp), conversions (emit_cast.cpp), memory
// (emit_memory.cpp), calls (emit_call.cpp, emit_math.cpp, emit_dot_products.cpp), launches of
// kernels (emit_launch.cpp).
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <unordered_map>
#include <unordered_set>

#include "codegen/llvm/computation.h"
#include "codegen/llvm/module_emitter.h"
#include "codegen/llvm/workspace_scopes.h"
#include "tenon/codegen/memory_plan.h"
#include "tenon/support/function_ref.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/stmt.h"

namespace tenon::codegen {

class FunctionEmitter {
 public:
  /// `function` has no body yet and returns a status; it is the computation, or a part of it.
  FunctionEmitter(ModuleEmitter& module, llvm::Function* function, const Computation& computation);

  void define(const tir::Var& var, llvm::Value* value);
  /// A size: index arithmetic with it is assumed not to overflow.
  void define_size(const tir::Var& var, llvm::Value* value);
  /// Defines a variable of 32 bits whose value is computed in 64 bits.
  void define_wide(const tir::Var& var, llvm::Value* value);
  /// Emits the body and the return of kTenonOk.
  void body(const tir::Stmt& body);

 private:
  friend class OutlinedBody;
  friend class PackedEmitter;

  /// Ends the function with kTenonOk.
  void finish();
  void close_entry();

  // Statements.
  /// Instructions are made from here on with the statement's line, if it has one.
  void stmt(const tir::Stmt& s);
  void stmt_code(const tir::Stmt& s);
  void emit(const tir::Store& n);
  void emit(const tir::Allocate& n);
  void emit(const tir::For& n);
  void emit(const tir::While& n);
  void emit(const tir::If& n);
  /// A branch that each lane takes for itself: its stores are masked.
  void branch_by_lanes(const tir::If& n);
  void emit(const tir::Let& n);
  void emit(const tir::Assert& n);
  void emit(const tir::Attr& n);
  void emit(const tir::Evaluate& n);
  void emit(const tir::Seq& n);
  /// A long sequence, as calls of functions that hold some statements each.
  void divide(std::span<const tir::Stmt> stmts);
  void divide_in_groups(std::span<const std::span<const tir::Stmt>> pieces);
  /// Statements in a row, as a function of their own that is called here.
  void part(std::span<const tir::Stmt> stmts, FunctionRef<void(FunctionEmitter&)> emit_inside);
  /// What a loop is counted in: 64 bits for int32 as well, so that positions need no extension.
  llvm::Type* counter_type(const tir::Var& var) const;
  void serial_loop(const tir::Var& var, llvm::Value* begin, llvm::Value* end, llvm::Value* step,
                   const tir::Stmt& body, tir::ForKind kind);
  void parallel_loop(const tir::For& n);
  void parallel_region(const tir::Stmt& body);
  /// A parallel loop inside a persistent region: this task's share of it.
  void shared_loop(const tir::For& n);
  /// Goes on only if the status is kTenonOk, else leaves the function with it.
  void check_status(llvm::Value* status);
  void fail(const std::string& message);
  void leave(llvm::Value* status);

  // Expressions.
  llvm::Value* expr(const tir::Expr& e);
  llvm::Value* emit(const tir::Binary& n);
  llvm::Value* emit(const tir::Select& n);
  llvm::Value* emit(const tir::Ramp& n);
  llvm::Value* emit(const tir::Shuffle& n);
  llvm::Value* emit(const tir::LetExpr& n);
  llvm::Value* emit(const tir::Call& n, DataType type);
  /// One side or the other, with control flow, and the value of the side that ran; null if they
  /// have none.
  llvm::Value* branched(llvm::Value* condition, FunctionRef<llvm::Value*()> on_true,
                        FunctionRef<llvm::Value*()> on_false);
  /// One side or the other: what might fault is evaluated only where it is chosen.
  llvm::Value* choose(llvm::Value* condition, const tir::Expr& if_true, const tir::Expr& if_false);
  /// One side or the other in each lane: what might fault is evaluated only in lanes of its side.
  llvm::Value* choose_lanes(llvm::Value* condition, const tir::Expr& if_true,
                            const tir::Expr& if_false);
  /// The value of `e` if any lane is evaluated, else 0.
  llvm::Value* evaluate_for_any_lane(const tir::Expr& e);
  /// A position in memory or a bound of a loop, as 64 bits: assumed not to overflow its type.
  llvm::Value* index(const tir::Expr& e);
  llvm::Value* in_index_mode(const tir::Expr& e);
  /// The index in 64 bits from its variables up: what does not overflow may be extended first, and
  /// no extension is left inside of a loop.
  llvm::Value* wide_index(const tir::Expr& e);
  /// Whether e is an int32 sum of what is known not to overflow: variables of loops and sizes.
  bool is_wide_sum(const tir::Expr& e) const;
  llvm::Value* variable(const tir::Expr& e);
  bool is_cheap_and_safe(const tir::Expr& e) const;

  // Arithmetic on values of a type.
  llvm::Value* arithmetic(tir::BinaryOp op, llvm::Value* a, llvm::Value* b, DataType type);
  llvm::Value* float_arithmetic(tir::BinaryOp op, llvm::Value* a, llvm::Value* b);
  llvm::Value* extremum(tir::BinaryOp op, llvm::Value* a, llvm::Value* b);
  llvm::Value* integer_arithmetic(tir::BinaryOp op, llvm::Value* a, llvm::Value* b, bool is_signed);
  llvm::Value* integer_division(tir::BinaryOp op, llvm::Value* a, llvm::Value* b, bool is_signed);

  // Conversions.
  llvm::Value* cast(llvm::Value* value, DataType from, DataType to);
  llvm::Value* float_to_float(llvm::Value* value, DataType from, DataType to);
  llvm::Value* float_to_integer(llvm::Value* value, DataType from, DataType to);
  llvm::Value* integer_to_float(llvm::Value* value, DataType from, DataType to);
  llvm::Value* reinterpret(llvm::Value* value, DataType from, DataType to);
  /// Whether values of the type are converted to float32 to compute with them.
  bool is_computed_in_float32(DataType type) const;
  llvm::Value* to_float32(llvm::Value* value, DataType from);
  llvm::Value* round_float32(llvm::Value* value, DataType to);
  llvm::Value* half_to_float32_on_bits(llvm::Value* half);
  llvm::Value* float32_to_half_on_bits(llvm::Value* value);
  /// The float32 that rounds to any narrower type as the double does.
  llvm::Value* round_to_odd(llvm::Value* value);

  // Memory.
  llvm::Value* load(const tir::Load& n, DataType type);
  void store(const tir::Buffer& buffer, const std::vector<tir::Expr>& indices, llvm::Value* value,
             DataType type);
  /// The address of an element.
  llvm::Value* address(const tir::Buffer& buffer, llvm::Value* index);
  llvm::Value* address(llvm::Value* base, DataType element, llvm::Value* index);
  llvm::Value* load_lanes(llvm::Value* address, DataType element, int count);
  /// Loads that access memory only in the lanes of the mask; the others are 0.
  llvm::Value* load_masked(const tir::Buffer& buffer, const tir::Expr& position, llvm::Value* mask);
  llvm::Value* load_masked_lanes(llvm::Value* address, DataType element, llvm::Value* mask);
  llvm::Value* load_masked_strided(llvm::Value* first, DataType element, int stride,
                                   llvm::Value* mask);
  llvm::Value* gather(llvm::Value* addresses, DataType element, llvm::Value* mask);
  void store_lanes(llvm::Value* address, DataType element, llvm::Value* value);
  /// The stores of the lanes that take the branch around.
  void store_masked(const tir::Buffer& buffer, const tir::Expr& position, llvm::Value* value);
  /// The addresses of elements of which some may not be there.
  llvm::Value* address_outside(const tir::Buffer& buffer, llvm::Value* index);
  /// Bools as the bytes that they are in memory.
  llvm::Value* bools_as_bytes(llvm::Value* value, DataType element);
  /// The body with its stores of vectors past the caches, all of them done where it ends.
  void stream_stores(const tir::Stmt& body);
  /// The body with products by reciprocals in place of divisions, where LLVM finds that faster.
  void allow_reciprocals(const tir::Stmt& body);
  /// Lanes at constant places of memory on the stack, as one load that is put in their order; null
  /// where they are none or lie too far apart.
  llvm::Value* load_picked(const tir::Buffer& buffer, const std::vector<llvm::Value*>& positions);
  llvm::Value* load_strided(llvm::Value* first, DataType element, int stride, int lanes);
  /// Positions of the lanes of a vector index.
  std::vector<llvm::Value*> lane_positions(const tir::Expr& index);
  llvm::Value* concatenate(const std::vector<llvm::Value*>& parts);
  llvm::Value* reversed(llvm::Value* vector, int group);
  llvm::Value* lanes_of(llvm::Value* vector, int first, int count);
  llvm::Value* splat(llvm::Value* value, int lanes);
  llvm::AllocaInst* entry_alloca(llvm::Type* type, llvm::Value* count, int alignment,
                                 const std::string& name);

  // Calls.
  llvm::Value* call_intrin(tir::Intrin intrin, const tir::Call& n, DataType type);
  enum class ResultUse : std::uint8_t { Used, Dropped };
  llvm::Value* call_extern(const tir::ExternCallee& callee, const tir::Call& n, DataType result,
                           ResultUse use);
  /// What a C compiler makes of a parameter or result of the type.
  llvm::Type* type_in_c(DataType t) const;
  /// What the call asks for: of an imported definition, in its own form where that is equivalent.
  llvm::FunctionType* signature_in_c(const tir::ExternCallee& callee, const tir::Call& n,
                                     DataType result, ResultUse use);
  /// Calls a function of another language, which may throw: what it throws goes on to the caller,
  /// and the workspaces go back on its way.
  llvm::CallBase* call_foreign(llvm::FunctionCallee function,
                               const std::vector<llvm::Value*>& args);
  llvm::Value* call_llvm(const tir::Call& n, DataType type);
  llvm::Value* call_packed(const tir::Call& n);
  llvm::Value* stack_array(const tir::Call& n);
  llvm::Value* stack_shape(const tir::Call& n);
  llvm::Value* sums_of_products(const tir::Call& n);
  /// Of vectors that are no wider than a register.
  llvm::Value* sums_of_byte_products(const tir::Call& n, llvm::Value* a, llvm::Value* b,
                                     llvm::Value* sums, int lanes);
  llvm::Value* sums_of_bfloat_products(llvm::Value* a, llvm::Value* b, llvm::Value* sums,
                                       int lanes);
  llvm::Value* bits_intrin(tir::Intrin intrin, const tir::Call& n, DataType type);
  llvm::Value* float_test(tir::Intrin intrin, const tir::Expr& argument);
  llvm::Value* access_ptr(const tir::Call& n);
  llvm::Value* address_of(const tir::Expr& e);
  void prefetch(const tir::Call& n);
  llvm::Value* launch_kernel(const tir::Call& n);
  /// Says on which device the arrays of a function for devices are, by its number.
  void run_on(llvm::Value* device_id);
  llvm::Value* math(tir::Intrin intrin, const tir::Call& n, DataType type);
  llvm::Value* math_on(tir::Intrin intrin, std::vector<llvm::Value*> args);
  llvm::Value* reduced_or_called(tir::Intrin intrin, llvm::Value* x, llvm::Value* reduced);
  llvm::Value* library_function(tir::Intrin intrin, const std::vector<llvm::Value*>& args);
  llvm::Value* call_libm_by_lanes(const char* name, const std::vector<llvm::Value*>& args,
                                  bool speculatable);
  llvm::Value* call_libm(const char* name, const std::vector<llvm::Value*>& args,
                         bool speculatable);

  llvm::Type* type(DataType t) const;
  llvm::ConstantInt* int32(std::int64_t value) {
    return builder_.getInt32(static_cast<std::uint32_t>(value));
  }
  llvm::ConstantInt* int64(std::int64_t value) {
    return builder_.getInt64(static_cast<std::uint64_t>(value));
  }
  llvm::BasicBlock* new_block(const char* name);

  ModuleEmitter& module_;
  llvm::Function* function_;
  const Computation& computation_;
  llvm::IRBuilder<> builder_;
  /// Where allocas go: the end of the first block, which branches to the rest when all is emitted.
  llvm::BasicBlock* entry_;
  std::unordered_map<const tir::ExprNode*, llvm::Value*> variables_;
  /// Variables of loops and sizes, and what is computed from them: such sums are assumed not to
  /// overflow.
  std::unordered_set<const llvm::Value*> index_values_;
  /// The values in 64 bits of int32 variables that are counted so.
  std::unordered_map<const tir::ExprNode*, llvm::Value*> wide_variables_;
  bool index_mode_ = false;
  /// Inside a side of a choice by lanes: a vector of bools, the lanes in which it is evaluated.
  /// Null for all.
  llvm::Value* lanes_ = nullptr;
  /// Inside a branch by lanes: a vector of bools, the lanes that take it, which alone are stored.
  /// Null for all.
  llvm::Value* stored_lanes_ = nullptr;
  /// Shared with the parts that are called from here, whose temporaries are on the stack as well.
  std::shared_ptr<const StackPlan> stack_;
  WorkspaceScopes workspaces_;
  llvm::Value* device_id_ = nullptr;
  /// Whether this is a part of a long sequence: with many like it, its loops are not unrolled.
  bool is_divided_ = false;
  /// How many serial loops are around what is emitted, those around the function's call included.
  int loop_depth_ = 0;
  /// Inside a persistent parallel region: the task's number and the number of tasks.
  struct Task {
    llvm::Value* id;
    llvm::Value* count;
  };
  std::optional<Task> task_;
  /// Whether tasks take iterations in turns rather than a range each.
  bool strided_tasks_ = false;
  bool streams_stores_ = false;
};

}  // namespace tenon::codegen

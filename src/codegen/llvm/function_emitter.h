// Emits one LLVM function: the computation of a PrimFunc, or the body of a parallel loop. Reading
// order: statements (emit_stmt.cpp), long sequences (emit_parts.cpp), parallel loops
// (emit_parallel.cpp), expressions (emit_expr.cpp), arithmetic (emit_arithmetic.cpp), conversions
// (emit_cast.cpp), memory (emit_memory.cpp), calls (emit_call.cpp, emit_math.cpp,
// emit_dot_products.cpp, emit_tiles.cpp), kernel launches (emit_launch.cpp).
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <unordered_map>
#include <unordered_set>

#include "codegen/llvm/computation.h"
#include "codegen/llvm/module_emitter.h"
#include "codegen/llvm/workspace_scopes.h"
#include "tenon/codegen/lowering/share_loop.h"
#include "tenon/codegen/memory_plan.h"
#include "tenon/support/function_ref.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/stmt.h"

namespace tenon::codegen {

class OutlinedBody;

class FunctionEmitter {
 public:
  /// `function` has no body yet and returns a status; it is the computation, or a part of it.
  FunctionEmitter(ModuleEmitter& module, llvm::Function* function, const Computation& computation);

  void define(const tir::Var& var, llvm::Value* value);
  /// Defines a size: index arithmetic with it is assumed not to overflow.
  void define_size(const tir::Var& var, llvm::Value* value);
  /// Defines a 32-bit variable whose value is computed in 64 bits.
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
  /// Emits the statement. Its instructions get the statement's source line, if it has one.
  void stmt(const tir::Stmt& s);
  void stmt_code(const tir::Stmt& s);
  void emit(const tir::Store& n);
  void emit(const tir::Allocate& n);
  void emit(const tir::For& n);
  void emit(const tir::While& n);
  void emit(const tir::If& n);
  /// Emits a branch that each lane takes by itself: its stores are masked.
  void branch_by_lanes(const tir::If& n);
  void emit(const tir::Let& n);
  void emit(const tir::Assert& n);
  void emit(const tir::Attr& n);
  void emit(const tir::Evaluate& n);
  void emit(const tir::Seq& n);
  /// Emits a long sequence as calls of functions that contain some of the statements each.
  void divide(std::span<const tir::Stmt> stmts);
  void divide_in_groups(std::span<const std::span<const tir::Stmt>> pieces);
  /// Emits consecutive statements as a separate function and its call.
  void part(std::span<const tir::Stmt> stmts, FunctionRef<void(FunctionEmitter&)> emit_inside);
  /// Returns the type of the loop counter: 64 bits even for int32, so that positions need no
  /// extension.
  llvm::Type* counter_type(const tir::Var& var) const;
  void serial_loop(const tir::Var& var, llvm::Value* begin, llvm::Value* end, const tir::Stmt& body,
                   tir::ForKind kind);
  void parallel_loop(const tir::For& n);
  void parallel_region(const tir::Stmt& body);
  void run_tasks(const OutlinedBody& body, llvm::Type* own, std::string_view runtime,
                 std::vector<llvm::Value*> args);
  /// Continues if the status is kTenonOk, otherwise returns it from the function.
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
  /// Emits one side or the other, with control flow. Returns the value of the executed side; null
  /// if the sides have no value.
  llvm::Value* branched(llvm::Value* condition, FunctionRef<llvm::Value*()> on_true,
                        FunctionRef<llvm::Value*()> on_false);
  /// Emits one side or the other; an expression that might fault is evaluated only if it is
  /// selected.
  llvm::Value* choose(llvm::Value* condition, const tir::Expr& if_true, const tir::Expr& if_false);
  /// Emits one side or the other for each lane; an expression that might fault is evaluated only in
  /// the lanes of its side.
  llvm::Value* choose_lanes(llvm::Value* condition, const tir::Expr& if_true,
                            const tir::Expr& if_false);
  /// Returns the lanes of an operand of the shuffle that the active lanes pick. The operand has the
  /// lanes from `begin` on of all operands together.
  llvm::Value* lanes_picked(const tir::Shuffle& n, int begin, int lanes);
  /// Returns the value of `e` if any lane is active, otherwise 0.
  llvm::Value* evaluate_for_any_lane(const tir::Expr& e);
  /// Returns a position in memory or a loop bound in 64 bits. It is assumed not to overflow its
  /// type.
  llvm::Value* index(const tir::Expr& e);
  llvm::Value* in_index_mode(const tir::Expr& e);
  /// Returns the index, computed in 64 bits. Its variables are extended instead of its result,
  /// which is equivalent because it does not overflow, so that no extension remains inside a loop.
  llvm::Value* wide_index(const tir::Expr& e);
  /// Whether e consists of loop variables, sizes and constants, whose sums are known not to
  /// overflow.
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
  /// Whether values of the type are converted to float32 for computations.
  bool is_computed_in_float32(DataType type) const;
  llvm::Value* to_float32(llvm::Value* value, DataType from);
  llvm::Value* round_float32(llvm::Value* value, DataType to);
  llvm::Value* half_to_float32_on_bits(llvm::Value* half);
  llvm::Value* float32_to_half_on_bits(llvm::Value* value);
  /// Returns the float32 that rounds to any narrower type as the double does.
  llvm::Value* round_to_odd(llvm::Value* value);

  // Memory.
  llvm::Value* load(const tir::Load& n, DataType type);
  void store(const tir::Buffer& buffer, const std::vector<tir::Expr>& indices, llvm::Value* value,
             DataType type);
  /// Returns the address of an element.
  llvm::Value* address(const tir::Buffer& buffer, llvm::Value* index);
  llvm::Value* address(llvm::Value* base, DataType element, llvm::Value* index);
  llvm::Value* load_lanes(llvm::Value* address, DataType element, int count);
  /// Returns the mask for one access of `count` contiguous lanes; null if plain accesses are not
  /// slower. The mask has a power of two of lanes, of which the first `count` are enabled.
  llvm::Constant* mask_of_tail(llvm::Value* address, DataType element, int count);
  /// Load only the lanes of the mask; the other lanes are 0.
  llvm::Value* load_masked(const tir::Buffer& buffer, const tir::Expr& position, llvm::Value* mask);
  llvm::Value* load_masked_lanes(llvm::Value* address, DataType element, llvm::Value* mask);
  llvm::Value* gather(llvm::Value* addresses, DataType element, llvm::Value* mask);
  void store_lanes(llvm::Value* address, DataType element, llvm::Value* value);
  /// Stores the lanes that take the enclosing branch.
  void store_masked(const tir::Buffer& buffer, const tir::Expr& position, llvm::Value* value);
  /// Returns the addresses of elements, some of which may be out of bounds.
  llvm::Value* address_outside(const tir::Buffer& buffer, llvm::Value* index);
  /// Converts bools to bytes, their representation in memory.
  llvm::Value* bools_as_bytes(llvm::Value* value, DataType element);
  /// Emits the body with non-temporal vector stores, which are complete at its end.
  void stream_stores(const tir::Stmt& body);
  /// Emits the body with reciprocals instead of divisions, if LLVM considers that faster.
  void allow_reciprocals(const tir::Stmt& body);
  /// Loads lanes at constant positions in stack memory by one load and a shuffle. Returns null if
  /// the positions are not constant or span too many elements.
  llvm::Value* load_picked(const tir::Buffer& buffer, const std::vector<llvm::Value*>& positions);
  llvm::Value* load_column(llvm::Value* matrix, DataType element, int lanes, int column);
  llvm::Value* load_strided(llvm::Value* first, DataType element, int stride, int lanes,
                            llvm::Value* mask);
  /// Returns the positions of the lanes of a vector index.
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
  /// Returns the type of a C parameter or result.
  llvm::Type* type_in_c(DataType t) const;
  /// Returns the function type of the call, or that of an imported definition if it is equivalent.
  llvm::FunctionType* signature_in_c(const tir::ExternCallee& callee, const tir::Call& n,
                                     DataType result, ResultUse use);
  /// Calls an extern function. An exception propagates to the caller, and workspaces are released
  /// while the stack is unwound.
  llvm::CallBase* call_foreign(llvm::FunctionCallee function,
                               const std::vector<llvm::Value*>& args);
  llvm::Value* call_llvm(const tir::Call& n, DataType type);
  llvm::Value* in_64_bits(const tir::Expr& arg);
  llvm::Value* call_packed(const tir::Call& n);
  /// Returns an array of the values on the stack.
  llvm::Value* stack_values(llvm::Type* type, const char* name,
                            const std::vector<llvm::Value*>& values);
  llvm::Value* stack_array(const tir::Call& n);
  llvm::Value* stack_shape(const tir::Call& n);
  llvm::Value* sums_of_products(const tir::Call& n);
  /// Returns the sums for vectors no wider than a register.
  llvm::Value* sums_of_byte_products(const tir::Call& n, llvm::Value* a, llvm::Value* b,
                                     llvm::Value* sums, int lanes);
  llvm::Value* sums_of_bfloat_products(llvm::Value* a, llvm::Value* b, llvm::Value* sums,
                                       int lanes);
  // Tile registers (emit_tiles.cpp).
  /// Emits the statement with its fragments in tile registers, if it allocates any and they fit.
  /// Returns false, and emits nothing, otherwise.
  bool begins_tiles(const tir::Stmt& s);
  void with_tiles(const TileRegisters& tiles, const tir::Stmt& s);
  /// Emits an instruction on tile registers, given by the number of an LLVM intrinsic.
  void tile_instruction(unsigned id, const std::vector<llvm::Value*>& args);
  /// Throws LowerError for an access that is not a matrix operation on a tile.
  [[noreturn]] void refuse_fragment(const tir::Expr& data) const;
  /// Returns the number of the register of a fragment's tile.
  llvm::Value* tile(const tir::Expr& data, const tir::Expr& index);
  void matrix_operation(tir::Intrin intrin, const tir::Call& n);
  void multiply_tiles(const tir::Call& n);
  void store_turned_tile(llvm::Value* tile, llvm::Value* address, llvm::Value* pitch,
                         const ProductShape& shape);
  llvm::Value* bits_intrin(tir::Intrin intrin, const tir::Call& n, DataType type);
  llvm::Value* float_test(tir::Intrin intrin, const tir::Expr& argument);
  llvm::Value* access_ptr(const tir::Call& n);
  llvm::Value* address_of(const tir::Expr& e);
  void prefetch(const tir::Call& n);
  llvm::Value* launch_kernel(const tir::Call& n);
  /// Sets the device id of the arrays of a function for devices.
  void run_on(llvm::Value* device_id);
  llvm::Value* math(tir::Intrin intrin, const tir::Call& n, DataType type);
  /// Computes on float32, float64 or vectors of them, of type `type`.
  llvm::Value* math_on(tir::Intrin intrin, const std::vector<llvm::Value*>& args, DataType type);
  llvm::Value* exactly(const MathFunction& function, const std::vector<llvm::Value*>& args);
  llvm::Value* reduced_or_called(tir::Intrin intrin, llvm::Value* x, llvm::Value* reduced);
  llvm::Value* library_function(tir::Intrin intrin, std::vector<llvm::Value*> args);
  llvm::Value* call_libm_by_lanes(const std::string& name, const std::vector<llvm::Value*>& args,
                                  bool speculatable);
  llvm::Value* call_libm(const std::string& name, const std::vector<llvm::Value*>& args,
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
  /// The insertion point of allocas: the end of the first block, which gets its branch to the next
  /// block when everything is emitted.
  llvm::BasicBlock* entry_;
  std::unordered_map<const tir::ExprNode*, llvm::Value*> variables_;
  /// Loop variables, sizes, and values computed from them, whose sums are assumed not to overflow.
  std::unordered_set<const llvm::Value*> index_values_;
  /// The 64-bit values of int32 variables that are computed in 64 bits.
  std::unordered_map<const tir::ExprNode*, llvm::Value*> wide_variables_;
  bool index_mode_ = false;
  /// Inside a side of a per-lane choice: the mask of lanes in which it is evaluated. Null: all
  /// lanes.
  llvm::Value* lanes_ = nullptr;
  /// Inside a per-lane branch: the mask of lanes that take it and may be stored. Null: all lanes.
  llvm::Value* stored_lanes_ = nullptr;
  /// Shared with the called parts, whose temporaries are on the stack as well.
  std::shared_ptr<const StackPlan> stack_;
  WorkspaceScopes workspaces_;
  llvm::Value* device_id_ = nullptr;
  /// Whether this is a part of a long sequence; the loops of such parts are not unrolled.
  bool is_divided_ = false;
  /// The number of enclosing serial loops, including those around the function's call.
  int loop_depth_ = 0;
  /// The tile registers of the enclosing statements; null if they are not configured.
  const TileRegisters* tiles_ = nullptr;
  /// The reason why fragments of an enclosing statement are not in registers.
  std::optional<std::string> tile_obstacle_;
  /// Set inside a persistent parallel region.
  std::optional<Task> task_;
  bool streams_stores_ = false;
  /// The lanes of the narrowest store to each buffer so far.
  std::unordered_map<const tir::ExprNode*, int> narrowest_stores_;
  /// The memory that the current store both reads and writes; null if it only writes.
  llvm::Value* accumulated_ = nullptr;
};

}  // namespace tenon::codegen

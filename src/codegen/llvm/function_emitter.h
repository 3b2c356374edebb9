// Emits one LLVM function: the computation of a PrimFunc, or the body of a parallel loop. Reading
// order: statements (emit_stmt.cpp), long sequences (emit_parts.cpp), parallel loops
// (emit_parallel.cpp), expressions (emit_expr.cpp), arithmetic (emit_arithmetic.cpp), conversions
// (emit_cast.cpp), memory (emit_memory.cpp), calls (emit_call.cpp, emit_math.cpp,
// emit_dot_products.cpp, emit_tiles.cpp), kernel launches (emit_launch.cpp).
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <unordered_map>
#include <unordered_set>

#include "codegen/llvm/module_emitter.h"
#include "codegen/llvm/tiles.h"
#include "codegen/llvm/workspace_scopes.h"
#include "tenon/codegen/index_uses.h"
#include "tenon/codegen/lowering/share_loop.h"
#include "tenon/codegen/memory_plan.h"
#include "tenon/codegen/stmt_sizes.h"
#include "tenon/support/function_ref.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/stmt.h"

namespace tenon::codegen {

class OutlinedBody;

/// Whether an operation has a float16 operand.
bool has_half_operand(const tir::Stmt& body);

/// Analyses of a whole computation, before it is emitted as one function or several.
struct Computation {
  explicit Computation(const tir::Stmt& body)
      : used_as_data(data_variables(body)),
        sizes(body),
        fragments(body),
        reads_half(has_half_operand(body)) {}

  VarSet used_as_data;
  StmtSizes sizes;
  Fragments fragments;
  bool reads_half;
};

class FunctionEmitter {
 public:
  /// `function` is the computation or a part of it. It returns a status and has no body yet.
  FunctionEmitter(ModuleEmitter& module, llvm::Function* function, const Computation& computation);

  void define(const tir::Var& var, llvm::Value* value);
  /// Defines a size variable. Index arithmetic with sizes is assumed not to overflow.
  void define_size(const tir::Var& var, llvm::Value* value);
  /// Defines a 32-bit variable by its 64-bit value.
  void define_wide(const tir::Var& var, llvm::Value* value);
  /// Sets the device id of array arguments, in a function that launches kernels.
  void run_on(llvm::Value* device_id);

 private:
  friend llvm::Function* emit_computation(ModuleEmitter& module, const tir::PrimFunc& func,
                                          const Signature& signature, const Computation& analyses);
  friend class OutlinedBody;
  friend class PackedEmitter;

  /// Ends the function: returns kTenonOk.
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
  /// Emits an `if` whose condition differs between lanes. Stores inside it are masked.
  void branch_by_lanes(const tir::If& n);
  void emit(const tir::Let& n);
  void emit(const tir::Assert& n);
  void emit(const tir::Attr& n);
  void emit(const tir::Evaluate& n);
  void emit(const tir::Seq& n);
  /// Emits a long sequence as calls of several functions, each of which contains some of the
  /// statements.
  void divide(std::span<const tir::Stmt> stmts);
  void divide_in_groups(std::span<const std::span<const tir::Stmt>> pieces);
  /// Moves consecutive statements to a new function and emits its call.
  void part(std::span<const tir::Stmt> stmts, FunctionRef<void(FunctionEmitter&)> emit_inside);
  /// Returns the type of the loop counter. It is 64 bits wide even for an int32 variable, so that
  /// positions in memory need no extension.
  llvm::Type* counter_type(const tir::Var& var) const;
  void serial_loop(const tir::Var& var, llvm::Value* begin, llvm::Value* end, const tir::Stmt& body,
                   tir::ForKind kind);
  void parallel_loop(const tir::For& n);
  void parallel_region(const tir::Stmt& body);
  void run_tasks(const OutlinedBody& body, llvm::Type* own, std::string_view runtime,
                 std::vector<llvm::Value*> args);
  /// Returns the status from the emitted function unless it is kTenonOk.
  void check_status(llvm::Value* status);
  /// Returns the status from the emitted function, with this message as the last error.
  void fail(const std::string& message, int status);
  void leave(llvm::Value* status);

  // Emission of expressions.
  llvm::Value* expr(const tir::Expr& e);
  llvm::Value* emit(const tir::Binary& n);
  llvm::Value* emit(const tir::Select& n);
  llvm::Value* emit(const tir::Ramp& n);
  llvm::Value* emit(const tir::Shuffle& n);
  llvm::Value* emit(const tir::LetExpr& n);
  llvm::Value* emit(const tir::Call& n, DataType type);
  /// Emits both sides as branches of the control flow. Returns the value of the executed side; null
  /// if the sides have no value.
  llvm::Value* branched(llvm::Value* condition, FunctionRef<llvm::Value*()> on_true,
                        FunctionRef<llvm::Value*()> on_false);
  /// Emits a choice by a scalar condition. A side that might fault is evaluated only if it is
  /// chosen.
  llvm::Value* choose(llvm::Value* condition, const tir::Expr& if_true, const tir::Expr& if_false);
  /// Emits a choice by a vector condition. A side that might fault is evaluated only in the lanes
  /// that choose it.
  llvm::Value* choose_lanes(llvm::Value* condition, const tir::Expr& if_true,
                            const tir::Expr& if_false);
  /// Returns the mask of the lanes of one shuffle operand that active result lanes use. The
  /// operand's first lane has the number `begin` among the lanes of all operands.
  llvm::Value* lanes_picked(const tir::Shuffle& n, int begin, int lanes);
  /// Returns the value of `e` if any lane is active, otherwise 0.
  llvm::Value* evaluate_for_any_lane(const tir::Expr& e);
  /// Returns a memory position or loop bound as a 64-bit value. The expression is assumed not to
  /// overflow its own type.
  llvm::Value* index(const tir::Expr& e);
  llvm::Value* in_index_mode(const tir::Expr& e);
  /// Returns the index, computed in 64 bits. The variables are extended instead of the result, so
  /// that no extension remains inside a loop. Both are equivalent, because the index does not
  /// overflow.
  llvm::Value* wide_index(const tir::Expr& e);
  /// Whether `e` is a sum of loop variables, sizes and constants, which is known not to overflow.
  bool is_wide_sum(const tir::Expr& e) const;
  llvm::Value* variable(const tir::Expr& e);
  bool is_cheap_and_safe(const tir::Expr& e) const;

  // Arithmetic on values of one type.
  llvm::Value* arithmetic(tir::BinaryOp op, llvm::Value* a, llvm::Value* b, DataType type);
  llvm::Value* float_arithmetic(tir::BinaryOp op, llvm::Value* a, llvm::Value* b);
  llvm::Value* extremum(tir::BinaryOp op, llvm::Value* a, llvm::Value* b);
  llvm::Value* integer_arithmetic(tir::BinaryOp op, llvm::Value* a, llvm::Value* b, bool is_signed);
  llvm::Value* integer_division(tir::BinaryOp op, llvm::Value* a, llvm::Value* b, bool is_signed);

  // Emission of conversions.
  llvm::Value* cast(llvm::Value* value, DataType from, DataType to);
  llvm::Value* float_to_float(llvm::Value* value, DataType from, DataType to);
  llvm::Value* float_to_integer(llvm::Value* value, DataType from, DataType to);
  llvm::Value* integer_to_float(llvm::Value* value, DataType from, DataType to);
  llvm::Value* reinterpret(llvm::Value* value, DataType from, DataType to);
  /// Whether computations on the type convert its values to float32.
  bool is_computed_in_float32(DataType type) const;
  llvm::Value* to_float32(llvm::Value* value, DataType from);
  llvm::Value* round_float32(llvm::Value* value, DataType to);
  llvm::Value* half_to_float32_on_bits(llvm::Value* half);
  llvm::Value* float32_to_half_on_bits(llvm::Value* value);
  /// Rounds a double to float32 such that rounding the result to a narrower type equals rounding
  /// the double directly.
  llvm::Value* round_to_odd(llvm::Value* value);

  // Emission of memory accesses.
  llvm::Value* load(const tir::Load& n);
  void store(const tir::Buffer& buffer, const std::vector<tir::Expr>& indices, llvm::Value* value);
  /// Returns the address of an element.
  llvm::Value* address(const tir::Buffer& buffer, llvm::Value* index);
  llvm::Value* address(llvm::Value* base, DataType element, llvm::Value* index);
  llvm::Value* load_lanes(llvm::Value* address, DataType element, int count);
  /// Returns a mask that turns an access of `count` contiguous lanes into one masked access; null
  /// if plain accesses are as fast. The mask has a power-of-two number of lanes, of which the first
  /// `count` are enabled.
  llvm::Constant* mask_of_tail(llvm::Value* address, DataType element, int count);
  /// Load the lanes that the mask enables; the other lanes are 0. If `address` is a vector, it
  /// holds the address of each lane; otherwise it is the address of the first of contiguous lanes.
  llvm::Value* load_masked(const tir::Buffer& buffer, const tir::Expr& position, llvm::Value* mask);
  llvm::Value* load_masked_lanes(llvm::Value* address, DataType element, llvm::Value* mask);
  void store_lanes(llvm::Value* address, DataType element, llvm::Value* value);
  /// Stores only the lanes that take the enclosing per-lane branch.
  void store_masked(const tir::Buffer& buffer, const tir::Expr& position, llvm::Value* value);
  /// Returns the address of an element that may be out of bounds.
  llvm::Value* address_outside(const tir::Buffer& buffer, llvm::Value* index);
  /// Converts bools to bytes, which represent them in memory.
  llvm::Value* bools_as_bytes(llvm::Value* value, DataType element);
  /// Emits the body with non-temporal vector stores. If the processor does not order them with
  /// other stores, a fence follows the body.
  void stream_stores(const tir::Stmt& body);
  /// Emits the body such that divisions may become multiplications by a reciprocal, where LLVM
  /// considers that faster.
  void allow_reciprocals(const tir::Stmt& body);
  /// Loads lanes at constant positions in stack memory by one load and a shuffle. Returns null if
  /// the positions are not constant or span too many elements.
  llvm::Value* load_picked(const tir::Buffer& buffer, const std::vector<llvm::Value*>& positions);
  llvm::Value* load_column(llvm::Value* matrix, DataType element, int lanes, int column);
  llvm::Value* load_strided(llvm::Value* first, DataType element, int stride, int lanes,
                            llvm::Value* mask);
  /// Returns the position of each lane of a vector index.
  std::vector<llvm::Value*> lane_positions(const tir::Expr& index);
  llvm::Value* concatenate(const std::vector<llvm::Value*>& parts);
  llvm::Value* reversed(llvm::Value* vector, int group);
  llvm::Value* lanes_of(llvm::Value* vector, int first, int count);
  llvm::Value* splat(llvm::Value* value, int lanes);
  llvm::AllocaInst* entry_alloca(llvm::Type* type, llvm::Value* count, int alignment,
                                 const std::string& name);

  // Emission of calls.
  llvm::Value* call_intrin(tir::Intrin intrin, const tir::Call& n, DataType type);
  /// `is_used` is whether the result is used.
  llvm::Value* call_extern(const tir::ExternCallee& callee, const tir::Call& n, DataType result,
                           bool is_used);
  /// Returns the C type of a parameter or result.
  llvm::Type* type_in_c(DataType t) const;
  /// Returns the function type for the call. If the function has an imported definition with an
  /// equivalent type, returns that type.
  llvm::FunctionType* signature_in_c(const tir::ExternCallee& callee, const tir::Call& n,
                                     DataType result, bool is_used);
  /// Calls an extern function. If it throws, the workspaces are released while the exception
  /// propagates to the caller.
  llvm::CallBase* call_foreign(llvm::FunctionCallee function,
                               const std::vector<llvm::Value*>& args);
  llvm::Value* call_llvm(const tir::Call& n, DataType type);
  llvm::Value* in_64_bits(const tir::Expr& arg);
  llvm::Value* call_packed(const tir::Call& n);
  /// Stores the values in an array on the stack and returns the array.
  llvm::Value* stack_values(llvm::Type* type, const char* name,
                            const std::vector<llvm::Value*>& values);
  llvm::Value* stack_array(const tir::Call& n);
  llvm::Value* stack_shape(const tir::Call& n);
  llvm::Value* sums_of_products(const tir::Call& n);
  /// Returns the sums of byte products; vectors must not be wider than a register.
  llvm::Value* sums_of_byte_products(const tir::Call& n, llvm::Value* a, llvm::Value* b,
                                     llvm::Value* sums, int lanes);
  llvm::Value* sums_of_bfloat_products(llvm::Value* a, llvm::Value* b, llvm::Value* sums,
                                       int lanes);
  // Tile registers (emit_tiles.cpp).
  /// Emits the statement with its fragments in tile registers, if it allocates any and they fit.
  /// Returns false, and emits nothing, otherwise.
  bool begins_tiles(const tir::Stmt& s);
  void with_tiles(const TileRegisters& tiles, const tir::Stmt& s);
  /// Emits an LLVM intrinsic, given by its number, that operates on tile registers.
  void tile_instruction(unsigned id, const std::vector<llvm::Value*>& args);
  /// Throws LowerError if a fragment in tile registers is accessed by anything but a matrix
  /// operation.
  [[noreturn]] void refuse_fragment(const tir::Expr& data) const;
  /// Returns the number of the register that contains a fragment's tile.
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
  llvm::Value* math(tir::Intrin intrin, const tir::Call& n, DataType type);
  /// Compute on values of `type`, which is float32, float64 or a vector of them.
  llvm::Value* math_on(tir::Intrin intrin, const std::vector<llvm::Value*>& args, DataType type);
  llvm::Value* exactly(const tir::Expr& e);
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
  /// The block that receives allocas: the function's first block. Its branch to the next block is
  /// added after everything else has been emitted.
  llvm::BasicBlock* entry_;
  std::unordered_map<const tir::ExprNode*, llvm::Value*> variables_;
  /// The values of loop variables and sizes, and values computed from them. Sums of these values
  /// are assumed not to overflow.
  std::unordered_set<const llvm::Value*> index_values_;
  /// The 64-bit values of int32 variables that are computed in 64 bits.
  std::unordered_map<const tir::ExprNode*, llvm::Value*> wide_variables_;
  bool index_mode_ = false;
  /// The mask of lanes that evaluate the enclosing side of a per-lane choice; null if all lanes do.
  llvm::Value* lanes_ = nullptr;
  /// The mask of lanes that take the enclosing per-lane branches, and may therefore be stored; null
  /// if all lanes do.
  llvm::Value* stored_lanes_ = nullptr;
  /// The data pointers of temporaries on the stack. Called parts have the same set, because their
  /// temporaries are on the stack as well.
  std::shared_ptr<const VarSet> stack_;
  WorkspaceScopes workspaces_;
  llvm::Value* device_id_ = nullptr;
  /// Whether this function is a part of a long sequence outside of loops. Its loops are not
  /// unrolled, unless they are short.
  bool is_divided_ = false;
  /// The number of enclosing serial loops. Includes loops around the call of this function.
  int loop_depth_ = 0;
  /// The tile registers configured by an enclosing statement; null if none is.
  const TileRegisters* tiles_ = nullptr;
  /// The reason why the fragments of an enclosing statement do not fit in tile registers.
  std::optional<std::string> tile_obstacle_;
  /// The current task; only set inside a persistent parallel region.
  std::optional<Task> task_;
  bool streams_stores_ = false;
  /// The minimum number of lanes of the stores to each buffer that were emitted so far.
  std::unordered_map<const tir::ExprNode*, int> narrowest_stores_;
  /// The address that the current store also reads; null if it only writes.
  llvm::Value* accumulated_ = nullptr;
};

/// Emits the computation of a function. Throws LowerError for IR that a CPU cannot run.
llvm::Function* emit_computation(ModuleEmitter& module, const tir::PrimFunc& func,
                                 const Signature& signature, const Computation& analyses);
/// Emits the packed function (c_api.h), which unpacks its arguments and calls the computation.
void emit_packed(ModuleEmitter& module, const tir::PrimFunc& func, const Signature& signature,
                 const Computation& analyses, llvm::Function* computation);

}  // namespace tenon::codegen

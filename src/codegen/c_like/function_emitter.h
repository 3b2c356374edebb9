// Emits one function as C text: the computation of a PrimFunc, or the body of a parallel loop.
// Reading order: statements (emit_stmt.cpp), long sequences (emit_parts.cpp), parallel loops
// (emit_parallel.cpp), expressions (emit_expr.cpp), arithmetic and conversions
// (emit_arithmetic.cpp), memory and lanes (emit_memory.cpp), calls (emit_call.cpp), mathematics
// (emit_math.cpp), constructs of kernels (emit_device.cpp).
//
// The text has no values of vector type: storing or binding a vector becomes a loop over its lanes,
// and an expression is emitted for one lane.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "codegen/c_like/stage_comments.h"
#include "codegen/c_like/text.h"
#include "codegen/c_like/text_emitter.h"
#include "tenon/codegen/index_uses.h"
#include "tenon/codegen/lowering/share_loop.h"
#include "tenon/codegen/memory_plan.h"
#include "tenon/codegen/stmt_sizes.h"
#include "tenon/support/function_ref.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/stmt.h"

namespace tenon::codegen {

/// A lane of a vector. Its number is a constant, or the variable of a loop over the lanes.
struct Lane {
  Text text = {"0"};
  std::optional<int> number = 0;

  static Lane at(int number) { return {{std::to_string(number)}, number}; }
  static Lane variable(std::string name) { return {{std::move(name)}, std::nullopt}; }
};

/// The C variable that represents an IR variable.
struct CVariable {
  std::string name;
  /// The pointee type of a pointer, such as "const float"; empty if the variable is not a pointer.
  std::string pointee = {};
  /// Whether the variable is a vector, which is stored in an array of its lanes.
  bool is_lanes = false;
  /// Whether the variable is a loop variable, a size, or computed from these. Sums of such
  /// variables are assumed not to overflow.
  bool is_index = false;
  /// Whether the variable is memory that the computation allocates, which does not alias
  /// parameters.
  bool is_local = false;
  /// A known divisor of an index.
  std::int64_t factor = 1;
  /// The address space qualifier of a pointer in a kernel, such as "__global ".
  std::string space = {};
  /// Whether the pointer is declared restrict even if other parameters of the function are not.
  bool is_restrict = false;
  /// Whether loaded elements pass through an empty `asm`, so that the device compiler cannot merge
  /// the load with one of another array.
  bool is_opaque = false;
};

class CFunctionEmitter {
 public:
  CFunctionEmitter(TextEmitter& module, const VarSet& used_as_data, std::string name, bool noalias)
      : module_(module),
        used_as_data_(used_as_data),
        name_(std::move(name)),
        noalias_(noalias),
        names_(module.names()) {
    out_.indent();
    shared_memory_.indent();
  }

  Names& names() { return names_; }
  /// Adds a comment with the computed stage before the statement, if stage comments are enabled.
  void comment_stages(const tir::PrimFunc& func) {
    if (module_.comments_stages()) comments_ = std::make_shared<StageComments>(func);
  }
  void define(const tir::Var& var, CVariable variable) {
    variables_.insert_or_assign(&var.node(), std::move(variable));
  }
  /// Emits the body and the return of kTenonOk.
  void body(const tir::Stmt& body);
  /// Returns the function; `head` is the text before its first brace.
  std::string function(const std::string& head) const;
  /// Returns a declaration: "float* restrict C".
  std::string declaration(const std::string& type, const CVariable& variable) const;

 private:
  friend class PackedTextEmitter;
  friend class KernelTextEmitter;

  // Emission of statements.
  void stmt(const tir::Stmt& s);
  bool comment(const tir::Stmt& s);
  void emit(const tir::Store& n);
  void emit(const tir::Allocate& n);
  void emit(const tir::For& n);
  void emit(const tir::While& n);
  void emit(const tir::If& n);
  void branch_by_lanes(const tir::If& n);
  void emit(const tir::Let& n);
  void emit(const tir::Assert& n);
  void emit(const tir::Attr& n);
  void emit(const tir::Evaluate& n);
  void emit(const tir::Seq& n);
  void part(std::span<const tir::Stmt> stmts);
  void workspace(const tir::Allocate& n);
  void block(const std::string& head, const std::function<void()>& content);
  void serial_loop(const tir::Var& var, const Text& begin, const Text& end, const tir::Stmt& body);
  void parallel_loop(const tir::For& n);
  void parallel_region(const tir::Stmt& body);
  /// Returns a unique name for an outlined function that this function calls. No variable and no
  /// other function has the same name.
  std::string take_callee_name(const std::string& what);
  /// Outlining: the body becomes a function that the runtime calls. The variables that the body
  /// uses are captured in a closure.
  void capture(const tir::Stmt& body, CFunctionEmitter& inner,
               FunctionRef<void(const std::string&, const CVariable&, const std::string&)> add);
  /// Returns the names of the function and the closure. `own_params` are the types and preferred
  /// names of additional parameters; `content` receives their actual names.
  using Params = std::vector<std::pair<std::string, std::string>>;
  std::pair<std::string, std::string> outline(
      const tir::Stmt& body, const std::string& what, Params own_params,
      const std::function<void(CFunctionEmitter&, const Params&)>& content);
  /// Declares a variable for a value that several statements use. Returns its name.
  std::string bind(const std::string& name, DataType type, const Text& value);
  void check_status(const std::string& call);
  void leave(const std::string& status);
  void return_value(const Text& value);

  // Emission of constructs that only kernels have.
  bool is_kernel() const { return module_.dialect().device.has_value(); }
  void kernel_body(const tir::Stmt& body);
  void thread_axis(const tir::Attr& n);
  void device_memory(const tir::Allocate& n);
  void dynamic_shared_memory(const tir::Allocate& n);
  std::string space_of(const tir::Var& data) const;
  void read_fragments(const tir::Stmt& kernel);
  void fragment_memory(const tir::Allocate& n);
  Text tile(const tir::Expr& data, const tir::Expr& number);
  Text matrix_operation(tir::Intrin intrin, const tir::Call& n);
  Text four_bytes(const tir::Expr& e);
  Text dot_product(const tir::Call& n);
  std::int64_t known_factor(const tir::Expr& e) const;
  std::string vector_in_memory(DataType element, int lanes, const tir::Expr& base) const;
  bool store_vector(const tir::Store& n, const tir::Expr& position);
  bool copy_vector(const tir::Store& n, const tir::Expr& to);
  void load_vector(const tir::Expr& load);
  Text lane_address(const tir::Buffer& buffer, const tir::Expr& base);
  std::string vector_address(const tir::Buffer& buffer, const tir::Expr& base);
  [[noreturn]] void refuse_in_kernel(const std::string& what) const;

  // Expressions, for a scalar or for one lane of a vector.
  Text expr(const tir::Expr& e, const Lane& lane = {});
  Text emit(const tir::Binary& n, const Lane& lane);
  Text emit(const tir::Ramp& n, const Lane& lane);
  Text emit(const tir::Shuffle& n, const Lane& lane);
  Text emit(const tir::LetExpr& n, const Lane& lane);
  Text variable(const tir::Expr& e, const Lane& lane);
  /// Returns the value, and the statements that it needs, which are not added to the function.
  std::pair<Lines, Text> aside(FunctionRef<Text()> make);
  /// Emits a conditional: `a` if the condition holds, otherwise `b`. Only one of them is evaluated.
  Text choose(const Text& condition, const std::function<Text()>& a, const std::function<Text()>& b,
              const std::string& type);
  Text index(const tir::Expr& e, const Lane& lane = {});
  const CVariable& find(const tir::Expr& var) const;
  Lane scaled(const Lane& lane, int divisor, bool wants_remainder);

  // Emission of arithmetic.
  Text arithmetic(tir::BinaryOp op, const tir::Binary& n, const Lane& lane);
  Text float_arithmetic(tir::BinaryOp op, const Text& a, const Text& b, DataType t);
  Text comparison(tir::BinaryOp op, const Text& a, const Text& b);
  Text integer_division(tir::BinaryOp op, const tir::Binary& n, const Lane& lane);
  Text integer_extremum(bool is_min, const tir::Expr& a, const tir::Expr& b, const Lane& lane);
  bool may_merge_extrema(DataType t) const;
  std::optional<Text> choice_as_extremum(const tir::Expr& condition, const tir::Expr& a,
                                         const tir::Expr& b, const Lane& lane);
  Text wrapping(const tir::Expr& e, const Lane& lane);
  Text wrapping_operand(const tir::Expr& e, const Lane& lane);
  bool is_index(const tir::Expr& e) const;
  Text cast(const Text& value, DataType from, DataType to);
  Text integer(std::int64_t value, DataType t) const;
  Text floating(double value, DataType t) const;
  Text rounded(const Text& value, DataType t);

  // Emission of memory accesses.
  Text load(const tir::Load& n, const Lane& lane);
  Text element(const tir::Buffer& buffer, const tir::Expr& position, const Lane& lane);
  Text pointer(const tir::Expr& data, DataType element);
  Text in_memory(const Text& value, DataType t);
  bool is_opaque(const tir::Buffer& buffer) const {
    return buffer->data.as<tir::VarNode>() && find(buffer->data).is_opaque;
  }
  /// Returns the location of an element: a pointer and an offset.
  std::pair<Text, Text> place_of(const tir::Buffer& buffer, const tir::Expr& position,
                                 const Lane& lane);
  void put(const tir::Buffer& buffer, const tir::Expr& position, const Lane& lane,
           const Text& value);
  void put(const tir::Buffer& buffer, const tir::Expr& position, const Lane& lane,
           const tir::Expr& value);
  /// The order in which the lanes of a store are emitted. OneByOne emits one statement per lane, so
  /// the lane number is a constant. The other orders emit a loop.
  enum class LaneOrder : unsigned char { Any, Ascending, OneByOne };
  static LaneOrder order_of(const tir::Expr& value);
  /// Emits `statement(lane)` for every lane.
  void for_lanes(int lanes, LaneOrder order, const std::function<void(const Lane&)>& statement);
  void store_lanes(const tir::Store& n, const tir::Expr& position);
  void where_stored(const Lane& lane, const std::function<void()>& statement);
  /// Stores the lanes of a vector in a new array with this name.
  void keep_lanes(const std::string& name, const tir::Expr& value);
  bool may_change(const tir::Expr& read, const tir::Buffer& stored,
                  const tir::Expr& position) const;

  // Emission of calls.
  Text emit(const tir::Call& n, DataType type, const Lane& lane);
  Text device_intrin(tir::Intrin intrin, const tir::Call& n, DataType type, const Lane& lane);
  Text asynchronous_copy(tir::Intrin intrin, const tir::Call& n);
  Text call_intrin(tir::Intrin intrin, const tir::Call& n, DataType type, const Lane& lane);
  Text call_extern(const tir::ExternCallee& callee, const tir::Call& n, DataType type);
  Text call_packed(const tir::Call& n);
  Text stack_array(const tir::Call& n);
  Text stack_shape(const tir::Call& n);
  Text address_of(const tir::Expr& e);
  Text reinterpret(const Text& value, DataType from, DataType to);
  Text bits_intrin(tir::Intrin intrin, const tir::Call& n, DataType type, const Lane& lane);
  Text math(tir::Intrin intrin, const tir::Call& n, DataType type, const Lane& lane);
  Text math_call(const std::string& function, const std::vector<Text>& args, DataType t);

  std::string type_of(DataType t) const { return value_type(module_.dialect(), t); }
  /// Whether the type is the language's native float16.
  bool is_native_half(DataType t) const {
    return t.is_float() && t.bits == 16 && module_.dialect().half == HalfType::Native;
  }
  bool is_loaded_by_function(DataType t) const {
    return t.is_float() && t.bits == 16 && module_.dialect().half == HalfType::LoadedAndStored;
  }
  /// Returns the value converted to a type that math functions accept.
  Text widened(const Text& value, DataType t) const {
    return is_native_half(t) ? cast_to("float", value) : value;
  }

  TextEmitter& module_;
  /// See data_variables().
  const VarSet& used_as_data_;
  std::string name_;
  bool noalias_;
  Names names_;
  Lines out_;
  std::unordered_map<const tir::ExprNode*, CVariable> variables_;
  /// The data pointers of temporaries on the stack.
  VarSet stack_;
  bool index_mode_ = false;
  bool uses_status_ = false;
  /// Whether the function may return a status other than kTenonOk.
  bool may_fail_ = false;
  /// The statement sizes of the whole computation that this function is part of; null if the
  /// computation must not be divided.
  const StmtSizes* sizes_ = nullptr;
  /// The number of enclosing loops. Includes loops around the call of this function.
  int loop_depth_ = 0;
  /// Emits stage comments; null if they are disabled. `commented_` is the stage of the last
  /// comment.
  std::shared_ptr<StageComments> comments_;
  std::optional<int> commented_;
  /// The workspaces in scope. The innermost one is last.
  struct Workspace {
    std::string name, label;
    bool is_jumped_to = false;
  };
  std::vector<Workspace> workspaces_;
  /// The current task; only set inside a persistent parallel region.
  std::optional<Task> task_;
  /// The array that holds the mask of lanes that take the enclosing per-lane branches; "" outside
  /// such branches.
  std::string stored_lanes_;
  /// Shared memory declarations of the kernel. They precede its statements.
  Lines shared_memory_;
  /// The bytes of dynamic shared memory allocated so far, and whether dynamic shared memory is
  /// used.
  tir::Expr dynamic_bytes_ = tir::make_int(Int(64), 0);
  bool has_dynamic_shared_ = false;
  /// The variables that hold vector loads of the current statement.
  std::unordered_map<const tir::ExprNode*, std::string> vector_loads_;
  /// Fragments by data pointer: the m x n x k shape of the product that uses the fragment, and
  /// whether the fragment's memory layout is column-major. Never iterated, because the keys are
  /// addresses.
  std::unordered_map<const tir::ExprNode*, std::tuple<int, int, int, bool>> fragments_;
  /// The memory that matrix operations load from and store to.
  std::unordered_set<const tir::ExprNode*> matrix_memory_;
  /// The required alignment of each parameter, in bytes.
  std::unordered_map<std::string, int> aligned_params_;
  void align(const tir::Expr& data, int bytes) {
    int& most = aligned_params_[find(data).name];
    most = std::max(most, bytes);
  }
};

}  // namespace tenon::codegen

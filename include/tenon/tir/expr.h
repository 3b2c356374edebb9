// Expressions: small immutable nodes in one closed variant, behind a cheap handle that is never
// empty.
//
//   Var i("i"), j("j");
//   Expr e = i * 8 + j;                              // ops.h has the operators, with constant folding
//   if (const Binary* b = e.as<Binary>()) ...        // one kind
//   match(e.node().value, [](const IntImm&) {...}, ...);   // all kinds
//
// Ground rules, said once. Integer arithmetic wraps in the width of its type; index arithmetic
// (int32, int64) is assumed not to overflow by the simplifier. Evaluation order of operands is
// unspecified; only Call may have effects. A vector operation works lane by lane. Division by zero
// is undefined and is never folded.
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "tenon/support/name.h"
#include "tenon/tir/intrin.h"
#include "tenon/tir/type.h"

namespace tenon::tir {

struct ExprNode;
struct BufferNode;
struct IterVarNode;
struct CommReducerNode;
class Var;
class Stmt;

/// What a handle refers to that has been moved from: an empty tuple, of type handle, so that
/// nothing that is asked of such a handle is a crash, and hardly anything takes it for a value.
extern const ExprNode kMovedFrom;

/// An integer as it stands in a C++ program.
struct IntegerLiteral {
  template <std::integral T>
  explicit IntegerLiteral(T value)
      : bits(static_cast<std::int64_t>(value)),
        is_bool(std::same_as<T, bool>),
        is_above_int64(std::unsigned_integral<T> && bits < 0) {}
  /// The type that it has by itself: Bool, int32, else int64, else uint64.
  DataType type() const;
  bool fits(DataType type) const;
  double as_double() const;
  std::string str() const;

  /// The value; above int64's range that of its bits.
  std::int64_t bits;
  bool is_bool;
  bool is_above_int64;
};

class Expr {
 public:
  /// An integer constant: int32, or int64 or uint64 where the value needs it; a bool becomes a Bool
  /// constant.
  template <std::integral T>
  Expr(T value) : Expr(from_literal(IntegerLiteral(value))) {}
  /// A float32 constant. TypeError for a number that is finite and would be infinite.
  template <std::floating_point T>
  Expr(T value, SourceLocation where = SourceLocation::current())
      : Expr(from_floating(static_cast<double>(value), where)) {}
  /// The variable of an iteration axis.
  Expr(const class IterVar& axis);  // NOLINT(google-explicit-constructor)
  explicit Expr(std::shared_ptr<const ExprNode> node) : node_(std::move(node)) {}
  Expr(const Expr&) = default;
  Expr& operator=(const Expr&) = default;
  Expr(Expr&& other) noexcept : node_(std::move(other.node_)) { other.leave(); }
  Expr& operator=(Expr&& other) noexcept {
    if (this == &other) return *this;
    node_ = std::move(other.node_);
    other.leave();
    return *this;
  }

  const ExprNode& node() const { return *node_; }
  /// Whether the handle has been moved from. It refers to kMovedFrom until it is assigned to; what
  /// takes expressions from users refuses it (TypeError).
  bool is_moved_from() const { return node_.get() == &kMovedFrom; }
  /// Whether no other handle refers to the node.
  bool is_last() const { return node_.use_count() == 1; }
  DataType dtype() const;
  /// The node if it is of kind T, else null.
  template <class T>
  const T* as() const;
  /// Identity, not equality (`==` builds a comparison; compare.h has structural equality).
  bool same_as(const Expr& other) const { return node_ == other.node_; }
  /// cast(type, *this).
  Expr astype(DataType type, SourceLocation where = SourceLocation::current()) const;

 protected:
  std::shared_ptr<const ExprNode> node_;

 private:
  static Expr from_literal(const IntegerLiteral& value);
  static Expr from_floating(double value, const SourceLocation& where);
  /// Refers to kMovedFrom, without owning it: nothing is counted.
  void leave() {
    node_ = std::shared_ptr<const ExprNode>(std::shared_ptr<const void>(), &kMovedFrom);
  }
};

/// A half-open range [min, min + extent).
struct Range {
  Expr min;
  Expr extent;
  /// [begin, end): {0, n}. TypeError: ends of types that do not go together.
  Range(Expr begin, Expr end, SourceLocation where = SourceLocation::current());
  static Range from_min_extent(Expr min, Expr extent);

 private:
  struct Raw {};
  Range(Raw, Expr min, Expr extent) : min(std::move(min)), extent(std::move(extent)) {}
};

// ---- handles of shared things -------------------------------------------------------------------

/// A variable. Identity, not name, tells variables apart.
class Var : public Expr {
 public:
  explicit Var(Name name, DataType type = Int(32));
  /// A data pointer.
  Var(Name name, PointerType type);
  /// A size: an integer known to be >= 0.
  static Var size(Name name, DataType type = Int(32));
  /// Precondition: `e` is a variable.
  static Var of(const Expr& e);
  // Moving copies, so that a handle is never empty.
  Var(const Var&) = default;
  Var& operator=(const Var&) = default;
  const std::string& name() const;
  /// A new variable that differs from this one only in identity (and name, if given).
  Var fresh() const;
  Var fresh(std::string name) const;

 private:
  explicit Var(Expr e) : Expr(std::move(e)) {}
};

/// An iteration variable: a variable with its range and what it stands for.
class IterVar {
 public:
  IterVar(std::optional<Range> dom, Var var, IterKind kind,
          std::optional<ThreadTag> thread = std::nullopt);
  // Moving copies, so that a handle is never empty.
  IterVar(const IterVar&) = default;
  IterVar& operator=(const IterVar&) = default;
  const Var& var() const;
  const std::string& name() const;
  /// Absent where it is to be inferred.
  const std::optional<Range>& dom() const;
  IterKind kind() const;
  const std::optional<ThreadTag>& thread() const;
  bool same_as(const IterVar& other) const { return node_ == other.node_; }
  const IterVarNode* get() const { return node_.get(); }

 private:
  std::shared_ptr<const IterVarNode> node_;
};

/// A buffer of any rank; see buffer.h.
class Buffer;

/// What an Expr can read element by element before schedules are lowered: a tensor (te::Tensor
/// implements it).
class Producer {
 public:
  virtual ~Producer() = default;
  virtual std::string name() const = 0;
  virtual const std::vector<Expr>& shape() const = 0;
  virtual DataType dtype() const = 0;
  /// Two producers are the same tensor if both parts are equal: the operation and the index of its
  /// output.
  virtual const void* operation_identity() const = 0;
  virtual int value_index() const = 0;
};
using ProducerRef = std::shared_ptr<const Producer>;  // What a ProducerLoad reads of.

// ---- kinds of expressions -----------------------------------------------------------------------

/// A constant of integral type; for uint64 the bit pattern.
struct IntImm {
  std::int64_t value;
};
/// A constant of floating type, kept in double precision.
struct FloatImm {
  double value;
};
struct StringImm {  // A text, as an argument of a call.
  std::string value;
};
/// A variable; `pointer` is set for data pointers (dtype Handle), `is_size` for those known >= 0.
struct VarNode {
  std::string name;
  std::optional<PointerType> pointer;
  bool is_size = false;
};
/// Value conversion. Float to int truncates towards zero; to bool is `!= 0`; int to narrower int
/// wraps.
struct Cast {
  Expr value;
};
/// Div is on floats; the others' names say how they round: FloorDiv/FloorMod towards minus infinity
/// (the remainder has the divisor's sign), TruncDiv/TruncMod towards zero. Comparisons give Bool of
/// the same lanes. And/Or on Bool; of scalars, the right side is not evaluated where the left
/// decides (it may be an access that the left guards).
enum class BinaryOp : std::uint8_t {
  Add,
  Sub,
  Mul,
  Div,
  TruncDiv,
  TruncMod,
  FloorDiv,
  FloorMod,
  Min,
  Max,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  And,
  Or
};
struct Binary {
  BinaryOp op;
  Expr a;
  Expr b;
};
struct Not {  // The other truth value, lane-wise.
  Expr a;
};
/// Evaluates both sides (if_then_else evaluates one).
struct Select {
  Expr condition;
  Expr if_true;
  Expr if_false;
};
/// [base, base + stride, base + 2*stride, ...], scalar base and stride.
struct Ramp {
  Expr base;
  Expr stride;
  int lanes;
};
struct Broadcast {  // `lanes` times the value, which may be a vector.
  Expr value;
  int lanes;
};
/// The concatenated lanes of `vectors`, picked by constant `indices`.
struct Shuffle {
  std::vector<Expr> vectors;
  std::vector<Expr> indices;
};
struct LetExpr {  // `body`, where `var` has the value.
  Var var;
  Expr value;
  Expr body;
};
/// A C function by name; `pure` promises no effect.
struct ExternCallee {
  std::string name;
  bool pure;
};
struct Call {
  std::variant<Intrin, ExternCallee> callee;
  std::vector<Expr> args;

  bool is(Intrin intrin) const;
};
/// An element (or, with a vector last index, elements) of a buffer.
struct Load;
/// An element of a tensor; gone after schedule_ops.
struct ProducerLoad {
  ProducerRef producer;
  std::vector<Expr> indices;
};

/// A commutative, associative combination of tuples: result(lhs, rhs), with identity(x, identity)
/// == x.
struct CommReducerNode {
  std::vector<Var> lhs, rhs;
  std::vector<Expr> result, identity;
  std::string name;
};
using CommReducer = std::shared_ptr<const CommReducerNode>;  // A handle of what combines.

/// The tuple reduction of `source` over all points of `axis` where `condition` holds, starting from
/// `init` (the reducer's identity if empty); the value is component `value_index`. Only as the
/// whole body of an operation.
struct ReduceNode {
  CommReducer combiner;
  std::vector<Expr> source;
  std::vector<Expr> init;
  std::vector<IterVar> axis;
  Expr condition;
};
struct Reduce {  // One value of a reduction; gone when loops are made.
  std::shared_ptr<const ReduceNode> reduction;
  int value_index;
};

struct IterVarNode {  // What an IterVar refers to.
  std::optional<Range> dom;
  Var var;
  IterKind kind;
  std::optional<ThreadTag> thread;
};

class Buffer {  // Memory, and how elements lie in it: a handle.
 public:
  explicit Buffer(std::shared_ptr<const BufferNode> node) : node_(std::move(node)) {}
  // Moving copies, so that a handle is never empty.
  Buffer(const Buffer&) = default;
  Buffer& operator=(const Buffer&) = default;
  const BufferNode* operator->() const { return node_.get(); }
  const BufferNode* get() const { return node_.get(); }
  bool same_as(const Buffer& other) const { return node_ == other.node_; }

  // What users call; the rest is in BufferNode (buffer.h). Indices are integers, one per dimension,
  // of which the last may be a vector (TypeError); constants lie within the shape (BoundError).
  const std::vector<Expr>& shape() const;
  const std::vector<Expr>& strides() const;
  DataType dtype() const;
  const std::string& name() const;
  StorageScope scope() const;
  /// The address of the first element, as an argument of a call. mode: "r", "w" or "rw"; `offset`,
  /// a scalar integer, in elements.
  Expr access_ptr(const Name& mode, Expr offset = 0,
                  SourceLocation where = SourceLocation::current()) const;
  /// A load.
  Expr operator()(std::vector<Expr> indices,
                  SourceLocation where = SourceLocation::current()) const;
  /// A load of neighbours in a row, as many as the type has lanes, from `begin` on; without a type,
  /// of one. TypeError: a type of other elements.
  Expr vload(std::vector<Expr> begin, std::optional<DataType> type = std::nullopt,
             SourceLocation where = SourceLocation::current()) const;
  /// A store of as many neighbours in a row as the value has lanes.
  Stmt vstore(std::vector<Expr> begin, const Expr& value,
              SourceLocation where = SourceLocation::current()) const;
  /// The position of an element behind the data pointer, in elements: elem_offset and strides are
  /// in it. Any constants will do. The buffer has one physical dimension (TypeError).
  Expr offset_of(std::vector<Expr> indices, SourceLocation where = SourceLocation::current()) const;

 private:
  std::shared_ptr<const BufferNode> node_;
};

struct Load {  // buffer[indices]; with a vector last index, lane-wise.
  Buffer buffer;
  std::vector<Expr> indices;
};

struct ExprNode {  // What an Expr refers to.
  using Value = std::variant<IntImm, FloatImm, StringImm, VarNode, Cast, Binary, Not, Select, Ramp,
                             Broadcast, Shuffle, LetExpr, Call, Load, ProducerLoad, Reduce>;
  /// However deep the tree is: where the stack runs low, parts are taken out before they are
  /// destroyed.
  ~ExprNode();

  DataType dtype;
  /// Of the structure, with variables, buffers, producers and reducers by identity; equal trees
  /// hash alike.
  std::size_t hash;
  Value value;
};

inline DataType Expr::dtype() const { return node_->dtype; }
template <class T>
const T* Expr::as() const {
  return std::get_if<T>(&node_->value);
}

// ---- plain construction: types are checked (TypeError), nothing is folded -----------------------

Expr make_int(DataType type,
              std::int64_t value);  // a scalar, or a broadcast for a vector type; wraps nothing
Expr make_float(DataType type, double value);
Expr make_string(std::string value);
Expr make_cast(DataType type, Expr value);
Expr make_binary(BinaryOp op, Expr a, Expr b);
Expr make_not(Expr a);
Expr make_select(Expr condition, Expr if_true, Expr if_false);
Expr make_ramp(Expr base, Expr stride, int lanes);
Expr make_broadcast(Expr value, int lanes);
Expr make_shuffle(std::vector<Expr> vectors, std::vector<Expr> indices);
Expr make_let(Var var, Expr value, Expr body);
Expr make_call(DataType type, Intrin intrin, std::vector<Expr> args);
Expr make_extern_call(DataType type, std::string name, std::vector<Expr> args, bool pure = false);
Expr make_call(DataType type, const std::variant<Intrin, ExternCallee>& callee,
               std::vector<Expr> args);
/// The element type of the load follows the buffer and the lanes of the last index.
Expr make_load(Buffer buffer, std::vector<Expr> indices);
Expr make_producer_load(ProducerRef producer, std::vector<Expr> indices);
Expr make_reduce(std::shared_ptr<const ReduceNode> reduction, int value_index);

// ---- questions ----------------------------------------------------------------------------------

bool is_comparison(BinaryOp op);
std::string_view to_string(BinaryOp op);

/// The value of a constant integer (scalar, or a broadcast of one).
std::optional<std::int64_t> constant_int(const Expr& e);
bool is_constant_int(const Expr& e, std::int64_t value);
inline bool is_zero(const Expr& e) { return is_constant_int(e, 0); }
inline bool is_one(const Expr& e) { return is_constant_int(e, 1); }
inline bool is_true(const Expr& e) { return e.dtype().is_bool() && is_constant_int(e, 1); }
inline bool is_false(const Expr& e) { return e.dtype().is_bool() && is_constant_int(e, 0); }
bool is_constant(const Expr& e);  // IntImm, FloatImm, or a broadcast of one
const Binary* as_binary(const Expr& e, BinaryOp op);
const Call* as_call(const Expr& e, Intrin intrin);

Expr make_true(int lanes = 1);
Expr make_false(int lanes = 1);

inline bool Call::is(Intrin intrin) const {
  const Intrin* own = std::get_if<Intrin>(&callee);
  return own && *own == intrin;
}

}  // namespace tenon::tir

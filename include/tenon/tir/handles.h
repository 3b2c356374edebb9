// Handles: expressions, variables, axes, ranges, buffers, statements. They are cheap to copy and
// never empty. Their nodes are defined in expr.h, buffer.h and stmt.h. Include those only to
// inspect programs: the closed variants take longer to compile than all handles together.
//
//   Var i("i"), j("j");
//   Expr e = i * 8 + j;                              // ops.h has the operators, with constant folding
//   if (const Binary* b = e.as<Binary>()) ...        // expr.h has the kinds
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tenon/support/name.h"
#include "tenon/support/shared.h"
#include "tenon/tir/type.h"

namespace tenon::tir {

struct ExprNode;
struct BufferNode;
struct IterVarNode;
struct CommReducerNode;
struct StmtNode;
struct ReduceNode;
struct ProducerLoad;
enum class BinaryOp : std::uint8_t;
class Var;
class Stmt;

/// The node to which a moved-from handle refers: an empty tuple of type Handle. Queries on such a
/// handle are safe. The type Handle prevents the use of the handle as a value.
extern const ExprNode kMovedFrom;

/// An integer literal of the C++ program, not yet typed.
struct IntegerLiteral {
  template <std::integral T>
  explicit IntegerLiteral(T value)
      : bits(static_cast<std::int64_t>(value)),
        is_bool(std::same_as<T, bool>),
        is_above_int64(std::unsigned_integral<T> && bits < 0) {}
  /// Returns the default type: Bool for a bool, else the first of int32, int64 and uint64 that can
  /// represent the value.
  DataType type() const;
  bool fits(DataType type) const;
  double as_double() const;
  std::string str() const;

  /// The value, or its bit pattern if it is above the range of int64.
  std::int64_t bits;
  bool is_bool;
  bool is_above_int64;
};

class Expr {
 public:
  /// Makes an integer constant of the smallest type that represents the value: int32, int64 or
  /// uint64. A bool becomes a Bool constant.
  template <std::integral T>
  Expr(T value) : Expr(from_literal(IntegerLiteral(value))) {}
  /// Makes a float32 constant. TypeError if a finite number overflows to infinity.
  template <std::floating_point T>
  Expr(T value, SourceLocation where = SourceLocation::current())
      : Expr(from_floating(static_cast<double>(value), where)) {}
  /// Makes the expression that reads the variable of the axis.
  Expr(const class IterVar& axis);  // NOLINT(google-explicit-constructor)
  explicit Expr(Shared<const ExprNode> node) : node_(std::move(node)) {}
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
  /// Whether the handle has been moved from. It refers to kMovedFrom until it is assigned again.
  /// Functions that take expressions from users throw TypeError for it.
  bool is_moved_from() const { return node_.get() == &kMovedFrom; }
  /// Whether no other handle refers to the node.
  bool is_last() const { return node_.use_count() == 1; }
  DataType dtype() const;
  /// Returns the node if it is of kind T, else null.
  template <class T>
  const T* as() const;
  /// Identity comparison. `==` builds an expression; compare.h has structural equality.
  bool same_as(const Expr& other) const { return node_ == other.node_; }
  /// Returns cast(type, *this).
  Expr astype(DataType type, SourceLocation where = SourceLocation::current()) const;

 protected:
  Shared<const ExprNode> node_;

 private:
  static Expr from_literal(const IntegerLiteral& value);
  static Expr from_floating(double value, const SourceLocation& where);
  /// Refers to kMovedFrom, which is static and not reference-counted.
  void leave() { node_ = Shared<const ExprNode>::of_static(kMovedFrom); }
};

/// A half-open range [min, min + extent).
struct Range {
  Expr min;
  Expr extent;
  /// The range [begin, end). `Range(0, n)` has extent n. TypeError if the types of the ends cannot
  /// be promoted to a common integer type.
  Range(Expr begin, Expr end, SourceLocation where = SourceLocation::current());
  static Range from_min_extent(Expr min, Expr extent);
  /// The range [0, extent).
  static Range from_extent(Expr extent);

 private:
  Range(std::in_place_t, Expr min, Expr extent) : min(std::move(min)), extent(std::move(extent)) {}
};

/// Returns the range of each dimension's indices: [0, extent).
std::vector<Range> whole_region(const std::vector<Expr>& shape);

// ---- handles of shared things -------------------------------------------------------------------

/// A variable. Variables are distinguished by identity, not by name.
class Var : public Expr {
 public:
  explicit Var(Name name, DataType type = Int(32));
  /// A data pointer.
  Var(Name name, PointerType type);
  /// Returns a size variable: an integer that is known to be >= 0.
  static Var size(Name name, DataType type = Int(32));
  /// Returns a variable to which a let can bind `value`. The variable holds data (VarNode::is_data)
  /// if `value` wraps.
  static Var let(Name name, const Expr& value);
  /// Returns `e` as a Var. Precondition: `e` is a variable.
  static Var of(const Expr& e);
  // A move copies, so that a moved-from handle is not empty.
  Var(const Var&) = default;
  Var& operator=(const Var&) = default;
  const std::string& name() const;
  /// Returns a new variable that differs only in identity and, if given, in name.
  Var fresh() const;
  Var fresh(std::string name) const;

 private:
  explicit Var(Expr e) : Expr(std::move(e)) {}
};

/// An iteration variable: a variable with its domain and kind.
class IterVar {
 public:
  IterVar(std::optional<Range> dom, Var var, IterKind kind,
          std::optional<ThreadTag> thread = std::nullopt);
  // A move copies, so that a moved-from handle is not empty.
  IterVar(const IterVar&) = default;
  IterVar& operator=(const IterVar&) = default;
  const Var& var() const;
  const std::string& name() const;
  /// The domain; absent if it is still to be inferred.
  const std::optional<Range>& dom() const;
  IterKind kind() const;
  const std::optional<ThreadTag>& thread() const;
  bool same_as(const IterVar& other) const { return node_ == other.node_; }
  const IterVarNode* get() const { return node_.get(); }

 private:
  Shared<const IterVarNode> node_;
};

/// A handle of a buffer: typed memory with a layout (buffer.h).
class Buffer {
 public:
  explicit Buffer(Shared<const BufferNode> node) : node_(std::move(node)) {}
  // A move copies, so that a moved-from handle is not empty.
  Buffer(const Buffer&) = default;
  Buffer& operator=(const Buffer&) = default;
  const BufferNode* operator->() const { return node_.get(); }
  const BufferNode* get() const { return node_.get(); }
  bool same_as(const Buffer& other) const { return node_ == other.node_; }

  // Accessors and element accesses for users; BufferNode (buffer.h) has the other fields. Indices
  // are integers, one per dimension, and only the last one may be a vector (TypeError). BoundError
  // if a constant index is outside the shape.
  const std::vector<Expr>& shape() const;
  const std::vector<Expr>& strides() const;
  DataType dtype() const;
  const std::string& name() const;
  StorageScope scope() const;
  /// Returns the address of the element at `offset` from the first element, for use as an argument
  /// of a call. `mode` is "r", "w" or "rw". `offset` is a scalar integer in elements.
  Expr access_ptr(const Name& mode, Expr offset = 0,
                  SourceLocation where = SourceLocation::current()) const;
  /// Returns a load.
  Expr operator()(std::vector<Expr> indices,
                  SourceLocation where = SourceLocation::current()) const;
  /// Returns a load of consecutive elements that start at index `begin`, one per lane of `type`.
  /// Without `type`, returns a load of one element. TypeError if `type` has another element type.
  Expr vload(std::vector<Expr> begin, std::optional<DataType> type = std::nullopt,
             SourceLocation where = SourceLocation::current()) const;
  /// Returns a store to consecutive elements that start at index `begin`, one per lane of the
  /// value.
  Stmt vstore(std::vector<Expr> begin, const Expr& value,
              SourceLocation where = SourceLocation::current()) const;
  /// Returns the offset of an element from the data pointer, in elements, including elem_offset and
  /// strides. Constant indices may be out of bounds. TypeError if the buffer has more than one
  /// physical dimension.
  Expr offset_of(std::vector<Expr> indices, SourceLocation where = SourceLocation::current()) const;

 private:
  Shared<const BufferNode> node_;
};

/// A handle of a statement; never empty.
class Stmt {
 public:
  explicit Stmt(Shared<const StmtNode> node) : node_(std::move(node)) {}
  // A move copies, so that a moved-from handle is not empty.
  Stmt(const Stmt&) = default;
  Stmt& operator=(const Stmt&) = default;
  /// Returns the node that this handle refers to.
  const StmtNode& node() const { return *node_; }
  /// Returns the node if it is of kind T, else null.
  template <class T>
  const T* as() const;
  /// Whether both handles refer to the same node.
  bool same_as(const Stmt& other) const { return node_ == other.node_; }

 private:
  Shared<const StmtNode> node_;
};

/// Interface of values that an Expr can read element by element before schedules are lowered.
/// Implemented by te::Tensor.
class Producer {
 public:
  virtual ~Producer() = default;
  virtual std::string name() const = 0;
  virtual const std::vector<Expr>& shape() const = 0;
  virtual DataType dtype() const = 0;
  /// Identity of the operation. Two producers are the same tensor if both the operation and the
  /// value index are equal.
  virtual const void* operation_identity() const = 0;
  virtual int value_index() const = 0;
};
using ProducerRef = std::shared_ptr<const Producer>;  // the target of a ProducerLoad

/// Returns a string constant, for use as an argument of a call.
Expr make_string(std::string value);

/// A shared, immutable reducer.
using CommReducer = std::shared_ptr<const CommReducerNode>;

}  // namespace tenon::tir

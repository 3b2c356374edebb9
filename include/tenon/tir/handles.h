// Handles of what programs are made of: expressions, variables, axes, ranges, buffers, statements.
// Cheap to copy, never empty. What they refer to is in expr.h, buffer.h and stmt.h, which only
// those include who look into programs: their closed variants cost a compiler more than all
// handles.
//
//   Var i("i"), j("j");
//   Expr e = i * 8 + j;                              // ops.h has the operators, with constant folding
//   if (const Binary* b = e.as<Binary>()) ...        // expr.h has the kinds
#pragma once

#include <concepts>
#include <memory>
#include <string>
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
  Shared<const ExprNode> node_;

 private:
  static Expr from_literal(const IntegerLiteral& value);
  static Expr from_floating(double value, const SourceLocation& where);
  /// Refers to kMovedFrom, without owning it: nothing is counted.
  void leave() { node_ = Shared<const ExprNode>::of_static(kMovedFrom); }
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
  Shared<const IterVarNode> node_;
};

/// Memory, and how elements lie in it: a handle. See buffer.h.
class Buffer {
 public:
  explicit Buffer(Shared<const BufferNode> node) : node_(std::move(node)) {}
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
  Shared<const BufferNode> node_;
};

/// A statement: a handle, never empty.
class Stmt {
 public:
  explicit Stmt(Shared<const StmtNode> node) : node_(std::move(node)) {}
  // Moving copies, so that a handle is never empty.
  Stmt(const Stmt&) = default;
  Stmt& operator=(const Stmt&) = default;
  /// What it refers to.
  const StmtNode& node() const { return *node_; }
  /// Null if it is of another kind.
  template <class T>
  const T* as() const;
  /// Whether both refer to one node.
  bool same_as(const Stmt& other) const { return node_ == other.node_; }

 private:
  Shared<const StmtNode> node_;
};

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

/// A text, as an argument of a call.
Expr make_string(std::string value);

/// A handle of what combines.
using CommReducer = std::shared_ptr<const CommReducerNode>;

}  // namespace tenon::tir

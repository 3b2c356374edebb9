// Expressions: small immutable nodes in one closed variant, behind a cheap handle that is never
// empty.
//
//   Var i("i"), j("j");
//   Expr e = i * 8 + j;                              // ops.h has the operators, with constant folding
//   if (const Binary* b = e.as<Binary>()) ...        // one kind
//   match(e.node().value, [](const IntImm&) {...}, ...);   // all kinds
//
// Semantics common to all nodes:
// - Integer arithmetic wraps at the width of its type. Sums of loop variables, sizes and constants
//   in indices, bounds and guards may be assumed not to overflow (arith/wraps.h).
// - The evaluation order of operands is unspecified. Only Call may have side effects.
// - Vector operations work lane by lane.
// - Division by zero is undefined and is never folded.
//
// interp/scalar.h defines the value of each operator for each type.
#pragma once

#include <variant>

#include "tenon/tir/contents.h"
#include "tenon/tir/handles.h"
#include "tenon/tir/intrin.h"
#include "tenon/tir/make.h"

namespace tenon::tir {

// ---- kinds of expressions -----------------------------------------------------------------------

/// A constant of integral type. uint64 values are stored as their bit pattern.
struct IntImm {
  std::int64_t value;
};
/// A constant of floating type. The value is always representable in its type.
struct FloatImm {
  double value;
};
struct StringImm {  // A string; occurs only as an argument of a call.
  std::string value;
};
/// A variable. `pointer` is set for data pointers (dtype Handle). `is_size` marks variables known
/// to be >= 0. `is_data` marks variables that a let binds to data; arithmetic with them wraps.
struct VarNode {
  std::string name;
  std::optional<PointerType> pointer = std::nullopt;
  bool is_size = false;
  bool is_data = false;
};
/// Value conversion. Float to int truncates towards zero and saturates; NaN gives 0. A conversion
/// to bool is `!= 0`. Int to narrower int wraps.
struct Cast {
  Expr value;
};
/// Binary operators. Div is for floats. FloorDiv and FloorMod round towards minus infinity (the
/// remainder has the divisor's sign); TruncDiv and TruncMod round towards zero. Min and Max return
/// NaN if an operand is NaN. Comparisons return Bool with the same number of lanes. And and Or take
/// Bool and short-circuit lane by lane: where the left operand decides, the right one is not
/// evaluated. The left operand may therefore guard an access in the right one.
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
struct Not {  // Logical negation, lane-wise.
  Expr a;
};
/// Lane-wise choice. The operand that is not chosen may be evaluated too, but does not fault.
/// (Intrin::if_then_else evaluates one side only.)
struct Select {
  Expr condition;
  Expr if_true;
  Expr if_false;
};
/// The vector [base, base + stride, base + 2*stride, ...] of a scalar base and stride.
struct Ramp {
  Expr base;
  Expr stride;
  int lanes;
};
struct Broadcast {  // `lanes` copies of the value, which may be a vector.
  Expr value;
  int lanes;
};
/// Lanes of the concatenated `vectors`, selected by constant `indices`.
struct Shuffle {
  std::vector<Expr> vectors;
  std::vector<Expr> indices;
};
struct LetExpr {  // `body` with `var` bound to `value`.
  Var var;
  Expr value;
  Expr body;
};
/// A C function, called by name. `pure` promises that it has no side effects.
struct ExternCallee {
  std::string name;
  bool pure;
  friend bool operator==(const ExternCallee&, const ExternCallee&) = default;
};
struct Call {
  std::variant<Intrin, ExternCallee> callee;
  std::vector<Expr> args;

  bool is(Intrin intrin) const;
};
/// A read of a buffer element, or of several elements if the last index is a vector.
struct Load;
/// An element of a tensor. Does not occur after schedule_ops.
struct ProducerLoad {
  ProducerRef producer;
  std::vector<Expr> indices;
};

/// A commutative and associative combiner of tuples: `result` as a function of `lhs` and `rhs`, and
/// its `identity`, so that result(x, identity) == x.
struct CommReducerNode {
  std::vector<Var> lhs, rhs;
  std::vector<Expr> result, identity;
  std::string name;
};

/// The reduction of the tuple `source` over the points of `axis` that satisfy `condition`. It
/// starts at `init`, or at the reducer's identity if `init` is empty. Occurs only as the whole body
/// of an operation.
struct ReduceNode {
  CommReducer combiner;
  std::vector<Expr> source;
  std::vector<Expr> init;
  std::vector<IterVar> axis;
  Expr condition;
};
struct Reduce {  // Component `value_index` of a reduction; replaced by loops in schedule_ops.
  std::shared_ptr<const ReduceNode> reduction;
  int value_index;
};

struct IterVarNode {  // The node that an IterVar refers to.
  std::optional<Range> dom;
  Var var;
  IterKind kind;
  std::optional<ThreadTag> thread;
};

struct Load {  // buffer[indices]; lane-wise if the last index is a vector.
  Buffer buffer;
  std::vector<Expr> indices;
};

struct ExprNode {  // The node that an Expr refers to.
  using Value = std::variant<IntImm, FloatImm, StringImm, VarNode, Cast, Binary, Not, Select, Ramp,
                             Broadcast, Shuffle, LetExpr, Call, Load, ProducerLoad, Reduce>;
  /// Destroys trees of any depth: when the stack runs low, children are detached and destroyed
  /// iteratively.
  ~ExprNode();

  DataType dtype;
  /// Structural hash. Variables, buffers, producers and reducers hash by identity; equal trees have
  /// equal hashes.
  std::size_t hash;
  Contents contents;
  Value value;
};

template <class T>
const T* Expr::as() const {
  return std::get_if<T>(&node_->value);
}

/// Builds a call without folding. make.h has the constructors of the other kinds.
Expr make_call(DataType type, const std::variant<Intrin, ExternCallee>& callee,
               std::vector<Expr> args);

// ---- questions ----------------------------------------------------------------------------------

bool is_comparison(BinaryOp op);
std::string_view to_string(BinaryOp op);
const Binary* as_binary(const Expr& e, BinaryOp op);
const Call* as_call(const Expr& e, Intrin intrin);

inline bool Call::is(Intrin intrin) const {
  const Intrin* own = std::get_if<Intrin>(&callee);
  return own && *own == intrin;
}

}  // namespace tenon::tir

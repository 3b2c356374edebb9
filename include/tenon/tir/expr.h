// Expressions: small immutable nodes in one closed variant, behind a cheap handle that is never
// empty.
//
//   Var i("i"), j("j");
//   Expr e = i * 8 + j;                              // ops.h has the operators, with constant folding
//   if (const Binary* b = e.as<Binary>()) ...        // one kind
//   match(e.node().value, [](const IntImm&) {...}, ...);   // all kinds
//
// Ground rules, said once. Integer arithmetic wraps in the width of its type; but sums of loop
// variables, sizes and constants in positions, bounds and guards may be taken not to overflow
// (arith/wraps.h). Evaluation order of operands is unspecified; only Call may have effects. A
// vector operation works lane by lane. Division by zero is undefined and is never folded.
// interp/scalar.h has the value of each operator on each type.
#pragma once

#include <variant>

#include "tenon/tir/contents.h"
#include "tenon/tir/handles.h"
#include "tenon/tir/intrin.h"
#include "tenon/tir/make.h"

namespace tenon::tir {

// ---- kinds of expressions -----------------------------------------------------------------------

/// A constant of integral type; for uint64 the bit pattern.
struct IntImm {
  std::int64_t value;
};
/// A constant of floating type: always a value of its type.
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
/// Value conversion. Float to int truncates towards zero and saturates, and NaN gives 0; to bool is
/// `!= 0`; int to narrower int wraps.
struct Cast {
  Expr value;
};
/// Div is on floats; the others' names say how they round: FloorDiv/FloorMod towards minus infinity
/// (the remainder has the divisor's sign), TruncDiv/TruncMod towards zero. Comparisons give Bool of
/// the same lanes. Min and Max of a NaN are NaN. And/Or on Bool; the right side is not evaluated
/// where the left decides, of vectors lane by lane (it may be an access that the left guards).
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
/// Lane by lane. Either side may be evaluated where it is not chosen, but never faults there
/// (if_then_else evaluates one side).
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
  Contents contents;
  Value value;
};

template <class T>
const T* Expr::as() const {
  return std::get_if<T>(&node_->value);
}

/// Nothing is folded; see make.h, which has the other kinds.
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

// Statements: loop programs as immutable nodes in one closed variant, like expressions.
#pragma once

#include "tenon/tir/buffer.h"
#include "tenon/tir/expr.h"

namespace tenon::tir {

/// buffer[indices] = value; lane-wise if the last index is a vector.
struct Store {
  Buffer buffer;
  Expr value;
  std::vector<Expr> indices;
};

/// Defines the region of a multi-dimensional buffer that exists inside `body`. Does not occur after
/// flatten_storage.
struct Realize {
  /// Pads the stride of dimension `dim` so that stride % factor == offset.
  struct DimAlign {
    int dim;
    int factor;
    int offset;
    friend bool operator==(const DimAlign&, const DimAlign&) = default;
  };
  /// Storage properties that the schedule has set.
  struct Traits {
    std::vector<DimAlign> align;
    bool double_buffer = false;
    bool rolling_buffer = false;
    /// False if the scope is still to be inferred from the enclosing threads.
    bool scope_is_set = true;
    friend bool operator==(const Traits&, const Traits&) = default;
  };
  Buffer buffer;
  std::vector<Range> bounds;
  Expr condition;
  Stmt body;
  Traits traits = {};
};

/// Defines `view` as a region of `source` inside `body`; both are multi-dimensional. Tensor
/// intrinsics and extern operations access their operands through views. Does not occur after
/// flatten_storage.
struct BufferView {
  Buffer view;
  Buffer source;
  std::vector<Range> region;
  Stmt body;
};

/// Allocates product(extents) elements at `data` for the duration of `body`.
struct Allocate {
  Var data;
  DataType dtype;
  std::vector<Expr> extents;
  Expr condition;
  Stmt body;
  bool double_buffer = false;
};

struct LoopTraits;
struct Block;

/// for var in [min, min + extent).
struct For {
  Var var;
  Expr min;
  Expr extent;
  ForKind kind;
  Stmt body;
  /// Set only in block programs (block.h); null if there are no traits.
  std::shared_ptr<const LoopTraits> traits = nullptr;
};
/// Runs the body while the condition holds. The condition is evaluated before each iteration.
struct While {
  Expr condition;
  Stmt body;
};
/// Conditional execution, with an optional else branch.
struct If {
  Expr condition;
  Stmt then_case;
  std::optional<Stmt> else_case;
};
/// Runs the body with `var` bound to `value`.
struct Let {
  Var var;
  Expr value;
  Stmt body;
};
/// Stops with `message` if the condition does not hold; otherwise runs the body.
struct Assert {
  Expr condition;
  std::string message;
  Stmt body;
};

/// A fact about the body. AttrKind defines the subject, key and value of each kind.
struct Attr {
  AttrKind kind;
  std::variant<Expr, IterVar, Buffer, CommReducer> subject;
  /// The pragma's key, such as "auto_unroll_max_step"; empty for other kinds.
  std::string key;
  Expr value;
  Stmt body;
};

/// Evaluates the expression for its side effects.
struct Evaluate {
  Expr value;
};
/// Two or more statements in order. None of them is a Seq (make_seq flattens).
struct Seq {
  std::vector<Stmt> stmts;
};
/// Requests a prefetch of a region. Does not occur after inject_prefetch.
struct Prefetch {
  Buffer buffer;
  std::vector<Range> region;
};

/// Runs one instance of a block (block.h) with these iterator values, if the predicate holds. Does
/// not occur after lower_blocks.
struct BlockRealize {
  std::vector<Expr> values;
  Expr predicate;
  std::shared_ptr<const Block> block;
};

/// The node that a Stmt refers to.
struct StmtNode {
  /// All kinds of statements.
  using Value = std::variant<Store, Realize, BufferView, Allocate, For, While, If, Let, Assert,
                             Attr, Evaluate, Seq, Prefetch, BlockRealize>;
  /// Destroys programs of any depth: when the stack runs low, the destruction continues on another
  /// stack.
  ~StmtNode();

  Contents contents;
  Value value;
};

template <class T>
const T* Stmt::as() const {
  return std::get_if<T>(&node_->value);
}

/// Builds a statement of any kind: make_stmt(For{i, 0, n, ForKind::Serial, body}).
Stmt make_stmt(StmtNode::Value value);

namespace detail {
template <class Node, class... Kind>
constexpr int index_in(const std::variant<Kind...>*) {
  int index = 0;
  const bool is_one = ((std::is_same_v<Node, Kind> || (++index, false)) || ...);
  return is_one ? index : -1;
}
template <class Node>
constexpr Content content_of_kind() {
  constexpr int kOfExpr = index_in<Node>(static_cast<ExprNode::Value*>(nullptr));
  constexpr int kOfStmt = index_in<Node>(static_cast<StmtNode::Value*>(nullptr));
  static_assert(kOfExpr >= 0 || kOfStmt >= 0);
  return static_cast<Content>(kOfExpr >= 0 ? kOfExpr : 16 + kOfStmt);
}
}  // namespace detail

/// The Content of a kind of node.
template <class Node>
inline constexpr Content kContentOf = detail::content_of_kind<Node>();

/// Whether the tree may contain such a node or content. The result false is definite. Expressions
/// inside buffers, such as shapes, are not examined.
template <class Tree>
bool contains(const Tree& tree, Content content) {
  return tree.node().contents.has(content);
}
template <class Tree>
bool contains(const Tree& tree, ForKind kind) {
  return contains(tree, content_of(kind));
}
template <class Tree>
bool contains(const Tree& tree, AttrKind kind) {
  return contains(tree, content_of(kind));
}
template <class Node, class Tree>
bool contains(const Tree& tree) {
  return contains(tree, kContentOf<Node>);
}

/// Returns the printed key: "thread_extent", "pragma_<key>", ...
std::string attr_text(const Attr& attr);
/// Returns the kind with this printed key; nullopt for a pragma and for any other text.
std::optional<AttrKind> find_attr_kind(std::string_view text);

}  // namespace tenon::tir

// Statements: the loop program. Immutable nodes in one closed variant, like expressions.
#pragma once

#include "tenon/tir/buffer.h"
#include "tenon/tir/expr.h"

namespace tenon::tir {

/// buffer[indices] = value. With a vector last index, lane-wise.
struct Store {
  Buffer buffer;
  Expr value;
  std::vector<Expr> indices;
};

/// The region of a multi-dimensional buffer that exists inside `body`; gone after flatten_storage.
struct Realize {
  /// Stride of dimension `dim` is padded so that stride % factor == offset.
  struct DimAlign {
    int dim;
    int factor;
    int offset;
  };
  /// What a schedule has set for the memory.
  struct Traits {
    std::vector<DimAlign> align;
    bool double_buffer = false;
    bool rolling_buffer = false;
    /// False while the scope is still to be deduced from the threads around it.
    bool scope_is_set = true;
  };
  Buffer buffer;
  std::vector<Range> bounds;
  Expr condition;
  Stmt body;
  Traits traits = {};
};

/// Inside `body`, `view` is the region of `source` (both multi-dimensional): how tensor intrinsics
/// and extern operations see their operands. Gone after flatten_storage.
struct BufferView {
  Buffer view;
  Buffer source;
  std::vector<Range> region;
  Stmt body;
};

/// Memory for product(extents) elements behind `data`, living as long as `body` runs.
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
  /// Only in block programs (block.h); null for none.
  std::shared_ptr<const LoopTraits> traits = nullptr;
};
/// Runs the body as long as the condition holds before it.
struct While {
  Expr condition;
  Stmt body;
};
/// One of the two, or nothing.
struct If {
  Expr condition;
  Stmt then_case;
  std::optional<Stmt> else_case;
};
/// The body, where `var` has the value.
struct Let {
  Var var;
  Expr value;
  Stmt body;
};
/// Stops with `message` if the condition does not hold.
struct Assert {
  Expr condition;
  std::string message;
  Stmt body;
};

/// A fact about the body; the kinds say what subject, key and value are.
struct Attr {
  AttrKind kind;
  std::variant<Expr, IterVar, Buffer, CommReducer> subject;
  /// The user's pragma key ("auto_unroll_max_step"); empty for the other kinds.
  std::string key;
  Expr value;
  Stmt body;
};

/// Computes the value for its effect.
struct Evaluate {
  Expr value;
};
/// At least two statements in order, none of them a Seq (make_seq flattens).
struct Seq {
  std::vector<Stmt> stmts;
};
/// A hint to fetch a region; gone after inject_prefetch.
struct Prefetch {
  Buffer buffer;
  std::vector<Range> region;
};

/// One instance of a block (block.h): its iterators have these values, and it runs if the predicate
/// holds. Gone after lower_blocks.
struct BlockRealize {
  std::vector<Expr> values;
  Expr predicate;
  std::shared_ptr<const Block> block;
};

/// What a Stmt refers to.
struct StmtNode {
  /// Every kind there is.
  using Value = std::variant<Store, Realize, BufferView, Allocate, For, While, If, Let, Assert,
                             Attr, Evaluate, Seq, Prefetch, BlockRealize>;
  /// However deep the program is: where the stack runs low, it goes on elsewhere.
  ~StmtNode();

  Contents contents;
  Value value;
};

template <class T>
const T* Stmt::as() const {
  return std::get_if<T>(&node_->value);
}

/// Any kind of statement from its parts: make_stmt(For{i, 0, n, ForKind::Serial, body}).
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

/// The Content that is a node of the kind.
template <class Node>
inline constexpr Content kContentOf = detail::content_of_kind<Node>();

/// Whether the tree, an expression or a statement, may contain such a thing: false means that it
/// does not. What buffers are made of is not looked into.
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

/// "thread_extent", "pragma_<key>", ... as printed.
std::string attr_text(const Attr& attr);

}  // namespace tenon::tir

// A block program as schedules see it: a function, and where its loops and blocks stand.
//
//   Program program(func);
//   int block = program.blocks_named("C").front();
//   for (int loop : program.loops_of(block)) ... program.loop(loop).var ...      // outermost first
//
// Loops are known by their variables and blocks by their iterators: both stay what they are while
// the program around them is rewritten, so that a handle taken once is good in later versions.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tenon/tir/block.h"
#include "tenon/tir/function.h"

namespace tenon::s_tir {

/// What a block is found by in any version of a program: one of its iterators; a block that has
/// none by its name and its place among such blocks of that name.
struct BlockKey {
  /// A block by its name, and its number among those of one name.
  struct Plain {
    std::string name;
    int ordinal;
    friend bool operator==(const Plain&, const Plain&) = default;
  };
  std::variant<tir::Var, Plain> key;
};

class Program {
 public:
  /// InternalError unless the function is a block program.
  explicit Program(tir::PrimFunc func);

  const tir::PrimFunc& func() const { return func_; }

  // Statements are numbered in the order of the text; the root block is 0. What follows takes and
  // gives such numbers, of loops and blocks unless said.

  const tir::Stmt& stmt(int n) const { return nodes_[n].stmt; }
  /// Whether node `n` is a block; whether it is a loop.
  bool is_block(int n) const { return stmt(n).as<tir::BlockRealize>() != nullptr; }
  bool is_loop(int n) const { return stmt(n).as<tir::For>() != nullptr; }
  const tir::For& loop(int n) const { return *stmt(n).as<tir::For>(); }
  /// The block of node `n`. Precondition: is_block(n).
  const tir::BlockRealize& realize(int n) const { return *stmt(n).as<tir::BlockRealize>(); }
  const tir::Block& block(int n) const { return *realize(n).block; }

  std::optional<int> find_loop(const tir::Var& var) const;
  std::optional<int> find_block(const BlockKey& key) const;
  BlockKey key_of(int block) const;
  /// In the order of the text, nested ones included.
  std::vector<int> blocks_named(const std::string& name) const;

  /// The statement around it, of any kind; none around the root.
  std::optional<int> parent(int n) const;
  /// The nearest loop or block around it.
  std::optional<int> outer(int n) const;
  /// The block in whose scope it stands; the root stands in none.
  std::optional<int> scope(int n) const;
  /// The loops around it within its scope, outermost first.
  std::vector<int> loops_of(int n) const;
  /// The blocks directly in the scope of a block, or below a loop, none of them inside another.
  std::vector<int> child_blocks(int n) const;
  bool is_below(int n, int ancestor) const { return ancestor < n && n < nodes_[ancestor].end; }
  /// Whether it stands in the init of the block whose scope this is.
  bool is_in_init(int n) const { return nodes_[n].in_init; }
  /// The deepest statement around both.
  int common(int a, int b) const;
  int size() const { return static_cast<int>(nodes_.size()); }

  /// The function with a statement replaced by another: what stands around it is built anew, all
  /// else is shared.
  tir::PrimFunc with(int n, const tir::Stmt& replacement) const;
  tir::PrimFunc with_body(tir::Stmt body) const;

 private:
  struct Node {
    tir::Stmt stmt;
    int parent;
    int outer;
    int scope;
    /// One past the last statement inside of it.
    int end;
    bool in_init;
  };
  void add(const tir::Stmt& s, int parent, int outer, int scope, bool in_init);

  tir::PrimFunc func_;
  std::vector<Node> nodes_;
  std::unordered_map<const tir::ExprNode*, int> loops_, blocks_;
};

}  // namespace tenon::s_tir

// A block program as primitives see it: a function with an index of its loops and blocks.
//
//   Program program(func);
//   int block = program.blocks_named("C").front();
//   for (int loop : program.loops_of(block)) ... program.loop(loop).var ...      // outermost first
//
// Loops are identified by their variables and blocks by their ids. Rewrites preserve these, so that
// a handle stays valid in later versions of the program.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tenon/tir/block.h"
#include "tenon/tir/function.h"

namespace tenon::s_tir {

using tir::BlockId;

class Program {
 public:
  /// Makes the index of a function. InternalError unless the function is a block program.
  explicit Program(tir::PrimFunc func);

  const tir::PrimFunc& func() const { return func_; }

  // Returns a statement by number. Statements are numbered in textual order; the root block is 0.
  // Unless stated otherwise, the functions below take and return numbers of loops and blocks.

  const tir::Stmt& stmt(int n) const { return nodes_[n].stmt; }
  /// Whether node `n` is a block, and whether it is a loop.
  bool is_block(int n) const { return stmt(n).as<tir::BlockRealize>() != nullptr; }
  bool is_loop(int n) const { return stmt(n).as<tir::For>() != nullptr; }
  const tir::For& loop(int n) const { return *stmt(n).as<tir::For>(); }
  /// Return the block at node `n`. Precondition: is_block(n).
  const tir::BlockRealize& realize(int n) const { return *stmt(n).as<tir::BlockRealize>(); }
  const tir::Block& block(int n) const { return *realize(n).block; }

  std::optional<int> find_loop(const tir::Var& var) const;
  std::optional<int> find_block(const BlockId& id) const;
  /// Returns the blocks of this name in textual order, including nested ones.
  std::vector<int> blocks_named(const std::string& name) const;

  /// Returns the enclosing statement of any kind; nullopt for the root.
  std::optional<int> parent(int n) const { return nodes_[n].parent; }
  /// Returns the innermost enclosing loop or block.
  std::optional<int> outer(int n) const { return nodes_[n].outer; }
  /// Returns the block whose scope contains node `n`; nullopt for the root.
  std::optional<int> scope(int n) const { return nodes_[n].scope; }
  /// Returns the loops around node `n` within its scope, outermost first.
  std::vector<int> loops_of(int n) const;
  /// Returns those of these loops that are inside the statement `top`, which encloses node `n`.
  std::vector<int> loops_below(int n, int top) const;
  /// Returns the statements in the scope of a block, or below another statement, without those
  /// inside the blocks found there.
  std::vector<int> statements(int n) const;
  /// Returns those of these statements that are blocks.
  std::vector<int> child_blocks(int n) const;
  /// Returns those that are blocks or contain no statements, such as stores outside of blocks.
  std::vector<int> leaves(int n) const;
  bool is_below(int n, int ancestor) const { return ancestor < n && n < nodes_[ancestor].end; }
  /// Whether node `n` is in the init of the block that owns its scope.
  bool is_in_init(int n) const { return nodes_[n].in_init; }
  /// Returns the innermost statement that contains both.
  int common(int a, int b) const;
  int size() const { return static_cast<int>(nodes_.size()); }

  /// Returns the function with statement `n` replaced. Only the statements around it are copied.
  tir::PrimFunc with(int n, const tir::Stmt& replacement) const;
  tir::PrimFunc with_body(tir::Stmt body) const;

 private:
  struct Node {
    tir::Stmt stmt;
    std::optional<int> parent, outer, scope;
    /// One past the number of the last statement inside this one.
    int end;
    bool in_init;
  };
  void add(const tir::Stmt& s, std::optional<int> parent, std::optional<int> outer,
           std::optional<int> scope, bool in_init);

  tir::PrimFunc func_;
  std::vector<Node> nodes_;
  std::unordered_map<const tir::ExprNode*, int> loops_;
  std::map<BlockId, int> blocks_;
};

}  // namespace tenon::s_tir

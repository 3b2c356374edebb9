// Sizes of statements, and the division of long sequences into separate functions. Compile time
// grows faster than linearly in the length of a function.
//
//   StmtSizes sizes(body);
//   sizes.of(seq)                                  // 120000 nodes
//   pieces_of(seq.stmts, sizes, 400)               // runs of statements, each for one function
#pragma once

#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tenon/tir/stmt.h"

namespace tenon::codegen {

/// The number of nodes of each statement, and whether the statement contains @tir.ret.
class StmtSizes {
 public:
  explicit StmtSizes(const tir::Stmt& body) { measure(body); }

  /// Returns the size. Precondition: the statement is the body, or an element of a sequence in it.
  int of(const tir::Stmt& s) const { return sizes_.at(&s.node()).first; }
  /// Whether the statement contains @tir.ret, which leaves the enclosing function.
  bool returns(const tir::Stmt& s) const { return sizes_.at(&s.node()).second; }
  /// Whether the statement can be moved to a function of at most `most_nodes` nodes.
  bool fits(const tir::Stmt& s, int most_nodes) const { return of(s) <= most_nodes && !returns(s); }
  /// Returns the total size of those statements that fit (see `fits`).
  std::int64_t nodes_that_fit(std::span<const tir::Stmt> stmts, int most_nodes) const;

 private:
  std::pair<int, bool> measure(const tir::Stmt& s);

  /// The size of each statement, and whether it contains @tir.ret.
  std::unordered_map<const tir::StmtNode*, std::pair<int, bool>> sizes_;
};

/// Divides the statements, in order, into runs of at most `most_nodes` nodes. A statement that does
/// not fit is a run of its own.
std::vector<std::span<const tir::Stmt>> pieces_of(std::span<const tir::Stmt> stmts,
                                                  const StmtSizes& sizes, int most_nodes);

}  // namespace tenon::codegen

// How long statements are, and how long sequences are divided into functions of their own: the time
// of a compiler for one function grows faster than in proportion to its length.
//
//   StmtSizes sizes(body);
//   sizes.of(seq)                                  // 120000 nodes
//   pieces_of(seq.stmts, sizes, 400)               // runs of statements, each for one function
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "tenon/tir/stmt.h"

namespace tenon::codegen {

/// How many nodes statements have.
class StmtSizes {
 public:
  explicit StmtSizes(const tir::Stmt& body) { measure(body); }

  /// Precondition: the statement is the body, or stands in a sequence of it.
  int of(const tir::Stmt& s) const { return sizes_.at(&s.node()).nodes; }
  /// Whether the statement may leave the function it stands in, with @tir.ret.
  bool returns(const tir::Stmt& s) const { return sizes_.at(&s.node()).returns; }
  /// Whether it may be part of a function of so many nodes.
  bool fits(const tir::Stmt& s, int most_nodes) const { return of(s) <= most_nodes && !returns(s); }
  /// The nodes of the statements that may.
  std::int64_t nodes_that_fit(std::span<const tir::Stmt> stmts, int most_nodes) const;

 private:
  struct Size {
    int nodes = 1;
    bool returns = false;
  };
  Size measure(const tir::Stmt& s);

  std::unordered_map<const tir::StmtNode*, Size> sizes_;
};

/// The statements in order, in runs of up to so many nodes; what does not fit is a run by itself.
std::vector<std::span<const tir::Stmt>> pieces_of(std::span<const tir::Stmt> stmts,
                                                  const StmtSizes& sizes, int most_nodes);

}  // namespace tenon::codegen

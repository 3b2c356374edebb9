// Which variables and memory hold values that depend on a (virtual) thread.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tenon/tir/stmt.h"

namespace tenon::lowering {

class ThreadDependence {
 public:
  /// Everything that is written or defined in `body` from `thread`, directly, through other
  /// variables or memory, or under a condition that depends on it.
  ThreadDependence(const tir::Stmt& body, const tir::Var& thread);

  bool depends(const tir::Var& var) const { return dependent_.contains(&var.node()); }
  /// Whether a variable or memory inside depends.
  bool depends(const tir::Expr& e) const;

 private:
  using Node = const tir::ExprNode*;

  void stmt(const tir::Stmt& s);
  /// `to` depends on all that the expressions use, and on the conditions around.
  void record(const tir::Var& to, const std::vector<tir::Expr>& from);
  void sources(const tir::Expr& e, std::vector<Node>& result) const;

  std::unordered_set<Node> dependent_;
  /// Look-up only.
  std::unordered_map<Node, std::vector<Node>> influences_;
  /// What the conditions and extents around use.
  std::vector<Node> control_;
};

}  // namespace tenon::lowering

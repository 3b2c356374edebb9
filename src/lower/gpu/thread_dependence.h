// The variables and memory whose values depend on a (virtual) thread.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tenon/tir/stmt.h"

namespace tenon::lowering {

class ThreadDependence {
 public:
  /// Finds everything in `body` that depends on `thread`. A variable or memory depends on it if its
  /// definition or a store uses the thread, another dependent variable or dependent memory, or is
  /// under a dependent condition.
  ThreadDependence(const tir::Stmt& body, const tir::Var& thread);

  bool depends(const tir::Var& var) const { return dependent_.contains(&var.node()); }
  /// Whether a variable or memory in the expression depends on the thread.
  bool depends(const tir::Expr& e) const;

 private:
  using Node = const tir::ExprNode*;

  void stmt(const tir::Stmt& s);
  /// Records that `to` depends on all variables of the expressions, and on the enclosing
  /// conditions.
  void record(const tir::Var& to, const std::vector<tir::Expr>& from);
  void sources(const tir::Expr& e, std::vector<Node>& result) const;

  std::unordered_set<Node> dependent_;
  /// For each variable or memory, the variables and memory that depend on it. Never iterated,
  /// because the keys are addresses.
  std::unordered_map<Node, std::vector<Node>> influences_;
  /// The variables of the enclosing conditions and extents.
  std::vector<Node> control_;
};

}  // namespace tenon::lowering

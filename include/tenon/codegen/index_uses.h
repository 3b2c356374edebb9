// Finds variables that are used only in memory indices and loop bounds. Index arithmetic is assumed
// not to overflow, which code generation may declare to LLVM; data arithmetic wraps. The value of a
// let is computed as an index only if its variable has no other use.
#pragma once

#include <unordered_set>

#include "tenon/tir/stmt.h"

namespace tenon::codegen {

/// The variables of a body that are used only in indices and bounds.
class IndexUses {
 public:
  /// Analyzes the body in one traversal.
  explicit IndexUses(const tir::Stmt& body);
  bool is_index_only(const tir::Var& var) const { return !used_as_data_.contains(&var.node()); }

 private:
  void visit(const tir::Stmt& s);
  void visit(const tir::Expr& e, bool as_index);

  std::unordered_set<const tir::ExprNode*> used_as_data_;
};

}  // namespace tenon::codegen

// Which variables serve as positions in memory and bounds of loops only. The simplifier assumes
// that index arithmetic does not overflow, and code generation may tell LLVM so; data arithmetic
// wraps. A variable bound by a let is computed as an index only if it is used as nothing else.
#pragma once

#include <unordered_set>

#include "tenon/tir/stmt.h"

namespace tenon::codegen {

/// Which variables of a body are positions and bounds only.
class IndexUses {
 public:
  /// Looks through the body once; then answers whether a variable serves as a position or a bound
  /// only.
  explicit IndexUses(const tir::Stmt& body);
  bool is_index_only(const tir::Var& var) const { return !used_as_data_.contains(&var.node()); }

 private:
  void visit(const tir::Stmt& s);
  void visit(const tir::Expr& e, bool as_index);

  std::unordered_set<const tir::ExprNode*> used_as_data_;
};

}  // namespace tenon::codegen

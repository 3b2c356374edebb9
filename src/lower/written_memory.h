// Memory that a function writes, and what is the same wherever it is evaluated.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "tenon/tir/stmt.h"

namespace tenon::lowering {

/// Memory that the function writes somewhere: what was read from it before is no fact about what it
/// holds later.
class WrittenMemory {
 public:
  explicit WrittenMemory(const tir::Stmt& body);
  /// Whether the expression has the same value wherever it is evaluated, its variables being the
  /// same: it reads nothing that is written, and calls nothing that may do more.
  bool is_stable(const tir::Expr& e) const;

 private:
  std::unordered_set<const tir::ExprNode*> written_;
  /// Of a view, the memory that it is a part of.
  std::unordered_map<const tir::ExprNode*, const tir::ExprNode*> source_of_;
};

}  // namespace tenon::lowering

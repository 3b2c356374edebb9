// Loops that a user marked to be vectorised or unrolled must have a constant number of iterations.
// One whose extent varies with the loops around it (a producer computed where its size depends on
// the place) is done as a plain loop instead; one whose extent is a symbol of the whole function is
// the user's mistake.
#pragma once

#include <string_view>
#include <unordered_set>

#include "tenon/tir/walk.h"

namespace tenon::lowering {

/// The variables that statements around the current place define.
class EnclosingVars {
 public:
  void enter(const tir::Var& var) { vars_.insert(&var.node()); }
  void leave(const tir::Var& var) { vars_.erase(&var.node()); }
  bool any_in(const tir::Expr& e) const {
    return tir::uses_var(e, [&](const tir::Expr& var) { return vars_.contains(&var.node()); });
  }

 private:
  std::unordered_set<const tir::ExprNode*> vars_;
};

/// The extent if it is a constant that an int holds. Otherwise nullopt where the loop may be done
/// as a plain one, and LowerError ("vectorize of loop `i`: ...") where no enclosing variable is to
/// blame.
std::optional<int> constant_extent(const tir::For& loop, std::string_view primitive,
                                   const EnclosingVars& enclosing);

}  // namespace tenon::lowering

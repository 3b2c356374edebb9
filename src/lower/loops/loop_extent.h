// Constant trip counts of loops that a user marked to be vectorized or unrolled. A loop whose
// extent depends on enclosing loops (for example, in a producer whose size varies with the attach
// point) becomes a plain loop instead. An extent that is symbolic in the whole function is an error
// of the user.
#pragma once

#include <string_view>
#include <unordered_set>

#include "tenon/tir/walk.h"

namespace tenon::lowering {

/// The variables that enclosing statements define.
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

/// Returns the extent if it is a constant that fits int. Otherwise returns nullopt if the extent
/// uses an enclosing variable, and throws LowerError ("vectorize of loop `i`: ...") if it does not.
std::optional<int> constant_extent(const tir::For& loop, std::string_view primitive,
                                   const EnclosingVars& enclosing);

}  // namespace tenon::lowering

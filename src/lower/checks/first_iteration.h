// Evaluates indices in the first iteration of all enclosing loops: an access that is in bounds
// there cannot be always out of bounds.
//
//   for i in [3, 8): A[i - 2]           // value(i - 2) == 1
//   for i < n:       A[i + n]           // value(i + n) == kAnySize
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "tenon/tir/expr.h"

namespace tenon::lowering {

class FirstIteration {
 public:
  /// The assumed value of symbolic sizes.
  static constexpr std::int64_t kAnySize = 4099;

  /// Enters a loop or thread axis with its first value, or binds a variable to a value.
  void enter(const tir::Var& var, const tir::Expr& first) {
    values_.insert_or_assign(&var.node(), value(first));
  }

  /// Returns the value of an integer expression of constants, variables and arithmetic; nullopt for
  /// other expressions.
  std::optional<std::int64_t> value(const tir::Expr& e) const;

 private:
  std::optional<std::int64_t> value(const tir::Binary& n) const;

  /// The values of variables; nullopt if unknown. For look-up only.
  std::unordered_map<const tir::ExprNode*, std::optional<std::int64_t>> values_;
};

}  // namespace tenon::lowering

// Where indices are in the first iteration of all loops around them: whoever is inside there is not
// outside whenever it happens.
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
  /// What sizes are taken to be that only a call knows.
  static constexpr std::int64_t kAnySize = 4099;

  /// A loop or thread that begins there, or a variable with that value.
  void enter(const tir::Var& var, const tir::Expr& first) {
    values_.insert_or_assign(&var.node(), value(first));
  }

  /// Of integers made of constants, variables and plain arithmetic.
  std::optional<std::int64_t> value(const tir::Expr& e) const;

 private:
  std::optional<std::int64_t> value(const tir::Binary& n) const;

  /// Look-up only; none where nothing is known of it.
  std::unordered_map<const tir::ExprNode*, std::optional<std::int64_t>> values_;
};

}  // namespace tenon::lowering

// Evaluates expressions by the definition of their operators (number.h). Who uses it says what
// variables and elements are.
#pragma once

#include <unordered_map>

#include "tests/definition/number.h"

namespace tenon::testing {

/// The values of axes, loop variables and variables that expressions bind.
using Bindings = std::unordered_map<const tir::ExprNode*, Number>;
using Numbers = std::vector<Number>;

/// The scalar in a lane of a vector; of a scalar, itself.
tir::Expr lane_of(const tir::Expr& e, int lane);

class ExpressionEvaluator {
 protected:
  virtual ~ExpressionEvaluator() = default;
  /// A variable without a binding.
  virtual Number variable(const tir::Var& var) = 0;
  /// The element that a load reads. Throws NoOpinion for other expressions.
  virtual Number load(const tir::Expr& e, Bindings& values) = 0;

  /// Operands that are not needed are not evaluated: the other side of a choice, and of && and ||.
  Number eval(const tir::Expr& e, Bindings& values);
  Numbers all(const std::vector<tir::Expr>& exprs, Bindings& values);
  std::vector<std::int64_t> indices(const std::vector<tir::Expr>& exprs, Bindings& values);

 private:
  Number call(const tir::Call& n, DataType type, Bindings& values);
};

}  // namespace tenon::testing

// Applies tables of rules to expressions.
//
//   if (auto applied = apply(add_rules(), sum, facts)) return applied->result;
#pragma once

#include <optional>

#include "arith/rules/pattern.h"
#include "tenon/arith/facts.h"

namespace tenon::arith::rules {

struct Applied {
  Expr result;
  /// The row asks for the result to be rewritten.
  bool again;
};

/// The first rule of the table whose pattern and condition fit `e`, whose children are simplified
/// already. A rule whose result would hold a constant that does not fit its type does not apply.
std::optional<Applied> apply(const RuleTable& table, const Expr& e, const Facts& facts);

/// The integer that an expression of constants gives; nullopt for a division by zero or where it
/// leaves int64.
std::optional<std::int64_t> compute(BinaryOp op, std::int64_t a, std::int64_t b);

}  // namespace tenon::arith::rules

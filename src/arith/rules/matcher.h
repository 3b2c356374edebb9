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

}  // namespace tenon::arith::rules

// Application of rule tables to expressions.
//
//   if (auto applied = apply(add_rules(), sum, facts)) return applied->result;
#pragma once

#include <optional>

#include "arith/rules/pattern.h"
#include "tenon/arith/facts.h"

namespace tenon::arith::rules {

struct Applied {
  Expr result;
  /// Whether the row requests that the result be rewritten again.
  bool again;
};

/// Applies the first rule of the table whose pattern and condition match `e`, whose children are
/// simplified already. A rule does not apply if its result would contain a constant that does not
/// fit its type.
std::optional<Applied> apply(const RuleTable& table, const Expr& e, const Facts& facts);

}  // namespace tenon::arith::rules

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
  /// Whether the row requests another rewrite of the result.
  bool again;
};

/// Applies the first rule of the table whose pattern and condition match `e`. Precondition: its
/// children are simplified. A rule does not apply if its result would contain a constant that does
/// not fit its type.
std::optional<Applied> apply(const RuleTable& table, const Expr& e, const Facts& facts);

}  // namespace tenon::arith::rules

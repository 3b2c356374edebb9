// The rule tables, by the operator at the root of their patterns, and their application to
// expressions.
//
//   if (auto applied = apply(add_rules(), sum, facts)) return applied->result;
#pragma once

#include <optional>

#include "arith/rules/pattern.h"
#include "tenon/arith/facts.h"

namespace tenon::arith::rules {

// Rules for int32 and int64 scalars. Rows marked kExact are for indices, and for data that provably
// does not overflow; the other rows hold modulo the type.
RuleTable add_rules();
RuleTable sub_rules();
RuleTable mul_rules();
RuleTable trunc_div_rules();
RuleTable trunc_mod_rules();
/// Rules of floor division, before and after the elimination of residues (rewrite_step.cpp).
RuleTable floor_div_first_rules();
RuleTable floor_div_rules();
RuleTable floor_mod_rules();
RuleTable min_rules();
RuleTable max_rules();
RuleTable equal_rules();
RuleTable less_rules();

// Rules for all types.
RuleTable add_any_type_rules();
RuleTable sub_any_type_rules();
/// Rules for integers of all types. They do not hold for floats: infinity minus infinity is NaN.
RuleTable sub_integer_rules();
RuleTable min_any_type_rules();
RuleTable max_any_type_rules();
RuleTable not_rules();
RuleTable and_rules();
RuleTable or_rules();
/// Tautologies that do not hold for NaN.
RuleTable not_integer_rules();
RuleTable or_integer_rules();

// Rules for vectors.
RuleTable add_vector_rules();
RuleTable sub_vector_rules();
RuleTable mul_vector_rules();
RuleTable div_vector_rules();
RuleTable trunc_div_vector_rules();
RuleTable trunc_mod_vector_rules();
RuleTable floor_div_vector_rules();
RuleTable floor_mod_vector_rules();
RuleTable min_vector_rules();
RuleTable max_vector_rules();
RuleTable equal_vector_rules();
RuleTable less_vector_rules();
RuleTable not_vector_rules();
RuleTable and_vector_rules();
RuleTable or_vector_rules();

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

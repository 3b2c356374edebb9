#include "arith/rules/pattern.h"
#include "arith/rules/tables.h"

namespace tenon::arith::rules {

// ---- minima -------------------------------------------------------------------------------------

namespace {

constexpr Row kMinRows[] = {
    // Common terms move out of the minimum.
    {"of_sums_first", "min(x + c1, x + c2)", "x + c1", "c1 < c2", kExact},
    {"of_sums_second", "min(x + c1, x + c2)", "x + c2", "c1 >= c2", kExact},
    {"with_sum_below", "min(x + c1, x) ; min(x, x + c1)", "x + c1", "c1 < 0", kExact},
    {"with_sum_above", "min(x + c1, x) ; min(x, x + c1)", "x", "c1 >= 0", kExact},
    {"of_differences_first", "min(c1 - x, c2 - x)", "c1 - x", "c1 < c2", kExact},
    {"of_differences_second", "min(c1 - x, c2 - x)", "c2 - x", "c1 >= c2", kExact},
    {"trunc_multiple_above", "min(truncdiv(x + c1, c2)*c2, x) ; min(x, truncdiv(x + c1, c2)*c2)",
     "x", "c2 > 0 && c1 + 1 == c2", kExact},
    {"floor_multiple_above", "min(floordiv(x + c1, c2)*c2, x) ; min(x, floordiv(x + c1, c2)*c2)",
     "x", "c2 > 0 && c1 + 1 == c2", kExact},
    {"multiple_below", "min(x, floordiv(x, c2)*c2) ; min(floordiv(x, c2)*c2, x)",
     "floordiv(x, c2)*c2", "c2 > 0", kExact},
    {"common_addend",
     "min(y + x, z + x) ; min(y + x, x + z) ; min(x + y, x + z) ; min(x + y, z + x)",
     "min(y, z) + x", "", kExact},
    {"common_subtrahend", "min(y - x, z - x)", "min(y, z) - x", "", kExact},
    {"common_minuend", "min(x - y, x - z)", "x - max(y, z)", "", kExact},
    {"turn_difference", "min(c1 - x, c2)", "c1 - max(x, c1 - c2)", "c2 != 0", kExact | kAgain},

    // x rounded up to a multiple of the divisor is at least x; x rounded down is at most x.
    {"trunc_multiple_above_positive",
     "min(truncdiv(x + c1, c2)*c2, max(x, c2)) ; min(max(x, c2), truncdiv(x + c1, c2)*c2)",
     "max(x, c2)", "c2 > 0 && c1 + 1 == c2 && x >= 1", kExact},
    {"floor_multiple_above_positive",
     "min(floordiv(x + c1, c2)*c2, max(x, c2)) ; min(max(x, c2), floordiv(x + c1, c2)*c2)",
     "max(x, c2)", "c2 > 0 && c1 + 1 == c2 && x >= 1", kExact},

    // One operand is the result.
    {"of_both_choices",
     "min(max(x, y), min(x, y)) ; min(max(x, y), min(y, x)) ; min(min(x, y), max(x, y)) ; min(min(x, y), max(y, x))",
     "min(x, y)"},
    {"absorb_first", "min(max(x, y), x)", "x"},
    {"absorb_second", "min(max(x, y), y)", "y"},
    {"repeat", "min(min(x, y), x) ; min(min(x, y), y)", "min(x, y)"},
    {"absorbed_first", "min(x, max(x, y))", "x"},
    {"absorbed_second", "min(y, max(x, y))", "y"},
    {"repeated", "min(x, min(x, y)) ; min(y, min(x, y))", "min(x, y)"},
    {"repeat_3", "min(min(min(x, y), z), y)", "min(min(x, y), z)"},
    {"repeat_4", "min(min(min(min(x, y), z), u), y)", "min(min(min(x, y), z), u)"},
    {"repeat_5", "min(min(min(min(min(x, y), z), u), v), y)", "min(min(min(min(x, y), z), u), v)"},

    // Common operands are factored out.
    {"distribute",
     "min(max(x, y), max(x, z)) ; min(max(x, y), max(z, x)) ; min(max(y, x), max(x, z)) ; min(max(y, x), max(z, x))",
     "max(min(y, z), x)"},
    {"common_operand",
     "min(min(x, y), min(x, z)) ; min(min(x, y), min(z, x)) ; min(min(y, x), min(x, z)) ; min(min(y, x), min(z, x))",
     "min(min(y, z), x)"},
    {"constants", "min(min(x, c1), c2)", "min(x, min(c1, c2))"},
    {"common_truncdiv", "min(truncdiv(x, c1), truncdiv(y, c1))", "truncdiv(min(x, y), c1)",
     "c1 > 0"},
    {"common_negative_truncdiv", "min(truncdiv(x, c1), truncdiv(y, c1))", "truncdiv(max(x, y), c1)",
     "c1 < 0", kExact},
    {"common_floordiv", "min(floordiv(x, c1), floordiv(y, c1))", "floordiv(min(x, y), c1)",
     "c1 > 0"},
    {"common_negative_floordiv", "min(floordiv(x, c1), floordiv(y, c1))", "floordiv(max(x, y), c1)",
     "c1 < 0", kExact},
    {"common_scale", "min(x*c1, y*c1)", "min(x, y)*c1", "c1 > 0", kExact},
    {"common_negative_scale", "min(x*c1, y*c1)", "max(x, y)*c1", "c1 <= 0", kExact},
    {"scale_and_constant", "min(x*c1, c2)", "min(x, floordiv(c2, c1))*c1",
     "c1 > 0 && floormod(c2, c1) == 0", kExact},
    {"negative_scale_and_constant", "min(x*c1, c2)", "max(x, floordiv(c2, c1))*c1",
     "c1 < 0 && floormod(c2, c1) == 0", kExact},

    // Canonical order: a constant becomes an operand of the outermost minimum.
    {"constant_last", "min(min(x, c1), y)", "min(min(x, y), c1)", "", kAgain},
};

constexpr Row kMinAnyTypeRows[] = {
    {"join_selects", "min(select(p, x, y), select(p, z, u))", "select(p, min(x, z), min(y, u))"},
};

}  // namespace

RuleTable min_rules() { return table<kMinRows>(); }
RuleTable min_any_type_rules() { return table<kMinAnyTypeRows>(); }

// ---- maxima -------------------------------------------------------------------------------------

namespace {

constexpr Row kMaxRows[] = {
    // Common terms move out of the maximum.
    {"of_sums_first", "max(x + c1, x + c2)", "x + c1", "c1 > c2", kExact},
    {"of_sums_second", "max(x + c1, x + c2)", "x + c2", "c1 <= c2", kExact},
    {"with_sum_below", "max(x + c1, x) ; max(x, x + c1)", "x + c1", "c1 > 0", kExact},
    {"with_sum_above", "max(x + c1, x) ; max(x, x + c1)", "x", "c1 <= 0", kExact},
    {"of_differences_first", "max(c1 - x, c2 - x)", "c1 - x", "c1 > c2", kExact},
    {"of_differences_second", "max(c1 - x, c2 - x)", "c2 - x", "c1 <= c2", kExact},
    {"trunc_multiple_above", "max(truncdiv(x + c1, c2)*c2, x) ; max(x, truncdiv(x + c1, c2)*c2)",
     "truncdiv(x + c1, c2)*c2", "c2 > 0 && c1 + 1 == c2", kExact},
    {"floor_multiple_above", "max(floordiv(x + c1, c2)*c2, x) ; max(x, floordiv(x + c1, c2)*c2)",
     "floordiv(x + c1, c2)*c2", "c2 > 0 && c1 + 1 == c2", kExact},
    {"multiple_below", "max(floordiv(x, c2)*c2, x) ; max(x, floordiv(x, c2)*c2)", "x", "c2 > 0",
     kExact},
    {"common_addend",
     "max(y + x, z + x) ; max(y + x, x + z) ; max(x + y, x + z) ; max(x + y, z + x)",
     "max(y, z) + x", "", kExact},
    {"common_subtrahend", "max(y - x, z - x)", "max(y, z) - x", "", kExact},
    {"common_minuend", "max(x - y, x - z)", "x - min(y, z)", "", kExact},
    {"turn_difference", "max(c1 - x, c2)", "c1 - min(x, c1 - c2)", "c2 != 0", kExact | kAgain},

    // One operand is the result.
    {"of_both_choices",
     "max(min(x, y), max(x, y)) ; max(min(x, y), max(y, x)) ; max(max(x, y), min(x, y)) ; max(max(x, y), min(y, x))",
     "max(x, y)"},
    {"absorb_first", "max(min(x, y), x)", "x"},
    {"absorb_second", "max(min(x, y), y)", "y"},
    {"repeat", "max(max(x, y), x) ; max(max(x, y), y)", "max(x, y)"},
    {"absorbed_first", "max(x, min(x, y))", "x"},
    {"absorbed_second", "max(y, min(x, y))", "y"},
    {"repeated", "max(x, max(x, y)) ; max(y, max(x, y))", "max(x, y)"},
    {"repeat_3", "max(max(max(x, y), z), y)", "max(max(x, y), z)"},
    {"repeat_4", "max(max(max(max(x, y), z), u), y)", "max(max(max(x, y), z), u)"},
    {"repeat_5", "max(max(max(max(max(x, y), z), u), v), y)", "max(max(max(max(x, y), z), u), v)"},

    // Common operands are factored out.
    {"common_operand",
     "max(max(x, y), max(x, z)) ; max(max(x, y), max(z, x)) ; max(max(y, x), max(x, z)) ; max(max(y, x), max(z, x))",
     "max(max(y, z), x)"},
    {"distribute",
     "max(min(x, y), min(x, z)) ; max(min(x, y), min(z, x)) ; max(min(y, x), min(x, z)) ; max(min(y, x), min(z, x))",
     "min(max(y, z), x)"},
    {"constants", "max(max(x, c1), c2)", "max(x, max(c1, c2))"},
    {"common_truncdiv", "max(truncdiv(x, c1), truncdiv(y, c1))", "truncdiv(max(x, y), c1)",
     "c1 > 0"},
    {"common_negative_truncdiv", "max(truncdiv(x, c1), truncdiv(y, c1))", "truncdiv(min(x, y), c1)",
     "c1 < 0", kExact},
    {"common_floordiv", "max(floordiv(x, c1), floordiv(y, c1))", "floordiv(max(x, y), c1)",
     "c1 > 0"},
    {"common_negative_floordiv", "max(floordiv(x, c1), floordiv(y, c1))", "floordiv(min(x, y), c1)",
     "c1 < 0", kExact},
    {"common_scale", "max(x*c1, y*c1)", "max(x, y)*c1", "c1 > 0", kExact},
    {"common_negative_scale", "max(x*c1, y*c1)", "min(x, y)*c1", "c1 <= 0", kExact},
    {"scale_and_constant", "max(x*c1, c2)", "max(x, floordiv(c2, c1))*c1",
     "c1 > 0 && floormod(c2, c1) == 0", kExact},
    {"negative_scale_and_constant", "max(x*c1, c2)", "min(x, floordiv(c2, c1))*c1",
     "c1 < 0 && floormod(c2, c1) == 0", kExact},

    // Canonical order: a constant becomes an operand of the outermost maximum.
    {"constant_last", "max(max(x, c1), y)", "max(max(x, y), c1)", "", kAgain},
};

constexpr Row kMaxAnyTypeRows[] = {
    {"join_selects", "max(select(p, x, y), select(p, z, u))", "select(p, max(x, z), max(y, u))"},
};

}  // namespace

RuleTable max_rules() { return table<kMaxRows>(); }
RuleTable max_any_type_rules() { return table<kMaxAnyTypeRows>(); }

}  // namespace tenon::arith::rules

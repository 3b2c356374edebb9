#include "arith/rules/pattern.h"
#include "arith/rules/tables.h"

namespace tenon::arith::rules {

// ---- comparisons --------------------------------------------------------------------------------

namespace {

constexpr Row kEqualRows[] = {
    {"minus_constant", "x - c1 == 0 ; c1 - x == 0", "x == c1"},
    {"plus_constant", "x + c1 == 0", "x == 0 - c1"},
    {"product", "x*y == 0", "x == 0 || y == 0", "", kExact},
};

constexpr Row kLessRows[] = {
    // Common parts of both sides cancel.
    {"common_addend", "x + y < x + z ; x + y < z + x ; y + x < x + z ; y + x < z + x", "y < z", "",
     kExact},
    {"common_subtrahend", "y - x < z - x", "y < z", "", kExact},
    {"common_minuend", "x - y < x - z", "z < y", "", kExact},

    // Constants are combined on one side.
    {"constant_left_of_sum", "c1 < x + c2", "c1 - c2 < x", "", kExact},
    {"constant_left_of_difference", "c1 < c2 - x", "x < c2 - c1", "", kExact},

    {"common_scale", "x*c1 < y*c1", "x < y", "c1 > 0", kExact},
    {"common_negative_scale", "x*c1 < y*c1", "y < x", "c1 < 0", kExact},
    {"scale_below_positive", "x*c2 < c1", "x < truncdiv(c1 - 1, c2) + 1", "c1 > 0 && c2 > 0",
     kExact},
    {"scale_below", "x*c2 < c1", "x < truncdiv(c1, c2)", "c1 <= 0 && c2 > 0", kExact},
    {"negative_scale_below_positive", "x*c2 < c1", "truncdiv(c1 - 1, c2) - 1 < x",
     "c1 > 0 && c2 < 0", kExact},
    {"negative_scale_below", "x*c2 < c1", "truncdiv(c1, c2) < x", "c1 <= 0 && c2 < 0", kExact},
    {"scale_above_negative", "c1 < x*c2", "truncdiv(c1 + 1, c2) - 1 < x", "c1 < 0 && c2 > 0",
     kExact},
    {"scale_above", "c1 < x*c2", "truncdiv(c1, c2) < x", "c1 >= 0 && c2 > 0", kExact},
    {"negative_scale_above_negative", "c1 < x*c2", "x < truncdiv(c1 + 1, c2) + 1",
     "c1 < 0 && c2 < 0", kExact},
    {"negative_scale_above", "c1 < x*c2", "x < truncdiv(c1, c2)", "c1 >= 0 && c2 < 0", kExact},

    // A comparison of a quotient becomes a comparison of the dividend.
    {"trunc_below_positive", "truncdiv(x, c1) < c2", "x < c1*c2", "c1 > 0 && c2 > 0"},
    {"trunc_below", "truncdiv(x, c1) < c2", "x < c1*(c2 - 1) + 1", "c1 > 0 && c2 <= 0"},
    {"trunc_above", "c1 < truncdiv(x, c2)", "(c1 + 1)*c2 - 1 < x", "c1 >= 0 && c2 > 0"},
    {"trunc_above_negative", "c1 < truncdiv(x, c2)", "c1*c2 < x", "c1 < 0 && c2 > 0"},

    {"trunc_multiple_below", "truncdiv(x, c1)*c1 < x", "0 < truncmod(x, c1)", "c1 > 0"},
    {"trunc_multiple_below_sum", "truncdiv(x, c1)*c1 < x + y", "0 < truncmod(x, c1) + y", "c1 > 0",
     kExact},
    {"trunc_multiple_below_difference", "truncdiv(x, c1)*c1 < x - y", "y < truncmod(x, c1)",
     "c1 > 0", kExact},
    {"trunc_moved_multiple_below", "truncdiv(x + c2, c1)*c1 < x", "c2 < truncmod(x + c2, c1)",
     "c1 > 0", kExact},
    {"trunc_moved_multiple_below_sum", "truncdiv(x + c2, c1)*c1 < x + y",
     "c2 < truncmod(x + c2, c1) + y", "c1 > 0", kExact},
    {"trunc_moved_multiple_below_difference", "truncdiv(x + c2, c1)*c1 < x - y",
     "y < truncmod(x + c2, c1) + (0 - c2)", "c1 > 0", kExact},

    {"floor_below", "floordiv(x, c1) < c2", "x < c1*c2", "c1 > 0"},
    {"floor_above", "c1 < floordiv(x, c2)", "(c1 + 1)*c2 - 1 < x", "c2 > 0"},

    {"floor_multiple_below", "floordiv(x, c1)*c1 < x", "0 < floormod(x, c1)", "c1 > 0", kExact},
    {"floor_multiple_below_sum", "floordiv(x, c1)*c1 < x + y", "0 < floormod(x, c1) + y", "c1 > 0",
     kExact},
    {"floor_multiple_below_difference", "floordiv(x, c1)*c1 < x - y", "y < floormod(x, c1)",
     "c1 > 0", kExact},
    {"floor_moved_multiple_below", "floordiv(x + c2, c1)*c1 < x", "c2 < floormod(x + c2, c1)",
     "c1 > 0", kExact},
    {"floor_moved_multiple_below_sum", "floordiv(x + c2, c1)*c1 < x + y",
     "c2 < floormod(x + c2, c1) + y", "c1 > 0", kExact},
    {"floor_moved_multiple_below_difference", "floordiv(x + c2, c1)*c1 < x - y",
     "y < floormod(x + c2, c1) + (0 - c2)", "c1 > 0", kExact},

    // A comparison with a minimum or maximum becomes a conjunction or disjunction.
    {"min_below", "min(x, y) < z", "x < z || y < z", "", kAgain},
    {"max_below", "max(x, y) < z", "x < z && y < z", "", kAgain},
    {"min_above", "z < min(x, y)", "z < x && z < y", "", kAgain},
    {"max_above", "z < max(x, y)", "z < x || z < y", "", kAgain},

    // Terms move to the other side of the comparison.
    {"below_difference", "x < c1 - y", "x + y < c1", "", kExact | kAgain},
    {"below_sum", "x < c1 + y", "x - y < c1", "", kExact | kAgain},
    {"difference_below", "c1 - y < x", "c1 < x + y", "", kExact | kAgain},
    {"sum_below", "c1 + y < x", "c1 < x - y", "", kExact | kAgain},
    {"constants", "x + c1 < c2", "x < c2 - c1", "", kExact | kAgain},
    {"constants_minus", "x - c1 < c2", "x < c2 + c1", "", kExact | kAgain},
};

}  // namespace

RuleTable equal_rules() { return table<kEqualRows>(); }
RuleTable less_rules() { return table<kLessRows>(); }

// ---- logic --------------------------------------------------------------------------------------

namespace {

constexpr Row kNotRows[] = {
    {"twice", "!(!p)", "p"},
    {"equal", "!(x == y)", "x != y"},
    {"different", "!(x != y)", "x == y"},
    {"any", "!(p || q)", "!p && !q", "", kAgain},
    {"all", "!(p && q)", "!p || !q", "", kAgain},
};

constexpr Row kNotIntegerRows[] = {
    {"at_most", "!(x <= y)", "y < x"},
    {"at_least", "!(x >= y)", "x < y"},
    {"less", "!(x < y)", "y <= x"},
    {"greater", "!(x > y)", "x <= y"},
};

constexpr Row kAndRows[] = {
    {"equal_and_different", "x == y && x != y ; x != y && x == y", "false"},
    {"contradiction", "p && !p", "false"},
    {"above_and_below", "x <= y && y < x ; y < x && x <= y", "false"},
    {"open_range", "x < c1 && c2 < x ; c2 < x && x < c1", "false", "c2 + 1 >= c1"},
    {"half_open_range",
     "x < c1 && c2 <= x ; c2 <= x && x < c1 ; x <= c1 && c2 < x ; c2 < x && x <= c1", "false",
     "c2 >= c1"},
    {"closed_range", "x <= c1 && c2 <= x ; c2 <= x && x <= c1", "false", "c2 > c1"},
    {"equal_and_not_other", "x == c1 && x != c2 ; x != c2 && x == c1", "x == c1 && c1 != c2"},
};

constexpr Row kOrRows[] = {
    {"equal_or_different", "x == y || x != y ; x != y || x == y", "true"},
    {"tautology", "p || !p", "true"},
    {"different_or_other", "x != c1 || x == c2 ; x == c2 || x != c1", "x != c1 || c1 == c2"},
};

constexpr Row kOrIntegerRows[] = {
    {"at_most_or_above", "x <= y || y < x ; y < x || x <= y", "true"},
    {"open_ranges", "x < c1 || c2 < x ; c2 < x || x < c1", "true", "c2 < c1"},
    {"half_open_ranges",
     "x <= c1 || c2 < x ; c2 < x || x <= c1 ; x < c1 || c2 <= x ; c2 <= x || x < c1", "true",
     "c2 <= c1"},
    {"closed_ranges", "x <= c1 || c2 <= x ; c2 <= x || x <= c1", "true", "c2 <= c1 + 1"},
};

}  // namespace

RuleTable not_rules() { return table<kNotRows>(); }
RuleTable not_integer_rules() { return table<kNotIntegerRows>(); }
RuleTable and_rules() { return table<kAndRows>(); }
RuleTable or_rules() { return table<kOrRows>(); }
RuleTable or_integer_rules() { return table<kOrIntegerRows>(); }

}  // namespace tenon::arith::rules

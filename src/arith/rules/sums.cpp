#include "arith/rules/pattern.h"
#include "arith/rules/tables.h"

namespace tenon::arith::rules {

// ---- sums ---------------------------------------------------------------------------------------

namespace {

constexpr Row kAddRows[] = {
    // Terms move into an adjacent minimum or maximum.
    {"into_min_second", "min(x, y - z) + z", "min(x + z, y)", "", kExact},
    {"into_min_first", "min(x - z, y) + z", "min(x, y + z)", "", kExact},
    {"into_max_second", "max(x, y - z) + z", "max(x + z, y)", "", kExact},
    {"into_max_first", "max(x - z, y) + z", "max(x, y + z)", "", kExact},
    {"scaled_into_min_second", "min(x, y + z*c1) + z*c2", "min(x + z*c2, y)", "c1 == 0 - c2",
     kExact},
    {"scaled_into_max_second", "max(x, y + z*c1) + z*c2", "max(x + z*c2, y)", "c1 == 0 - c2",
     kExact},
    {"scaled_into_min_first", "min(y + z*c1, x) + z*c2", "min(x + z*c2, y)", "c1 == 0 - c2",
     kExact},
    {"scaled_into_max_first", "max(y + z*c1, x) + z*c2", "max(x + z*c2, y)", "c1 == 0 - c2",
     kExact},
    {"constant_into_min_second", "min(x, y + c1) + c2", "min(x + c2, y)", "c1 == 0 - c2", kExact},
    {"constant_into_min_first", "min(x + c1, y) + c2", "min(x, y + c2)", "c1 == 0 - c2", kExact},
    {"constant_into_max_second", "max(x, y + c1) + c2", "max(x + c2, y)", "c1 == 0 - c2", kExact},
    {"constant_into_max_first", "max(x + c1, y) + c2", "max(x, y + c2)", "c1 == 0 - c2", kExact},

    // Terms cancel.
    {"restore", "(x - y) + y ; y + (x - y)", "x"},
    {"chain", "(x - y) + (y - z)", "x - z"},
    {"chain_crossed", "(x - y) + (z - x)", "z - y"},

    {"max_and_min",
     "max(x, y) + min(x, y) ; min(x, y) + max(x, y) ; max(x, y) + min(y, x) ; min(x, y) + max(y, x)",
     "x + y"},

    {"constants", "(x + c1) + c2", "x + (c1 + c2)"},

    // Common factors are factored out.
    {"double", "x + x", "x*2"},
    {"one_more", "x*y + x ; y*x + x", "x*(y + 1)"},
    {"one_more_first", "x + y*x ; x + x*y", "x*(1 + y)"},
    {"factor", "x*y + x*z ; y*x + x*z ; x*y + z*x ; y*x + z*x", "x*(y + z)"},

    // A quotient and its remainder recombine to the dividend.
    {"trunc_whole", "truncdiv(x, c1)*c1 + truncmod(x, c1)", "x", "c1 != 0"},
    {"floor_whole",
     "floordiv(x, y)*y + floormod(x, y) ; y*floordiv(x, y) + floormod(x, y) ; "
     "floormod(x, y) + floordiv(x, y)*y ; floormod(x, y) + y*floordiv(x, y)",
     "x"},
    {"carry", "floordiv(floormod(x, c2) + c1, c2) + floordiv(x, c2)", "floordiv(x + c1, c2)",
     "c2 > 0", kExact},

    // Canonical order of terms: constants last, minima and maxima first, products before
    // remainders.
    {"constant_last_minus", "x + (c1 - y) ; (c1 - y) + x", "(x - y) + c1", "", kAgain},
    {"constant_last", "x + c1 + y ; x + (c1 + y)", "(x + y) + c1", "", kAgain},
    {"max_first", "x + max(y, z)", "max(y, z) + x", "", kAgain},
    {"min_first", "x + min(y, z)", "min(y, z) + x", "", kAgain},
    {"trunc_product_first", "truncmod(y, c1) + x*c1", "x*c1 + truncmod(y, c1)", "", kAgain},
    {"floor_product_first", "floormod(y, c1) + x*c1", "x*c1 + floormod(y, c1)", "", kAgain},
};

constexpr Row kAddAnyTypeRows[] = {
    {"join_selects", "select(p, x, y) + select(p, z, u)", "select(p, x + z, y + u)"},
};

}  // namespace

RuleTable add_rules() { return table<kAddRows>(); }
RuleTable add_any_type_rules() { return table<kAddAnyTypeRows>(); }

// ---- differences --------------------------------------------------------------------------------

namespace {

constexpr Row kSubRows[] = {
    // Terms move into an adjacent minimum or maximum.
    {"min_minus_first", "min(x, y) - x", "min(0, y - x)", "", kExact},
    {"min_minus_second", "min(x, y) - y", "min(x - y, 0)", "", kExact},
    {"max_minus_first", "max(x, y) - x", "max(0, y - x)", "", kExact},
    {"max_minus_second", "max(x, y) - y", "max(x - y, 0)", "", kExact},
    {"first_minus_max", "x - max(x, y)", "min(0, x - y)", "", kExact},
    {"second_minus_max", "y - max(x, y)", "min(y - x, 0)", "", kExact},
    {"first_minus_min", "x - min(x, y)", "max(0, x - y)", "", kExact},
    {"second_minus_min", "y - min(x, y)", "max(y - x, 0)", "", kExact},
    {"out_of_min_first", "min(x + y, z) - x ; min(y + x, z) - x", "min(y, z - x)", "", kExact},
    {"out_of_min_second", "min(z, x + y) - x ; min(z, y + x) - x", "min(z - x, y)", "", kExact},
    {"out_of_max_first", "max(x + y, z) - x ; max(y + x, z) - x", "max(y, z - x)", "", kExact},
    {"out_of_max_second", "max(z, x + y) - x ; max(z, y + x) - x", "max(z - x, y)", "", kExact},
    {"minus_min_first", "x - min(x + y, z) ; x - min(y + x, z)", "max(0 - y, x - z)", "", kExact},
    {"minus_min_second", "x - min(z, x + y) ; x - min(z, y + x)", "max(x - z, 0 - y)", "", kExact},

    // Terms cancel.
    {"drop_added", "(x + y) - y", "x"},
    {"drop_added_first", "(x + y) - x", "y"},
    {"minus_rest", "x - (y + x) ; x - (x + y)", "0 - y"},

    // Common factors are factored out.
    {"itself", "x - x", "0"},
    {"one_less", "x*y - x ; y*x - x", "x*(y - 1)"},
    {"one_minus", "x - y*x ; x - x*y", "x*(1 - y)"},
    {"factor", "x*y - x*z ; y*x - x*z ; x*y - z*x ; y*x - z*x", "x*(y - z)"},

    {"constants", "(x + c1) - c2", "x + (c1 - c2)"},
    {"constants_minus", "(c1 - x) - (c2 - y)", "(y - x) + (c1 - c2)"},

    {"common_addend",
     "(x + y) - (x + z) ; (x + y) - (z + x) ; (y + x) - (z + x) ; (y + x) - (x + z)", "y - z"},

    {"min_swapped", "min(x, y) - min(y, x)", "0"},
    {"max_swapped", "max(x, y) - max(y, x)", "0"},
    {"equal_steps_of_min", "min(x, y) - min(z, u)", "x - z", "(x - z) - (y - u) == 0", kExact},
    {"equal_steps_of_min_crossed", "min(x, y) - min(z, u)", "x - u", "(x - u) - (y - z) == 0",
     kExact},
    {"equal_steps_of_max", "max(x, y) - max(z, u)", "x - z", "(x - z) - (y - u) == 0", kExact},
    {"equal_steps_of_max_crossed", "max(x, y) - max(z, u)", "x - u", "(x - u) - (y - z) == 0",
     kExact},

    // Subtracting a multiple of the quotient leaves the remainder, for either rounding.
    {"trunc_remainder", "x - truncdiv(x, c1)*c1", "truncmod(x, c1)", "c1 != 0"},
    {"trunc_minus_remainder", "truncdiv(x, c1)*c1 - x", "0 - truncmod(x, c1)", "c1 != 0"},
    {"trunc_remainder_of_sum", "x - truncdiv(x + y, c1)*c1", "truncmod(x + y, c1) - y", "c1 != 0"},
    {"trunc_minus_remainder_of_sum", "truncdiv(x + y, c1)*c1 - x", "y - truncmod(x + y, c1)",
     "c1 != 0"},
    {"trunc_remainder_of_difference", "x - truncdiv(x - y, c1)*c1", "truncmod(x - y, c1) + y",
     "c1 != 0"},
    {"trunc_minus_remainder_of_difference", "truncdiv(x - y, c1)*c1 - x",
     "0 - truncmod(x - y, c1) - y", "c1 != 0"},

    {"trunc_scaled_remainder", "x*c2 - truncdiv(x, c1)*c3", "truncmod(x, c1)*c2",
     "c1 != 0 && c3 == c1*c2"},
    {"trunc_minus_scaled_remainder", "truncdiv(x, c1)*c3 - x*c2", "0 - truncmod(x, c1)*c2",
     "c1 != 0 && c3 == c1*c2"},
    {"trunc_scaled_remainder_of_sum", "x*c2 - truncdiv(x + y, c1)*c3",
     "(truncmod(x + y, c1) - y)*c2", "c1 != 0 && c3 == c1*c2"},
    {"trunc_minus_scaled_remainder_of_sum", "truncdiv(x + y, c1)*c3 - x*c2",
     "(y - truncmod(x + y, c1))*c2", "c1 != 0 && c3 == c1*c2"},
    {"trunc_scaled_remainder_of_difference", "x*c2 - truncdiv(x - y, c1)*c3",
     "(truncmod(x - y, c1) + y)*c2", "c1 != 0 && c3 == c1*c2"},
    {"trunc_minus_scaled_remainder_of_difference", "truncdiv(x - y, c1)*c3 - x*c2",
     "(0 - truncmod(x - y, c1) - y)*c2", "c1 != 0 && c3 == c1*c2"},

    {"trunc_step", "truncdiv(x + c1, c3) - truncdiv(x + c2, c3)",
     "truncdiv(truncmod(x + floormod(c2, c3), c3) + (c1 - c2), c3)",
     "c3 > 0 && c1 >= c2 && x >= 0 - c2 && x >= 0 - floormod(c2, c3)", kExact},
    {"trunc_step_from", "truncdiv(x + c1, c3) - truncdiv(x, c3)",
     "truncdiv(truncmod(x, c3) + c1, c3)", "c3 > 0 && c1 >= 0 && x >= 0", kExact},

    {"floor_remainder", "x - floordiv(x, c1)*c1", "floormod(x, c1)", "c1 != 0"},
    {"floor_minus_remainder", "floordiv(x, c1)*c1 - x", "0 - floormod(x, c1)", "c1 != 0"},
    {"floor_remainder_of_sum", "x - floordiv(x + y, c1)*c1", "floormod(x + y, c1) - y", "c1 != 0"},
    {"floor_minus_remainder_of_sum", "floordiv(x + y, c1)*c1 - x", "y - floormod(x + y, c1)",
     "c1 != 0"},
    {"floor_remainder_of_difference", "x - floordiv(x - y, c1)*c1", "floormod(x - y, c1) + y",
     "c1 != 0"},
    {"floor_minus_remainder_of_difference", "floordiv(x - y, c1)*c1 - x",
     "0 - floormod(x - y, c1) - y", "c1 != 0"},

    {"floor_scaled_remainder", "x*c2 - floordiv(x, c1)*c3", "floormod(x, c1)*c2",
     "c1 != 0 && c3 == c1*c2"},
    {"floor_minus_scaled_remainder", "floordiv(x, c1)*c3 - x*c2", "0 - floormod(x, c1)*c2",
     "c1 != 0 && c3 == c1*c2"},
    {"floor_scaled_remainder_of_sum", "x*c2 - floordiv(x + y, c1)*c3",
     "(floormod(x + y, c1) - y)*c2", "c1 != 0 && c3 == c1*c2"},
    {"floor_minus_scaled_remainder_of_sum", "floordiv(x + y, c1)*c3 - x*c2",
     "(y - floormod(x + y, c1))*c2", "c1 != 0 && c3 == c1*c2"},
    {"floor_scaled_remainder_of_difference", "x*c2 - floordiv(x - y, c1)*c3",
     "(floormod(x - y, c1) + y)*c2", "c1 != 0 && c3 == c1*c2"},
    {"floor_minus_scaled_remainder_of_difference", "floordiv(x - y, c1)*c3 - x*c2",
     "(0 - floormod(x - y, c1) - y)*c2", "c1 != 0 && c3 == c1*c2"},

    {"floor_step", "floordiv(x + c1, c3) - floordiv(x + c2, c3)",
     "floordiv(floormod(x + floormod(c2, c3), c3) + (c1 - c2), c3)", "c3 > 0", kExact},
    {"floor_step_from", "floordiv(x + c1, c3) - floordiv(x, c3)",
     "floordiv(floormod(x, c3) + c1, c3)", "c3 > 0", kExact},

    // Canonical order of terms: sums with constants last, products with the sign in the constant.
    {"add_opposite", "x - c1", "x + (0 - c1)"},
    {"constant_last", "(x + c1) - y", "(x - y) + c1", "", kAgain},
    {"add_subtracted", "x - (y - z)", "(x + z) - y", "", kAgain},
    {"opposite_factor", "x - y*c1", "x + y*(0 - c1)", "", kAgain},
};

constexpr Row kSubAnyTypeRows[] = {
    {"join_selects", "select(p, x, y) - select(p, z, u)", "select(p, x - z, y - u)"},
};

constexpr Row kIntegerRows[] = {
    {"into_select_second", "select(p, x, y) - y", "select(p, x - y, 0)"},
    {"into_select_first", "select(p, x, y) - x", "select(p, 0, y - x)"},
};

}  // namespace

RuleTable sub_rules() { return table<kSubRows>(); }
RuleTable sub_any_type_rules() { return table<kSubAnyTypeRows>(); }
RuleTable sub_integer_rules() { return table<kIntegerRows>(); }

// ---- products -----------------------------------------------------------------------------------

namespace {

constexpr Row kMulRows[] = {
    {"distribute_constant", "(x + c1)*c2", "x*c2 + c1*c2"},
    {"constants", "(x*c1)*c2", "x*(c1*c2)"},
    {"min_times_max", "min(x, y)*max(x, y) ; max(x, y)*min(x, y)", "x*y"},
    {"multiple_above", "floordiv(x - floormod(x, c2), c1)*c1", "x - floormod(x, c2)",
     "c1 != 0 && c1 == 0 - c2", kExact},

    // Canonical order of terms: constants last. If a difference has a negative constant factor, its
    // operands are swapped, so that the factor becomes positive.
    {"constant_last_inside", "x*(c1*y)", "(x*y)*c1", "", kAgain},
    {"constant_last", "c1*x", "x*c1", "", kAgain},
    {"turn_difference", "(x - y)*c1", "(y - x)*(0 - c1)", "c1 < 0", kAgain},
};

}  // namespace

RuleTable mul_rules() { return table<kMulRows>(); }

}  // namespace tenon::arith::rules

#include "arith/rules/pattern.h"
#include "arith/rules/tables.h"

namespace tenon::arith::rules {

namespace {

constexpr Row kAddRows[] = {
    // Terms move into a minimum or maximum.
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

    // Common factors.
    {"double", "x + x", "x*2"},
    {"one_more", "x*y + x ; y*x + x", "x*(y + 1)"},
    {"one_more_first", "x + y*x ; x + x*y", "x*(1 + y)"},
    {"factor", "x*y + x*z ; y*x + x*z ; x*y + z*x ; y*x + z*x", "x*(y + z)"},

    // A quotient and its remainder recombine.
    {"trunc_whole", "truncdiv(x, c1)*c1 + truncmod(x, c1)", "x", "c1 != 0"},
    {"floor_whole",
     "floordiv(x, y)*y + floormod(x, y) ; y*floordiv(x, y) + floormod(x, y) ; "
     "floormod(x, y) + floordiv(x, y)*y ; floormod(x, y) + y*floordiv(x, y)",
     "x"},
    {"carry", "floordiv(floormod(x, c2) + c1, c2) + floordiv(x, c2)", "floordiv(x + c1, c2)",
     "c2 > 0", kExact},

    // Order: constants last, choices first, products before remainders.
    {"constant_last_minus", "x + (c1 - y) ; (c1 - y) + x", "(x - y) + c1", "", kAgain},
    {"constant_last", "x + c1 + y ; x + (c1 + y)", "(x + y) + c1", "", kAgain},
    {"max_first", "x + max(y, z)", "max(y, z) + x", "", kAgain},
    {"min_first", "x + min(y, z)", "min(y, z) + x", "", kAgain},
    {"trunc_product_first", "truncmod(y, c1) + x*c1", "x*c1 + truncmod(y, c1)", "", kAgain},
    {"floor_product_first", "floormod(y, c1) + x*c1", "x*c1 + floormod(y, c1)", "", kAgain},
};
constexpr auto kAddRules = compile<kAddRows>();

constexpr Row kAddAnyTypeRows[] = {
    {"join_selects", "select(p, x, y) + select(p, z, u)", "select(p, x + z, y + u)"},
};
constexpr auto kAddAnyTypeRules = compile<kAddAnyTypeRows>();

}  // namespace

RuleTable add_rules() { return kAddRules; }
RuleTable add_any_type_rules() { return kAddAnyTypeRules; }

}  // namespace tenon::arith::rules

#include "arith/rules/pattern.h"
#include "arith/rules/tables.h"

namespace tenon::arith::rules {

// ---- floordiv and floormod ----------------------------------------------------------------------

namespace {

constexpr Row kFirstDivRows[] = {
    {"zero", "floordiv(0, x)", "0", "x >= 1"},
    {"nested", "floordiv(floordiv(x, c1), c2)", "floordiv(x, c1*c2)", "c1 > 0 && c2 > 0"},
    {"nested_sum", "floordiv(floordiv(x, c1) + c2, c3)", "floordiv(x + c1*c2, c1*c3)",
     "c1 > 0 && c3 > 0", kExact},
};

constexpr Row kFloorDivRows[] = {
    {"itself", "floordiv(x, x)", "1"},
    {"factor_constant", "floordiv(x*c1, x) ; floordiv(c1*x, x)", "c1", "", kExact},

    {"min_with_multiple", "floordiv(min(x*c1, y), c2)", "min(x*floordiv(c1, c2), floordiv(y, c2))",
     "c2 > 0 && floormod(c1, c2) == 0", kExact},
    {"max_with_multiple", "floordiv(max(x*c1, y), c2)", "max(x*floordiv(c1, c2), floordiv(y, c2))",
     "c2 > 0 && floormod(c1, c2) == 0", kExact},
    {"min_multiple_second", "floordiv(min(y, x*c1), c2)",
     "min(floordiv(y, c2), x*floordiv(c1, c2))", "c2 > 0 && floormod(c1, c2) == 0", kExact},
    {"max_multiple_second", "floordiv(max(y, x*c1), c2)",
     "max(floordiv(y, c2), x*floordiv(c1, c2))", "c2 > 0 && floormod(c1, c2) == 0", kExact},

    {"multiple_plus_sum", "floordiv(x*c1 + y + z, c2)", "x*floordiv(c1, c2) + floordiv(y + z, c2)",
     "c2 > 0 && floormod(c1, c2) == 0", kExact},
    {"scale_divides_divisor", "floordiv(x*c1 + y + z, c2)", "floordiv(x, floordiv(c2, c1))",
     "c1 > 0 && c2 > 0 && floormod(c2, c1) == 0 && floordiv(y + z, c1) == 0", kExact},
    {"multiple_minus_plus", "floordiv(x*c1 - y + z, c2)",
     "x*floordiv(c1, c2) + floordiv(z - y, c2)", "c2 > 0 && floormod(c1, c2) == 0", kExact},
    {"multiple_plus_minus", "floordiv(x*c1 + y - z, c2)",
     "x*floordiv(c1, c2) + floordiv(y - z, c2)", "c2 > 0 && floormod(c1, c2) == 0", kExact},
    {"sum_around_multiple", "floordiv(y + x*c1 + z, c2)",
     "x*floordiv(c1, c2) + floordiv(y + z, c2)", "c2 > 0 && floormod(c1, c2) == 0", kExact},
    {"plus_constant", "floordiv(x + c1, c2)", "floordiv(x, c2) + floordiv(c1, c2)",
     "c2 > 0 && floormod(c1, c2) == 0", kExact | kKeepsType},

    {"common_factor", "floordiv(x*c1, x*c2)", "floordiv(c1, c2)", "c2 > 0", kExact},

    {"divisor_plus", "floordiv(x + y, x) ; floordiv(y + x, x)", "floordiv(y, x) + 1", "x >= 0",
     kExact},
    {"divisor_in_sum",
     "floordiv((x + y) + z, x) ; floordiv((y + x) + z, x) ; floordiv(y + (z + x), x) ; floordiv(y + (x + z), x)",
     "floordiv(y + z, x) + 1", "x >= 0", kExact},
    {"factor", "floordiv(x*y, y) ; floordiv(y*x, y)", "x", "y >= 0", kExact},
    {"factor_plus", "floordiv(x*z + y, z) ; floordiv(z*x + y, z)", "x + floordiv(y, z)", "z >= 0",
     kExact},
    {"plus_factor", "floordiv(y + x*z, z) ; floordiv(y + z*x, z)", "floordiv(y, z) + x", "z >= 0",
     kExact},

    {"without_remainder", "floordiv(x - floormod(x, c1), c1)", "floordiv(x, c1)", "c1 != 0",
     kExact},
};

constexpr Row kFloorModRows[] = {
    {"zero", "floormod(0, x)", "0", "x >= 1"},
    {"reduce_factor", "floormod(x*c1, c2)", "floormod(x*floormod(c1, c2), c2)", "c2 != 0",
     kExact | kKeepsType},
    {"scale_divides_divisor", "floormod(x*c1 + y, c2)", "floormod(x, floordiv(c2, c1))*c1 + y",
     "c1 > 0 && c2 > 0 && floormod(c2, c1) == 0 && floordiv(y, c1) == 0", kExact},
    {"reduce_factor_plus", "floormod(x*c1 + y, c2)", "floormod(x*floormod(c1, c2) + y, c2)",
     "c2 > 0", kExact | kKeepsType},
    {"plus_constant", "floormod(x + c1, c2)", "floormod(x, c2)", "c2 > 0 && floormod(c1, c2) == 0",
     kExact | kKeepsType},
    {"plus_reduced_factor", "floormod(x + y*c1, c2)", "floormod(x + y*floormod(c1, c2), c2)",
     "c2 > 0", kExact | kKeepsType},
    {"common_factor", "floormod(x*c1, x*c2)", "x*floormod(c1, c2)", "c2 != 0", kExact},
    {"factor", "floormod(x*y, y) ; floormod(y*x, y)", "0", "", kExact},
};

}  // namespace

RuleTable floor_div_first_rules() { return table<kFirstDivRows>(); }
RuleTable floor_div_rules() { return table<kFloorDivRows>(); }
RuleTable floor_mod_rules() { return table<kFloorModRows>(); }

// ---- truncdiv and truncmod ----------------------------------------------------------------------

namespace {

constexpr Row kTruncDivRows[] = {
    // Most rules require both operands to be non-negative, because the division rounds towards
    // zero.
    {"zero", "truncdiv(0, x)", "0", "x >= 1"},
    {"nested", "truncdiv(truncdiv(x, c1), c2)", "truncdiv(x, c1*c2)", "c1 > 0 && c2 > 0"},
    {"nested_sum", "truncdiv(truncdiv(x, c1) + c2, c3)", "truncdiv(x + c1*c2, c1*c3)",
     "c1 > 0 && c2 >= 0 && c3 > 0 && x >= 0", kExact},
    {"multiple", "truncdiv(x*c1, c2)", "x*truncdiv(c1, c2)",
     "c1 > 0 && c2 > 0 && floormod(c1, c2) == 0", kExact},
    {"divisor_of_divisor", "truncdiv(x*c1, c2)", "truncdiv(x, truncdiv(c2, c1))",
     "c1 > 0 && c2 > 0 && floormod(c2, c1) == 0", kExact},

    {"itself", "truncdiv(x, x)", "1"},
    {"factor_constant", "truncdiv(x*c1, x) ; truncdiv(c1*x, x)", "c1", "", kExact},

    {"multiple_plus", "truncdiv(x*c1 + y, c2)", "x*truncdiv(c1, c2) + truncdiv(y, c2)",
     "c1 >= 0 && c2 > 0 && floormod(c1, c2) == 0 && x >= 0 && y >= 0", kExact},
    {"min_with_multiple", "truncdiv(min(x*c1, y), c2)", "min(x*truncdiv(c1, c2), truncdiv(y, c2))",
     "c1 >= 0 && c2 > 0 && floormod(c1, c2) == 0 && x >= 0 && y >= 0", kExact},
    {"max_with_multiple", "truncdiv(max(x*c1, y), c2)", "max(x*truncdiv(c1, c2), truncdiv(y, c2))",
     "c1 >= 0 && c2 > 0 && floormod(c1, c2) == 0 && x >= 0 && y >= 0", kExact},
    {"plus_multiple", "truncdiv(y + x*c1, c2)", "truncdiv(y, c2) + x*truncdiv(c1, c2)",
     "c1 >= 0 && c2 > 0 && floormod(c1, c2) == 0 && x >= 0 && y >= 0", kExact},
    {"min_multiple_second", "truncdiv(min(y, x*c1), c2)",
     "min(truncdiv(y, c2), x*truncdiv(c1, c2))",
     "c1 >= 0 && c2 > 0 && floormod(c1, c2) == 0 && x >= 0 && y >= 0", kExact},
    {"max_multiple_second", "truncdiv(max(y, x*c1), c2)",
     "max(truncdiv(y, c2), x*truncdiv(c1, c2))",
     "c1 >= 0 && c2 > 0 && floormod(c1, c2) == 0 && x >= 0 && y >= 0", kExact},

    {"multiple_plus_sum", "truncdiv(x*c1 + y + z, c2)", "x*truncdiv(c1, c2) + truncdiv(y + z, c2)",
     "c1 >= 0 && c2 > 0 && floormod(c1, c2) == 0 && x >= 0 && y + z >= 0", kExact},
    {"multiple_minus_plus", "truncdiv(x*c1 - y + z, c2)",
     "x*truncdiv(c1, c2) + truncdiv(z - y, c2)",
     "c1 >= 0 && c2 > 0 && floormod(c1, c2) == 0 && x >= 0 && z - y >= 0", kExact},
    {"multiple_plus_minus", "truncdiv(x*c1 + y - z, c2)",
     "x*truncdiv(c1, c2) + truncdiv(y - z, c2)",
     "c1 >= 0 && c2 > 0 && floormod(c1, c2) == 0 && x >= 0 && y - z >= 0", kExact},
    {"sum_around_multiple", "truncdiv(y + x*c1 + z, c2)",
     "x*truncdiv(c1, c2) + truncdiv(y + z, c2)",
     "c1 >= 0 && c2 > 0 && floormod(c1, c2) == 0 && x >= 0 && y + z >= 0", kExact},
    {"plus_constant", "truncdiv(x + c1, c2)", "truncdiv(x, c2) + truncdiv(c1, c2)",
     "c1 > 0 && c2 > 0 && floormod(c1, c2) == 0 && x >= 0", kExact},

    {"divisor_plus", "truncdiv(x + y, x) ; truncdiv(y + x, x)", "truncdiv(y, x) + 1",
     "x >= 0 && y >= 0", kExact},
    {"divisor_in_sum",
     "truncdiv((x + y) + z, x) ; truncdiv((y + x) + z, x) ; truncdiv(y + (z + x), x) ; truncdiv(y + (x + z), x)",
     "truncdiv(y + z, x) + 1", "x >= 0 && y + z >= 0", kExact},
    {"factor", "truncdiv(x*y, y) ; truncdiv(y*x, y)", "x", "x >= 0 && y >= 0", kExact},
    {"factor_plus", "truncdiv(x*z + y, z) ; truncdiv(z*x + y, z)", "x + truncdiv(y, z)",
     "x >= 0 && y >= 0 && z >= 0", kExact},
    {"plus_factor", "truncdiv(y + x*z, z) ; truncdiv(y + z*x, z)", "truncdiv(y, z) + x",
     "x >= 0 && y >= 0 && z >= 0", kExact},
};

constexpr Row kTruncModRows[] = {
    {"zero", "truncmod(0, x)", "0", "x >= 1"},
    {"multiple", "truncmod(x*c1, c2)", "0", "c2 != 0 && floormod(c1, c2) == 0", kExact},
    {"multiple_plus", "truncmod(x*c1 + y, c2)", "truncmod(y, c2)",
     "c2 > 0 && floormod(c1, c2) == 0 && x*c1 >= 0 && y >= 0", kExact},
    {"plus_constant", "truncmod(x + c1, c2)", "truncmod(x, c2)",
     "c2 > 0 && c1 >= 0 && floormod(c1, c2) == 0 && x >= 0", kExact},
    {"plus_multiple", "truncmod(x + y*c1, c2)", "truncmod(x, c2)",
     "c2 > 0 && floormod(c1, c2) == 0 && x >= 0 && y*c1 >= 0", kExact},
    // A truncated remainder has the sign of the dividend.
    {"positive_divisor", "truncmod(x, c1)", "truncmod(x, 0 - c1)", "c1 < 0", kAgain},
};

}  // namespace

RuleTable trunc_div_rules() { return table<kTruncDivRows>(); }
RuleTable trunc_mod_rules() { return table<kTruncModRows>(); }

}  // namespace tenon::arith::rules

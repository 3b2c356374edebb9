#include "arith/rules/pattern.h"
#include "arith/rules/tables.h"

namespace tenon::arith::rules {

namespace {

constexpr Row kFirstDivRows[] = {
    {"zero", "floordiv(0, x)", "0", "x >= 1"},
    {"nested", "floordiv(floordiv(x, c1), c2)", "floordiv(x, c1*c2)", "c1 > 0 && c2 > 0"},
    {"nested_sum", "floordiv(floordiv(x, c1) + c2, c3)", "floordiv(x + c1*c2, c1*c3)",
     "c1 > 0 && c3 > 0", kExact},
};
constexpr auto kFirstDivRules = compile<kFirstDivRows>();

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
     "c2 > 0 && floormod(c1, c2) == 0", kExact},

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
constexpr auto kFloorDivRules = compile<kFloorDivRows>();

constexpr Row kFloorModRows[] = {
    {"zero", "floormod(0, x)", "0", "x >= 1"},
    {"reduce_factor", "floormod(x*c1, c2)", "floormod(x*floormod(c1, c2), c2)", "c2 != 0",
     kExact | kKeepsType},
    {"scale_divides_divisor", "floormod(x*c1 + y, c2)", "floormod(x, floordiv(c2, c1))*c1 + y",
     "c1 > 0 && c2 > 0 && floormod(c2, c1) == 0 && floordiv(y, c1) == 0", kExact},
    {"reduce_factor_plus", "floormod(x*c1 + y, c2)", "floormod(x*floormod(c1, c2) + y, c2)",
     "c2 > 0", kExact | kKeepsType},
    {"plus_constant", "floormod(x + c1, c2)", "floormod(x, c2)", "c2 > 0 && floormod(c1, c2) == 0",
     kExact},
    {"plus_reduced_factor", "floormod(x + y*c1, c2)", "floormod(x + y*floormod(c1, c2), c2)",
     "c2 > 0", kExact | kKeepsType},
    {"common_factor", "floormod(x*c1, x*c2)", "x*floormod(c1, c2)", "c2 != 0", kExact},
    {"factor", "floormod(x*y, y) ; floormod(y*x, y)", "0", "", kExact},
};
constexpr auto kFloorModRules = compile<kFloorModRows>();

}  // namespace

RuleTable floor_div_first_rules() { return kFirstDivRules; }
RuleTable floor_div_rules() { return kFloorDivRules; }
RuleTable floor_mod_rules() { return kFloorModRules; }

}  // namespace tenon::arith::rules

#include "arith/rules/pattern.h"
#include "arith/rules/tables.h"

namespace tenon::arith::rules {

namespace {

constexpr Row kMulRows[] = {
    {"distribute_constant", "(x + c1)*c2", "x*c2 + c1*c2"},
    {"constants", "(x*c1)*c2", "x*(c1*c2)"},
    {"min_times_max", "min(x, y)*max(x, y) ; max(x, y)*min(x, y)", "x*y"},
    {"multiple_above", "floordiv(x - floormod(x, c2), c1)*c1", "x - floormod(x, c2)",
     "c1 != 0 && c1 == 0 - c2", kExact},

    // Order: constants last. A constant factor of a difference becomes positive by swapping the
    // operands.
    {"constant_last_inside", "x*(c1*y)", "(x*y)*c1", "", kAgain},
    {"constant_last", "c1*x", "x*c1", "", kAgain},
    {"turn_difference", "(x - y)*c1", "(y - x)*(0 - c1)", "c1 < 0", kAgain},
};
constexpr auto kMulRules = compile<kMulRows>();

}  // namespace

RuleTable mul_rules() { return kMulRules; }

}  // namespace tenon::arith::rules

#include "arith/rules/pattern.h"
#include "arith/rules/tables.h"

namespace tenon::arith::rules {

namespace {

constexpr Row kVectorAddRows[] = {
    {"ramps", "ramp(x, y, n) + ramp(z, u, n)", "ramp(x + z, y + u, n)"},
    {"ramp_and_broadcast", "ramp(x, y, n) + broadcast(z, n)", "ramp(x + z, y, n)"},
    {"broadcast_and_ramp", "broadcast(z, n) + ramp(x, y, n)", "ramp(z + x, y, n)"},
    {"broadcasts", "broadcast(x, n) + broadcast(y, n)", "broadcast(x + y, n)"},
};
constexpr auto kVectorAddRules = compile<kVectorAddRows>();

constexpr Row kVectorSubRows[] = {
    {"ramps", "ramp(x, y, n) - ramp(z, u, n)", "ramp(x - z, y - u, n)"},
    {"ramp_and_broadcast", "ramp(x, y, n) - broadcast(z, n)", "ramp(x - z, y, n)"},
    {"broadcast_and_ramp", "broadcast(z, n) - ramp(x, y, n)", "ramp(z - x, 0 - y, n)"},
    {"broadcasts", "broadcast(x, n) - broadcast(y, n)", "broadcast(x - y, n)"},
};
constexpr auto kVectorSubRules = compile<kVectorSubRows>();

constexpr Row kVectorMulRows[] = {
    {"broadcasts", "broadcast(x, n)*broadcast(y, n)", "broadcast(x*y, n)"},
    {"scaled_ramp", "ramp(x, y, n)*broadcast(z, n) ; broadcast(z, n)*ramp(x, y, n)",
     "ramp(x*z, y*z, n)"},
};
constexpr auto kVectorMulRules = compile<kVectorMulRows>();

constexpr Row kVectorDivRows[] = {
    {"broadcasts", "div(broadcast(x, n), broadcast(y, n))", "broadcast(div(x, y), n)"},
};
constexpr auto kVectorDivRules = compile<kVectorDivRows>();

constexpr Row kVectorTruncDivRows[] = {
    {"broadcasts", "truncdiv(broadcast(x, n), broadcast(y, n))", "broadcast(truncdiv(x, y), n)"},
};
constexpr auto kVectorTruncDivRules = compile<kVectorTruncDivRows>();

constexpr Row kVectorTruncModRows[] = {
    {"broadcasts", "truncmod(broadcast(x, n), broadcast(y, n))", "broadcast(truncmod(x, y), n)"},
};
constexpr auto kVectorTruncModRules = compile<kVectorTruncModRows>();

constexpr Row kVectorFloorDivRows[] = {
    {"broadcasts", "floordiv(broadcast(x, n), broadcast(y, n))", "broadcast(floordiv(x, y), n)"},
};
constexpr auto kVectorFloorDivRules = compile<kVectorFloorDivRows>();

constexpr Row kVectorFloorModRows[] = {
    {"broadcasts", "floormod(broadcast(x, n), broadcast(y, n))", "broadcast(floormod(x, y), n)"},
};
constexpr auto kVectorFloorModRules = compile<kVectorFloorModRows>();

constexpr Row kVectorMinRows[] = {
    {"broadcasts", "min(broadcast(x, n), broadcast(y, n))", "broadcast(min(x, y), n)"},
    {"two_broadcasts", "min(min(x, broadcast(y, n)), broadcast(z, n))",
     "min(x, broadcast(min(y, z), n))"},
};
constexpr auto kVectorMinRules = compile<kVectorMinRows>();

constexpr Row kVectorMaxRows[] = {
    {"broadcasts", "max(broadcast(x, n), broadcast(y, n))", "broadcast(max(x, y), n)"},
    {"two_broadcasts", "max(max(x, broadcast(y, n)), broadcast(z, n))",
     "max(x, broadcast(max(y, z), n))"},
};
constexpr auto kVectorMaxRules = compile<kVectorMaxRows>();

constexpr Row kVectorEqualRows[] = {
    {"broadcasts", "broadcast(x, n) == broadcast(y, n)", "broadcast(x == y, n)"},
};
constexpr auto kVectorEqualRules = compile<kVectorEqualRows>();

constexpr Row kVectorLessRows[] = {
    {"broadcasts", "broadcast(x, n) < broadcast(y, n)", "broadcast(x < y, n)"},
    {"parallel_ramps", "ramp(x, z, n) < ramp(y, z, n)", "broadcast(x < y, n)", "", kExact},
};
constexpr auto kVectorLessRules = compile<kVectorLessRows>();

constexpr Row kVectorNotRows[] = {
    {"broadcast", "!broadcast(p, n)", "broadcast(!p, n)"},
};
constexpr auto kVectorNotRules = compile<kVectorNotRows>();

constexpr Row kVectorAndRows[] = {
    {"broadcasts", "broadcast(p, n) && broadcast(q, n)", "broadcast(p && q, n)"},
};
constexpr auto kVectorAndRules = compile<kVectorAndRows>();

constexpr Row kVectorOrRows[] = {
    {"broadcasts", "broadcast(p, n) || broadcast(q, n)", "broadcast(p || q, n)"},
};
constexpr auto kVectorOrRules = compile<kVectorOrRows>();

}  // namespace

RuleTable add_vector_rules() { return kVectorAddRules; }
RuleTable sub_vector_rules() { return kVectorSubRules; }
RuleTable mul_vector_rules() { return kVectorMulRules; }
RuleTable div_vector_rules() { return kVectorDivRules; }
RuleTable trunc_div_vector_rules() { return kVectorTruncDivRules; }
RuleTable trunc_mod_vector_rules() { return kVectorTruncModRules; }
RuleTable floor_div_vector_rules() { return kVectorFloorDivRules; }
RuleTable floor_mod_vector_rules() { return kVectorFloorModRules; }
RuleTable min_vector_rules() { return kVectorMinRules; }
RuleTable max_vector_rules() { return kVectorMaxRules; }
RuleTable equal_vector_rules() { return kVectorEqualRules; }
RuleTable less_vector_rules() { return kVectorLessRules; }
RuleTable not_vector_rules() { return kVectorNotRules; }
RuleTable and_vector_rules() { return kVectorAndRules; }
RuleTable or_vector_rules() { return kVectorOrRules; }

}  // namespace tenon::arith::rules

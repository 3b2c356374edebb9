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

constexpr Row kVectorSubRows[] = {
    {"ramps", "ramp(x, y, n) - ramp(z, u, n)", "ramp(x - z, y - u, n)"},
    {"ramp_and_broadcast", "ramp(x, y, n) - broadcast(z, n)", "ramp(x - z, y, n)"},
    {"broadcast_and_ramp", "broadcast(z, n) - ramp(x, y, n)", "ramp(z - x, 0 - y, n)"},
    {"broadcasts", "broadcast(x, n) - broadcast(y, n)", "broadcast(x - y, n)"},
};

constexpr Row kVectorMulRows[] = {
    {"broadcasts", "broadcast(x, n)*broadcast(y, n)", "broadcast(x*y, n)"},
    {"scaled_ramp", "ramp(x, y, n)*broadcast(z, n) ; broadcast(z, n)*ramp(x, y, n)",
     "ramp(x*z, y*z, n)"},
};

constexpr Row kVectorDivRows[] = {
    {"broadcasts", "div(broadcast(x, n), broadcast(y, n))", "broadcast(div(x, y), n)"},
};

constexpr Row kVectorTruncDivRows[] = {
    {"broadcasts", "truncdiv(broadcast(x, n), broadcast(y, n))", "broadcast(truncdiv(x, y), n)"},
};

constexpr Row kVectorTruncModRows[] = {
    {"broadcasts", "truncmod(broadcast(x, n), broadcast(y, n))", "broadcast(truncmod(x, y), n)"},
};

constexpr Row kVectorFloorDivRows[] = {
    {"broadcasts", "floordiv(broadcast(x, n), broadcast(y, n))", "broadcast(floordiv(x, y), n)"},
};

constexpr Row kVectorFloorModRows[] = {
    {"broadcasts", "floormod(broadcast(x, n), broadcast(y, n))", "broadcast(floormod(x, y), n)"},
};

constexpr Row kVectorMinRows[] = {
    {"broadcasts", "min(broadcast(x, n), broadcast(y, n))", "broadcast(min(x, y), n)"},
    {"two_broadcasts", "min(min(x, broadcast(y, n)), broadcast(z, n))",
     "min(x, broadcast(min(y, z), n))"},
};

constexpr Row kVectorMaxRows[] = {
    {"broadcasts", "max(broadcast(x, n), broadcast(y, n))", "broadcast(max(x, y), n)"},
    {"two_broadcasts", "max(max(x, broadcast(y, n)), broadcast(z, n))",
     "max(x, broadcast(max(y, z), n))"},
};

constexpr Row kVectorEqualRows[] = {
    {"broadcasts", "broadcast(x, n) == broadcast(y, n)", "broadcast(x == y, n)"},
};

constexpr Row kVectorLessRows[] = {
    {"broadcasts", "broadcast(x, n) < broadcast(y, n)", "broadcast(x < y, n)"},
    {"parallel_ramps", "ramp(x, z, n) < ramp(y, z, n)", "broadcast(x < y, n)", "", kExact},
};

constexpr Row kVectorNotRows[] = {
    {"broadcast", "!broadcast(p, n)", "broadcast(!p, n)"},
};

constexpr Row kVectorAndRows[] = {
    {"broadcasts", "broadcast(p, n) && broadcast(q, n)", "broadcast(p && q, n)"},
};

constexpr Row kVectorOrRows[] = {
    {"broadcasts", "broadcast(p, n) || broadcast(q, n)", "broadcast(p || q, n)"},
};

}  // namespace

RuleTable add_vector_rules() { return table<kVectorAddRows>(); }
RuleTable sub_vector_rules() { return table<kVectorSubRows>(); }
RuleTable mul_vector_rules() { return table<kVectorMulRows>(); }
RuleTable div_vector_rules() { return table<kVectorDivRows>(); }
RuleTable trunc_div_vector_rules() { return table<kVectorTruncDivRows>(); }
RuleTable trunc_mod_vector_rules() { return table<kVectorTruncModRows>(); }
RuleTable floor_div_vector_rules() { return table<kVectorFloorDivRows>(); }
RuleTable floor_mod_vector_rules() { return table<kVectorFloorModRows>(); }
RuleTable min_vector_rules() { return table<kVectorMinRows>(); }
RuleTable max_vector_rules() { return table<kVectorMaxRows>(); }
RuleTable equal_vector_rules() { return table<kVectorEqualRows>(); }
RuleTable less_vector_rules() { return table<kVectorLessRows>(); }
RuleTable not_vector_rules() { return table<kVectorNotRows>(); }
RuleTable and_vector_rules() { return table<kVectorAndRows>(); }
RuleTable or_vector_rules() { return table<kVectorOrRows>(); }

}  // namespace tenon::arith::rules

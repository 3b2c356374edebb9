#include "arith/rules/pattern.h"
#include "arith/rules/tables.h"

namespace tenon::arith::rules {

namespace {

constexpr Row kAddRows[] = {
    {"ramps", "ramp(x, y, n) + ramp(z, u, n)", "ramp(x + z, y + u, n)"},
    {"ramp_and_broadcast", "ramp(x, y, n) + broadcast(z, n)", "ramp(x + z, y, n)"},
    {"broadcast_and_ramp", "broadcast(z, n) + ramp(x, y, n)", "ramp(z + x, y, n)"},
    {"broadcasts", "broadcast(x, n) + broadcast(y, n)", "broadcast(x + y, n)"},
};
constexpr auto kAdd = compile<kAddRows>();

constexpr Row kSubRows[] = {
    {"ramps", "ramp(x, y, n) - ramp(z, u, n)", "ramp(x - z, y - u, n)"},
    {"ramp_and_broadcast", "ramp(x, y, n) - broadcast(z, n)", "ramp(x - z, y, n)"},
    {"broadcast_and_ramp", "broadcast(z, n) - ramp(x, y, n)", "ramp(z - x, 0 - y, n)"},
    {"broadcasts", "broadcast(x, n) - broadcast(y, n)", "broadcast(x - y, n)"},
};
constexpr auto kSub = compile<kSubRows>();

constexpr Row kMulRows[] = {
    {"broadcasts", "broadcast(x, n)*broadcast(y, n)", "broadcast(x*y, n)"},
    {"scaled_ramp", "ramp(x, y, n)*broadcast(z, n) ; broadcast(z, n)*ramp(x, y, n)",
     "ramp(x*z, y*z, n)"},
};
constexpr auto kMul = compile<kMulRows>();

constexpr Row kDivRows[] = {
    {"broadcasts", "div(broadcast(x, n), broadcast(y, n))", "broadcast(div(x, y), n)"},
};
constexpr auto kDiv = compile<kDivRows>();

constexpr Row kTruncDivRows[] = {
    {"broadcasts", "truncdiv(broadcast(x, n), broadcast(y, n))", "broadcast(truncdiv(x, y), n)"},
};
constexpr auto kTruncDiv = compile<kTruncDivRows>();

constexpr Row kTruncModRows[] = {
    {"broadcasts", "truncmod(broadcast(x, n), broadcast(y, n))", "broadcast(truncmod(x, y), n)"},
};
constexpr auto kTruncMod = compile<kTruncModRows>();

constexpr Row kFloorDivRows[] = {
    {"broadcasts", "floordiv(broadcast(x, n), broadcast(y, n))", "broadcast(floordiv(x, y), n)"},
};
constexpr auto kFloorDiv = compile<kFloorDivRows>();

constexpr Row kFloorModRows[] = {
    {"broadcasts", "floormod(broadcast(x, n), broadcast(y, n))", "broadcast(floormod(x, y), n)"},
};
constexpr auto kFloorMod = compile<kFloorModRows>();

constexpr Row kMinRows[] = {
    {"broadcasts", "min(broadcast(x, n), broadcast(y, n))", "broadcast(min(x, y), n)"},
    {"two_broadcasts", "min(min(x, broadcast(y, n)), broadcast(z, n))",
     "min(x, broadcast(min(y, z), n))"},
};
constexpr auto kMin = compile<kMinRows>();

constexpr Row kMaxRows[] = {
    {"broadcasts", "max(broadcast(x, n), broadcast(y, n))", "broadcast(max(x, y), n)"},
    {"two_broadcasts", "max(max(x, broadcast(y, n)), broadcast(z, n))",
     "max(x, broadcast(max(y, z), n))"},
};
constexpr auto kMax = compile<kMaxRows>();

constexpr Row kEqualRows[] = {
    {"broadcasts", "broadcast(x, n) == broadcast(y, n)", "broadcast(x == y, n)"},
};
constexpr auto kEqual = compile<kEqualRows>();

constexpr Row kLessRows[] = {
    {"broadcasts", "broadcast(x, n) < broadcast(y, n)", "broadcast(x < y, n)"},
    {"parallel_ramps", "ramp(x, z, n) < ramp(y, z, n)", "broadcast(x < y, n)", "", kExact},
};
constexpr auto kLess = compile<kLessRows>();

constexpr Row kNotRows[] = {
    {"broadcast", "!broadcast(p, n)", "broadcast(!p, n)"},
};
constexpr auto kNot = compile<kNotRows>();

constexpr Row kAndRows[] = {
    {"broadcasts", "broadcast(p, n) && broadcast(q, n)", "broadcast(p && q, n)"},
};
constexpr auto kAnd = compile<kAndRows>();

constexpr Row kOrRows[] = {
    {"broadcasts", "broadcast(p, n) || broadcast(q, n)", "broadcast(p || q, n)"},
};
constexpr auto kOr = compile<kOrRows>();

}  // namespace

RuleTable add_vector_rules() { return kAdd; }
RuleTable sub_vector_rules() { return kSub; }
RuleTable mul_vector_rules() { return kMul; }
RuleTable div_vector_rules() { return kDiv; }
RuleTable trunc_div_vector_rules() { return kTruncDiv; }
RuleTable trunc_mod_vector_rules() { return kTruncMod; }
RuleTable floor_div_vector_rules() { return kFloorDiv; }
RuleTable floor_mod_vector_rules() { return kFloorMod; }
RuleTable min_vector_rules() { return kMin; }
RuleTable max_vector_rules() { return kMax; }
RuleTable equal_vector_rules() { return kEqual; }
RuleTable less_vector_rules() { return kLess; }
RuleTable not_vector_rules() { return kNot; }
RuleTable and_vector_rules() { return kAnd; }
RuleTable or_vector_rules() { return kOr; }

}  // namespace tenon::arith::rules

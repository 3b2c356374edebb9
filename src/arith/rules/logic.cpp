#include "arith/rules/pattern.h"
#include "arith/rules/tables.h"

namespace tenon::arith::rules {

namespace {

constexpr Row kNotRows[] = {
    {"twice", "!(!p)", "p"},
    {"equal", "!(x == y)", "x != y"},
    {"different", "!(x != y)", "x == y"},
    {"any", "!(p || q)", "!p && !q", "", kAgain},
    {"all", "!(p && q)", "!p || !q", "", kAgain},
};
constexpr auto kNotRules = compile<kNotRows>();

constexpr Row kNotIntegerRows[] = {
    {"at_most", "!(x <= y)", "y < x"},
    {"at_least", "!(x >= y)", "x < y"},
    {"less", "!(x < y)", "y <= x"},
    {"greater", "!(x > y)", "x <= y"},
};
constexpr auto kNotIntegerRules = compile<kNotIntegerRows>();

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
constexpr auto kAndRules = compile<kAndRows>();

constexpr Row kOrRows[] = {
    {"equal_or_different", "x == y || x != y ; x != y || x == y", "true"},
    {"tautology", "p || !p", "true"},
    {"different_or_other", "x != c1 || x == c2 ; x == c2 || x != c1", "x != c1 || c1 == c2"},
};
constexpr auto kOrRules = compile<kOrRows>();

constexpr Row kOrIntegerRows[] = {
    {"at_most_or_above", "x <= y || y < x ; y < x || x <= y", "true"},
    {"open_ranges", "x < c1 || c2 < x ; c2 < x || x < c1", "true", "c2 < c1"},
    {"half_open_ranges",
     "x <= c1 || c2 < x ; c2 < x || x <= c1 ; x < c1 || c2 <= x ; c2 <= x || x < c1", "true",
     "c2 <= c1"},
    {"closed_ranges", "x <= c1 || c2 <= x ; c2 <= x || x <= c1", "true", "c2 <= c1 + 1"},
};
constexpr auto kOrIntegerRules = compile<kOrIntegerRows>();

}  // namespace

RuleTable not_rules() { return kNotRules; }
RuleTable not_integer_rules() { return kNotIntegerRules; }
RuleTable and_rules() { return kAndRules; }
RuleTable or_rules() { return kOrRules; }
RuleTable or_integer_rules() { return kOrIntegerRules; }

}  // namespace tenon::arith::rules

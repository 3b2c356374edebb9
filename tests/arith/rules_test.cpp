// Rewrite rules: true on all values, and their conditions proved at a bounded cost.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <concepts>
#include <fstream>
#include <map>
#include <random>
#include <regex>
#include <set>
#include <vector>

#include "arith/rules/tables.h"
#include "tenon/arith/compute.h"
#include "tenon/arith/const_bound.h"
#include "tenon/arith/interval.h"
#include "tenon/arith/modular_set.h"
#include "tenon/arith/simplify.h"
#include "tenon/interp/evaluate.h"
#include "tenon/tir/print.h"
#include "tenon_test_paths.h"
#include "tests/tables/table.h"

namespace tenon::arith::rules {
namespace {

// ---- all rules by enumeration -------------------------------------------------------------------

// Every rewrite rule by enumeration: where the left side is defined and the condition holds, both
// sides are equal. On small integers; on integers of a few bits that wrap; on floats with NaN,
// infinities and a negative zero.

/// Every table, with the name of its function.
struct NamedTable {
  std::string_view name;
  RuleTable table;
};
std::vector<NamedTable> all_tables() {
  return {
      {"add_rules", add_rules()},
      {"sub_rules", sub_rules()},
      {"mul_rules", mul_rules()},
      {"trunc_div_rules", trunc_div_rules()},
      {"trunc_mod_rules", trunc_mod_rules()},
      {"floor_div_first_rules", floor_div_first_rules()},
      {"floor_div_rules", floor_div_rules()},
      {"floor_mod_rules", floor_mod_rules()},
      {"min_rules", min_rules()},
      {"max_rules", max_rules()},
      {"equal_rules", equal_rules()},
      {"less_rules", less_rules()},
      {"add_any_type_rules", add_any_type_rules()},
      {"sub_any_type_rules", sub_any_type_rules()},
      {"sub_integer_rules", sub_integer_rules()},
      {"min_any_type_rules", min_any_type_rules()},
      {"max_any_type_rules", max_any_type_rules()},
      {"not_rules", not_rules()},
      {"and_rules", and_rules()},
      {"or_rules", or_rules()},
      {"not_integer_rules", not_integer_rules()},
      {"or_integer_rules", or_integer_rules()},
      {"add_vector_rules", add_vector_rules()},
      {"sub_vector_rules", sub_vector_rules()},
      {"mul_vector_rules", mul_vector_rules()},
      {"div_vector_rules", div_vector_rules()},
      {"trunc_div_vector_rules", trunc_div_vector_rules()},
      {"trunc_mod_vector_rules", trunc_mod_vector_rules()},
      {"floor_div_vector_rules", floor_div_vector_rules()},
      {"floor_mod_vector_rules", floor_mod_vector_rules()},
      {"min_vector_rules", min_vector_rules()},
      {"max_vector_rules", max_vector_rules()},
      {"equal_vector_rules", equal_vector_rules()},
      {"less_vector_rules", less_vector_rules()},
      {"not_vector_rules", not_vector_rules()},
      {"and_vector_rules", and_vector_rules()},
      {"or_vector_rules", or_vector_rules()},
  };
}

constexpr int kLanes = 4;
constexpr int kMin = -9, kGreatest = 9;
constexpr std::size_t kMaxPoints = 200'000;

/// The values of the names of a rule; vectors are evaluated one lane at a time.
struct Point {
  std::array<std::int64_t, kExpressionSlots> expressions{};
  std::array<std::int64_t, kConditionSlots> conditions{};
  std::array<std::int64_t, kConstantSlots> constants{};
  std::int64_t lane = 0;
};

/// Integers that do not overflow.
struct Exact {
  using Number = std::int64_t;
  static constexpr std::int64_t kFirst = kMin, kLast = kGreatest;
  static Number number(std::int64_t coordinate) { return coordinate; }
  static std::optional<Number> apply(BinaryOp op, Number a, Number b) { return compute(op, a, b); }
  static bool holds_constant(Number) { return true; }
};

/// Integers of few bits, modulo these.
template <int kBits, bool kIsSigned>
struct Wrapping {
  using Number = std::int64_t;
  static constexpr std::int64_t kFirst = kIsSigned ? -(1 << (kBits - 1)) : 0,
                                kLast = kFirst + (1 << kBits) - 1;
  static Number number(std::int64_t coordinate) { return coordinate; }
  static std::optional<Number> apply(BinaryOp op, Number a, Number b) {
    const std::optional<Number> exact = compute(op, a, b);
    if (!exact) return std::nullopt;
    const Number above = (*exact - kFirst) & ((1 << kBits) - 1);
    return above + kFirst;
  }
  /// A rule does not apply where a constant that it makes does not fit.
  static bool holds_constant(Number n) { return n >= kFirst && n <= kLast; }
};

/// NaN, infinities, both zeros.
struct Floats {
  using Number = double;
  static constexpr std::int64_t kFirst = 0, kLast = 7;
  static Number number(std::int64_t coordinate) {
    constexpr double kNumbers[] = {-INFINITY, -2, -0.0, 0, 1, 3, INFINITY, NAN};
    return kNumbers[coordinate];
  }
  static std::optional<Number> apply(BinaryOp op, Number a, Number b) {
    const bool is_unordered = std::isnan(a) || std::isnan(b);
    switch (op) {
      case BinaryOp::Add:
        return a + b;
      case BinaryOp::Sub:
        return a - b;
      case BinaryOp::Mul:
        return a * b;
      case BinaryOp::Div:
        return a / b;
      case BinaryOp::Min:
        return is_unordered ? NAN : std::min(a, b);
      case BinaryOp::Max:
        return is_unordered ? NAN : std::max(a, b);
      case BinaryOp::Eq:
        return a == b;
      case BinaryOp::Ne:
        return a != b;
      case BinaryOp::Lt:
        return a < b;
      case BinaryOp::Le:
        return a <= b;
      case BinaryOp::Gt:
        return a > b;
      case BinaryOp::Ge:
        return a >= b;
      case BinaryOp::And:
        return a != 0 && b != 0;
      case BinaryOp::Or:
        return a != 0 || b != 0;
      default:
        return std::nullopt;
    }
  }
  static bool holds_constant(Number) { return true; }
};

template <class Domain>
class Evaluation {
 public:
  using Number = typename Domain::Number;
  using Value = std::optional<Number>;

  Evaluation(const Rule& rule, const Point& at) : rule_(rule), at_(at) {}

  /// Nothing where a constant that is made does not fit.
  Value operator()(std::uint8_t index) const {
    const Pattern& node = rule_[index];
    auto child = [&](std::uint8_t c) { return (*this)(c); };
    switch (node.kind) {
      case PatternKind::Expression:
        return Domain::number(at_.expressions[node.first]);
      case PatternKind::Condition:
        return Number(at_.conditions[node.first]);
      case PatternKind::Constant:
        return Domain::number(at_.constants[node.first]);
      case PatternKind::Lanes:
        return Number{kLanes};
      case PatternKind::Literal:
      case PatternKind::Truth:
        return Number(node.value);
      case PatternKind::Binary:
        return binary(node);
      case PatternKind::Not: {
        const Value a = child(node.first);
        return a ? Value(*a == 0) : std::nullopt;
      }
      case PatternKind::Select: {
        const Value c = child(node.first), a = child(node.second), b = child(node.third);
        return a && b && c ? (*c != 0 ? a : b) : std::nullopt;
      }
      case PatternKind::Ramp: {
        const Value base = child(node.first), stride = child(node.second);
        const Value steps =
            stride ? Domain::apply(BinaryOp::Mul, *stride, Number(at_.lane)) : std::nullopt;
        return base && steps ? Domain::apply(BinaryOp::Add, *base, *steps) : std::nullopt;
      }
      case PatternKind::Broadcast:
        return child(node.first);
    }
    return std::nullopt;
  }

  /// Parts of a condition about constants are exact; what has to be proved is of values.
  bool holds(std::uint8_t index) const {
    const Pattern& node = rule_[index];
    if (node.kind == PatternKind::Binary && node.op == BinaryOp::And)
      return holds(node.first) && holds(node.second);
    if (node.is_constant) return constant(index).value_or(0) != 0;
    const Value value = (*this)(node.first);
    const auto bound = constant(node.second);
    return value && bound && *Domain::apply(node.op, *value, Number(*bound)) != 0;
  }

 private:
  std::optional<std::int64_t> constant(std::uint8_t index) const {
    const Pattern& node = rule_[index];
    if (node.kind == PatternKind::Literal) return node.value;
    if (node.kind == PatternKind::Constant) return at_.constants[node.first];
    const auto a = constant(node.first), b = constant(node.second);
    return a && b ? compute(node.op, *a, *b) : std::nullopt;
  }

  Value binary(const Pattern& node) const {
    const Value a = (*this)(node.first), b = (*this)(node.second);
    if (!a || !b) return std::nullopt;
    if (node.is_constant && !tir::is_comparison(node.op)) {
      const auto exact =
          compute(node.op, static_cast<std::int64_t>(*a), static_cast<std::int64_t>(*b));
      if (!exact || !Domain::holds_constant(Number(*exact))) return std::nullopt;
      return Number(*exact);
    }
    const bool is_integer = std::same_as<Number, std::int64_t>;
    return Domain::apply(node.op == BinaryOp::Div && is_integer ? BinaryOp::TruncDiv : node.op, *a,
                         *b);
  }

  const Rule& rule_;
  const Point& at_;
};

/// The coordinates of a point that the rule looks at, with their ranges.
struct Coordinate {
  PatternKind kind;
  std::uint8_t number;
  std::int64_t least, greatest;

  void set(Point& at, std::int64_t value) const {
    switch (kind) {
      case PatternKind::Expression:
        at.expressions[number] = value;
        break;
      case PatternKind::Condition:
        at.conditions[number] = value;
        break;
      case PatternKind::Constant:
        at.constants[number] = value;
        break;
      default:
        at.lane = value;
        break;
    }
  }
};

template <class Domain>
std::vector<Coordinate> coordinates_of(const Rule& rule) {
  std::set<std::pair<PatternKind, std::uint8_t>> seen;
  std::vector<Coordinate> coordinates;
  for (std::uint8_t n = 0; n < rule.count; ++n) {
    const Pattern& node = rule[n];
    const bool is_condition = node.kind == PatternKind::Condition,
               is_lanes = node.kind == PatternKind::Lanes;
    if (!is_condition && !is_lanes && node.kind != PatternKind::Expression &&
        node.kind != PatternKind::Constant)
      continue;
    if (!seen.insert({node.kind, node.first}).second) continue;
    const std::int64_t least = is_condition || is_lanes ? 0 : Domain::kFirst;
    const std::int64_t greatest = is_condition ? 1 : is_lanes ? kLanes - 1 : Domain::kLast;
    coordinates.push_back({node.kind, node.first, least, greatest});
  }
  return coordinates;
}

/// All points if they are not too many, else a sample of them.
template <class F>
void for_each_point(const std::vector<Coordinate>& coordinates, const F& f) {
  double count = 1;
  for (const Coordinate& c : coordinates) count *= static_cast<double>(c.greatest - c.least + 1);
  Point at;
  if (count > kMaxPoints) {
    std::mt19937 random(7);
    for (std::size_t n = 0; n < kMaxPoints; ++n) {
      for (const Coordinate& c : coordinates)
        c.set(at, std::uniform_int_distribution<std::int64_t>(c.least, c.greatest)(random));
      f(at);
    }
    return;
  }
  auto run = [&](auto& self, std::size_t n) -> void {
    if (n == coordinates.size()) return f(at);
    for (std::int64_t v = coordinates[n].least; v <= coordinates[n].greatest; ++v) {
      coordinates[n].set(at, v);
      self(self, n + 1);
    }
  };
  run(run, 0);
}

std::string describe(std::string_view table, const Rule& rule) {
  std::string text = std::string(table) + "." + std::string(rule.row.name) + ": " +
                     std::string(rule.from_text) + "  ->  " + std::string(rule.row.to);
  return rule.row.condition.empty() ? text : text + "  if  " + std::string(rule.row.condition);
}

std::string text_of(const Point& at) {
  std::string text;
  for (int n = 0; n < kExpressionSlots; ++n)
    text += std::string(1, "xyzuvw"[n]) + "=" + std::to_string(at.expressions[n]) + " ";
  for (int n = 0; n < kConditionSlots; ++n)
    text += std::string(1, "pq"[n]) + "=" + std::to_string(at.conditions[n]) + " ";
  for (int n = 0; n < kConstantSlots; ++n)
    text += "c" + std::to_string(n + 1) + "=" + std::to_string(at.constants[n]) + " ";
  return text;
}

struct Audit {
  std::size_t applied = 0;
  std::optional<Point> counterexample;
};

template <class Number>
bool is_same(Number a, Number b) {
  return a == b || (a != a && b != b);
}

template <class Domain>
Audit audit(const Rule& rule) {
  Audit result;
  for_each_point(coordinates_of<Domain>(rule), [&](const Point& at) {
    if (result.counterexample) return;
    const Evaluation<Domain> value(rule, at);
    const auto from = value(rule.from);
    if (!from || (rule.condition != kNone && !value.holds(rule.condition))) return;
    const auto to = value(rule.to);
    // Exact integers are defined wherever the left side is.
    if (!to && !std::same_as<Domain, Exact>) return;
    ++result.applied;
    if (!to || !is_same(*to, *from)) result.counterexample = at;
  });
  return result;
}

template <class F>
void for_each_rule(const F& f) {
  for (const NamedTable& named : all_tables())
    for (std::size_t n = 0; n < named.table.size; ++n) f(named.name, named.table.rules[n]);
}

TEST(Rules, BothSidesAreEqualOnSmallIntegers) {
  for_each_rule([](std::string_view table, const Rule& rule) {
    const Audit result = audit<Exact>(rule);
    EXPECT_FALSE(result.counterexample)
        << describe(table, rule) << "\n  fails at " << text_of(*result.counterexample);
    EXPECT_GT(result.applied, 0u) << describe(table, rule) << "\n  never applies to small integers";
  });
}

TEST(Rules, RowsThatAreNotMarkedExactHoldWhereArithmeticWraps) {
  for_each_rule([](std::string_view table, const Rule& rule) {
    if (rule.row.marks & kExact) return;
    const Audit result = audit<Wrapping<4, true>>(rule);
    EXPECT_FALSE(result.counterexample)
        << describe(table, rule) << "\n  fails at " << text_of(*result.counterexample);
    EXPECT_GT(result.applied, 0u) << describe(table, rule);
  });
}

/// A row that always holds would be kept from data without need. Of the alternatives of a row, one
/// is enough.
TEST(Rules, RowsThatAreMarkedExactDoNotHoldWhereArithmeticWraps) {
  std::map<std::string, bool> fails;
  for_each_rule([&](std::string_view table, const Rule& rule) {
    if (!(rule.row.marks & kExact)) return;
    fails[std::string(table) + "." + std::string(rule.row.name)] |=
        audit<Wrapping<4, true>>(rule).counterexample.has_value();
  });
  EXPECT_GT(fails.size(), 100u);
  for (const auto& [row, does_fail] : fails) EXPECT_TRUE(does_fail) << row;
}

/// Whether a table is tried on types besides those of indices.
bool is_for_all_types(std::string_view table) {
  return table.find("any_type") != table.npos || table.find("integer") != table.npos ||
         table.starts_with("not_") || table.starts_with("and_") || table.starts_with("or_") ||
         table.find("vector") != table.npos;
}

TEST(Rules, RowsForAllTypesHoldOfUnsignedIntegers) {
  for_each_rule([](std::string_view table, const Rule& rule) {
    if (!is_for_all_types(table) || (rule.row.marks & kExact)) return;
    const Audit result = audit<Wrapping<4, false>>(rule);
    EXPECT_FALSE(result.counterexample)
        << describe(table, rule) << "\n  fails at " << text_of(*result.counterexample);
  });
}

/// Constants in rules are integers, and ramps are of integers.
bool can_be_of_floats(std::string_view table, const Rule& rule) {
  if (!is_for_all_types(table) || table.find("integer") != table.npos) return false;
  for (std::uint8_t n = 0; n < rule.count; ++n)
    if (rule[n].kind == PatternKind::Constant || rule[n].kind == PatternKind::Ramp ||
        (rule[n].kind == PatternKind::Binary &&
         (rule[n].op == BinaryOp::TruncDiv || rule[n].op == BinaryOp::TruncMod ||
          rule[n].op == BinaryOp::FloorDiv || rule[n].op == BinaryOp::FloorMod)))
      return false;
  return true;
}

TEST(Rules, RowsForAllTypesHoldOfFloatsWithNaNAndInfinities) {
  std::size_t count = 0;
  for_each_rule([&](std::string_view table, const Rule& rule) {
    if (!can_be_of_floats(table, rule)) return;
    ++count;
    const Audit result = audit<Floats>(rule);
    EXPECT_FALSE(result.counterexample)
        << describe(table, rule) << "\n  fails at " << text_of(*result.counterexample);
  });
  EXPECT_GT(count, 20u);
}

TEST(Rules, RowsOfATableHaveTheirOwnNames) {
  for (const NamedTable& named : all_tables()) {
    std::set<std::string_view> names;
    const Rule* previous = nullptr;
    for (std::size_t n = 0; n < named.table.size; ++n) {
      const Rule& rule = named.table.rules[n];
      const bool is_alternative =
          previous && previous->row.name == rule.row.name && previous->row.to == rule.row.to;
      EXPECT_TRUE(is_alternative || names.insert(rule.row.name).second)
          << named.name << "." << rule.row.name;
      previous = &rule;
    }
  }
}

/// Otherwise it would hide the rules behind it.
TEST(Rules, PatternsNameWhatTheyAreAbout) {
  for (const NamedTable& named : all_tables()) {
    for (std::size_t n = 0; n < named.table.size; ++n) {
      const Rule& rule = named.table.rules[n];
      const PatternKind kind = rule[rule.from].kind;
      EXPECT_TRUE(kind == PatternKind::Binary || kind == PatternKind::Not)
          << describe(named.name, rule);
    }
  }
}

TEST(Rules, EveryDeclaredTableIsAudited) {
  std::ifstream file(TENON_SOURCE_DIR "/src/arith/rules/tables.h");
  ASSERT_TRUE(file.good());
  const std::regex declaration("^RuleTable (\\w+)\\(\\);");
  std::set<std::string> declared, audited;
  std::smatch found;
  for (std::string line; std::getline(file, line);)
    if (std::regex_search(line, found, declaration)) declared.insert(found[1]);
  for (const NamedTable& table : all_tables()) audited.emplace(table.name);
  EXPECT_GT(declared.size(), 30u);
  EXPECT_EQ(audited, declared);
}

}  // namespace
}  // namespace tenon::arith::rules

namespace tenon::arith {
namespace {

// ---- proofs of conditions -----------------------------------------------------------------------

// Checks the cost of rules' conditions, and that conditions are proved anew when the facts change.

using namespace tir;

/// min(... min(min(x0, x1), x2) ..., xn) of new variables.
Expr minimum_of_many(int depth) {
  Expr e = Var("x0");
  for (int n = 1; n <= depth; ++n) e = min(e, Var("x" + std::to_string(n)));
  return e;
}

/// A position that is clamped again and again, one further on each time.
Expr clamped(const Var& x, const Var& end, int depth) {
  Expr e = x;
  for (int n = 1; n <= depth; ++n) e = min(max(e - 1, 0), end - 1 - n);
  return e;
}

/// The proof of `claim` is not found, in seconds rather than in centuries.
void expect_given_up_soon(const Expr& claim) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(can_prove(claim));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(RuleProofs, NestedMinimaDoNotDoubleTheCostWithEveryLevel) {
  expect_given_up_soon(minimum_of_many(24) <= minimum_of_many(24));
}

TEST(RuleProofs, TwoMinimaOfManyAreComparedInSeconds) {
  expect_given_up_soon(minimum_of_many(63) <= minimum_of_many(63));
}

TEST(RuleProofs, RepeatedClampsDoNotDoubleTheCostWithEveryLevel) {
  const Var x("x"), end("end");
  expect_given_up_soon(clamped(x, end, 16) - 1 <= clamped(x, end, 15));
}

TEST(RuleProofs, AreAskedAgainUnderOtherFacts) {
  const Var x("x");
  Facts facts;
  // max(x, 4) where x >= 1; at x == 0 it is 0.
  const Expr e = min(floordiv(x + 3, 4) * 4, max(x, 4));
  const std::string as_it_stands = to_text(rewrite_simplify(e, facts));
  {
    const auto scope = facts.assume(Expr(1) <= x);
    EXPECT_EQ(to_text(rewrite_simplify(e, facts)), "max(x, 4)");
  }
  EXPECT_EQ(to_text(rewrite_simplify(e, facts)), as_it_stands);
  EXPECT_NE(as_it_stands, "max(x, 4)");
}

// ---- known counterexamples ----------------------------------------------------------------------

// Rules and facts that simplifiers of this kind have had and that are false, each with the values
// that show it. Whatever ours makes of such an expression has its value: at that point, and at all
// small ones.

struct KnownCounterexamples : ::testing::Test {
  Var x{"x"}, y{"y"};

  static std::int64_t value(const Expr& e, const Var& x, std::int64_t of_x, std::int64_t of_y) {
    return evaluate_int(e, [&](const Var& var) { return var.same_as(x) ? of_x : of_y; });
  }

  /// `e`, at every point from `first` to `last` in both directions.
  void keeps_its_value(const Expr& e, std::int64_t first = -7, std::int64_t last = 7) const {
    const Expr simple = simplify(e), rewritten = rewrite_simplify(e), sums = canonical_simplify(e);
    for (std::int64_t a = first; a <= last; ++a)
      for (std::int64_t b = first; b <= last; ++b) {
        const std::int64_t right = value(e, x, a, b);
        for (const Expr& form : {simple, rewritten, sums})
          EXPECT_EQ(value(form, x, a, b), right)
              << print_expr(e) << " as " << print_expr(form) << " at " << a << ", " << b;
      }
  }
};

TEST_F(KnownCounterexamples, OfQuotientsThatRoundTowardsZero) {
  keeps_its_value(truncdiv(x * 10 + 5, 10));                                // x = -1: 0, not -1
  keeps_its_value(truncdiv(x * 3 + y, 3));                                  // 1, -1: 0, not 1
  keeps_its_value(truncdiv(x + 5, 3) - truncdiv(x, 3));                     // 1: 2, not 1
  keeps_its_value(truncmod(truncdiv(truncmod(x, 20), 2) * 2, 4), -45, 45);  // 3: 2, not 1
  keeps_its_value(truncmod(x + y * -10, 2));                                // 1, 1: -1, not 1
  keeps_its_value(truncmod(x, 5) + floormod(x, 5) * 10);  // both roundings in one sum
}

TEST_F(KnownCounterexamples, OfMinimaAndMaxima) {
  keeps_its_value(min(3 - x, 2));                           // 0: 2, not 3
  keeps_its_value(min(x * -2, 0));                          // 1: -2, not 0
  keeps_its_value(min(x * 0, y));                           // with a factor of 0
  keeps_its_value(max(x * -3, y * -3));                     // a negative scale turns them round
  keeps_its_value(min(floordiv(x + 3, 4) * 4, max(x, 4)));  // 0: 0, not 4
}

TEST_F(KnownCounterexamples, OfComparisons) {
  keeps_its_value(select(y < x || y <= x, 1, 0));  // 0, 1: false
  keeps_its_value(select(y < x && y <= x, 1, 0));  // 1, 0: true
  keeps_its_value(select(x * 2 >= -1, 1, 0));      // 0 is a point
  keeps_its_value(select(x * 64 + y < x * 64 + 64, 1, 0), -70, 70);
}

TEST_F(KnownCounterexamples, OfRemaindersAndShifts) {
  keeps_its_value(floormod(x * 32 + y, 64));  // 0, -1: 63, not -1
  keeps_its_value(floormod(floormod(x + 1, 2) + y * 2, 4));
  keeps_its_value(1 << (x + 7));  // 3: 1024, not 0
  keeps_its_value(floordiv(x * -4, 3) + floordiv(x * 4, -3));
}

/// A remainder that has its dividend's sign: -3 of [-5, -1] by 7.
TEST_F(KnownCounterexamples, OfBoundsOfRemainders) {
  Facts facts;
  facts.bind(x, Range::from_min_extent(-5, 5));
  const ConstBound bound = const_bound(truncmod(x, 7), facts);
  EXPECT_LE(bound.min.value_or(-5), -5);
  EXPECT_GE(bound.max.value_or(-1), -1);
}

/// A divisor that goes through 0 is 1 and -1 on its way: 10 by [-4, 5].
TEST_F(KnownCounterexamples, OfBoundsOfQuotients) {
  Facts facts;
  facts.bind(y, Range::from_min_extent(-4, 10));
  const ConstBound bound = const_bound(floordiv(make_int(Int(32), 10), y), facts);
  EXPECT_LE(bound.min.value_or(-10), -10);
  EXPECT_GE(bound.max.value_or(10), 10);
}

TEST_F(KnownCounterexamples, OfRemaindersOfNegativeNumbers) {
  const ModularSet set = modular_set(x * 3 - 1, Facts());
  EXPECT_EQ(set.coeff, 3);
  EXPECT_EQ(set.base, 2);
}

}  // namespace
}  // namespace tenon::arith

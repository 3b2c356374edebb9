// Every rewrite rule on small integers: where the left side is defined and the condition holds,
// both sides are equal.
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <regex>
#include <set>

#include "arith/rules/matcher.h"
#include "arith/rules/tables.h"
#include "tenon/arith/compute.h"
#include "tenon_test_paths.h"

namespace tenon::arith::rules {
namespace {

constexpr int kLanes = 4;
constexpr int kLeast = -9, kGreatest = 9;
constexpr std::size_t kMaxPoints = 400'000;

/// What the names of a rule stand for; vectors are looked at one lane at a time.
struct Point {
  std::array<std::int64_t, kExpressionSlots> expressions{};
  std::array<std::int64_t, kConditionSlots> conditions{};
  std::array<std::int64_t, kConstantSlots> constants{};
  std::int64_t lane = 0;
};

using Value = std::optional<std::int64_t>;

Value value_of(const Rule& rule, std::uint8_t index, const Point& at) {
  const Pattern& node = rule[index];
  auto child = [&](std::uint8_t c) { return value_of(rule, c, at); };
  switch (node.kind) {
    case PatternKind::Expression:
      return at.expressions[node.first];
    case PatternKind::Condition:
      return at.conditions[node.first];
    case PatternKind::Constant:
      return at.constants[node.first];
    case PatternKind::Lanes:
      return kLanes;
    case PatternKind::Literal:
    case PatternKind::Truth:
      return node.value;
    case PatternKind::Binary: {
      const Value a = child(node.first), b = child(node.second);
      if (node.op == BinaryOp::Div)
        return a && b ? compute(BinaryOp::TruncDiv, *a, *b) : std::nullopt;
      return a && b ? compute(node.op, *a, *b) : std::nullopt;
    }
    case PatternKind::Not: {
      const Value a = child(node.first);
      return a ? Value(*a == 0) : std::nullopt;
    }
    case PatternKind::Select: {
      const Value c = child(node.first), a = child(node.second), b = child(node.third);
      return a && b && c ? (*c ? a : b) : std::nullopt;
    }
    case PatternKind::Ramp: {
      const Value base = child(node.first), stride = child(node.second);
      return base && stride ? Value(*base + *stride * at.lane) : std::nullopt;
    }
    case PatternKind::Broadcast:
      return child(node.first);
  }
  return std::nullopt;
}

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
    const std::int64_t least = is_condition || is_lanes ? 0 : kLeast;
    const std::int64_t greatest = is_condition ? 1 : is_lanes ? kLanes - 1 : kGreatest;
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

Audit audit(const Rule& rule) {
  Audit result;
  for_each_point(coordinates_of(rule), [&](const Point& at) {
    if (result.counterexample) return;
    const Value from = value_of(rule, rule.from, at);
    if (!from) return;
    if (rule.condition != kNone && value_of(rule, rule.condition, at).value_or(0) == 0) return;
    ++result.applied;
    if (value_of(rule, rule.to, at) != from) result.counterexample = at;
  });
  return result;
}

TEST(Rules, BothSidesAreEqualOnSmallIntegers) {
  for (const NamedTable& named : all_tables()) {
    for (std::size_t n = 0; n < named.table.size; ++n) {
      const Rule& rule = named.table.rules[n];
      const Audit result = audit(rule);
      EXPECT_FALSE(result.counterexample)
          << describe(named.name, rule) << "\n  fails at " << text_of(*result.counterexample);
      EXPECT_GT(result.applied, 0u)
          << describe(named.name, rule) << "\n  never applies to small integers";
    }
  }
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

// Rewrite rules as rows of text, compiled to matchers at compile time.
//
//   constexpr Row kRows[] = {
//       {"drop_added", "(x + y) - y ; (y + x) - y", "x"},
//       {"remainder", "x - floordiv(x, c1)*c1", "floormod(x, c1)", "c1 != 0"},
//   };
//   RuleTable sub_rules() { return table<kRows>(); }
//
// A row has a name, a pattern (alternatives are separated by `;` and tried in order), a
// replacement, and a condition. In patterns, x y z u v w match any expression, p q any condition,
// c1 c2 c3 integer constants, and n a number of lanes. Repeated names must match equal expressions.
// A condition is a conjunction. Its parts on constants are computed, and its parts on expressions
// (`x >= 0`, `y < c1`, `x - y == 0`) must be proved.
//
// kAgain requests another rewrite of the result. A kExact row is valid if nothing on either side
// overflows; every other row is also valid for arithmetic that wraps. A kKeepsType row does not
// apply if its result would exceed a type that contains the operands: -6*i is (n - 6)*i modulo n.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "tenon/tir/expr.h"

namespace tenon::arith::rules {

using tir::BinaryOp;

struct Row {
  std::string_view name;
  std::string_view from;
  std::string_view to;
  std::string_view condition = "";
  unsigned marks = 0;
};
inline constexpr unsigned kAgain = 1, kExact = 2, kKeepsType = 4;

// ---- patterns -----------------------------------------------------------------------------------

enum class PatternKind : std::uint8_t {
  Expression,
  Condition,
  Constant,
  Lanes,
  Literal,
  Truth,
  Binary,
  Not,
  Select,
  Ramp,
  Broadcast
};

/// A node of a pattern. Children are indices into the same rule.
struct Pattern {
  PatternKind kind = PatternKind::Literal;
  BinaryOp op = BinaryOp::Add;
  /// The number of the matched Expression, Condition or Constant. For other kinds of nodes, the
  /// first child.
  std::uint8_t first = 0;
  std::uint8_t second = 0;
  std::uint8_t third = 0;
  /// Whether the pattern contains only constants and literals, so that it can be computed.
  bool is_constant = false;
  /// The value of a Literal or Truth.
  std::int16_t value = 0;
};

inline constexpr int kExpressionSlots = 6;  // named x y z u v w
inline constexpr int kConditionSlots = 2;   // named p q
inline constexpr int kConstantSlots = 3;    // named c1 c2 c3
inline constexpr std::uint8_t kNone = 0xff;

/// The kinds of nodes, as numbers. A rule whose pattern has operands of other kinds is skipped
/// without an attempt to match it.
enum class Kind : std::uint8_t { IntImm = 18, Not, Select, Ramp, Broadcast, Other };
inline constexpr std::size_t kKinds = 24;
constexpr Kind kind_of(BinaryOp op) { return static_cast<Kind>(op); }
using KindMask = std::uint32_t;
inline constexpr KindMask kAnyKind = ~KindMask{0};
constexpr KindMask bit_of(Kind kind) { return KindMask{1} << static_cast<unsigned>(kind); }

struct Rule {
  static constexpr int kCapacity = 48;

  Row row;
  /// The alternative of the row's pattern that this rule represents.
  std::string_view from_text;
  std::array<Pattern, kCapacity> nodes{};
  std::uint8_t count = 0;
  std::uint8_t from = 0;
  std::uint8_t to = 0;
  std::uint8_t condition = kNone;

  constexpr const Pattern& operator[](std::uint8_t node) const { return nodes[node]; }
};

/// A set of rules of one table, one bit per rule in order.
inline constexpr std::size_t kMaxRules = 128;
using RuleSet = std::array<std::uint64_t, kMaxRules / 64>;
/// The rules whose pattern may have a given kind of node in an operand position, for each kind.
struct RulesByKind {
  std::array<RuleSet, kKinds> first{};
  std::array<RuleSet, kKinds> second{};
};

struct RuleTable {
  const Rule* rules;
  std::size_t size;
  const RulesByKind* by_kind;
};

// ---- parser of patterns, at compile time --------------------------------------------------------

/// A recursive-descent parser. An error is a `throw`, which stops compilation.
class PatternReader {
 public:
  constexpr PatternReader(Rule& rule, std::string_view text) : rule_(rule), text_(text) {}

  constexpr std::uint8_t read() {
    const std::uint8_t root = disjunction();
    if (!at_end()) throw "unexpected text after a pattern";
    return root;
  }

 private:
  constexpr void skip_spaces() {
    while (position_ < text_.size() && text_[position_] == ' ') ++position_;
  }
  constexpr bool at_end() {
    skip_spaces();
    return position_ == text_.size();
  }
  constexpr bool take(std::string_view token) {
    skip_spaces();
    if (text_.substr(position_, token.size()) != token) return false;
    position_ += token.size();
    return true;
  }
  constexpr void expect(std::string_view token) {
    if (!take(token)) throw "a pattern lacks a bracket or a comma";
  }

  constexpr std::uint8_t add(Pattern node) {
    if (rule_.count == Rule::kCapacity) throw "a rule is too long";
    rule_.nodes[rule_.count] = node;
    return rule_.count++;
  }
  constexpr std::uint8_t binary(BinaryOp op, std::uint8_t a, std::uint8_t b) {
    const bool is_constant = rule_.nodes[a].is_constant && rule_.nodes[b].is_constant;
    return add({.kind = PatternKind::Binary,
                .op = op,
                .first = a,
                .second = b,
                .is_constant = is_constant});
  }
  constexpr std::uint8_t literal(std::int16_t value) {
    return add({.kind = PatternKind::Literal, .is_constant = true, .value = value});
  }

  constexpr std::uint8_t disjunction() {
    std::uint8_t a = conjunction();
    while (take("||")) a = binary(BinaryOp::Or, a, conjunction());
    return a;
  }
  constexpr std::uint8_t conjunction() {
    std::uint8_t a = comparison();
    while (take("&&")) a = binary(BinaryOp::And, a, comparison());
    return a;
  }
  constexpr std::uint8_t comparison() {
    const std::uint8_t a = sum();
    if (take("==")) return binary(BinaryOp::Eq, a, sum());
    if (take("!=")) return binary(BinaryOp::Ne, a, sum());
    if (take("<=")) return binary(BinaryOp::Le, a, sum());
    if (take(">=")) return binary(BinaryOp::Ge, a, sum());
    if (take("<")) return binary(BinaryOp::Lt, a, sum());
    if (take(">")) return binary(BinaryOp::Gt, a, sum());
    return a;
  }
  constexpr std::uint8_t sum() {
    std::uint8_t a = product();
    while (true) {
      if (take("+")) {
        a = binary(BinaryOp::Add, a, product());
      } else if (take("-")) {
        a = binary(BinaryOp::Sub, a, product());
      } else {
        return a;
      }
    }
  }
  constexpr std::uint8_t product() {
    std::uint8_t a = unary();
    while (take("*")) a = binary(BinaryOp::Mul, a, unary());
    return a;
  }
  constexpr std::uint8_t unary() {
    skip_spaces();
    if (take("!")) {
      const std::uint8_t a = unary();
      return add({.kind = PatternKind::Not, .first = a, .is_constant = rule_.nodes[a].is_constant});
    }
    if (take("(")) {
      const std::uint8_t a = disjunction();
      expect(")");
      return a;
    }
    if (position_ < text_.size() && is_digit(text_[position_])) return literal(number());
    return named(word());
  }

  static constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static constexpr bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
  constexpr std::int16_t number() {
    std::int16_t value = 0;
    while (position_ < text_.size() && is_digit(text_[position_]))
      value = static_cast<std::int16_t>(value * 10 + (text_[position_++] - '0'));
    return value;
  }
  constexpr std::string_view word() {
    const std::size_t begin = position_;
    while (position_ < text_.size() && (is_letter(text_[position_]) || is_digit(text_[position_])))
      ++position_;
    return text_.substr(begin, position_ - begin);
  }

  constexpr std::uint8_t named(std::string_view name) {
    if (name == "floordiv") return call(BinaryOp::FloorDiv);
    if (name == "floormod") return call(BinaryOp::FloorMod);
    if (name == "truncdiv") return call(BinaryOp::TruncDiv);
    if (name == "truncmod") return call(BinaryOp::TruncMod);
    if (name == "div") return call(BinaryOp::Div);
    if (name == "min") return call(BinaryOp::Min);
    if (name == "max") return call(BinaryOp::Max);
    if (name == "select") return call(PatternKind::Select, 3);
    if (name == "ramp") return call(PatternKind::Ramp, 3);
    if (name == "broadcast") return call(PatternKind::Broadcast, 2);
    if (name == "true" || name == "false")
      return add({.kind = PatternKind::Truth, .is_constant = true, .value = name == "true"});
    return slot(name);
  }
  constexpr std::uint8_t call(BinaryOp op) {
    expect("(");
    const std::uint8_t a = disjunction();
    expect(",");
    const std::uint8_t b = disjunction();
    expect(")");
    return binary(op, a, b);
  }
  constexpr std::uint8_t call(PatternKind kind, int arguments) {
    Pattern node{.kind = kind};
    expect("(");
    node.first = disjunction();
    expect(",");
    node.second = disjunction();
    if (arguments == 3) {
      expect(",");
      node.third = disjunction();
    }
    expect(")");
    return add(node);
  }
  constexpr std::uint8_t slot(std::string_view name) {
    constexpr std::string_view kExpressions = "xyzuvw", kConditions = "pq", kDigits = "123";
    if (name.size() == 1 && kExpressions.find(name[0]) != std::string_view::npos)
      return add({.kind = PatternKind::Expression,
                  .first = static_cast<std::uint8_t>(kExpressions.find(name[0]))});
    if (name.size() == 1 && kConditions.find(name[0]) != std::string_view::npos)
      return add({.kind = PatternKind::Condition,
                  .first = static_cast<std::uint8_t>(kConditions.find(name[0]))});
    if (name.size() == 2 && name[0] == 'c' && kDigits.find(name[1]) != std::string_view::npos)
      return add({.kind = PatternKind::Constant,
                  .first = static_cast<std::uint8_t>(kDigits.find(name[1])),
                  .is_constant = true});
    if (name == "n") return add({.kind = PatternKind::Lanes});
    throw "unknown name in a pattern";
  }

  Rule& rule_;
  std::string_view text_;
  std::size_t position_ = 0;
};

constexpr KindMask kinds_of(const Pattern& node) {
  switch (node.kind) {
    case PatternKind::Constant:
    case PatternKind::Literal:
      return bit_of(Kind::IntImm);
    case PatternKind::Binary:
      return bit_of(kind_of(node.op));
    case PatternKind::Not:
      return bit_of(Kind::Not);
    case PatternKind::Select:
      return bit_of(Kind::Select);
    case PatternKind::Ramp:
      return bit_of(Kind::Ramp);
    case PatternKind::Broadcast:
      return bit_of(Kind::Broadcast);
    default:
      return kAnyKind;
  }
}

constexpr std::size_t count_alternatives(const Row& row) {
  std::size_t count = 1;
  for (char c : row.from) count += c == ';';
  return count;
}

constexpr Rule compile_rule(const Row& row, std::string_view from) {
  Rule rule;
  rule.row = row;
  rule.from_text = from;
  rule.from = PatternReader(rule, from).read();
  rule.to = PatternReader(rule, row.to).read();
  if (!row.condition.empty()) rule.condition = PatternReader(rule, row.condition).read();
  return rule;
}

/// Returns the possible kinds of the two operands of the pattern's root.
constexpr std::pair<KindMask, KindMask> operand_kinds(const Rule& rule) {
  const Pattern& root = rule[rule.from];
  const bool is_binary = root.kind == PatternKind::Binary;
  return {is_binary || root.kind == PatternKind::Not ? kinds_of(rule[root.first]) : kAnyKind,
          is_binary ? kinds_of(rule[root.second]) : kAnyKind};
}

/// Returns the rules of the rows, one per alternative, and the rules by kind.
template <const auto& kRows>
consteval auto compile() {
  constexpr std::size_t kCount = [] {
    std::size_t count = 0;
    for (const Row& row : kRows) count += count_alternatives(row);
    return count;
  }();
  static_assert(kCount <= kMaxRules);
  std::pair<std::array<Rule, kCount>, RulesByKind> compiled;
  auto& [rules, by_kind] = compiled;
  std::size_t next = 0;
  for (const Row& row : kRows) {
    std::string_view rest = row.from;
    while (true) {
      const std::size_t end = rest.find(';');
      rules[next] = compile_rule(row, rest.substr(0, end));
      const auto [first, second] = operand_kinds(rules[next]);
      for (unsigned kind = 0; kind < kKinds; ++kind) {
        const std::uint64_t bit = std::uint64_t{1} << next % 64;
        if (first >> kind & 1) by_kind.first[kind][next / 64] |= bit;
        if (second >> kind & 1) by_kind.second[kind][next / 64] |= bit;
      }
      ++next;
      if (end == std::string_view::npos) break;
      rest = rest.substr(end + 1);
    }
  }
  return compiled;
}

/// Returns the table of the rows.
template <const auto& kRows>
RuleTable table() {
  static constexpr auto kCompiled = compile<kRows>();
  return {kCompiled.first.data(), kCompiled.first.size(), &kCompiled.second};
}

}  // namespace tenon::arith::rules

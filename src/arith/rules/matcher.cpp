#include "arith/rules/tables.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "arith/facts_state.h"
#include "arith/rule_proofs.h"
#include "tenon/arith/compute.h"
#include "tenon/arith/facts.h"
#include "tenon/support/match.h"
#include "tenon/tir/compare.h"

namespace tenon::arith::rules {

using namespace tir;

namespace {

Kind kind_of(const Expr& e) {
  if (const Binary* n = e.as<Binary>()) return rules::kind_of(n->op);
  if (e.as<IntImm>()) return Kind::IntImm;
  if (e.as<Not>()) return Kind::Not;
  if (e.as<Select>()) return Kind::Select;
  if (e.as<Ramp>()) return Kind::Ramp;
  if (e.as<Broadcast>()) return Kind::Broadcast;
  return Kind::Other;
}

/// One attempt to match one rule. Bindings point into the expression, which outlives the attempt.
class Attempt {
 public:
  Attempt(const Rule& rule, const Expr& e, const Facts& facts)
      : rule_(rule), root_(e), facts_(facts) {}

  std::optional<Expr> run() {
    if (!match(rule_.from, root_)) return std::nullopt;
    if (rule_.condition != kNone && !holds(rule_.condition)) return std::nullopt;
    literal_type_ = type_of_literals();
    return build(rule_.to);
  }

 private:
  // ---- matching ---------------------------------------------------------------------------------

  bool bind(const Expr*& slot, const Expr& e) {
    if (slot) return structural_equal(*slot, e);
    slot = &e;
    return true;
  }

  bool match(std::uint8_t index, const Expr& e) {
    const Pattern& node = rule_[index];
    switch (node.kind) {
      case PatternKind::Expression:
        return bind(expressions_[node.first], e);
      case PatternKind::Condition:
        return bind(conditions_[node.first], e);
      case PatternKind::Constant:
        return e.as<IntImm>() && bind(constants_[node.first], e);
      case PatternKind::Literal:
      case PatternKind::Truth: {
        const IntImm* n = e.as<IntImm>();
        return n && n->value == node.value;
      }
      case PatternKind::Binary: {
        const Binary* n = e.as<Binary>();
        return n && n->op == node.op && match(node.first, n->a) && match(node.second, n->b);
      }
      case PatternKind::Not: {
        const Not* n = e.as<Not>();
        return n && match(node.first, n->a);
      }
      case PatternKind::Select: {
        const Select* n = e.as<Select>();
        return n && match(node.first, n->condition) && match(node.second, n->if_true) &&
               match(node.third, n->if_false);
      }
      case PatternKind::Ramp: {
        const Ramp* n = e.as<Ramp>();
        return n && match(node.first, n->base) && match(node.second, n->stride) &&
               match_lanes(n->lanes);
      }
      case PatternKind::Broadcast: {
        const Broadcast* n = e.as<Broadcast>();
        return n && match(node.first, n->value) && match_lanes(n->lanes);
      }
      case PatternKind::Lanes:
        return false;
    }
    return false;
  }

  bool match_lanes(int lanes) {
    if (lanes_ != 0) return lanes_ == lanes;
    lanes_ = lanes;
    return true;
  }

  // ---- conditions -------------------------------------------------------------------------------

  std::optional<std::int64_t> value(std::uint8_t index) const {
    const Pattern& node = rule_[index];
    if (node.kind == PatternKind::Literal) return node.value;
    if (node.kind == PatternKind::Constant) {
      const Expr& constant = *constants_[node.first];
      const std::int64_t number = constant.as<IntImm>()->value;
      // A uint64 of at least 2^63 has the bit pattern of a negative number.
      const bool is_beyond = number < 0 && constant.dtype().is_uint();
      return is_beyond ? std::nullopt : std::optional(number);
    }
    const auto a = value(node.first), b = value(node.second);
    return a && b ? compute(node.op, *a, *b) : std::nullopt;
  }

  bool holds(std::uint8_t index) {
    const Pattern& node = rule_[index];
    if (node.op == BinaryOp::And && node.kind == PatternKind::Binary)
      return holds(node.first) && holds(node.second);
    if (node.is_constant) return value(index).value_or(0) != 0;
    const auto bound = value(node.second);
    literal_type_ = type_of_literals();
    const std::optional<Expr> e = build(node.first);
    if (!bound || !e) return false;
    return can_prove(node.op, *e, *bound, facts_);
  }

  // ---- building ---------------------------------------------------------------------------------

  DataType type_of_literals() const {
    for (const Expr* e : expressions_)
      if (e) return e->dtype();
    for (const Expr* e : constants_)
      if (e) return e->dtype();
    return root_.dtype();
  }

  std::optional<Expr> build(std::uint8_t index) const {
    const Pattern& node = rule_[index];
    switch (node.kind) {
      case PatternKind::Expression:
        return *expressions_[node.first];
      case PatternKind::Condition:
        return *conditions_[node.first];
      case PatternKind::Constant:
        return *constants_[node.first];
      case PatternKind::Literal:
        return make_int(literal_type_, node.value);
      case PatternKind::Truth:
        return make_int(Bool(root_.dtype().lanes), node.value);
      case PatternKind::Binary:
        return build_binary(node);
      case PatternKind::Not: {
        const auto a = build(node.first);
        return a ? std::optional(!*a) : std::nullopt;
      }
      case PatternKind::Select: {
        const auto a = build(node.first), b = build(node.second), c = build(node.third);
        if (!a || !b || !c) return std::nullopt;
        return make_select(*a, *b, *c);
      }
      case PatternKind::Ramp: {
        const auto a = build(node.first), b = build(node.second);
        return a && b ? std::optional(make_ramp(*a, *b, lanes_)) : std::nullopt;
      }
      case PatternKind::Broadcast: {
        const auto a = build(node.first);
        return a ? std::optional(make_broadcast(*a, lanes_)) : std::nullopt;
      }
      case PatternKind::Lanes:
        break;
    }
    internal_error("a rule's result holds a number of lanes by itself");
  }

  std::optional<Expr> build_binary(const Pattern& node) const {
    const auto a = build(node.first), b = build(node.second);
    if (!a || !b) return std::nullopt;
    const IntImm* x = a->as<IntImm>();
    const IntImm* y = b->as<IntImm>();
    if (x && y && !is_comparison(node.op) && a->dtype().is_int()) {
      const auto folded = compute(node.op, x->value, y->value);
      if (!folded || !fits(*folded, a->dtype())) return std::nullopt;
      return make_int(a->dtype(), *folded);
    }
    return fold(node.op, *a, *b);
  }

  const Rule& rule_;
  const Expr& root_;
  const Facts& facts_;
  std::array<const Expr*, kExpressionSlots> expressions_{};
  std::array<const Expr*, kConditionSlots> conditions_{};
  std::array<const Expr*, kConstantSlots> constants_{};
  int lanes_ = 0;
  DataType literal_type_;
};

}  // namespace

std::optional<Applied> apply(const RuleTable& table, const Expr& e, const Facts& facts) {
  Kind first = Kind::Other, second = Kind::Other;
  if (const Binary* n = e.as<Binary>()) {
    first = kind_of(n->a);
    second = kind_of(n->b);
  } else if (const Not* inverted = e.as<Not>()) {
    first = kind_of(inverted->a);
  }
  const RuleSet& by_first = table.by_kind->first[static_cast<std::size_t>(first)];
  const RuleSet& by_second = table.by_kind->second[static_cast<std::size_t>(second)];
  // Whether the arithmetic provably does not overflow. Computed when the first kExact rule is
  // tried.
  std::optional<bool> is_exact;
  for (std::size_t word = 0; word < by_first.size(); ++word) {
    for (std::uint64_t left = by_first[word] & by_second[word]; left != 0; left &= left - 1) {
      const Rule& rule = table.rules[word * 64 + static_cast<std::size_t>(std::countr_zero(left))];
      const bool needs_exact = (rule.row.marks & kExact) != 0;
      if (needs_exact && !is_exact) is_exact = !may_overflow(e, facts.state());
      if (needs_exact && !*is_exact) continue;
      auto result = Attempt(rule, e, facts).run();
      if (!result || (needs_exact && may_overflow(*result, facts.state()))) continue;
      if ((rule.row.marks & kKeepsType) != 0 && leaves_type(*result, facts.state()) &&
          !leaves_type(e, facts.state()))
        continue;
      return Applied{*std::move(result), (rule.row.marks & kAgain) != 0};
    }
  }
  return std::nullopt;
}

}  // namespace tenon::arith::rules

#include "tenon/arith/iteration_box.h"

#include <algorithm>
#include <functional>

#include "tenon/arith/index_terms.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::arith {

using namespace tir;

IterationBox::IterationBox(Loops loops) : loops_(std::move(loops)) {
  for (const auto& [var, range] : loops_) {
    const std::optional<std::int64_t> extent = constant_int(range.extent);
    if (extent && *extent >= 1) continue;
    const Expr is_empty = wide_position(range.extent) <= 0;
    is_empty_ = is_empty_ ? *is_empty_ || is_empty : is_empty;
    if (!extent) scopes_.push_back(facts_.assume(range.extent >= 1));
  }
}

std::optional<Interval> IterationBox::ends_of(const Expr& index) const {
  const DataType type = index.dtype();
  if (const auto value = constant_int(index)) return Interval::point(make_int(Int(64), *value));
  if (!type.is_index()) return std::nullopt;
  const auto fits = [&](std::int64_t value) {
    return type == Int(64) || std::in_range<std::int32_t>(value);
  };
  std::vector<std::int64_t> coefficients(loops_.size(), 0);
  std::vector<std::pair<Expr, std::int64_t>> operations;
  std::optional<Expr> others;
  std::int64_t constant = 0;
  const std::function<bool(const Expr&, std::int64_t)> add = [&](const Expr& term,
                                                                 std::int64_t coefficient) {
    if (const auto loop = loop_of(term); loop != loops_.end()) {
      std::int64_t& sum = coefficients[static_cast<std::size_t>(loop - loops_.begin())];
      return !__builtin_add_overflow(sum, coefficient, &sum);
    }
    if (const Cast* cast = term.as<Cast>(); cast && cast->value.dtype().is_index())
      return for_each_term(cast->value, coefficient, constant, add);
    if (contains<ProducerLoad>(term) || contains<Load>(term) || !fits(coefficient)) return false;
    if (uses_loops(term)) {
      operations.emplace_back(term, coefficient);
      return true;
    }
    const Expr scaled = term * make_int(type, coefficient);
    others = others ? *others + scaled : scaled;
    return true;
  };
  if (!for_each_term(index, 1, constant, add)) return std::nullopt;
  std::vector<std::pair<Interval, std::int64_t>> summands;
  for (std::size_t n = 0; n < loops_.size(); ++n) {
    const auto& [var, range] = loops_[n];
    // Interval arithmetic on a sum is exact only if no loop occurs in two summands.
    const auto uses = std::ranges::count_if(
        operations, [&](const auto& operation) { return uses_var(operation.first, var); });
    if (uses + (coefficients[n] != 0 ? 1 : 0) > 1) return std::nullopt;
    if (coefficients[n] != 0) summands.emplace_back(Interval::from_range(range), coefficients[n]);
  }
  for (const auto& [operation, coefficient] : operations) {
    const std::optional<Interval> ends = ends_of_operation(operation);
    if (!ends) return std::nullopt;
    summands.emplace_back(*ends, coefficient);
  }
  const auto is_constant = [](const auto& summand) {
    return constant_int(*summand.first.min()) && constant_int(*summand.first.max());
  };
  if (!others && std::ranges::all_of(summands, is_constant)) {
    Reach reach(constant);
    for (const auto& [ends, coefficient] : summands)
      reach.add(coefficient, constant_int(*ends.min()), constant_int(*ends.max()));
    if (!reach.min() || !reach.max()) return std::nullopt;
    const DataType of_ends = fits(*reach.min()) && fits(*reach.max()) ? type : Int(64);
    return Interval::of(make_int(of_ends, *reach.min()), make_int(of_ends, *reach.max()));
  }
  if (!fits(constant)) return std::nullopt;
  const Expr fixed = make_int(type, constant);
  Expr min = others ? *others + fixed : fixed, max = min;
  for (const auto& [ends, coefficient] : summands) {
    if (!fits(coefficient)) return std::nullopt;
    const Expr factor = make_int(type, coefficient);
    const Expr first = *ends.min() * factor, last = *ends.max() * factor;
    min = min + (coefficient > 0 ? first : last);
    max = max + (coefficient > 0 ? last : first);
  }
  return Interval::of(simplify(min), simplify(max));
}

IterationBox::Loops::const_iterator IterationBox::loop_of(const Expr& e) const {
  return std::ranges::find_if(loops_, [&](const auto& loop) { return loop.first.same_as(e); });
}

bool IterationBox::uses_loops(const Expr& e) const {
  return uses_var(e, [&](const Expr& var) { return loop_of(var) != loops_.end(); });
}

std::optional<Interval> IterationBox::ends_of_operation(const Expr& e) const {
  const Binary* n = e.as<Binary>();
  if (!n || uses_loops(n->a) == uses_loops(n->b)) return std::nullopt;
  const bool is_first = uses_loops(n->a);
  const Expr &index = is_first ? n->a : n->b, &other = is_first ? n->b : n->a;
  const std::optional<Interval> ends = ends_of(index);
  if (!ends) return std::nullopt;
  const auto both = [&](auto operation) {
    return Interval::of(simplify(operation(*ends->min(), other)),
                        simplify(operation(*ends->max(), other)));
  };
  if (n->op == BinaryOp::Min) return both([](const Expr& a, const Expr& b) { return min(a, b); });
  if (n->op == BinaryOp::Max) return both([](const Expr& a, const Expr& b) { return max(a, b); });
  if (!is_first || constant_int(other).value_or(0) <= 0) return std::nullopt;
  const auto quotient = [](const Expr& a, const Expr& b) { return floordiv(a, b); };
  if (n->op == BinaryOp::FloorDiv) return both(quotient);
  if (n->op != BinaryOp::FloorMod) return std::nullopt;
  const Interval quotients = both(quotient);
  if (can_prove(*quotients.min() == *quotients.max()))
    return both([](const Expr& a, const Expr& b) { return floormod(a, b); });
  // If the first and the last quotient of a loop variable differ, the variable passes a multiple of
  // the divisor. The remainder then takes both 0 and its maximum, divisor - 1.
  const bool differ = can_prove(*quotients.min() < *quotients.max());
  if (loop_of(index) == loops_.end() || !differ) return std::nullopt;
  return Interval::of(make_int(e.dtype(), 0), simplify(other - 1));
}

Expr IterationBox::inside(const std::optional<Interval>& ends, const Expr& extent) const {
  const Expr zero = make_int(Int(64), 0);
  const Expr &min = ends ? *ends->min() : zero, &max = ends ? *ends->max() : zero;
  if (can_prove(max >= extent) || can_prove(min < 0)) return make_false();
  std::optional<Expr> inside;
  const auto require = [&](bool is_proved, const Expr& condition) {
    if (!is_proved) inside = inside ? *inside && condition : condition;
  };
  require(can_prove(min >= 0), wide_position(min) >= 0);
  // A sum that overflows int64 at run time wraps to a negative value, which this check detects.
  require(can_prove(max >= 0), wide_position(max) >= 0);
  require(can_prove(max < extent), wide_position(max) < wide_position(extent));
  return inside ? or_empty(*inside) : make_true();
}

bool IterationBox::can_prove(const Expr& condition) const {
  return arith::can_prove(condition, facts_);
}

Expr IterationBox::or_empty(const Expr& condition) const {
  return is_empty_ ? *is_empty_ || condition : condition;
}

void add_condition(std::vector<SizeCondition>& conditions, SizeCondition condition) {
  const bool is_known = std::ranges::any_of(conditions, [&](const SizeCondition& known) {
    return structural_equal(known.condition, condition.condition) &&
           known.size.has_value() == condition.size.has_value() &&
           (!known.size || known.size->same_as(*condition.size));
  });
  if (!is_known) conditions.push_back(std::move(condition));
}

std::string outside_text(std::size_t dim, const std::optional<Interval>& ends, const Expr& extent) {
  const auto text = [](const Expr& end) {
    const auto value = constant_int(end);
    return value ? std::to_string(*value) : print_expr(end);
  };
  const std::string reach = ends ? " from " + text(*ends->min()) + " to " + text(*ends->max()) : "";
  return "at index " + std::to_string(dim) + reach + ", but this dimension has " +
         print_expr(extent) + " elements";
}

Expr wide_position(const Expr& e) {
  if (const auto value = constant_int(e)) return make_int(Int(64), *value);
  if (const Cast* n = e.as<Cast>(); n && n->value.dtype() == Int(32))
    return wide_position(n->value);
  if (const Binary* n = e.as<Binary>(); n && e.dtype().element().is_index())
    return make_binary(n->op, wide_position(n->a), wide_position(n->b));
  return cast(Int(64), e);
}

}  // namespace tenon::arith

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
    if (constant_int(range.extent)) continue;
    const Expr is_empty = wide_position(range.extent) <= 0;
    is_empty_ = is_empty_ ? *is_empty_ || is_empty : is_empty;
    scopes_.push_back(facts_.assume(range.extent >= 1));
  }
}

std::optional<Interval> IterationBox::ends_of(const Expr& index) const {
  if (const Binary* quotient = as_binary(index, BinaryOp::FloorDiv);
      quotient && constant_int(quotient->b).value_or(0) > 0) {
    const std::optional<Interval> ends = ends_of(quotient->a);
    if (!ends) return std::nullopt;
    return Interval::of(simplify(floordiv(*ends->min(), quotient->b)),
                        simplify(floordiv(*ends->max(), quotient->b)));
  }
  std::vector<std::int64_t> coefficients(loops_.size(), 0);
  std::optional<Expr> others;
  std::int64_t constant = 0;
  const DataType type = index.dtype();
  if (type != Int(32) && type != Int(64)) return std::nullopt;
  const auto fits = [&](std::int64_t value) {
    return type == Int(64) || std::in_range<std::int32_t>(value);
  };
  const auto loop_of = [&](const Expr& e) {
    return std::ranges::find_if(loops_, [&](const auto& loop) { return loop.first.same_as(e); });
  };
  const std::function<bool(const Expr&, std::int64_t)> add = [&](const Expr& term,
                                                                 std::int64_t coefficient) {
    if (const auto loop = loop_of(term); loop != loops_.end()) {
      std::int64_t& sum = coefficients[static_cast<std::size_t>(loop - loops_.begin())];
      return !__builtin_add_overflow(sum, coefficient, &sum);
    }
    if (const Cast* cast = term.as<Cast>();
        cast && term.dtype() == Int(64) && cast->value.dtype() == Int(32))
      return for_each_term(cast->value, coefficient, constant, add);
    if (contains<ProducerLoad>(term) || contains<Load>(term) || !fits(coefficient) ||
        uses_var(term, [&](const Expr& used) { return loop_of(used) != loops_.end(); }))
      return false;
    const Expr scaled = term * make_int(type, coefficient);
    others = others ? *others + scaled : scaled;
    return true;
  };
  if (!for_each_term(index, 1, constant, add)) return std::nullopt;
  const auto is_constant = [](const auto& loop) {
    return constant_int(loop.second.min) && constant_int(loop.second.extent);
  };
  if (!others && std::ranges::all_of(loops_, is_constant)) {
    Reach reach(constant);
    for (std::size_t n = 0; n < coefficients.size(); ++n) {
      const std::int64_t first = *constant_int(loops_[n].second.min);
      reach.add(coefficients[n], first, first + *constant_int(loops_[n].second.extent) - 1);
    }
    if (!reach.min() || !reach.max()) return std::nullopt;
    const DataType of_ends = fits(*reach.min()) && fits(*reach.max()) ? type : Int(64);
    return Interval::of(make_int(of_ends, *reach.min()), make_int(of_ends, *reach.max()));
  }
  if (!fits(constant)) return std::nullopt;
  const Expr fixed = make_int(type, constant);
  Expr min = others ? *others + fixed : fixed, max = min;
  for (std::size_t n = 0; n < coefficients.size(); ++n) {
    const Range& range = loops_[n].second;
    if (coefficients[n] == 0) continue;
    if (!fits(coefficients[n])) return std::nullopt;
    const Expr factor = make_int(type, coefficients[n]);
    const Expr first = range.min * factor, last = (range.min + range.extent - 1) * factor;
    min = min + (coefficients[n] > 0 ? first : last);
    max = max + (coefficients[n] > 0 ? last : first);
  }
  return Interval::of(simplify(min), simplify(max));
}

Expr IterationBox::inside(const Interval& ends, const Expr& extent) const {
  const Expr &min = *ends.min(), &max = *ends.max();
  if (can_prove(max >= extent) || can_prove(min < 0)) return make_false();
  std::optional<Expr> inside;
  const auto require = [&](bool is_proved, const Expr& condition) {
    if (!is_proved) inside = inside ? *inside && condition : condition;
  };
  require(can_prove(min >= 0), wide_position(min) >= 0);
  // A sum of arguments that exceeds int64 is negative.
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

std::string outside_text(std::size_t dim, const Interval& ends, const Expr& extent) {
  const auto text = [](const Expr& end) {
    const auto value = constant_int(end);
    return value ? std::to_string(*value) : print_expr(end);
  };
  return "at index " + std::to_string(dim) + " from " + text(*ends.min()) + " to " +
         text(*ends.max()) + ", but this dimension has " + print_expr(extent) + " elements";
}

Expr wide_position(const Expr& e) {
  if (const auto value = constant_int(e)) return make_int(Int(64), *value);
  if (const Cast* n = e.as<Cast>(); n && n->value.dtype() == Int(32))
    return wide_position(n->value);
  if (const Binary* n = e.as<Binary>())
    return make_binary(n->op, wide_position(n->a), wide_position(n->b));
  return cast(Int(64), e);
}

}  // namespace tenon::arith

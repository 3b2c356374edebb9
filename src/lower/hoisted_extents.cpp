#include "lower/hoisted_extents.h"

#include <algorithm>
#include <limits>
#include <span>
#include <unordered_map>

#include "lower/rewriting.h"
#include "tenon/arith/const_bound.h"
#include "tenon/arith/facts.h"
#include "tenon/arith/interval.h"
#include "tenon/arith/simplify.h"
#include "tenon/interp/evaluate.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// The maximum number of combinations of loop values that are enumerated.
constexpr std::int64_t kMaxPoints = 4096;

/// Returns the loops whose variables the extent uses. Returns nullopt if the extent uses other
/// variables, if a loop's range is not constant, or if there are too many combinations of values.
std::optional<std::vector<RangedVar>> constant_loops(const Expr& extent,
                                                     const std::vector<RangedVar>& loops) {
  std::vector<RangedVar> result;
  std::int64_t points = 1;
  for (const Var& var : free_vars(extent)) {
    const auto loop =
        std::ranges::find_if(loops, [&](const RangedVar& l) { return l.var.same_as(var); });
    if (loop == loops.end()) return std::nullopt;
    const auto min = constant_int(loop->range.min), count = constant_int(loop->range.extent);
    if (!min || !count || *count <= 0 || *count > kMaxPoints / points) return std::nullopt;
    points *= *count;
    result.push_back(*loop);
  }
  return result;
}

/// Returns the maximum of the extent over all values of the variables of `loops`, whose ranges are
/// constant. `values` has the values of the other variables.
std::int64_t greatest_value(const Expr& extent, std::span<const RangedVar> loops,
                            std::unordered_map<const ExprNode*, std::int64_t>& values) {
  if (loops.empty())
    return evaluate_int(extent, [&](const Var& var) { return values.at(&var.node()); });
  const auto& [var, range] = loops.front();
  const std::int64_t min = *constant_int(range.min), count = *constant_int(range.extent);
  std::int64_t greatest = std::numeric_limits<std::int64_t>::min();
  for (std::int64_t n = 0; n < count; ++n) {
    values[&var.node()] = min + n;
    greatest = std::max(greatest, greatest_value(extent, loops.subspan(1), values));
  }
  return greatest;
}

}  // namespace

std::optional<Expr> extent_bound(const Expr& extent, const std::vector<RangedVar>& loops) {
  if (effect_of(extent) != Effect::Pure) return std::nullopt;
  // A guard around the allocation may exclude the iterations in which a divisor is zero.
  if (const auto constant = constant_loops(extent, loops)) {
    std::unordered_map<const ExprNode*, std::int64_t> values;
    const std::int64_t greatest = greatest_value(with_safe_divisors(extent), *constant, values);
    return make_int(extent.dtype(), std::max<std::int64_t>(greatest, 1));
  }
  arith::Facts facts;
  arith::IntervalMap relaxed;
  for (const RangedVar& loop : loops) {
    facts.bind(loop.var, loop.range);
    relaxed.set(loop.var, arith::Interval::from_range(loop.range));
  }
  const arith::Interval values = arith::values_of(extent, relaxed, facts);
  if (values.is_empty() || !values.max()) return std::nullopt;
  const Expr bound = arith::simplify(*values.max(), facts);
  const bool uses_loop = uses_var(bound, [&](const Expr& var) {
    return std::ranges::any_of(loops, [&](const RangedVar& l) { return l.var.same_as(var); });
  });
  if (uses_loop) return std::nullopt;
  return bound;
}

Expr with_safe_divisors(const Expr& e) {
  return rewrite(e, [](const Binary& n, const Expr&) -> std::optional<Expr> {
    if (!is_integer_division(n.op) || constant_int(n.b)) return std::nullopt;
    const arith::ConstBound bound = arith::const_bound(n.b, arith::Facts());
    if (bound.is_at_least(1) || bound.is_at_most(-1)) return std::nullopt;
    const Expr one = make_int(n.b.dtype(), 1);
    return make_binary(n.op, n.a,
                       bound.is_at_least(0) ? max(n.b, one) : select(n.b == 0, one, n.b));
  });
}

}  // namespace tenon::lowering

#include "te/bounds/guarded_reach.h"

#include <algorithm>
#include <ranges>

#include "tenon/arith/compute.h"
#include "tenon/arith/modular_set.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;
using arith::can_prove;
using arith::Facts;
using arith::Interval;
using arith::IntervalMap;
using arith::simplify;
using arith::values_of;

namespace {

std::optional<std::int64_t> distance(const Expr& from, const Expr& to, const Facts& facts) {
  return constant_int(simplify(to - from, facts));
}

std::optional<std::int64_t> length(const Interval& set, const Facts& facts) {
  return distance(*set.min(), *set.max(), facts);
}

bool is_idle(const Reach& reach, const IntervalMap& values, const IntervalMap& around,
             const Facts& facts) {
  const auto all = [&](const Expr& end) {
    return values_of(values_of(end, values, facts), around, facts);
  };
  const Interval first = all(*reach.offsets.min()), last = all(*reach.offsets.max());
  const auto lowest = first.min() ? constant_int(*first.min()) : std::nullopt;
  const auto highest = last.max() ? constant_int(*last.max()) : std::nullopt;
  return (lowest && *lowest >= reach.extent) || (highest && *highest < 0);
}

/// Returns the maximum value of the expression below the extent: 8 for 3*i + 2 below 10.
std::int64_t greatest_below(std::int64_t extent, const Expr& e, const Facts& facts) {
  const auto [step, base] = arith::modular_set(e, facts);
  if (step <= 1) return extent - 1;
  return base + (extent - 1 - base + step) / step * step - step;
}

/// Returns the minimum non-negative value of the expression.
std::int64_t least_from_zero(const Expr& e, const Facts& facts) {
  const auto [step, base] = arith::modular_set(e, facts);
  return step <= 1 ? 0 : base;
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return *arith::compute(BinaryOp::FloorDiv, a, b);
}

/// The relation to == (times * from + plus) / by, with by > 0: both depend on the same loops with
/// the constant ratio times/by. For 3*i + 1 and 6*i + 5, times is 2 and plus is 3.
struct Ratio {
  std::int64_t times, plus, by;

  std::int64_t rounded_down(std::int64_t from) const { return floor_div(times * from + plus, by); }
  std::int64_t rounded_up(std::int64_t from) const { return -floor_div(-times * from - plus, by); }
};

/// Returns the ratio; nullopt also for a constant `to`, which gives no information about
/// iterations.
std::optional<Ratio> ratio(const Expr& from, const Expr& to, const Facts& facts) {
  if (const auto plus = distance(from, to, facts); plus && !constant_int(to))
    return Ratio{.times = 1, .plus = *plus, .by = 1};
  const std::vector<Var> vars = free_vars(from);
  const auto a = arith::linear_form(from, vars), b = arith::linear_form(to, vars);
  if (!a || !b) return std::nullopt;
  const auto known = [](const Expr& e) -> std::optional<std::int64_t> {
    constexpr std::int64_t kMax = 1 << 20;
    const auto number = constant_int(e);
    return number && std::abs(*number) < kMax ? number : std::nullopt;
  };
  const auto base = known(a->base), other_base = known(b->base);
  std::int64_t times = 0, by = 0;
  for (std::size_t n = 0; n < vars.size(); ++n) {
    const auto x = known(a->coefficients[n]), y = known(b->coefficients[n]);
    if (!x || !y) return std::nullopt;
    if (by == 0) times = *y, by = *x;
    if (*x * times != *y * by) return std::nullopt;
  }
  if (!base || !other_base || times == 0 || by == 0) return std::nullopt;
  if (by < 0) times = -times, by = -by;
  return Ratio{.times = times, .plus = *other_base * by - *base * times, .by = by};
}

/// Maximum number of iterations that are tried one by one where no whole range of iterations is
/// provably idle, as for indices with remainders.
constexpr int kMaxSingle = 64;

}  // namespace

void add_reach(const Interval& indices, const Range& range, const Facts& facts, Reaches& reaches) {
  const auto extent = constant_int(range.extent);
  if (!extent || !indices.is_bounded()) return;
  const auto offset = [&](const Expr& index) { return simplify(index - range.min, facts); };
  reaches.push_back({Interval::of(offset(*indices.min()), offset(*indices.max())), *extent});
}

void trim_idle_iterations(const Var& loop, const Reaches& reaches, const IntervalMap& around,
                          const Facts& facts, IntervalMap& values) {
  const Interval all = *values.find(loop);
  if (!all.is_bounded()) return;
  const auto begin = constant_int(*all.min()), end = constant_int(*all.max());
  if (!begin || !end) return;
  std::int64_t first = *begin, last = *end;
  const auto set = [&](std::int64_t min, std::int64_t max) {
    values.set(loop, Interval::of(make_int(loop.dtype(), min), make_int(loop.dtype(), max)));
  };
  const auto are_idle = [&](std::int64_t min, std::int64_t max) {
    set(min, max);
    return std::ranges::any_of(
        reaches, [&](const Reach& reach) { return is_idle(reach, values, around, facts); });
  };
  // Finds the longest idle ranges at both ends by bisection. At least one iteration remains.
  for (std::int64_t step = last - first; step > 0;)
    if (step <= last - first && are_idle(last - step + 1, last)) {
      last -= step;
    } else {
      step /= 2;
    }
  for (std::int64_t step = last - first; step > 0;)
    if (step <= last - first && are_idle(first, first + step - 1)) {
      first += step;
    } else {
      step /= 2;
    }
  for (int n = 0; n < kMaxSingle && first < last && are_idle(last, last); ++n) --last;
  for (int n = 0; n < kMaxSingle && first < last && are_idle(first, first); ++n) ++first;
  set(first, last);
}

Interval not_beyond(const Reaches& reaches, const Interval& one, Interval all, const Facts& facts) {
  // Longer reaches are skipped, because the arithmetic could overflow.
  constexpr std::int64_t kLongest = std::int64_t{1} << 40;
  if (!one.is_bounded() || !all.is_bounded()) return all;
  for (const auto& [offsets, extent] : reaches) {
    if (extent > kLongest) continue;
    const auto min = constant_int(*all.min()), max = constant_int(*all.max());
    if (!min || !max) return all;
    // An iteration reads nothing if all offsets are beyond the end or all are below 0.
    const std::int64_t last = greatest_below(extent, *offsets.min(), facts);
    const std::int64_t first = least_from_zero(*offsets.max(), facts);
    std::int64_t begin = *min, end = *max;
    if (const auto r = ratio(*offsets.min(), *one.max(), facts); r && r->times > 0)
      end = std::min(end, r->rounded_down(last));
    if (const auto r = ratio(*offsets.max(), *one.max(), facts); r && r->times < 0)
      end = std::min(end, r->rounded_down(first));
    if (const auto r = ratio(*offsets.max(), *one.min(), facts); r && r->times > 0)
      begin = std::max(begin, r->rounded_up(first));
    if (const auto r = ratio(*offsets.min(), *one.min(), facts); r && r->times < 0)
      begin = std::max(begin, r->rounded_up(last));
    // If the range is empty, nothing is read.
    if (begin <= end)
      all = Interval::of(make_int(all.min()->dtype(), begin), make_int(all.max()->dtype(), end));
  }
  return all;
}

Interval within(const Interval& set, const Interval& domain, const Facts& facts) {
  if (can_prove(*set.min() <= *domain.min(), facts) &&
      can_prove(*set.max() >= *domain.max(), facts))
    return domain;
  const auto min = constant_int(*set.min()), max = constant_int(*set.max());
  const auto first = constant_int(*domain.min()), last = constant_int(*domain.max());
  if (min && max && first && last) {
    if (*max < *first || *last < *min) return set;
    return Interval::of(*min < *first ? *domain.min() : *set.min(),
                        *max > *last ? *domain.max() : *set.max());
  }
  // The set is at least as long as the whole domain, wherever it begins.
  const auto extent = length(set, facts), whole = length(domain, facts);
  return extent && whole && *extent >= *whole ? domain : set;
}

const Interval& shorter(const Interval& a, const Interval& b, const Facts& facts) {
  if (!b.is_bounded() || a.is_point()) return a;
  if (b.is_point()) return b;
  const auto extent = length(a, facts), other = length(b, facts);
  return other && (!extent || *other < *extent) ? b : a;
}

Interval clamped(const Interval& set, const Interval& domain, const Facts& facts) {
  const Expr &first = *domain.min(), &last = *domain.max();
  if (can_prove(*set.max() <= last, facts)) return set;
  const auto at_most_last = [&](const Expr& e) {
    // Values beyond the domain near the end of the type are cut off before they wrap.
    const std::optional<std::int64_t> greatest = constant_int(tir::max_value(e.dtype()));
    const bool may_wrap = !is_zero(first) && constant_int(last) && greatest &&
                          !arith::const_bound(e, facts).is_at_most(*greatest);
    return may_wrap ? tir::min(simplify(e - first), simplify(last - first)) + first
                    : tir::min(e, last);
  };
  const Expr max = at_most_last(*set.max());
  if (set.is_point()) return Interval::point(max);
  return Interval::of(can_prove(*set.min() <= last, facts) ? *set.min() : at_most_last(*set.min()),
                      max);
}

AxisValues simple_indices(const std::vector<Relation>& relations, const AxisRanges& ranges,
                          AxisValues leaves, const Facts& facts) {
  // Fused axes are passed up as variables, so that the quotient and remainder by the extent of a
  // split's inner axis recombine to the variable.
  VarMap fused;
  AxisValues result = leaves;
  for (const Relation& relation : std::views::reverse(relations)) {
    const Fuse* fuse = std::get_if<Fuse>(&relation);
    const Expr* index = fuse ? leaves.find(fuse->fused) : nullptr;
    if (index && !index->as<VarNode>()) {
      const Var hidden(fuse->fused.name(), index->dtype());
      set(fused, hidden, substitute(*index, fused));
      leaves.set(fuse->fused, hidden);
    }
    pass_index_up({&relation, 1}, ranges, leaves);
    if (fused.empty()) continue;
    for (const IterVar& parent : parents_of(relation))
      if (const Expr* value = leaves.find(parent)) leaves.set(parent, simplify(*value));
  }
  for (const Relation& relation : relations)
    for (const IterVar& parent : parents_of(relation))
      if (const Expr* value = leaves.find(parent))
        if (const Expr index = substitute(*value, fused); !is_large(index))
          result.set(parent, simplify(index, facts));
  return result;
}

}  // namespace tenon::te

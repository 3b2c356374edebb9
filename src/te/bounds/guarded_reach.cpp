#include "te/bounds/guarded_reach.h"

#include <algorithm>
#include <ranges>

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

/// The greatest value below the extent that the expression can have: of 3*i + 2, below 10, it is 8.
std::int64_t greatest_below(std::int64_t extent, const Expr& e, const Facts& facts) {
  const auto [step, base] = arith::modular_set(e, facts);
  if (step <= 1) return extent - 1;
  return base + (extent - 1 - base + step) / step * step - step;
}

/// The least value from 0 on.
std::int64_t least_from_zero(const Expr& e, const Facts& facts) {
  const auto [step, base] = arith::modular_set(e, facts);
  return step <= 1 ? 0 : base;
}

/// How many iterations are tried one by one, where those of a whole stretch are not known to be
/// idle: indices with remainders.
constexpr int kMostSingle = 64;

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
  // The longest stretches, which are found by halving; at least one iteration is left.
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
  for (int n = 0; n < kMostSingle && first < last && are_idle(last, last); ++n) --last;
  for (int n = 0; n < kMostSingle && first < last && are_idle(first, first); ++n) ++first;
  set(first, last);
}

Interval not_beyond(const Reaches& reaches, const Interval& one, Interval all, const Facts& facts) {
  if (!one.is_bounded() || !all.is_bounded()) return all;
  for (const auto& [offsets, extent] : reaches) {
    const auto min = constant_int(*all.min()), max = constant_int(*all.max());
    if (!min || !max) return all;
    const auto above = distance(*offsets.min(), *one.max(), facts);
    const auto below = distance(*offsets.max(), *one.min(), facts);
    const auto end = above ? greatest_below(extent, *offsets.min(), facts) + *above : *max;
    const auto begin = below ? least_from_zero(*offsets.max(), facts) + *below : *min;
    // Else nothing at all is read.
    if (std::max(begin, *min) <= std::min(end, *max))
      all = Interval::of(make_int(all.min()->dtype(), std::max(begin, *min)),
                         make_int(all.max()->dtype(), std::min(end, *max)));
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
  // As long as the whole domain, or longer, wherever it begins.
  const auto extent = length(set, facts), whole = length(domain, facts);
  return extent && whole && *extent >= *whole ? domain : set;
}

const Interval& shorter(const Interval& a, const Interval& b, const Facts& facts) {
  if (!b.is_bounded() || a.is_point()) return a;
  if (b.is_point()) return b;
  const auto extent = length(a, facts), other = length(b, facts);
  return other && (!extent || *other < *extent) ? b : a;
}

Interval clamped(const Interval& set, const Expr& last, const Facts& facts) {
  if (can_prove(*set.max() <= last, facts)) return set;
  const Expr max = tir::min(*set.max(), last);
  if (set.is_point()) return Interval::point(max);
  return Interval::of(
      can_prove(*set.min() <= last, facts) ? *set.min() : tir::min(*set.min(), last), max);
}

AxisValues simple_indices(const std::vector<Relation>& relations, const AxisRanges& ranges,
                          AxisValues leaves, const Facts& facts) {
  // What is fused goes upwards as a variable, so that its quotient and remainder by the extent of a
  // split's inner axis are together that variable again.
  VarMap fused;
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
  AxisValues result = leaves;
  for (const Relation& relation : relations)
    for (const IterVar& parent : parents_of(relation))
      if (const Expr* value = leaves.find(parent))
        result.set(parent, simplify(substitute(*value, fused), facts));
  return result;
}

}  // namespace tenon::te

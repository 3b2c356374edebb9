#include "te/relations/propagate.h"

#include <algorithm>
#include <ranges>

#include "te/operations/body.h"
#include "tenon/arith/simplify.h"
#include "tenon/support/match.h"
#include "tenon/te/relation.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/expr.h"

namespace tenon::te {

using namespace tir;

void pass_ranges_down(Relations relations, AxisRanges& ranges, Facts& facts,
                      const AxisFlags* keeps_extent) {
  for (const Relation& relation : relations) {
    match(
        relation, [&](const Split& split) { ranges_down(split, ranges, facts, keeps_extent); },
        [&](const auto& r) { ranges_down(r, ranges, facts); });
  }
}

void pass_domains_up(Relations relations, const AxisRanges& ranges, AxisDomains& domains) {
  for (const Relation& relation : std::views::reverse(relations)) {
    match(relation, [&](const auto& r) { domains_up(r, ranges, domains); });
  }
}

void pass_index_up(Relations relations, const AxisRanges& ranges, AxisValues& values) {
  for (const Relation& relation : std::views::reverse(relations)) {
    match(relation, [&](const auto& r) { index_up(r, ranges, values); });
  }
}

void pass_index_down(Relations relations, const AxisRanges& ranges, AxisValues& values) {
  for (const Relation& relation : relations) {
    match(relation, [&](const auto& r) { index_down(r, ranges, values); });
  }
}

AxisFlags find_guarded(Relations relations, const AxisRanges& ranges, const Facts& facts) {
  AxisFlags guarded;
  for (const Relation& relation : std::views::reverse(relations)) {
    match(relation, [&](const auto& r) { guards_up(r, ranges, facts, guarded); });
  }
  return guarded;
}

AxisFlags find_incomplete(Relations relations, const IterVar& stuck, const AxisRanges& ranges,
                          const Facts& facts) {
  AxisFlags incomplete;
  auto has_one_value = [&](const IterVar& axis) {
    return arith::can_prove(ranges.at(axis).extent <= 1, facts);
  };
  if (has_one_value(stuck)) return incomplete;
  incomplete.set(stuck, true);
  for (const Relation& relation : std::views::reverse(relations)) {
    bool any = false;
    for (const IterVar& child : children_of(relation))
      any = any || incomplete.value_or(child, false);
    if (!any) continue;
    // If the inner loop of a split is at least as long as the parent, it takes all values of the
    // parent, whatever the outer loop does.
    const Split* split = std::get_if<Split>(&relation);
    if (split && !incomplete.value_or(split->inner, false) &&
        arith::can_prove(ranges.at(split->parent).extent <= ranges.at(split->inner).extent,
                         facts)) {
      continue;
    }
    // A parent with a single value takes this value, because its loops start at the required
    // element. The loops over a transformed layout may start elsewhere.
    const bool begins_at_need = !std::holds_alternative<Transform>(relation);
    for (const IterVar& parent : parents_of(relation)) {
      if (!begins_at_need || !has_one_value(parent)) incomplete.set(parent, true);
    }
  }
  return incomplete;
}

namespace {

AxisFlags flags_of(std::span<const IterVar> axes) {
  AxisFlags found;
  for (const IterVar& axis : axes) found.set(axis, true);
  return found;
}

/// Adds the axes in `to` if `found` contains an axis in `from`.
void follow(const std::vector<IterVar>& from, const std::vector<IterVar>& to, AxisFlags& found) {
  if (std::ranges::none_of(from, [&](const IterVar& axis) { return found.contains(axis); })) return;
  for (const IterVar& axis : to) found.set(axis, true);
}

}  // namespace

AxisFlags derived_from(std::span<const IterVar> axes, Relations relations) {
  AxisFlags found = flags_of(axes);
  for (const Relation& relation : relations)
    follow(parents_of(relation), children_of(relation), found);
  return found;
}

AxisFlags sources_of(std::span<const IterVar> axes, Relations relations) {
  AxisFlags found = flags_of(axes);
  for (const Relation& relation : std::views::reverse(relations))
    follow(children_of(relation), parents_of(relation), found);
  return found;
}

void set_range(const IterVar& axis, Expr extent, AxisRanges& ranges, Facts& facts) {
  const DataType type = axis.var().dtype();
  if (extent.dtype().bits < type.bits) extent = cast(type, extent);
  Range range = Range::from_min_extent(make_int(type, 0), std::move(extent));
  facts.bind(axis.var(), range, /*replace=*/true);
  ranges.set(axis, std::move(range));
}

bool is_large(const Expr& value) {
  constexpr std::size_t kMaxNodes = 256;
  return tree_size(value, kMaxNodes + 1) > kMaxNodes;
}

bool covers(const Interval& domain, const Range& range) {
  if (!domain.is_bounded()) return false;
  return provably_equal(*domain.min(), range.min) &&
         provably_equal(*domain.max(), range.extent + range.min - 1);
}

bool provably_equal(const Expr& a, const Expr& b) {
  if (structural_equal(a, b)) return true;
  if (constant_int(a) && constant_int(b)) return constant_int(a) == constant_int(b);
  return arith::can_prove_equal(a, b);
}

bool same_range(const Range& a, const Range& b) {
  return provably_equal(a.min, b.min) && provably_equal(a.extent, b.extent);
}

Expr shifted(const Expr& value, const Expr& offset) {
  return is_zero(offset) ? value : value + offset;
}

Expr unshifted(const Expr& value, const Expr& offset) {
  return is_zero(offset) ? value : value - offset;
}

std::vector<IterVar> parents_of(const Relation& relation) {
  return match(
      relation, [](const Split& r) { return std::vector{r.parent}; },
      [](const Fuse& r) {
        return std::vector{r.outer, r.inner};
      },
      [](const Rebase& r) { return std::vector{r.parent}; },
      [](const Singleton&) { return std::vector<IterVar>{}; },
      [](const Transform& r) { return r.originals; });
}

std::vector<IterVar> children_of(const Relation& relation) {
  return match(
      relation,
      [](const Split& r) {
        return std::vector{r.outer, r.inner};
      },
      [](const Fuse& r) { return std::vector{r.fused}; },
      [](const Rebase& r) { return std::vector{r.rebased}; },
      [](const Singleton& r) { return std::vector{r.iter}; },
      [](const Transform& r) { return r.transformed; });
}

}  // namespace tenon::te

#include "te/relations/propagate.h"

#include <ranges>

#include "tenon/arith/simplify.h"
#include "tenon/support/match.h"

namespace tenon::te {

void pass_ranges_down(Relations relations, RangeSweep& sweep) {
  for (const Relation& relation : relations) {
    match(relation, [&](const auto& r) { ranges_down(r, sweep); });
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
    // The inner loop of a split alone may cover all of a short parent.
    const Split* split = std::get_if<Split>(&relation);
    if (split && !incomplete.value_or(split->inner, false) &&
        arith::can_prove(ranges.at(split->parent).extent <= ranges.at(split->inner).extent,
                         facts)) {
      continue;
    }
    // Loops over a transformed layout are not known to have one iteration if one element is
    // required.
    const bool begins_at_need = !std::holds_alternative<Transform>(relation);
    for (const IterVar& parent : parents_of(relation)) {
      if (!begins_at_need || !has_one_value(parent)) incomplete.set(parent, true);
    }
  }
  return incomplete;
}

namespace {

void join(std::span<const IterVar> from, std::span<const IterVar> to, AxisMarks& marks) {
  unsigned all = 0;
  for (const IterVar& axis : from) all |= marks.value_or(axis, 0);
  for (const IterVar& axis : to) marks.set(axis, marks.value_or(axis, 0) | all);
}

}  // namespace

void mark_reached(Relations relations, AxisMarks& marks) {
  for (const Relation& relation : relations)
    join(parents_of(relation), children_of(relation), marks);
}

void mark_sources(Relations relations, AxisMarks& marks) {
  for (const Relation& relation : std::views::reverse(relations)) {
    join(children_of(relation), parents_of(relation), marks);
  }
}

}  // namespace tenon::te

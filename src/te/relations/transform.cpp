// Transform: a bijection between two boxes of axes, given by the map and its inverse. A property of
// one axis may depend on all axes of the other side, so domains and guards are computed for the
// whole group, except for axes that only change position.

#include <algorithm>
#include <ranges>

#include "te/relations/propagate.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;
using arith::simplify;
using arith::values_of;

namespace {

/// Returns the map's results for these arguments.
std::vector<Expr> image_of(const Transform::Map& map, const std::vector<Expr>& arguments) {
  VarMap vars;
  for (std::size_t i = 0; i < arguments.size(); ++i) set(vars, map.params[i], arguments[i]);
  std::vector<Expr> results;
  for (const Expr& result : map.results)
    results.push_back(simplify(substitute_folding(result, vars)));
  return results;
}

bool is_var(const Expr& e, const Var& v) {
  const Cast* wider = e.as<Cast>();
  return (wider ? wider->value : e).same_as(v);
}

/// If the n-th transformed axis is one of the original axes at another position, returns this
/// original; otherwise null. The loop over such an axis covers exactly the original's domain. An
/// original of one element is not returned if the inverse replaces it by its only value.
const IterVar* kept_axis(const Transform& transform, std::size_t n) {
  for (std::size_t i = 0; i < transform.originals.size(); ++i)
    if (is_var(transform.forward.results[n], transform.forward.params[i]) &&
        is_var(transform.inverse.results[i], transform.inverse.params[n]))
      return &transform.originals[i];
  return nullptr;
}

/// Returns the ranges of the original axes; nullopt if any of them has no range yet.
std::optional<arith::IntervalMap> values_of_originals(const Transform& transform,
                                                      const AxisRanges& ranges) {
  arith::IntervalMap originals;
  for (std::size_t i = 0; i < transform.originals.size(); ++i) {
    const Range* range = ranges.find(transform.originals[i]);
    if (!range) return std::nullopt;
    originals.set(transform.forward.params[i], Interval::from_range(*range));
  }
  return originals;
}

/// Returns the minimum of the loop over a transformed axis; nullopt if it is 0. The minimum is that
/// of the image of the originals' required domain. Does not use facts, because every query must
/// give the same result.
std::optional<Expr> first_of(const Transform& transform, std::size_t n, const AxisRanges& ranges) {
  const DataType type = transform.transformed[n].var().dtype();
  if (const IterVar* kept = kept_axis(transform, n)) {
    if (is_zero(ranges.at(*kept).min)) return std::nullopt;
    return cast(type, ranges.at(*kept).min);
  }
  const std::optional<arith::IntervalMap> originals = values_of_originals(transform, ranges);
  if (!originals) return std::nullopt;
  const Interval image = values_of(transform.forward.results[n], *originals);
  if (!image.is_bounded()) return std::nullopt;
  const Expr first = simplify(*image.min());
  if (is_zero(first)) return std::nullopt;
  return cast(type, first);
}

std::optional<std::vector<Expr>> values_at(const std::vector<IterVar>& axes,
                                           const AxisValues& values) {
  std::vector<Expr> found;
  for (const IterVar& axis : axes) {
    const Expr* value = values.find(axis);
    if (!value) return std::nullopt;
    found.push_back(*value);
  }
  return found;
}

void set_all(const std::vector<IterVar>& axes, const std::vector<Expr>& results,
             AxisValues& values) {
  // Casts each value, because the axes of a transform may have different types.
  for (std::size_t i = 0; i < axes.size(); ++i)
    values.set(axes[i], cast(axes[i].var().dtype(), results[i]));
}

/// Returns the operation's root axis for `original`: the axis itself, or the axis that it was
/// rebased from.
IterVar root_of(const IterVar& original, std::span<const Relation> relations) {
  IterVar root = original;
  for (const Relation& relation : relations | std::views::reverse) {
    const Rebase* rebase = std::get_if<Rebase>(&relation);
    if (rebase && rebase->rebased.same_as(root)) root = rebase->parent;
  }
  return root;
}

}  // namespace

std::vector<IterVar> roots_beyond_inverse(const Transform& transform,
                                          std::span<const Relation> relations,
                                          const AxisRanges& ranges, const Facts& facts) {
  std::vector<IterVar> beyond, roots;
  AxisRanges of_originals;
  for (const IterVar& original : transform.originals) {
    roots.push_back(root_of(original, relations));
    const Range* range = ranges.find(roots.back());
    if (!range) return beyond;
    of_originals.set(original, original.same_as(roots.back()) ? *range : Range(0, range->extent));
  }
  const std::optional<arith::IntervalMap> originals = values_of_originals(transform, of_originals);
  if (!originals) return beyond;
  for (std::size_t n = 0; n < transform.transformed.size(); ++n) {
    const Var& param = transform.inverse.params[n];
    if (std::ranges::any_of(transform.inverse.results,
                            [&](const Expr& original) { return uses_var(original, param); }))
      continue;
    const Expr& index = transform.forward.results[n];
    const Interval image = values_of(index, *originals, facts);
    if (image.is_point() ||
        (image.is_bounded() && is_zero(simplify(*image.max() - *image.min(), facts))))
      continue;
    for (std::size_t i = 0; i < transform.originals.size(); ++i)
      if (uses_var(index, transform.forward.params[i])) beyond.push_back(roots[i]);
  }
  return beyond;
}

void ranges_down(const Transform& transform, AxisRanges& ranges, Facts& facts) {
  const std::optional<arith::IntervalMap> originals = values_of_originals(transform, ranges);
  if (!originals) return;
  for (std::size_t i = 0; i < transform.transformed.size(); ++i) {
    const IterVar& axis = transform.transformed[i];
    if (const IterVar* kept = kept_axis(transform, i)) {
      set_range(axis, cast(axis.var().dtype(), ranges.at(*kept).extent), ranges, facts);
      continue;
    }
    const Interval image = values_of(transform.forward.results[i], *originals, facts);
    if (!image.is_bounded()) {
      throw BoundError("transform_layout: the extent of the new axis `" + axis.name() +
                       "` cannot be inferred");
    }
    const std::optional<Expr> first = first_of(transform, i, ranges);
    const Expr extent = first ? *image.max() + 1 - *first : *image.max() + 1;
    set_range(axis, cast(axis.var().dtype(), simplify(extent, facts)), ranges, facts);
  }
}

void domains_up(const Transform& transform, const AxisRanges& ranges, AxisDomains& domains) {
  arith::IntervalMap transformed;
  std::vector<Expr> values;
  for (std::size_t i = 0; i < transform.transformed.size(); ++i) {
    const Interval* domain = domains.find(transform.transformed[i]);
    if (!domain) return;
    const Var& param = transform.inverse.params[i];
    transformed.set(param, *domain);
    const std::optional<Expr> first = first_of(transform, i, ranges);
    values.push_back(first ? param + *first : Expr(param));
  }
  const std::vector<Expr> originals = image_of(transform.inverse, values);
  for (std::size_t i = 0; i < transform.originals.size(); ++i)
    domains.set(transform.originals[i], values_of(originals[i], transformed));
}

void index_up(const Transform& transform, const AxisRanges& ranges, AxisValues& values) {
  if (auto transformed = values_at(transform.transformed, values)) {
    for (std::size_t i = 0; i < transformed->size(); ++i)
      if (const std::optional<Expr> first = first_of(transform, i, ranges))
        (*transformed)[i] = (*transformed)[i] + *first;
    set_all(transform.originals, image_of(transform.inverse, *transformed), values);
  }
}

void index_down(const Transform& transform, const AxisRanges& ranges, AxisValues& values) {
  if (auto originals = values_at(transform.originals, values)) {
    std::vector<Expr> results = image_of(transform.forward, *originals);
    for (std::size_t i = 0; i < results.size(); ++i)
      if (const std::optional<Expr> first = first_of(transform, i, ranges))
        results[i] = simplify(results[i] - *first);
    set_all(transform.transformed, results, values);
  }
}

void guards_up(const Transform& transform, const AxisRanges&, const Facts&, AxisFlags& guarded) {
  bool any = transform.pads;
  for (const IterVar& axis : transform.transformed) any = any || guarded.value_or(axis, false);
  for (const IterVar& axis : transform.originals) guarded.set(axis, any);
}

}  // namespace tenon::te

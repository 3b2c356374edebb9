// Split: parent = outer * extent(inner) + inner + min(parent).
//
// For a factor, the inner extent is the factor; for a number of parts, the outer extent is that
// number. The other extent is rounded up to reach the end, so that extent(outer) * extent(inner) >=
// extent(parent). If the product is larger, the last iterations are out of range and need a guard.
// A requested extent that is provably larger than the parent's is reduced to it, so that a split of
// a short axis makes no idle iterations.

#include <limits>

#include "te/relations/propagate.h"
#include "tenon/arith/const_bound.h"
#include "tenon/arith/simplify.h"
#include "tenon/support/match.h"
#include "tenon/tir/expr.h"

namespace tenon::te {

using namespace tir;
using arith::can_prove;
using arith::simplify;
using arith::values_of;

namespace {

/// Whether a + b - 1 may overflow because a factor is a large constant. Sums with smaller factors
/// could overflow only for symbolic extents. They keep the form of TVM 0.9, because they are
/// widened when index types are assigned.
bool sum_may_wrap(const Expr& a, const Expr& b, const Facts& facts) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  const std::int64_t count = constant_int(b).value_or(0);
  if (a.dtype() != Int(32) || count <= kMax / 2) return false;
  const std::optional<std::int64_t> most = arith::const_bound(a, facts).max;
  return !most || *most > kMax - count + 1;
}

Expr rounded_up_quotient(const Expr& a, const Expr& b, const Facts& facts) {
  if (can_prove(floormod(a, b) == 0, facts)) return simplify(floordiv(a, b), facts);
  if (sum_may_wrap(a, b, facts)) return simplify(floordiv(a - 1, b) + 1, facts);
  return simplify(ceildiv(a, b), facts);
}

/// Returns the requested extent in the parent's type, or the parent's extent if that is smaller.
Expr asked_extent(const IterVar& child, const Expr& asked, const Expr& parent_extent,
                  const Facts& facts, const AxisFlags* keeps_extent) {
  DataType type = parent_extent.dtype();
  bool keeps = !keeps_extent || keeps_extent->value_or(child, false) || is_zero(parent_extent);
  if (keeps) return cast(type, asked);
  bool parent_is_less = can_prove(parent_extent < asked, facts);
  return cast(type, simplify(parent_is_less ? parent_extent : asked, facts));
}

}  // namespace

void ranges_down(const Split& split, AxisRanges& ranges, Facts& facts,
                 const AxisFlags* keeps_extent) {
  const Range* parent = ranges.find(split.parent);
  if (!parent) return;
  const Expr extent = parent->extent;
  set_range(split.counted(),
            asked_extent(split.counted(), split.count, extent, facts, keeps_extent), ranges, facts);
  set_range(split.not_counted(), rounded_up_quotient(extent, split.count, facts), ranges, facts);
}

void domains_up(const Split& split, const AxisRanges& ranges, AxisDomains& domains) {
  const Interval* outer = domains.find(split.outer);
  const Interval* inner = domains.find(split.inner);
  if (!outer || !inner) return;
  const Range& parent = ranges.at(split.parent);
  const Expr& factor = ranges.at(split.inner).extent;
  if (covers(*outer, ranges.at(split.outer)) && covers(*inner, ranges.at(split.inner))) {
    domains.set(split.parent, Interval::from_range(parent));
    return;
  }
  arith::IntervalMap children;
  children.set(split.outer.var(), *outer);
  children.set(split.inner.var(), *inner);
  Expr index = split.outer * factor + split.inner + parent.min;
  domains.set(split.parent, values_of(index, children));
}

void index_up(const Split& split, const AxisRanges& ranges, AxisValues& values) {
  const Expr* outer = values.find(split.outer);
  const Expr* inner = values.find(split.inner);
  if (!outer || !inner) return;
  Expr index = *inner + *outer * ranges.at(split.inner).extent;
  // The children can exceed the parent's range, and therefore may have a wider type.
  values.set(split.parent,
             cast(split.parent.var().dtype(), shifted(index, ranges.at(split.parent).min)));
}

void index_down(const Split& split, const AxisRanges& ranges, AxisValues& values) {
  const Expr* parent = values.find(split.parent);
  if (!parent) return;
  Expr index = unshifted(*parent, ranges.at(split.parent).min);
  const Expr& length = ranges.at(split.inner).extent;
  // If the inner loop has no iterations, no value is used, and any value avoids the division by 0.
  const Expr factor = is_zero(length) ? make_int(length.dtype(), 1) : length;
  values.set(split.outer, floordiv(index, factor));
  values.set(split.inner, floormod(index, factor));
}

void guards_up(const Split& split, const AxisRanges& ranges, const Facts& facts,
               AxisFlags& guarded) {
  if (guarded.value_or(split.outer, false) || guarded.value_or(split.inner, false)) {
    guarded.set(split.parent, true);
    return;
  }
  const Range* outer = ranges.find(split.outer);
  const Range* inner = ranges.find(split.inner);
  if (!outer || !inner) return;
  const Expr reached = inner->extent * outer->extent;
  guarded.set(split.parent, !can_prove(ranges.at(split.parent).extent == reached, facts));
}

}  // namespace tenon::te

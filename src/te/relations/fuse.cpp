// Fuse: fused = (outer - min(outer)) * extent(inner) + (inner - min(inner)). Both are recovered by
// division and remainder. The extents multiply exactly, so fusing alone never needs a guard.

#include "te/relations/propagate.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/expr.h"

namespace tenon::te {

using namespace tir;
using arith::can_prove;
using arith::simplify;

namespace {

/// Whether the extent may be negative. Extents of tensors are never negative, but a reduction may
/// have a range that ends before it begins.
bool may_be_negative(const IterVar& axis, const Expr& extent, const Facts& facts) {
  return axis.kind() == IterKind::Reduce && !can_prove(extent >= 0, facts);
}

}  // namespace

void ranges_down(const Fuse& fuse, AxisRanges& ranges, Facts& facts) {
  const Range* outer = ranges.find(fuse.outer);
  const Range* inner = ranges.find(fuse.inner);
  if (!outer || !inner) return;
  // The product may need 64 bits even if neither factor does.
  const DataType type = fuse.fused.var().dtype();
  Expr rows = cast(type, outer->extent);
  // If both extents are negative, neither range has iterations, but their product would be
  // positive.
  if (may_be_negative(fuse.outer, outer->extent, facts) &&
      may_be_negative(fuse.inner, inner->extent, facts))
    rows = tir::max(rows, make_int(type, 0));
  set_range(fuse.fused, rows * cast(type, inner->extent), ranges, facts);
}

namespace {

bool surely_divides(const Expr& divisor, const Expr& value) {
  // In an empty stage the divisor may be 0, which does not divide anything.
  const Expr by = simplify(divisor);
  return !is_zero(by) && is_zero(simplify(floormod(value, by)));
}

Interval moved(const Expr& offset, const Expr& min, const Expr& max) {
  return Interval::of(offset + min, offset + max);
}

}  // namespace

void domains_up(const Fuse& fuse, const AxisRanges& ranges, AxisDomains& domains) {
  const Interval* fused = domains.find(fuse.fused);
  if (!fused) return;
  const Range& outer = ranges.at(fuse.outer);
  const Range& inner = ranges.at(fuse.inner);
  // If rows have no columns, no iteration exists, and any domain is correct.
  if (!fused->is_bounded() || is_zero(inner.extent) || covers(*fused, ranges.at(fuse.fused)) ||
      is_large(*fused->min()) || is_large(*fused->max())) {
    domains.set(fuse.outer, Interval::from_range(outer));
    domains.set(fuse.inner, Interval::from_range(inner));
    return;
  }
  const Expr min = *fused->min(), max = *fused->max();
  if (fused->is_point()) {
    domains.set(fuse.outer, Interval::point(shifted(floordiv(min, inner.extent), outer.min)));
    domains.set(fuse.inner, Interval::point(shifted(floormod(min, inner.extent), inner.min)));
    return;
  }
  domains.set(fuse.outer,
              moved(outer.min, floordiv(min, inner.extent), floordiv(max, inner.extent)));
  // The fused values stay in one row if their number divides the row length and their start is a
  // multiple of this number. Otherwise they may extend into the next row, and every column can
  // occur.
  const Expr length = max - min + 1;
  if (surely_divides(length, inner.extent) && surely_divides(length, min)) {
    domains.set(fuse.inner,
                moved(inner.min, floormod(min, inner.extent), floormod(max, inner.extent)));
  } else {
    domains.set(fuse.inner, Interval::from_range(inner));
  }
}

void index_up(const Fuse& fuse, const AxisRanges& ranges, AxisValues& values) {
  const Expr* fused = values.find(fuse.fused);
  if (!fused) return;
  const Expr index = *fused;
  const Expr& columns = ranges.at(fuse.inner).extent;
  // If the inner extent is 0, the fused loop has no iterations, so any divisor other than 0 is
  // correct.
  const Expr row = is_zero(columns) ? make_int(columns.dtype(), 1) : columns;
  const Expr outer = shifted(floordiv(index, row), ranges.at(fuse.outer).min);
  const Expr inner = shifted(floormod(index, row), ranges.at(fuse.inner).min);
  // The fused axis may have a wider type than its parents.
  values.set(fuse.outer, cast(fuse.outer.var().dtype(), outer));
  values.set(fuse.inner, cast(fuse.inner.var().dtype(), inner));
}

void index_down(const Fuse& fuse, const AxisRanges& ranges, AxisValues& values) {
  const Expr* outer = values.find(fuse.outer);
  const Expr* inner = values.find(fuse.inner);
  if (!outer || !inner) return;
  const Expr row = unshifted(*outer, ranges.at(fuse.outer).min);
  const Expr column = unshifted(*inner, ranges.at(fuse.inner).min);
  const DataType type = fuse.fused.var().dtype();
  values.set(fuse.fused, cast(type, row) * ranges.at(fuse.inner).extent + column);
}

void guards_up(const Fuse& fuse, const AxisRanges&, const Facts&, AxisFlags& guarded) {
  const bool fused = guarded.value_or(fuse.fused, false);
  guarded.set(fuse.outer, fused);
  guarded.set(fuse.inner, fused);
}

}  // namespace tenon::te

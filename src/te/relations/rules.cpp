#include "te/relations/rules.h"

#include "te/operations/body.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/expr.h"

namespace tenon::te {

using namespace tir;

void RangeSweep::set(const IterVar& axis, Expr extent) {
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

}  // namespace tenon::te

#include "te/bounds/cover.h"

#include "tenon/arith/simplify.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;
using arith::can_prove;
using arith::Facts;
using arith::Interval;

namespace {

/// Nodes of minimum and extent together. The hulls of a hand-written schedule have a dozen.
constexpr std::size_t kReadable = 48;

bool is_readable(const Range& range) {
  return node_count(range.min) + node_count(range.extent) <= kReadable;
}

enum class End { Min, Max };
End opposite(End end) { return end == End::Min ? End::Max : End::Min; }

/// A simpler expression that lies at least as far out: of two that an end is clamped to, one alone
/// is an end as well.
Expr loosened(const Expr& e, End end) {
  const Binary* node = e.as<Binary>();
  if (!node) return e;
  switch (node->op) {
    case BinaryOp::Add:
      return loosened(node->a, end) + loosened(node->b, end);
    case BinaryOp::Sub:
      return loosened(node->a, end) - loosened(node->b, opposite(end));
    case BinaryOp::Min:
    case BinaryOp::Max: {
      const bool is_clamp = (node->op == BinaryOp::Min) == (end == End::Max);
      if (is_clamp) return loosened(constant_int(node->a) ? node->b : node->a, end);
      return fold(node->op, loosened(node->a, end), loosened(node->b, end));
    }
    default:
      return e;
  }
}

/// Whichever of two ends lies further out; one of them alone if that can be proved.
Expr outermost(const Expr& a, const Expr& b, End end, const Facts& facts) {
  if (can_prove(end == End::Min ? a <= b : b <= a, facts)) return a;
  if (can_prove(end == End::Min ? b <= a : a <= b, facts)) return b;
  return arith::simplify(end == End::Min ? min(a, b) : max(a, b), facts);
}

Interval loose_hull(const std::vector<Interval>& sets, const Facts& facts) {
  std::optional<Expr> low, high;
  for (const Interval& set : sets) {
    if (set.is_empty()) continue;
    if (!set.is_bounded()) return Interval::everything();
    const Expr min = arith::simplify(loosened(*set.min(), End::Min), facts);
    const Expr max = arith::simplify(loosened(*set.max(), End::Max), facts);
    low = low ? outermost(*low, min, End::Min, facts) : min;
    high = high ? outermost(*high, max, End::Max, facts) : max;
  }
  return low ? Interval::of(*low, *high) : Interval::empty();
}

}  // namespace

Range cover(const std::vector<Interval>& sets, const Range& declared, const Facts& facts) {
  const Facts nothing;
  const Range tight = hull(sets, nothing).to_range(declared, nothing);
  if (is_readable(tight)) return tight;
  const Range loose = loose_hull(sets, facts).to_range(declared, facts);
  const bool is_better = is_readable(loose) && !can_prove(declared.extent <= loose.extent, facts);
  return is_better ? loose : declared;
}

Range exact_cover(const std::vector<Interval>& sets, const Range& declared, const Facts& facts) {
  const Range range = cover(sets, declared, facts);
  const auto extent = constant_int(range.extent), most = constant_int(declared.extent);
  return extent && most && *extent > *most ? declared : range;
}

Range in_type_of(const IterVar& axis, const Range& range) {
  const DataType type = axis.var().dtype();
  return Range::from_min_extent(tir::cast(type, range.min), tir::cast(type, range.extent));
}

}  // namespace tenon::te

#include "te/bounds/cover.h"

#include <algorithm>

#include "tenon/arith/const_bound.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;
using arith::can_prove;
using arith::Facts;
using arith::Interval;

namespace {

/// Maximum number of nodes of minimum and extent together. Hulls of typical hand-written schedules
/// have a dozen.
constexpr std::size_t kReadable = 48;
/// The limit for exact bounds, which accept longer expressions in exchange for less memory.
constexpr std::size_t kExactReadable = 256;

/// Whether the extent spans from a data-dependent index to another index. A guard may separate the
/// two, so the distance can be arbitrary.
bool is_distance_of_data(const Expr& extent) {
  if (!contains<ProducerLoad>(extent)) return false;
  bool found = false;
  walk(extent,
       [&](const Binary& n) { found = found || n.op == BinaryOp::Max || n.op == BinaryOp::Min; });
  return found;
}

bool is_usable(const Range& range, std::size_t most = kReadable) {
  return node_count(range.min) + node_count(range.extent) <= most &&
         !is_distance_of_data(range.extent);
}

enum class End { Min, Max };
End opposite(End end) { return end == End::Min ? End::Max : End::Min; }

/// Returns a simpler expression that is at least as far out: one of the two operands of the clamp.
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

/// Returns the outer one of two ends, as a single operand if the order is provable.
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

/// Whether one of the sets is provably the whole declared range. Requirements lie within the shape,
/// so the other sets add nothing, whatever symbols they contain.
bool has_all(const std::vector<Interval>& sets, const Range& declared, const Facts& facts) {
  const Interval all = Interval::from_range(declared);
  return std::ranges::any_of(sets, [&](const Interval& set) {
    return set.is_bounded() && can_prove(*set.min() <= *all.min(), facts) &&
           can_prove(*all.max() <= *set.max(), facts);
  });
}

bool is_constant(const Range& range) {
  return constant_int(range.min) && constant_int(range.extent);
}

}  // namespace

Range cover(const std::vector<Interval>& sets, const Range& declared, const Facts& facts) {
  const Facts nothing;
  const Range tight = hull(sets, nothing).to_range(declared, nothing);
  if (is_constant(tight)) return tight;
  if (has_all(sets, declared, facts)) return declared;
  if (is_usable(tight)) return tight;
  const Range loose = loose_hull(sets, facts).to_range(declared, facts);
  const bool is_better = is_usable(loose) && !can_prove(declared.extent <= loose.extent, facts);
  return is_better ? loose : declared;
}

Range exact_cover(const std::vector<Interval>& sets, const Range& declared, const Facts& facts) {
  if (has_all(sets, declared, facts)) return declared;
  const Range tight = arith::simplify(hull(sets, facts).to_range(declared, facts), facts);
  const Range range = is_usable(tight, kExactReadable) ? tight : cover(sets, declared, facts);
  const auto extent = constant_int(range.extent), most = constant_int(declared.extent);
  return extent && most && *extent > *most ? declared : range;
}

Range in_type_of(const IterVar& axis, const Range& range, const Facts& facts) {
  const DataType type = axis.var().dtype(), asked = range.min.dtype();
  Expr min = range.min;
  if (asked.bits > type.bits && axis.dom()) {
    const std::optional<std::int64_t> greatest = arith::const_bound(min, facts).max;
    if (greatest && *greatest > *constant_int(tir::max_value(type))) {
      const auto wide = [&](const Expr& e) { return tir::cast(asked, e); };
      const Range& whole = *axis.dom();
      min =
          tir::min(min, arith::simplify(wide(whole.min) + wide(whole.extent) - wide(range.extent)));
    }
  }
  return Range::from_min_extent(tir::cast(type, min), tir::cast(type, range.extent));
}

}  // namespace tenon::te

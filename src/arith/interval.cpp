#include "tenon/arith/interval.h"

#include "arith/ends.h"
#include "tenon/arith/simplify.h"

namespace tenon::arith {

using tir::BinaryOp;
using tir::make_int;

namespace {

/// A type in which sums and differences of constants of any type do not overflow.
__extension__ typedef __int128 Exact;

std::optional<Exact> exact_constant(const Expr& e) {
  const std::optional<std::int64_t> value = constant_int(e);
  if (!value) return std::nullopt;
  return e.dtype().is_uint() ? static_cast<Exact>(static_cast<std::uint64_t>(*value))
                             : static_cast<Exact>(*value);
}

bool fits_exactly(Exact value, DataType type) {
  const int bits = type.is_uint() ? type.bits : type.bits - 1;
  const Exact beyond = Exact{1} << bits;
  return value < beyond && value >= (type.is_uint() ? 0 : -beyond);
}

}  // namespace

// ---- Interval -----------------------------------------------------------------------------------

Interval Interval::empty() {
  Interval nothing;
  nothing.empty_ = true;
  return nothing;
}

Interval Interval::from_range(const Range& r) {
  if (is_one(r.extent)) return point(r.min);
  // Fast path: most ranges are constant.
  const auto min = constant_int(r.min), extent = constant_int(r.extent);
  std::int64_t last = 0;
  if (min && extent && r.min.dtype() == r.extent.dtype() &&
      !__builtin_add_overflow(*min, *extent - 1, &last) && fits(last, r.min.dtype()))
    return of(r.min, make_int(r.min.dtype(), last));
  Expr end = combine(BinaryOp::Add, r.extent, r.min);
  return of(r.min, combine(BinaryOp::Sub, end, make_int(end.dtype(), 1)));
}

Range Interval::to_range(const Range& otherwise, const Facts& facts) const {
  if (!is_bounded()) return otherwise;
  if (is_point()) return Range::from_min_extent(simplify(*min_, facts), make_int(min_->dtype(), 1));
  if (const auto min = exact_constant(*min_), max = exact_constant(*max_); min && max) {
    const DataType type = otherwise.min.dtype();
    const Exact extent = *max - *min + 1;
    if (!fits_exactly(extent, type)) return otherwise;
    if (!fits_exactly(extent, min_->dtype()))
      return Range::from_min_extent(tir::cast(type, *min_),
                                    make_int(type, static_cast<std::int64_t>(extent)));
  }
  Expr end = combine(BinaryOp::Add, *max_, make_int(max_->dtype(), 1));
  return Range::from_min_extent(simplify(*min_, facts),
                                simplify(combine(BinaryOp::Sub, end, *min_), facts));
}

// ---- IntervalMap --------------------------------------------------------------------------------

void IntervalMap::set(const Var& var, Interval interval) {
  const auto [place, is_new] = intervals_.try_emplace(&var.node(), interval);
  if (!is_new) *place = std::move(interval);
}

const Interval* IntervalMap::find(const Var& var) const { return find(var.node()); }

const Interval* IntervalMap::find(const tir::ExprNode& var) const { return intervals_.find(&var); }

// ---- ends ---------------------------------------------------------------------------------------

Expr combine(BinaryOp op, const Expr& a, const Expr& b) {
  if (a.dtype() == b.dtype()) return fold(op, a, b);
  // The common type of a signed and an unsigned operand is unsigned, where negative ends wrap.
  if (a.dtype().is_uint() != b.dtype().is_uint())
    return fold(op, tir::cast(Int(64), a), tir::cast(Int(64), b));
  const auto [x, y] = tir::promote(a, b);
  return fold(op, x, y);
}

namespace {

/// Whether the operation on constants overflows, so that folding would wrap.
bool overflows(BinaryOp op, const Expr& a, const Expr& b) {
  const std::optional<Exact> x = exact_constant(a), y = exact_constant(b);
  if (!x || !y) return false;
  const bool is_quotient = op == BinaryOp::TruncDiv || op == BinaryOp::FloorDiv;
  Exact result = 0;
  if (op == BinaryOp::Add) result = *x + *y;
  if (op == BinaryOp::Sub) result = *x - *y;
  if (op == BinaryOp::Mul && __builtin_mul_overflow(*x, *y, &result)) return true;
  if (is_quotient && *y == -1) result = -*x;
  return !fits_exactly(result, tir::promote(a, b).first.dtype());
}

}  // namespace

std::optional<Expr> combine_if_both(BinaryOp op, const std::optional<Expr>& a,
                                    const std::optional<Expr>& b) {
  if (!a || !b || overflows(op, *a, *b)) return std::nullopt;
  return combine(op, *a, *b);
}

std::optional<Expr> combine_or_other(BinaryOp op, const std::optional<Expr>& a,
                                     const std::optional<Expr>& b) {
  const std::optional<Expr> both = combine_if_both(op, a, b);
  return both ? both : a ? a : b;
}

namespace {

std::optional<Expr> simplify_if(const std::optional<Expr>& e, const Facts& facts) {
  if (!e) return std::nullopt;
  return simplify(*e, facts);
}

}  // namespace

// ---- hull, intersection -------------------------------------------------------------------------

Interval raw_hull(const Interval& a, const Interval& b) {
  if (a.is_empty()) return b;
  if (b.is_empty()) return a;
  return Interval::between(combine_if_both(BinaryOp::Min, a.min(), b.min()),
                           combine_if_both(BinaryOp::Max, a.max(), b.max()));
}

Interval hull(const std::vector<Interval>& sets, const Facts& facts) {
  if (sets.size() == 1) return sets.front();
  Interval all = Interval::empty();
  for (const Interval& set : sets) all = raw_hull(all, set);
  if (all.is_empty()) return all;
  return Interval::between(simplify_if(all.min(), facts), simplify_if(all.max(), facts));
}

Interval intersect(const Interval& a, const Interval& b, const Facts& facts) {
  if (a.is_empty() || b.is_empty()) return Interval::empty();
  const auto min = simplify_if(combine_or_other(BinaryOp::Max, a.min(), b.min()), facts);
  const auto max = simplify_if(combine_or_other(BinaryOp::Min, a.max(), b.max()), facts);
  if (min && max && can_prove(combine(BinaryOp::Lt, *max, *min), facts)) return Interval::empty();
  return Interval::between(min, max);
}

Interval union_lower_bound(const std::vector<Interval>& sets, const Facts& facts) {
  auto reaches = [&](const std::optional<Expr>& min, const std::optional<Expr>& max) {
    // No integer lies between an interval that ends at `max` and one that begins at `min`.
    if (!min || !max) return true;
    Expr next = combine(BinaryOp::Add, *max, make_int(max->dtype(), 1));
    return can_prove(combine(BinaryOp::Le, *min, next), facts);
  };
  Interval all = Interval::empty();
  for (const Interval& set : sets) {
    if (set.is_empty()) continue;
    if (all.is_empty()) {
      all = set;
    } else if (reaches(set.min(), all.max()) && reaches(all.min(), set.max())) {
      all = raw_hull(all, set);
    }
  }
  return all;
}

}  // namespace tenon::arith

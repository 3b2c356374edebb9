// Intervals with symbolic ends, and what set of values an expression takes over them.
//
//   IntervalMap relaxed;  relaxed.set(i, Interval::of(0, 7));
//   values_of(i * 8 + j, relaxed, facts)        // [j, j + 56]
#pragma once

#include "tenon/arith/facts.h"
#include "tenon/support/dense_map.h"

namespace tenon::arith {

/// Inclusive at both ends. Infinity and emptiness are states.
class Interval {
 public:
  /// Of no bounds, and of one value.
  static Interval everything() { return {}; }
  static Interval empty();
  static Interval point(Expr e) { return Interval(e, e); }
  static Interval of(Expr min, Expr max) { return Interval(std::move(min), std::move(max)); }
  static Interval at_least(Expr min);
  static Interval at_most(Expr max);
  /// [min, min + extent - 1]
  static Interval from_range(const Range& r);

  const std::optional<Expr>& min() const { return min_; }
  const std::optional<Expr>& max() const { return max_; }
  bool is_empty() const { return empty_; }
  /// Whether neither end is known; whether both are.
  bool is_everything() const { return !empty_ && !min_ && !max_; }
  bool is_bounded() const { return !empty_ && min_ && max_; }
  /// Both ends are the same expression.
  bool is_point() const { return is_bounded() && min_->same_as(*max_); }

  /// [min, max] as a range, its extent simplified; `otherwise` where an end is infinite or the
  /// interval is empty.
  Range to_range(const Range& otherwise, const Facts& facts) const;

 private:
  Interval() = default;
  Interval(std::optional<Expr> min, std::optional<Expr> max)
      : min_(std::move(min)), max_(std::move(max)) {}
  std::optional<Expr> min_, max_;
  bool empty_ = false;
};

/// The intervals that variables are relaxed over; others stand for themselves.
class IntervalMap {
 public:
  void set(const Var& var, Interval interval);
  /// Null for a variable that stands for itself.
  const Interval* find(const Var& var) const;
  const Interval* find(const tir::ExprNode& var) const;
  std::size_t size() const { return intervals_.size(); }

 private:
  DenseMap<const tir::ExprNode*, Interval> intervals_;
};

/// An interval that contains every value of the expression; exact for affine expressions.
Interval values_of(const Expr& e, const IntervalMap& relaxed, const Facts& facts = Facts());
/// The relaxed image of an interval's ends.
Interval values_of(const Interval& s, const IntervalMap& relaxed, const Facts& facts = Facts());
/// The box hull. Empty members count for nothing.
Interval hull(const std::vector<Interval>& sets, const Facts& facts = Facts());
Interval intersect(const Interval& a, const Interval& b, const Facts& facts = Facts());

/// Per-dimension lower-bound region estimates and unions (the api column of
/// golden/arith/intset.tsv).
std::optional<std::vector<Interval>> region_lower_bound(
    const std::vector<Range>& region, const std::vector<std::pair<Var, Range>>& domain,
    const Expr& predicate, const Facts& facts = Facts());
Interval union_lower_bound(const std::vector<Interval>& sets, const Facts& facts = Facts());

/// Where `var` may lie so that the condition surely holds for all relaxed values of the other
/// variables; nullopt if it could not be deduced.
std::optional<Interval> deduce_bound(const Var& var, const Expr& condition, const IntervalMap& hint,
                                     const IntervalMap& relaxed, const Facts& facts = Facts());

/// e == sum(coeff[i] * vars[i]) + base; nullopt if e is not linear in vars.
struct LinearForm {
  std::vector<Expr> coefficients;
  Expr base;
};
/// nullopt for what is no such sum.
std::optional<LinearForm> linear_form(const Expr& e, const std::vector<Var>& vars);

}  // namespace tenon::arith

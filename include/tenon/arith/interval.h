// Intervals with symbolic ends, and the values of expressions over them.
//
//   IntervalMap relaxed;  relaxed.set(i, Interval::of(0, 7));
//   values_of(i * 8 + j, relaxed, facts)        // [j, j + 56]
#pragma once

#include "tenon/arith/facts.h"
#include "tenon/support/dense_map.h"

namespace tenon::arith {

/// An interval, inclusive at both ends. It may be unbounded or empty.
class Interval {
 public:
  /// Make an interval that is unbounded, empty, a single value, or bounded at both ends or one end.
  static Interval everything() { return {}; }
  static Interval empty();
  static Interval point(Expr e) { return {e, e}; }
  static Interval of(Expr min, Expr max) { return {std::move(min), std::move(max)}; }
  static Interval at_least(Expr min) { return {std::move(min), std::nullopt}; }
  static Interval at_most(Expr max) { return {std::nullopt, std::move(max)}; }
  /// Makes the interval with these ends, each of which may be absent.
  static Interval between(std::optional<Expr> min, std::optional<Expr> max) {
    return {std::move(min), std::move(max)};
  }
  /// Returns [min, min + extent - 1].
  static Interval from_range(const Range& r);

  const std::optional<Expr>& min() const { return min_; }
  const std::optional<Expr>& max() const { return max_; }
  bool is_empty() const { return empty_; }
  /// Return whether the interval is unbounded at both ends, and whether it is bounded at both ends.
  bool is_everything() const { return !empty_ && !min_ && !max_; }
  bool is_bounded() const { return !empty_ && min_ && max_; }
  /// Whether both ends are the same node.
  bool is_point() const { return is_bounded() && min_->same_as(*max_); }

  /// Returns [min, max] as a range with a simplified extent; `otherwise` if an end is infinite, the
  /// interval is empty, or its extent does not fit the type of `otherwise`.
  Range to_range(const Range& otherwise, const Facts& facts) const;

 private:
  Interval() = default;
  Interval(std::optional<Expr> min, std::optional<Expr> max)
      : min_(std::move(min)), max_(std::move(max)) {}
  std::optional<Expr> min_, max_;
  bool empty_ = false;
};

/// Intervals of the variables to be relaxed. Other variables remain symbolic.
class IntervalMap {
 public:
  void set(const Var& var, Interval interval);
  /// Returns the interval of the variable, or null if it remains symbolic.
  const Interval* find(const Var& var) const;
  const Interval* find(const tir::ExprNode& var) const;
  std::size_t size() const { return intervals_.size(); }

 private:
  DenseMap<const tir::ExprNode*, Interval> intervals_;
};

/// Returns an interval that contains every value of the expression. Exact for affine expressions.
Interval values_of(const Expr& e, const IntervalMap& relaxed, const Facts& facts = Facts());
/// Returns an interval that contains all values of both ends, and all integers between them.
Interval values_of(const Interval& s, const IntervalMap& relaxed, const Facts& facts = Facts());
/// Returns the hull of the intervals. Empty intervals are ignored.
Interval hull(const std::vector<Interval>& sets, const Facts& facts = Facts());
Interval intersect(const Interval& a, const Interval& b, const Facts& facts = Facts());

/// Returns a box of which every element is provably accessed; nullopt if none can be derived.
std::optional<std::vector<Interval>> region_lower_bound(std::vector<Range> region,
                                                        std::vector<std::pair<Var, Range>> domain,
                                                        Expr predicate);
/// Returns an interval in the union of the sets: the first set that is not empty, extended by later
/// sets that provably overlap or adjoin it. Empty only if all sets are.
Interval union_lower_bound(const std::vector<Interval>& sets, const Facts& facts = Facts());

/// Returns the values of `var` for which the condition provably holds for all relaxed values of the
/// other variables; nullopt if they cannot be deduced.
std::optional<Interval> deduce_bound(const Var& var, const Expr& condition, const IntervalMap& hint,
                                     const IntervalMap& relaxed, const Facts& facts = Facts());

/// The linear form e == sum(coefficients[i] * vars[i]) + base.
struct LinearForm {
  std::vector<Expr> coefficients;
  Expr base;
};
/// Returns the linear form of `e`; nullopt if `e` is not linear in `vars`.
std::optional<LinearForm> linear_form(const Expr& e, const std::vector<Var>& vars);

}  // namespace tenon::arith

// Indices as linear sums, and the set of values that such a sum can take. Proves most accesses
// disjoint without the simplifier.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>

#include "tenon/support/function_ref.h"
#include "tenon/tir/expr.h"

namespace tenon::arith {

/// Decomposes factor * e. Calls `term` with each non-constant summand and its coefficient, in
/// textual order, and adds the constant summands to `constant`. Returns false if a number exceeds
/// int64 or if `term` returns false.
///
///   i * 16 - (j + 3)   gives (i, 16), (j, -1), and the constant -3
bool for_each_term(const tir::Expr& e, std::int64_t factor, std::int64_t& constant,
                   FunctionRef<bool(const tir::Expr&, std::int64_t)> term);

/// A superset of the values of a sum: a constant plus factors times variables with ranges. The
/// superset is the intersection of
/// - the interval between the minimum and the maximum,
/// - the values that are congruent to the constant modulo the greatest common divisor of the
///   factors,
/// - rows: a multiple of the larger factors, plus the span of the smaller terms. With factors 16
///   and 1 and 9 values for the smaller term, each row of 16 has 9 values.
///
/// A minimum or maximum that overflows is infinite.
class Reach {
 public:
  explicit Reach(std::int64_t constant) : low_(constant), high_(constant), constant_(constant) {}

  /// Adds factor * [low, high]. An absent end is infinite.
  void add(std::int64_t factor, const std::optional<std::int64_t>& low,
           const std::optional<std::int64_t>& high) {
    if (factor == 0) return;
    keep({factor, low, high});
    divisor_ = std::gcd(divisor_, factor);
    add_product(low_, factor, factor < 0 ? high : low);
    add_product(high_, factor, factor < 0 ? low : high);
  }

  /// Adds a constant to the sum.
  void add_constant(std::int64_t value) {
    add_product(low_, 1, value);
    add_product(high_, 1, value);
    if (!__builtin_add_overflow(constant_, value, &constant_)) return;
    divisor_ = 1;
    count_ = kTerms + 1;
  }

  /// Return the minimum and maximum; nullopt if infinite.
  std::optional<std::int64_t> min() const { return low_; }
  std::optional<std::int64_t> max() const { return high_; }

  /// Whether provably no value of the sum is in [low, high].
  bool misses(std::int64_t low, std::int64_t high) const;

 private:
  /// Adds factor * x to a minimum or maximum.
  static void add_product(std::optional<std::int64_t>& end, std::int64_t factor,
                          const std::optional<std::int64_t>& x) {
    std::int64_t product = 0;
    if (!end || !x || __builtin_mul_overflow(factor, *x, &product) ||
        __builtin_add_overflow(*end, product, &*end))
      end.reset();
  }

  struct Term {
    std::int64_t factor = 0;
    std::optional<std::int64_t> low = {}, high = {};
  };

  /// Inserts the term, sorted by ascending magnitude of the factor.
  void keep(const Term& term);
  /// Whether [low, high] provably lies between two rows: no multiple of the larger factors, plus
  /// the span of the smaller terms, reaches it.
  bool misses_between_rows(std::int64_t low, std::int64_t high) const;

  /// Maximum number of terms that are stored. Further terms still widen the minimum and maximum and
  /// change the divisor.
  static constexpr std::size_t kTerms = 8;

  /// The minimum and maximum; nullopt if infinite.
  std::optional<std::int64_t> low_, high_;
  std::int64_t constant_, divisor_ = 0;
  std::array<Term, kTerms> terms_ = {};
  std::size_t count_ = 0;  // above kTerms, `terms_` is incomplete
};

}  // namespace tenon::arith

// Indices as sums of multiples, and the values that such a sum can take: what tells most accesses
// apart without a proof by the simplifier.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>

#include "tenon/support/function_ref.h"
#include "tenon/tir/expr.h"

namespace tenon::arith {

/// Calls `term` with every summand of factor * e that is no constant and its coefficient, in
/// writing order, and adds the constant ones to `constant`. false where a number is beyond int64,
/// or where `term` returns false.
///
///   i * 16 - (j + 3)   gives (i, 16), (j, -1), and the constant -3
bool for_each_term(const tir::Expr& e, std::int64_t factor, std::int64_t& constant,
                   FunctionRef<bool(const tir::Expr&, std::int64_t)> term);

/// The values that a constant plus multiples of ranges can take: between two ends, and all equal
/// modulo the greatest common divisor of the factors; and of the larger factors alone, but for what
/// the smaller ones reach (rows of 16, of which 9 elements are used). Ends that overflow are
/// infinite.
class Reach {
 public:
  explicit Reach(std::int64_t constant)
      : low_{constant, true}, high_{constant, true}, constant_(constant) {}

  /// Plus factor * [low, high]; an absent end is infinite.
  void add(std::int64_t factor, const std::optional<std::int64_t>& low,
           const std::optional<std::int64_t>& high) {
    if (factor == 0) return;
    keep({factor, low, high});
    divisor_ = std::gcd(divisor_, factor);
    low_.add(factor, factor < 0 ? high : low);
    high_.add(factor, factor < 0 ? low : high);
  }

  /// Moves both ends.
  void add_constant(std::int64_t value) {
    low_.add(1, value);
    high_.add(1, value);
    if (!__builtin_add_overflow(constant_, value, &constant_)) return;
    divisor_ = 1;
    count_ = kTerms + 1;
  }

  /// The ends; nullopt where they are infinite.
  std::optional<std::int64_t> min() const { return low_.bound(); }
  std::optional<std::int64_t> max() const { return high_.bound(); }

  /// Whether no value lies in [low, high].
  bool misses(std::int64_t low, std::int64_t high) const;

 private:
  struct End {
    std::int64_t value;
    bool is_finite;
    std::optional<std::int64_t> bound() const {
      return is_finite ? std::optional(value) : std::nullopt;
    }
    void add(std::int64_t factor, const std::optional<std::int64_t>& x) {
      std::int64_t product = 0;
      is_finite = is_finite && x.has_value() &&
                  !__builtin_mul_overflow(factor, x.value_or(0), &product) &&
                  !__builtin_add_overflow(value, product, &value);
    }
  };

  struct Term {
    std::int64_t factor = 0;
    std::optional<std::int64_t> low = {}, high = {};
  };

  /// Among the terms, by ascending magnitude of the factor.
  void keep(const Term& term);
  /// The same of multiples of the larger factors, each with all that the smaller ones reach around
  /// it.
  bool misses_between_rows(std::int64_t low, std::int64_t high) const;

  /// Terms beyond these are in the ends and in the divisor only.
  static constexpr std::size_t kTerms = 8;

  End low_, high_;
  std::int64_t constant_, divisor_ = 0;
  std::array<Term, kTerms> terms_ = {};
  std::size_t count_ = 0;  // more than kTerms: they are not known
};

}  // namespace tenon::arith

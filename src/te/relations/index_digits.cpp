#include "te/relations/index_digits.h"

#include <algorithm>
#include <numeric>

#include "te/operations/count.h"
#include "tenon/tir/expr.h"

namespace tenon::te {

namespace {

using tir::BinaryOp;

/// The term floormod(floordiv(old index `source`, lower), extent) * scale. Without an extent, it is
/// floordiv(old index `source`, lower) * scale, the most significant digit of an index of symbolic
/// extent.
struct Digit {
  std::size_t source;
  std::int64_t lower;
  std::optional<std::int64_t> extent;
  std::int64_t scale;
};

/// Digits sorted by scale. Invariant: each digit's scale is at least the maximum sum of all smaller
/// digits plus one.
using Digits = std::vector<Digit>;

bool is_mixed_radix(const Digits& digits) {
  for (std::size_t n = 0; n + 1 < digits.size(); ++n) {
    if (!digits[n].extent) return false;
    const std::optional<std::int64_t> reached = product(digits[n].scale, *digits[n].extent);
    if (!reached || digits[n + 1].scale < *reached) return false;
  }
  return true;
}

/// The quotient or remainder of a sum by `divisor`.
enum class DivisionPart { Quotient, Remainder };

/// With `are_multiples`, symbolic extents are multiples of all divisors.
std::optional<Digits> take_part(const Digits& digits, std::int64_t divisor, DivisionPart part,
                                bool are_multiples) {
  Digits result;
  for (const Digit& digit : digits) {
    const bool quotient = part == DivisionPart::Quotient;
    if (digit.scale % divisor == 0) {
      if (quotient)
        result.push_back({digit.source, digit.lower, digit.extent, digit.scale / divisor});
      continue;
    }
    if (!digit.extent && !are_multiples) return std::nullopt;
    const std::optional<std::int64_t> reached =
        digit.extent ? product(digit.scale, *digit.extent) : std::nullopt;
    if (reached && *reached <= divisor) {
      if (!quotient) result.push_back(digit);
      continue;
    }
    // The digit crosses the boundary and splits into two.
    if (divisor % digit.scale != 0) return std::nullopt;
    const std::int64_t low = divisor / digit.scale;
    if (digit.extent && *digit.extent % low != 0) return std::nullopt;
    const std::optional<std::int64_t> lower = product(digit.lower, low);
    if (!lower) return std::nullopt;
    const std::optional<std::int64_t> high =
        digit.extent ? std::optional(*digit.extent / low) : std::nullopt;
    if (quotient) result.push_back({digit.source, *lower, high, 1});
    if (!quotient) result.push_back({digit.source, digit.lower, low, digit.scale});
  }
  return result;
}

class DigitParser {
 public:
  DigitParser(const std::vector<Var>& params, const std::vector<Expr>& extents, bool are_multiples)
      : params_(params), extents_(extents), are_multiples_(are_multiples) {}

  std::optional<Digits> parse(const Expr& e) const {
    if (tir::is_zero(e)) return Digits{};
    if (e.as<tir::VarNode>()) return whole(e);
    const tir::Binary* binary = e.as<tir::Binary>();
    return binary ? parse(*binary) : std::nullopt;
  }

 private:
  std::optional<Digits> whole(const Expr& e) const {
    for (std::size_t n = 0; n < params_.size(); ++n) {
      if (!params_[n].same_as(e)) continue;
      const std::optional<std::int64_t> extent = tir::constant_int(extents_[n]);
      if (extent == 1) return Digits{};
      return Digits{{n, 1, extent, 1}};
    }
    return std::nullopt;
  }

  std::optional<Digits> parse(const tir::Binary& e) const {
    if (e.op == BinaryOp::Add) return sum(parse(e.a), parse(e.b));
    const std::optional<std::int64_t> constant = tir::constant_int(e.b);
    if (!constant || *constant <= 0) {
      const bool swapped = e.op == BinaryOp::Mul && tir::constant_int(e.a).value_or(0) > 0;
      return swapped ? scaled(parse(e.b), *tir::constant_int(e.a)) : std::nullopt;
    }
    std::optional<Digits> inner = parse(e.a);
    if (!inner) return std::nullopt;
    switch (e.op) {
      case BinaryOp::Mul:
        return scaled(std::move(inner), *constant);
      case BinaryOp::FloorDiv:
      case BinaryOp::TruncDiv:
        return take_part(*inner, *constant, DivisionPart::Quotient, are_multiples_);
      case BinaryOp::FloorMod:
      case BinaryOp::TruncMod:
        return take_part(*inner, *constant, DivisionPart::Remainder, are_multiples_);
      default:
        return std::nullopt;
    }
  }

  static std::optional<Digits> sum(std::optional<Digits> a, const std::optional<Digits>& b) {
    if (!a || !b) return std::nullopt;
    a->insert(a->end(), b->begin(), b->end());
    std::stable_sort(a->begin(), a->end(),
                     [](const Digit& x, const Digit& y) { return x.scale < y.scale; });
    return is_mixed_radix(*a) ? a : std::nullopt;
  }

  static std::optional<Digits> scaled(std::optional<Digits> digits, std::int64_t factor) {
    if (!digits) return std::nullopt;
    for (Digit& digit : *digits) {
      const std::optional<std::int64_t> scale = product(digit.scale, factor);
      if (!scale) return std::nullopt;
      digit.scale = *scale;
    }
    return digits;
  }

  const std::vector<Var>& params_;
  const std::vector<Expr>& extents_;
  bool are_multiples_;
};

/// Whether the sum takes the values 0, 1, 2, ... without gaps.
bool is_dense(const Digits& digits) {
  std::int64_t next = 1;
  for (std::size_t n = 0; n < digits.size(); ++n) {
    if (digits[n].scale != next) return false;
    if (!digits[n].extent) return n + 1 == digits.size();
    const std::optional<std::int64_t> reached = product(next, *digits[n].extent);
    if (!reached) return false;
    next = *reached;
  }
  return true;
}

/// A digit of an old index and its destination.
struct Placed {
  Digit digit;
  std::size_t result;
  /// Whether the digit is the most significant one of its destination.
  bool is_top;
};

Expr value_of(const Placed& placed, const Var& result) {
  Expr value = result;
  if (placed.digit.scale != 1) value = tir::floordiv(value, placed.digit.scale);
  if (!placed.is_top) value = tir::floormod(value, *placed.digit.extent);
  return placed.digit.lower == 1 ? value : value * placed.digit.lower;
}

/// Returns the old index composed of its digits; nullopt if digits are missing or duplicated.
std::optional<Expr> assemble(std::vector<Placed> digits, const Expr& extent,
                             const std::vector<Var>& results) {
  std::sort(digits.begin(), digits.end(),
            [](const Placed& x, const Placed& y) { return x.digit.lower < y.digit.lower; });
  std::int64_t next = 1;
  std::optional<Expr> value;
  for (const Placed& placed : digits) {
    if (placed.digit.lower != next) return std::nullopt;
    Expr term = value_of(placed, results[placed.result]);
    value = value ? term + *value : term;
    if (!placed.digit.extent) return &placed == &digits.back() ? value : std::nullopt;
    next *= *placed.digit.extent;
  }
  if (tir::constant_int(extent) != next) return std::nullopt;
  return value ? *value : tir::make_int(extent.dtype(), 0);
}

Expr extent_of(const Digits& digits, const std::vector<Expr>& extents) {
  std::int64_t known = 1;
  for (const Digit& digit : digits) {
    if (!digit.extent) {
      const Expr& whole = extents[digit.source];
      const Expr top = digit.lower == 1 ? whole : tir::floordiv(whole, digit.lower);
      return known == 1 ? top : top * known;
    }
    known *= *digit.extent;
  }
  const DataType type = extents.empty() ? Int(32) : extents.front().dtype();
  return tir::make_int(fits(known, type) ? type : Int(64), known);
}

/// The combined divisors of the quotients and remainders of each index. If the extent is rounded up
/// to a multiple of its divisor, no step leaves a remainder.
class Divisors {
 public:
  explicit Divisors(const Transform::Map& forward) : params_(forward.params) {
    for (const Expr& result : forward.results) visit(result, 1);
  }

  /// Returns the divisor of a parameter; nullopt beyond int64.
  std::optional<std::int64_t> of(std::size_t param) const { return found_[param]; }

 private:
  /// Visits `e`; its result is divided by `above`.
  void visit(const Expr& e, std::optional<std::int64_t> above) {
    for (std::size_t n = 0; n < params_.size(); ++n)
      if (params_[n].same_as(e)) found_[n] = common_multiple(found_[n], above);
    const tir::Binary* binary = e.as<tir::Binary>();
    if (!binary) return;
    const std::int64_t constant = tir::constant_int(binary->b).value_or(0);
    const bool divides = binary->op == BinaryOp::FloorDiv || binary->op == BinaryOp::FloorMod ||
                         binary->op == BinaryOp::TruncDiv || binary->op == BinaryOp::TruncMod;
    visit(binary->a, divides && constant > 0 && above ? product(*above, constant) : above);
    visit(binary->b, above);
  }

  static std::optional<std::int64_t> common_multiple(std::optional<std::int64_t> a,
                                                     std::optional<std::int64_t> b) {
    return a && b ? product(*a / std::gcd(*a, *b), *b) : std::nullopt;
  }

  const std::vector<Var>& params_;
  std::vector<std::optional<std::int64_t>> found_ =
      std::vector<std::optional<std::int64_t>>(params_.size(), 1);
};

/// Returns the next multiple, in a type that can represent it if the extent is constant; nullopt
/// beyond int64.
std::optional<Expr> rounded_up(const Expr& extent, std::int64_t by) {
  const DataType type = extent.dtype();
  const std::optional<std::int64_t> constant = tir::constant_int(extent);
  if (!constant) {
    if (!fits(by, type)) return std::nullopt;
    const Expr factor = tir::make_int(type, by);
    return tir::floordiv(extent + tir::make_int(type, by - 1), factor) * factor;
  }
  if (*constant < 1) return std::nullopt;
  const std::optional<std::int64_t> result = product((*constant - 1) / by + 1, by);
  if (!result) return std::nullopt;
  return tir::make_int(fits(*result, type) ? type : Int(64), *result);
}

/// With `are_multiples`, symbolic extents are multiples of the divisors of their indices.
std::optional<Bijection> inverse_of(const Transform::Map& forward, const std::vector<Expr>& extents,
                                    bool are_multiples) {
  const DigitParser parser(forward.params, extents, are_multiples);
  Bijection result;
  std::vector<std::vector<Placed>> by_source(extents.size());
  for (std::size_t n = 0; n < forward.results.size(); ++n) {
    const std::optional<Digits> digits = parser.parse(forward.results[n]);
    if (!digits || !is_dense(*digits)) return std::nullopt;
    for (std::size_t m = 0; m < digits->size(); ++m)
      by_source[(*digits)[m].source].push_back({(*digits)[m], n, m + 1 == digits->size()});
    result.extents.push_back(extent_of(*digits, extents));
    result.inverse.params.emplace_back("axis" + std::to_string(n), result.extents.back().dtype());
  }
  for (std::size_t n = 0; n < extents.size(); ++n) {
    std::optional<Expr> value =
        assemble(std::move(by_source[n]), extents[n], result.inverse.params);
    if (!value) return std::nullopt;
    result.inverse.results.push_back(*std::move(value));
  }
  return result;
}

}  // namespace

std::optional<Bijection> invert(const Transform::Map& forward, const std::vector<Expr>& extents) {
  return inverse_of(forward, extents, false);
}

std::optional<Bijection> invert_padded(const Transform::Map& forward,
                                       const std::vector<Expr>& extents) {
  const Divisors divisors(forward);
  std::vector<Expr> padded;
  for (std::size_t n = 0; n < extents.size(); ++n) {
    const std::optional<std::int64_t> by = divisors.of(n);
    if (!by) return std::nullopt;
    std::optional<Expr> rounded = by == 1 ? extents[n] : rounded_up(extents[n], *by);
    if (!rounded) return std::nullopt;
    padded.push_back(*std::move(rounded));
  }
  return inverse_of(forward, padded, true);
}

std::optional<Undivided> find_undivided(const Transform::Map& forward,
                                        const std::vector<Expr>& extents) {
  const Divisors divisors(forward);
  for (std::size_t n = 0; n < extents.size(); ++n) {
    const std::optional<std::int64_t> by = divisors.of(n), extent = tir::constant_int(extents[n]);
    if (by && extent && *extent % *by != 0) return Undivided{n, *extent, *by};
  }
  return std::nullopt;
}

}  // namespace tenon::te

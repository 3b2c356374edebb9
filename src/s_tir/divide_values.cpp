#include "s_tir/divide_values.h"

#include "s_tir/context.h"
#include "tenon/tir/compare.h"

namespace tenon::s_tir {

using namespace tir;

namespace {

/// Divides digits into those of outer loops and those of inner loops.
class Divider {
 public:
  Divider(const IterMap& map, std::vector<bool> is_inner)
      : map_(map), is_inner_(std::move(is_inner)) {}

  Expr outer_predicate = make_true(), inner_predicate = make_true();

  std::optional<Division> divide(const DigitSum& sum) {
    if (sum.digits.empty()) {
      Division result;
      result.outer = sum.base;
      return result;
    }
    if (sum.digits.size() > 1 || sum.digits.front().scale != 1) return std::nullopt;
    std::optional<Division> result = divide(sum.digits.front());
    if (!result || is_zero(sum.base)) return result;
    Expr& part = result->is_all_outer() ? result->outer : result->base;
    part = fold(BinaryOp::Add, part, sum.base);
    return result;
  }

 private:
  std::optional<Division> divide(const Digit& digit) {
    const Mark& mark = map_.marks[digit.mark];
    Digit plain = digit;
    plain.scale = 1;
    const Expr extent = digit.extent == kUnknownExtent ? Expr(0) : Expr(digit.extent);
    if (std::holds_alternative<Var>(mark.source)) {
      if (digit.extent == kUnknownExtent) return std::nullopt;
      Division result;
      const bool is_inner = is_inner_[static_cast<std::size_t>(digit.mark)];
      (is_inner ? result.inner : result.outer) = to_expr(map_, plain);
      (is_inner ? result.inner_extent : result.outer_extent) = extent;
      return result;
    }
    const DigitSum& sum = std::get<DigitSum>(mark.source);
    const bool counts_down = sum.digits.front().scale < 0;
    const bool is_whole = digit.lower == 1 && digit.extent == mark.extent && !counts_down;
    const std::optional<Division> whole =
        counts_down ? divide(sum.digits.front()) : divide_number(sum, mark.extent);
    if (!whole || is_whole) return whole;
    // If only a part of a number's values is used, or if it counts down, the whole number must be
    // outer or inner.
    Division result;
    if (whole->is_all_outer()) {
      result.outer = to_expr(map_, plain);
      result.outer_extent = extent;
      return result;
    }
    if (whole->is_all_inner()) {
      result.inner = to_expr(map_, plain);
      result.inner_extent = extent;
      return result;
    }
    return std::nullopt;
  }

  /// Divides a number. Its outer digits must precede its inner digits.
  std::optional<Division> divide_number(const DigitSum& sum, std::int64_t number_extent) {
    std::vector<Division> parts;
    for (const Digit& digit : sum.digits) {
      const std::optional<Division> part = divide(digit);
      if (!part) return std::nullopt;
      parts.push_back(*part);
    }
    Division result;
    bool is_inner_run = true;
    std::int64_t inner = 1, outer = 1;
    std::vector<std::pair<Expr, std::int64_t>> inner_terms, outer_terms;
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      if (part->is_all_inner() && (is_inner_run || !part->is_all_outer())) {
        if (!is_inner_run) return std::nullopt;
        inner_terms.emplace_back(part->inner, inner);
        inner *= constant_int(part->inner_extent).value_or(0);
      } else if (part->is_all_outer()) {
        is_inner_run = false;
        outer_terms.emplace_back(part->outer, outer);
        outer *= constant_int(part->outer_extent).value_or(0);
      } else {
        return std::nullopt;
      }
    }
    const auto total = [](const std::vector<std::pair<Expr, std::int64_t>>& terms) {
      std::optional<Expr> sum_of_terms;
      for (auto term = terms.rbegin(); term != terms.rend(); ++term) {
        const Expr e =
            fold(BinaryOp::Mul, term->first, make_int(term->first.dtype(), term->second));
        sum_of_terms = sum_of_terms ? fold(BinaryOp::Add, *sum_of_terms, e) : e;
      }
      return sum_of_terms.value_or(Expr(0));
    };
    result.inner = total(inner_terms);
    result.outer = total(outer_terms);
    result.inner_extent = inner;
    result.outer_extent = outer;
    if (inner * outer == number_extent) return result;
    // A bounded number must be outer or inner as a whole; its bound then becomes a predicate there.
    if (inner_terms.empty()) {
      outer_predicate = and_also(outer_predicate, result.outer < Expr(number_extent));
      result.outer_extent = number_extent;
      return result;
    }
    if (outer_terms.empty()) {
      inner_predicate = and_also(inner_predicate, result.inner < Expr(number_extent));
      result.inner_extent = number_extent;
      return result;
    }
    return std::nullopt;
  }

  static Expr and_also(const Expr& condition, const Expr& other) {
    for (const Expr& part : conjuncts(condition))
      if (structural_equal(part, other)) return condition;
    return both(condition, other);
  }

  const IterMap& map_;
  std::vector<bool> is_inner_;
};

}  // namespace

std::optional<DividedValues> divide_values(const IterMap& map, std::vector<bool> is_inner) {
  Divider divider(map, std::move(is_inner));
  DividedValues result{{}, make_true(), make_true()};
  for (const DigitSum& value : map.values) {
    const std::optional<Division> division = divider.divide(value);
    if (!division) return std::nullopt;
    result.values.push_back(*division);
  }
  result.outer_predicate = divider.outer_predicate;
  result.inner_predicate = divider.inner_predicate;
  return result;
}

}  // namespace tenon::s_tir

#include "s_tir/iter_map.h"

#include <algorithm>
#include <unordered_map>

#include "tenon/arith/simplify.h"
#include "tenon/support/deep_stack.h"
#include "tenon/tir/walk.h"

namespace tenon::s_tir {

using namespace tir;

namespace {

class Detector {
 public:
  Detector(const std::vector<LoopDomain>& loops, DigitForm form) : form_(form) {
    for (const LoopDomain& loop : loops) {
      const std::optional<std::int64_t> extent = constant_int(loop.extent);
      map_.marks.push_back({loop.var, extent.value_or(kUnknownExtent), loop.min});
      extents_.push_back(loop.extent);
    }
    // A loop whose minimum depends on another loop counts from 0 to an unknown end.
    for (Mark& mark : map_.marks)
      if (uses_loop(mark.min)) mark = {mark.source, kUnknownExtent, make_int(mark.min.dtype(), 0)};
  }

  std::optional<IterMap> detect(std::span<const Expr> values, const Expr& predicate) {
    // A loop without iterations makes the set of values empty.
    for (const Mark& loop : map_.marks)
      if (loop.extent != kUnknownExtent && loop.extent < 1) return std::nullopt;
    const auto bounds = bounds_of(predicate);
    if (!bounds) return std::nullopt;
    for (const auto& [number, limit] : *bounds)
      if (!constrain(number, limit)) return std::nullopt;
    if (!constraints_nest()) return std::nullopt;
    for (const Expr& value : values) {
      std::optional<DigitSum> sum = ascending_sum_of(value);
      if (sum && !sum->digits.empty()) sum = fused(*sum);
      if (!sum) return std::nullopt;
      map_.values.push_back(*sum);
    }
    if (!digits_are_independent()) return std::nullopt;
    return std::move(map_);
  }

 private:
  /// A number (see iter_map.h): its digits, most significant first, and its index in `marks`.
  struct Group {
    std::vector<Digit> digits;
    int mark;
    bool is_constrained = false;
  };

  // ---- predicates ----

  /// Returns the index in `marks` of a loop variable; nullopt for any other expression.
  std::optional<int> loop_mark(const Expr& var) const {
    for (std::size_t n = 0; n < extents_.size(); ++n)
      if (std::get<Var>(map_.marks[n].source).same_as(var)) return static_cast<int>(n);
    return std::nullopt;
  }
  /// Memoized, because `sum_of` queries it for every subexpression of a value.
  bool uses_loop(const Expr& e) {
    if (const auto known = uses_loop_.find(&e.node()); known != uses_loop_.end())
      return known->second;
    bool result = loop_mark(e).has_value();
    for_each_child(e, [&](const Expr& child) { result = uses_loop(child) || result; });
    return uses_loop_[&e.node()] = result;
  }

  /// Returns the conjuncts `number < limit` of the predicate as pairs (number, limit), in order of
  /// expression size, so that a number is bounded before the larger numbers that contain it as a
  /// digit. The bound of a single loop variable is not returned; it reduces the loop's extent
  /// instead.
  std::optional<std::vector<std::pair<Expr, std::int64_t>>> bounds_of(const Expr& predicate) {
    std::vector<std::pair<Expr, std::int64_t>> bounds;
    for (const Expr& part : conjuncts(predicate)) {
      if (!uses_loop(part)) continue;
      const Binary* compare = part.as<Binary>();
      if (!compare) return std::nullopt;
      const bool is_less = compare->op == BinaryOp::Lt || compare->op == BinaryOp::Le;
      const bool is_greater = compare->op == BinaryOp::Gt || compare->op == BinaryOp::Ge;
      if (!is_less && !is_greater) return std::nullopt;
      const Expr& number = is_less ? compare->a : compare->b;
      const std::optional<std::int64_t> constant = constant_int(is_less ? compare->b : compare->a);
      if (!constant) return std::nullopt;
      const bool is_strict = compare->op == BinaryOp::Lt || compare->op == BinaryOp::Gt;
      const std::int64_t limit = *constant + (is_strict ? 0 : 1);
      if (const std::optional<int> mark = loop_mark(number)) {
        std::int64_t& extent = map_.marks[*mark].extent;
        if (!is_zero(map_.marks[*mark].min) || extent == kUnknownExtent || limit < 1)
          return std::nullopt;
        extent = std::min(extent, limit);
      } else {
        bounds.emplace_back(number, limit);
      }
    }
    std::ranges::stable_sort(bounds, {}, [](const auto& bound) { return node_count(bound.first); });
    return bounds;
  }

  bool constrain(const Expr& bounded, std::int64_t limit) {
    const std::optional<DigitSum> sum = ascending_sum_of(bounded);
    if (!sum || !is_zero(sum->base)) return false;
    const std::optional<DigitSum> number = fused(*sum);
    if (!number || number->digits.front().scale != 1) return false;
    const int mark = number->digits.front().mark;
    Mark& own = map_.marks[mark];
    if (own.extent == kUnknownExtent) return false;
    own.extent = std::min(own.extent, limit);
    for (Group& group : groups_)
      if (group.mark == mark) group.is_constrained = true;
    return own.extent > 0;
  }

  /// Whether the bounded numbers are pairwise nested or disjoint: the digits of one number contain
  /// all digits of the other, or none.
  bool constraints_nest() const {
    for (const Group& a : groups_)
      for (const Group& b : groups_) {
        if (!a.is_constrained || !b.is_constrained || a.digits.size() > b.digits.size()) continue;
        const auto is_common = [&](const Digit& digit) {
          return std::ranges::find(b.digits, digit) != b.digits.end();
        };
        const auto count = std::ranges::count_if(a.digits, is_common);
        if (count != 0 && count != static_cast<std::ptrdiff_t>(a.digits.size())) return false;
      }
    return true;
  }

  // ---- sums ----

  std::optional<DigitSum> sum_of(const Expr& e) {
    if (is_stack_low()) return with_deep_stack([&] { return sum_of(e); });
    if (!uses_loop(e)) return DigitSum{{}, e.as<Binary>() ? arith::simplify(e) : e};
    if (const std::optional<int> mark = loop_mark(e)) {
      const Mark& own = map_.marks[*mark];
      if (form_ != DigitForm::AsWritten && own.extent == 1) return DigitSum{{}, own.min};
      return DigitSum{{{*mark, 1, own.extent, 1}}, own.min};
    }
    // A cast between index types does not change the value.
    if (const Cast* n = e.as<Cast>(); n && e.dtype().is_index() && n->value.dtype().is_index()) {
      std::optional<DigitSum> sum = sum_of(n->value);
      if (sum) sum->base = cast(e.dtype(), sum->base);
      return sum;
    }
    const Binary* binary = e.as<Binary>();
    if (!binary) return std::nullopt;
    switch (binary->op) {
      case BinaryOp::Add:
      case BinaryOp::Sub:
        return added(*binary);
      case BinaryOp::Mul:
        return scaled(*binary);
      case BinaryOp::FloorDiv:
      case BinaryOp::FloorMod:
        return divided(*binary);
      default:
        return std::nullopt;
    }
  }

  std::optional<DigitSum> added(const Binary& e) {
    std::optional<DigitSum> a = sum_of(e.a);
    const std::optional<DigitSum> b = sum_of(e.b);
    if (!a || !b) return std::nullopt;
    const int sign = e.op == BinaryOp::Sub ? -1 : 1;
    for (const Digit& digit : b->digits) {
      const auto same = std::ranges::find_if(
          a->digits, [&](const Digit& other) { return same_place(other, digit); });
      if (same != a->digits.end())
        same->scale += sign * digit.scale;
      else
        a->digits.push_back({digit.mark, digit.lower, digit.extent, sign * digit.scale});
    }
    a->base = fold(e.op, a->base, b->base);
    return a;
  }

  std::optional<DigitSum> scaled(const Binary& e) {
    const std::optional<std::int64_t> left = constant_int(e.a), right = constant_int(e.b);
    if (!left && !right) return std::nullopt;
    std::optional<DigitSum> sum = sum_of(left ? e.b : e.a);
    if (!sum) return std::nullopt;
    for (Digit& digit : sum->digits) {
      const std::optional<std::int64_t> scale = product(digit.scale, left ? *left : *right);
      if (!scale) return std::nullopt;
      digit.scale = *scale;
    }
    sum->base = fold(BinaryOp::Mul, sum->base, left ? e.a : e.b);
    return sum;
  }

  std::optional<DigitSum> divided(const Binary& e) {
    const std::optional<std::int64_t> divisor = constant_int(e.b);
    std::optional<DigitSum> sum = sum_of(e.a);
    if (!divisor || *divisor <= 0 || !sum) return std::nullopt;
    if (sum->digits.empty())
      return DigitSum{{}, fold(e.op, sum->base, make_int(e.b.dtype(), *divisor))};
    if (!is_zero(sum->base)) return std::nullopt;
    const bool is_single =
        e.a.as<VarNode>() != nullptr || (sum->digits.size() == 1 && sum->digits[0].scale == 1);
    if (!is_single) sum = fused(*sum);
    if (!sum || sum->digits.size() != 1) return std::nullopt;
    Digit digit = sum->digits.front();
    const Expr zero = make_int(e.a.dtype(), 0);
    std::int64_t by = *divisor;
    const bool is_quotient = e.op == BinaryOp::FloorDiv;
    if (by == 1) return is_quotient ? DigitSum{{digit}, zero} : DigitSum{{}, zero};
    if (digit.scale != 1) {
      if (digit.scale % by == 0) {
        digit.scale /= by;
        return is_quotient ? DigitSum{{digit}, zero} : DigitSum{{}, zero};
      }
      if (digit.scale < 0 || by % digit.scale != 0) return std::nullopt;
      by /= digit.scale;
      if (is_quotient) digit.scale = 1;
    }
    // All values of the digit are below the divisor.
    if (form_ == DigitForm::Reduced && digit.extent != kUnknownExtent && digit.extent < by)
      return is_quotient ? DigitSum{{}, zero} : DigitSum{{digit}, zero};
    if (digit.extent == kUnknownExtent || digit.extent % by != 0) return std::nullopt;
    if (is_quotient) {
      digit.lower *= by;
      digit.extent /= by;
    } else {
      digit.extent = by;
    }
    return DigitSum{{digit}, zero};
  }

  // ---- digits as one number ----

  /// Returns the sum, without digits of negative weight if the form is Reduced.
  std::optional<DigitSum> ascending_sum_of(const Expr& e) {
    std::optional<DigitSum> sum = sum_of(e);
    return sum && form_ == DigitForm::Reduced ? counted_up(*std::move(sum)) : sum;
  }

  /// Replaces each digit x of negative weight by its complement `extent - 1 - x`, which has a
  /// positive weight. For example, -x becomes (7 - x) - 7 if the extent of x is 8. Returns nullopt
  /// if such a digit has an unknown extent and is not a loop variable.
  std::optional<DigitSum> counted_up(DigitSum sum) {
    for (Digit& digit : sum.digits) {
      if (digit.scale >= 0) continue;
      const bool is_known = digit.extent != kUnknownExtent;
      if (!is_known && static_cast<std::size_t>(digit.mark) >= extents_.size()) return std::nullopt;
      const DataType type = sum.base.dtype();
      const Expr last =
          is_known ? make_int(type, digit.extent - 1)
                   : cast(type, extents_[static_cast<std::size_t>(digit.mark)]) - make_int(type, 1);
      sum.base = arith::simplify(sum.base + last * make_int(type, digit.scale));
      const Digit down{digit.mark, digit.lower, digit.extent, -1};
      digit = {number_of({down}, {down}, digit.extent, last), 1, digit.extent, -digit.scale};
    }
    return sum;
  }

  static bool same_place(const Digit& a, const Digit& b) {
    return a.mark == b.mark && a.lower == b.lower && a.extent == b.extent;
  }

  /// Returns the longest bounded number whose least significant digit is `digit`, or nullptr.
  const Group* bounded_from(const Digit& digit) const {
    const Group* result = nullptr;
    for (const Group& group : groups_)
      if (group.is_constrained && same_place(digit, group.digits.back()) &&
          (!result || result->digits.size() < group.digits.size()))
        result = &group;
    return result;
  }

  /// Moves the digits of a bounded number, multiplied by `scale`, from `left` to `flat`. Returns
  /// false if `left` lacks one of them.
  static bool take_group(const Group& group, std::int64_t scale, std::vector<Digit>& left,
                         std::vector<Digit>& flat) {
    for (auto digit = group.digits.rbegin(); digit != group.digits.rend(); ++digit) {
      const auto found = std::ranges::find_if(left, [&](const Digit& other) {
        return same_place(other, *digit) && other.scale == digit->scale * scale;
      });
      if (found == left.end()) return false;
      flat.push_back(*found);
      left.erase(found);
    }
    return true;
  }

  /// Merges adjacent digits: (x // 2 % 4) * 2 + x % 2 is x % 8.
  static void join_neighbours(std::vector<Digit>& digits) {
    for (std::size_t n = 0; n < digits.size(); ++n)
      for (std::size_t m = 0; m < digits.size(); ++m) {
        Digit& low = digits[n];
        const Digit& high = digits[m];
        if (low.mark != high.mark || low.extent == kUnknownExtent ||
            high.lower != low.lower * low.extent || high.scale != low.scale * low.extent)
          continue;
        low.extent *= high.extent;
        digits.erase(digits.begin() + static_cast<std::ptrdiff_t>(m));
        n = static_cast<std::size_t>(-1);
        break;
      }
  }

  /// Combines the digits of the sum into a new number and returns the sum as one digit: this number
  /// times the smallest weight. Each weight must be the smallest weight times the extents of all
  /// less significant digits. Returns nullopt if the weights have gaps or overlap.
  std::optional<DigitSum> fused(const DigitSum& sum) {
    std::vector<Digit> left = sum.digits;
    if (form_ == DigitForm::Reduced) join_neighbours(left);
    if (left.empty()) return std::nullopt;
    const auto least = std::ranges::min_element(left, {}, &Digit::scale);
    const std::int64_t unit = least->scale;
    if (unit <= 0) return std::nullopt;
    std::int64_t expected = unit;
    std::vector<Digit> flat, grouped;  // least significant first
    auto next = least;
    while (!left.empty()) {
      if (expected == kUnknownExtent) return std::nullopt;
      if (!flat.empty()) next = std::ranges::find(left, expected, &Digit::scale);
      if (next == left.end()) return std::nullopt;
      std::int64_t extent = 0;
      if (const Group* group = bounded_from(*next)) {
        extent = map_.marks[group->mark].extent;
        grouped.push_back({group->mark, 1, extent, expected / unit});
        if (!take_group(*group, expected, left, flat)) return std::nullopt;
      } else {
        extent = next->extent;
        flat.push_back(*next);
        grouped.push_back(*next);
        grouped.back().scale /= unit;
        left.erase(next);
      }
      const std::optional<std::int64_t> next_weight = product(expected, extent);
      if (!next_weight) return std::nullopt;
      expected = extent == kUnknownExtent ? kUnknownExtent : *next_weight;
    }
    for (Digit& digit : flat) digit.scale /= unit;
    std::ranges::reverse(flat);
    std::ranges::reverse(grouped);
    const int mark = number_of(std::move(flat), std::move(grouped),
                               expected == kUnknownExtent ? kUnknownExtent : expected / unit);
    return DigitSum{{{mark, 1, map_.marks[mark].extent, unit}}, sum.base};
  }

  int number_of(std::vector<Digit> flat, std::vector<Digit> grouped, std::int64_t extent,
                Expr base = 0) {
    for (const Group& group : groups_)
      if (group.digits == flat) return group.mark;
    const int mark = static_cast<int>(map_.marks.size());
    map_.marks.push_back({DigitSum{std::move(grouped), std::move(base)}, extent});
    groups_.push_back({std::move(flat), mark});
    return mark;
  }

  // ---- digits of the same source ----

  bool digits_are_independent() const {
    std::vector<std::vector<Digit>> digits(map_.marks.size());
    for_each_digit(map_, map_.values,
                   [&](const Digit& digit) { digits[digit.mark].push_back(digit); });
    for (std::size_t n = 0; n < digits.size(); ++n)
      if (!digits[n].empty() && !are_disjoint(digits[n], map_.marks[n].extent)) return false;
    // A bound holds for the number as a whole, so the values must use either this number or none of
    // its digits.
    for (const Group& group : groups_) {
      const auto is_used = [&](const Digit& digit) { return !digits[digit.mark].empty(); };
      if (group.is_constrained && digits[group.mark].empty() &&
          std::ranges::any_of(group.digits, is_used))
        return false;
    }
    return true;
  }

  static bool are_disjoint(std::vector<Digit> digits, std::int64_t extent) {
    if (extent == kUnknownExtent) return digits.size() == 1;
    if (extent == 0) return true;
    std::ranges::stable_sort(
        digits, {}, [](const Digit& digit) { return std::pair(digit.lower, digit.extent); });
    std::int64_t below = 1;
    for (const Digit& digit : digits) {
      if (digit.lower % below != 0) return false;
      below = digit.lower * digit.extent;
    }
    return extent % below == 0;
  }

  DigitForm form_;
  /// The extents of the loops, in the order of `marks`.
  std::vector<Expr> extents_;
  IterMap map_;
  std::unordered_map<const ExprNode*, bool> uses_loop_;
  std::vector<Group> groups_;
};

}  // namespace

std::optional<IterMap> find_iter_map(std::span<const Expr> values,
                                     const std::vector<LoopDomain>& loops, const Expr& predicate,
                                     DigitForm form) {
  return Detector(loops, form).detect(values, predicate);
}

bool uses_any(const Expr& e, const std::vector<LoopDomain>& loops) {
  return std::ranges::any_of(loops, [&](const LoopDomain& loop) { return uses_var(e, loop.var); });
}

std::vector<Expr> conjuncts(const Expr& condition) {
  std::vector<Expr> result, pending{condition};
  while (!pending.empty()) {
    const Expr e = pending.back();
    pending.pop_back();
    if (const Binary* both = as_binary(e, BinaryOp::And)) {
      pending.push_back(both->b);
      pending.push_back(both->a);
    } else if (!is_true(e)) {
      result.push_back(e);
    }
  }
  return result;
}

std::optional<std::int64_t> product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

void for_each_digit(const IterMap& map, std::span<const DigitSum> sums,
                    FunctionRef<void(const Digit&)> f) {
  std::vector<bool> is_visited(map.marks.size(), false);
  std::vector<const DigitSum*> pending;
  for (const DigitSum& sum : sums) pending.push_back(&sum);
  while (!pending.empty()) {
    const DigitSum& sum = *pending.back();
    pending.pop_back();
    for (const Digit& digit : sum.digits) {
      f(digit);
      if (is_visited[digit.mark]) continue;
      is_visited[digit.mark] = true;
      if (const auto* below = std::get_if<DigitSum>(&map.marks[digit.mark].source))
        pending.push_back(below);
    }
  }
}

std::vector<LoopDomain> unused_of_unknown_extent(const IterMap& map,
                                                 const std::vector<LoopDomain>& loops) {
  std::vector<bool> is_used(map.marks.size(), false);
  for_each_digit(map, map.values, [&](const Digit& digit) { is_used[digit.mark] = true; });
  std::vector<LoopDomain> result;
  // The first elements of `marks` are the loops.
  for (std::size_t n = 0; n < loops.size(); ++n)
    if (!is_used[n] && !constant_int(loops[n].extent)) result.push_back(loops[n]);
  return result;
}

std::vector<std::int64_t> told_apart(const IterMap& map) {
  std::vector<std::int64_t> result(map.marks.size(), 1);
  for_each_digit(map, map.values, [&](const Digit& digit) {
    std::int64_t& count = result[digit.mark];
    count = digit.extent == kUnknownExtent ? kUnknownExtent : count * digit.extent;
  });
  return result;
}

std::optional<Expr> extent_of(const IterMap& map, const Digit& digit,
                              const std::vector<LoopDomain>& loops) {
  if (digit.extent != kUnknownExtent) return Expr(digit.extent);
  const auto* number = std::get_if<DigitSum>(&map.marks[digit.mark].source);
  if (!number || number->digits.size() != 1) return std::nullopt;
  const auto* var = std::get_if<Var>(&map.marks[number->digits[0].mark].source);
  for (const LoopDomain& loop : loops)
    if (var && loop.var.same_as(*var) && !uses_any(loop.extent, loops) &&
        !uses_any(loop.min, loops))
      return loop.extent;
  return std::nullopt;
}

Expr to_expr(const IterMap& map, const Digit& digit) {
  const Mark& mark = map.marks[digit.mark];
  Expr source = 0;
  if (const Var* var = std::get_if<Var>(&mark.source))
    source = fold(BinaryOp::Sub, *var, cast(var->dtype(), mark.min));
  else
    source = to_expr(map, std::get<DigitSum>(mark.source));
  const auto number = [&](std::int64_t value) { return make_int(source.dtype(), value); };
  const bool is_whole = digit.lower == 1 && digit.extent == mark.extent;
  if (!is_whole) {
    if (digit.lower * digit.extent != mark.extent)
      source = fold(BinaryOp::FloorMod, source, number(digit.lower * digit.extent));
    source = fold(BinaryOp::FloorDiv, source, number(digit.lower));
  }
  return fold(BinaryOp::Mul, source, number(digit.scale));
}

Expr to_expr(const IterMap& map, const DigitSum& sum) {
  if (sum.digits.size() == 1 && sum.digits.front().scale == -1) {
    Digit digit = sum.digits.front();
    digit.scale = 1;
    return sum.base - to_expr(map, digit);
  }
  std::optional<Expr> result;
  for (const Digit& digit : sum.digits) {
    const Expr e = to_expr(map, digit);
    result = result ? *result + e : e;
  }
  if (!result) return sum.base;
  return is_zero(sum.base) ? *result : *result + sum.base;
}

}  // namespace tenon::s_tir

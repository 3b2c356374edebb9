// transform_layout: changes the order of elements in memory, and the loops accordingly.
#include "te/schedule/transform_layout.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "te/operations/body.h"
#include "te/operations/declare.h"
#include "te/schedule/stage_edit.h"
#include "tenon/te/stage.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/ops.h"

namespace tenon::te {

using tir::BinaryOp;

namespace {

constexpr std::string_view kSeparator = "axis_separator";

bool is_separator(const Expr& e) {
  const tir::StringImm* text = e.as<tir::StringImm>();
  return text && text->value == kSeparator;
}

/// Returns the position of the first loop over the data axes. These loops must be adjacent, but may
/// be in any order.
int first_place(const StageEdit& edit) {
  const StageData& stage = edit.stage();
  std::vector<int> places;
  for (const IterVar& axis : stage.op.axis())
    places.push_back(*stage.leaf_position(edit.leaf(axis)));
  std::ranges::sort(places);
  if (!places.empty() && places.back() - places.front() + 1 != static_cast<int>(places.size()))
    edit.fail("the loops over its dimensions are not adjacent; the loops are " +
              describe(stage.leaf_iter_vars) + " (transform before reorder)");
  return places.empty() ? 0 : places.front();
}

/// Rejects axes that are bound to a thread or have aligned storage: neither mark has a meaning in
/// the new layout.
void check_keeps_its_meaning(const StageEdit& edit, const IterVar& dimension, const IterVar& loop) {
  if (const ThreadMark* bound = edit.stage().thread_mark_of(loop))
    edit.fail(loop, "it is already bound to `" + bound->axis.name() + "`: transform before bind");
  const AxisAttributes* of_dimension = edit.stage().attributes_of(dimension);
  if (of_dimension && of_dimension->align)
    edit.fail(
        dimension,
        "its storage is already aligned: transform first, then align an axis of the new layout");
}

/// Splits the results of a map into its indices and its separators. A separator is the position at
/// which a physical dimension begins.
std::pair<std::vector<Expr>, std::vector<int>> checked_results(const StageEdit& edit,
                                                               std::vector<Expr> given) {
  std::vector<Expr> indices;
  std::vector<int> separators;
  for (Expr& result : given) {
    if (is_separator(result)) {
      const int next = static_cast<int>(indices.size());
      if (!separators.empty() && separators.back() == next)
        edit.fail("two axis separators are adjacent; an index must separate them");
      separators.push_back(next);
    } else if (result.dtype().is_integral() && result.dtype().is_scalar()) {
      indices.push_back(std::move(result));
    } else {
      edit.fail("an index must be an integer, is " + result.dtype().str());
    }
  }
  return {std::move(indices), std::move(separators)};
}

/// Replaces the loops of a compute by those over the new layout.
std::vector<IterVar> follow_layout(const StageEdit& edit, const Compute& compute,
                                   const Transform::Map& forward, const Bijection& bijection,
                                   bool pads) {
  StageData& stage = edit.stage();
  const int place = first_place(edit);
  std::vector<IterVar> originals, transformed;
  for (const IterVar& axis : compute.axis) {
    originals.push_back(edit.leaf(axis));
    edit.check_not_tensorized(originals.back());
    check_keeps_its_meaning(edit, axis, originals.back());
  }
  for (std::size_t n = 0; n < bijection.extents.size(); ++n) {
    const Expr& extent = bijection.extents[n];
    transformed.emplace_back(Range::from_extent(extent), bijection.inverse.params[n],
                             IterKind::DataParallel);
  }
  const std::vector<IterVar> before = stage.leaf_iter_vars;
  std::erase_if(stage.leaf_iter_vars,
                [&](const IterVar& axis) { return contains(originals, axis); });
  stage.leaf_iter_vars.insert(stage.leaf_iter_vars.begin() + place, transformed.begin(),
                              transformed.end());
  stage.all_iter_vars.insert(stage.all_iter_vars.end(), transformed.begin(), transformed.end());
  stage.relations.push_back(Transform{originals, transformed, forward, bijection.inverse, pads});
  edit.warn_of_lost_marks(before);
  return transformed;
}

/// Returns the index computed in `type`, which can represent all its values. The index consists of
/// quotients, remainders and sums.
Expr in_width_of(DataType type, const Expr& index) {
  if (type.bits <= index.dtype().bits) return index;
  const tir::Binary* node = index.as<tir::Binary>();
  if (!node) return tir::cast(type, index);
  return tir::fold(node->op, in_width_of(type, node->a), in_width_of(type, node->b));
}

}  // namespace

Expr axis_separator() { return tir::make_string(std::string(kSeparator)); }

std::vector<IterVar> Stage::transform_layout(const IndexFunction<std::vector<Expr>>& map,
                                             SourceLocation where) const {
  return transform_layout(map, {}, where);
}

std::vector<IterVar> Stage::transform_layout(const IndexFunction<std::vector<Expr>>& map,
                                             LayoutOptions options, SourceLocation where) const {
  const StageEdit edit(*this, "transform_layout", where);
  StageData& stage = edit.stage();
  const Compute* compute = stage.op.as<Compute>();
  if (!compute && !stage.op.as<Placeholder>())
    edit.fail("only the layout of a compute or of a placeholder can be changed");
  if (stage.layout) edit.fail("its layout has already been transformed");
  if (const StageData* scan = schedule_->scan_of_state(edit.number()))
    edit.fail("it shares the memory of the state of scan `" + scan->origin_op.name() +
              "`, whose layout is fixed");
  const std::vector<Expr> shape = stage.op.output(0).shape();
  if (!map.takes(shape.size()))
    edit.fail("the map takes " + std::to_string(*map.arity()) + " indices, the output has " +
              std::to_string(shape.size()) + " dimensions");

  Transform::Map forward;
  for (std::size_t n = 0; n < shape.size(); ++n) {
    const std::string name = compute ? compute->axis[n].name() : "i" + std::to_string(n);
    forward.params.emplace_back(name, shape[n].dtype());
  }
  auto [indices, separators] = checked_results(edit, map(forward.params));
  forward.results = std::move(indices);
  std::optional<Bijection> bijection = invert(forward, shape);
  const bool pads = !bijection;
  if (pads) bijection = invert_padded(forward, shape);
  if (!bijection || (pads && !options.pad))
    edit.fail("the map is not provably a bijection: " + why_no_bijection(forward, shape) +
              (bijection ? "; with {.pad = true} the last of the parts need not be full" : ""));

  for (std::size_t n = 0; n < forward.results.size(); ++n)
    forward.results[n] = in_width_of(bijection->extents[n].dtype(), forward.results[n]);

  std::vector<IterVar> transformed;
  if (compute) transformed = follow_layout(edit, *compute, forward, *bijection, pads);
  stage.layout = std::move(forward);
  stage.layout_where = where;
  stage.axis_separators = std::move(separators);
  return transformed;
}

namespace {

/// The term floormod(floordiv(old, lower), extent) * scale, where `old` is the old index with
/// number `source`. Without an extent, the term is floordiv(old, lower) * scale: the most
/// significant digit of an index with a symbolic extent.
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

/// Returns the digits of the quotient or, if `is_quotient` is false, of the remainder. Nullopt if a
/// digit cannot be split. If `are_multiples` is true, symbolic extents are assumed to be multiples
/// of all divisors.
std::optional<Digits> divided(const Digits& digits, std::int64_t divisor, bool is_quotient,
                              bool are_multiples) {
  Digits result;
  for (const Digit& digit : digits) {
    if (digit.scale % divisor == 0) {
      if (is_quotient)
        result.push_back({digit.source, digit.lower, digit.extent, digit.scale / divisor});
      continue;
    }
    if (!digit.extent && !are_multiples) return std::nullopt;
    const Count reached = product(digit.scale, digit.extent);
    if (reached && *reached <= divisor) {
      if (!is_quotient) result.push_back(digit);
      continue;
    }
    // The digit has a part below the divisor, which belongs to the remainder, and a part above it,
    // which belongs to the quotient. It can be split only if the divisor is a multiple of its
    // scale.
    if (divisor % digit.scale != 0) return std::nullopt;
    const std::int64_t low = divisor / digit.scale;
    if (digit.extent && *digit.extent % low != 0) return std::nullopt;
    const Count lower = product(digit.lower, low);
    if (!lower) return std::nullopt;
    const Count high = digit.extent ? Count(*digit.extent / low) : std::nullopt;
    result.push_back(is_quotient ? Digit{digit.source, *lower, high, 1}
                                 : Digit{digit.source, digit.lower, low, digit.scale});
  }
  return result;
}

std::optional<Digits> joined(std::optional<Digits> a, const std::optional<Digits>& b) {
  if (!a || !b) return std::nullopt;
  a->insert(a->end(), b->begin(), b->end());
  std::ranges::stable_sort(*a, {}, &Digit::scale);
  return is_mixed_radix(*a) ? a : std::nullopt;
}

std::optional<Digits> scaled(std::optional<Digits> digits, std::int64_t factor) {
  if (!digits) return std::nullopt;
  for (Digit& digit : *digits) {
    const Count scale = product(digit.scale, factor);
    if (!scale) return std::nullopt;
    digit.scale = *scale;
  }
  return digits;
}

/// Returns the digits of an expression of the map's parameters, which have these extents; nullopt
/// if it does not permute digits. See `divided` for `are_multiples`.
std::optional<Digits> digits_of(const Expr& e, const std::vector<Var>& params,
                                const std::vector<Expr>& extents, bool are_multiples) {
  if (tir::is_zero(e)) return Digits{};
  for (std::size_t n = 0; n < params.size(); ++n) {
    if (!params[n].same_as(e)) continue;
    const Count extent = tir::constant_int(extents[n]);
    return extent == 1 ? Digits{} : Digits{{n, 1, extent, 1}};
  }
  const tir::Binary* node = e.as<tir::Binary>();
  if (!node) return std::nullopt;
  const auto digits = [&](const Expr& operand) {
    return digits_of(operand, params, extents, are_multiples);
  };
  if (node->op == BinaryOp::Add) return joined(digits(node->a), digits(node->b));
  const Count constant = tir::constant_int(node->b);
  if (!constant || *constant <= 0) {
    const bool swapped = node->op == BinaryOp::Mul && tir::constant_int(node->a).value_or(0) > 0;
    return swapped ? scaled(digits(node->b), *tir::constant_int(node->a)) : std::nullopt;
  }
  const std::optional<Digits> inner = digits(node->a);
  if (!inner) return std::nullopt;
  switch (node->op) {
    case BinaryOp::Mul:
      return scaled(inner, *constant);
    case BinaryOp::FloorDiv:
    case BinaryOp::TruncDiv:
      return divided(*inner, *constant, /*is_quotient=*/true, are_multiples);
    case BinaryOp::FloorMod:
    case BinaryOp::TruncMod:
      return divided(*inner, *constant, /*is_quotient=*/false, are_multiples);
    default:
      return std::nullopt;
  }
}

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

/// Returns the value of the digit in terms of the new index that contains it. `is_top` is whether
/// it is the most significant digit of this new index.
Expr value_of(const Digit& digit, const Var& result, bool is_top) {
  Expr value = result;
  if (digit.scale != 1) value = tir::floordiv(value, digit.scale);
  if (!is_top) value = tir::floormod(value, *digit.extent);
  return digit.lower == 1 ? value : value * digit.lower;
}

/// A digit of an old index, the number of the new index that contains it, and whether it is the
/// most significant digit of this new index.
using PlacedDigit = std::tuple<Digit, std::size_t, bool>;

/// Returns the old index as the sum of its digits. Nullopt if digits are missing or duplicated.
std::optional<Expr> assemble(std::vector<PlacedDigit> digits, const Expr& extent,
                             const std::vector<Var>& results) {
  std::ranges::sort(digits, {}, [](const auto& placed) { return std::get<Digit>(placed).lower; });
  std::int64_t next = 1;
  std::optional<Expr> value;
  for (const auto& [digit, result, is_top] : digits) {
    if (digit.lower != next) return std::nullopt;
    Expr term = value_of(digit, results[result], is_top);
    value = value ? term + *value : term;
    if (!digit.extent) return &digit == &std::get<Digit>(digits.back()) ? value : std::nullopt;
    next *= *digit.extent;
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

/// Extends `found`, the least common multiple of the divisors of each parameter, by the divisors in
/// `e`, a part of an expression. `above` is the product of the divisors that are applied to `e`.
void find_divisors(const Expr& e, const Count& above, const std::vector<Var>& params,
                   std::vector<Count>& found) {
  for (std::size_t n = 0; n < params.size(); ++n)
    if (params[n].same_as(e))
      found[n] = found[n] && above ? product(*found[n] / std::gcd(*found[n], *above), above)
                                   : std::nullopt;
  const tir::Binary* node = e.as<tir::Binary>();
  if (!node) return;
  const std::int64_t constant = tir::constant_int(node->b).value_or(0);
  const bool divides = is_division(node->op) && constant > 0;
  find_divisors(node->a, divides ? product(above, constant) : above, params, found);
  find_divisors(node->b, above, params, found);
}

/// Returns, for each old index, the least common multiple of the numbers by which the map divides
/// it; nullopt if it exceeds int64. If the extent is rounded up to a multiple of this number, no
/// division leaves a remainder.
std::vector<Count> divisors_of(const Transform::Map& forward) {
  std::vector<Count> found(forward.params.size(), 1);
  for (const Expr& result : forward.results) find_divisors(result, 1, forward.params, found);
  return found;
}

/// Returns the extent rounded up to a multiple of `by`. A constant result has a type that can
/// represent it; nullopt if it exceeds int64.
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

/// Returns the inverse map. If `are_multiples` is true, symbolic extents are assumed to be
/// multiples of the divisors of their indices.
std::optional<Bijection> inverse_of(const Transform::Map& forward, const std::vector<Expr>& extents,
                                    bool are_multiples) {
  Bijection result;
  std::vector<std::vector<PlacedDigit>> by_source(extents.size());
  for (std::size_t n = 0; n < forward.results.size(); ++n) {
    const std::optional<Digits> digits =
        digits_of(forward.results[n], forward.params, extents, are_multiples);
    if (!digits || !is_dense(*digits)) return std::nullopt;
    for (std::size_t m = 0; m < digits->size(); ++m)
      by_source[(*digits)[m].source].emplace_back((*digits)[m], n, m + 1 == digits->size());
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
  const std::vector<Count> divisors = divisors_of(forward);
  std::vector<Expr> padded;
  for (std::size_t n = 0; n < extents.size(); ++n) {
    if (!divisors[n]) return std::nullopt;
    std::optional<Expr> rounded =
        divisors[n] == 1 ? extents[n] : rounded_up(extents[n], *divisors[n]);
    if (!rounded) return std::nullopt;
    padded.push_back(*std::move(rounded));
  }
  return inverse_of(forward, padded, true);
}

std::string why_no_bijection(const Transform::Map& forward, const std::vector<Expr>& extents) {
  const std::vector<Count> divisors = divisors_of(forward);
  for (std::size_t n = 0; n < extents.size(); ++n) {
    const Count by = divisors[n], extent = tir::constant_int(extents[n]);
    if (by && extent && *extent % *by != 0)
      return "it divides index `" + forward.params[n].name() + "`, of extent " +
             std::to_string(*extent) + ", by " + std::to_string(*by) + ", which leaves a remainder";
  }
  return "every index must be computable from the new indices by quotients, remainders and sums "
         "whose divisors divide the extents";
}

}  // namespace tenon::te

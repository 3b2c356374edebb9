#include "te/bounds/required_region.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "tenon/arith/const_bound.h"
#include "tenon/arith/simplify.h"
#include "tenon/interp/evaluate.h"
#include "tenon/te/operation_kind.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;
using arith::can_prove;
using arith::Facts;
using arith::Interval;
using arith::IntervalMap;
using arith::values_of;

namespace {

Interval whole_dimension(const Expr& extent) {
  return Interval::of(make_int(extent.dtype(), 0), extent - 1);
}

/// Replaces an interval that covers the whole dimension by the dimension. Does not clip a single
/// end, because the extent of an interval such as [i, 0] is not constant.
Interval within_shape(const Interval& index, const Expr& extent, const Facts& facts) {
  if (index.is_everything()) return whole_dimension(extent);
  if (!index.is_bounded()) return index;
  if (can_prove(*index.min() <= 0, facts) && can_prove(extent - 1 <= *index.max(), facts)) {
    return whole_dimension(extent);
  }
  return index;
}

void need_all(const Tensor& tensor, Needs& needs) {
  for (std::size_t i = 0; i < needs.size(); ++i)
    needs[i].push_back(whole_dimension(tensor.shape()[i]));
}

using InputTest = FunctionRef<bool(const Tensor&)>;
using DimensionTest = FunctionRef<bool(std::size_t dim)>;

/// Returns the element of an input that is used as an index, if its position is the same in all
/// iterations; otherwise nullopt. The element then has the same value in all iterations.
std::optional<Expr> fixed_element(const ProducerLoad& load, const IntervalMap& domains,
                                  const Facts& facts, InputTest is_input) {
  if (!load.producer->dtype().is_index() || !is_input(Tensor::of(load))) return std::nullopt;
  std::vector<Expr> place;
  for (std::size_t dim = 0; dim < load.indices.size(); ++dim) {
    const Interval at = values_of(load.indices[dim], domains, facts);
    if (!at.is_point()) return std::nullopt;
    // Clamps the index to the shape. Outer loops may overshoot the reader; it then reads nothing,
    // but its index is out of bounds.
    const Expr& index = *at.min();
    const Expr last = load.producer->shape()[dim] - 1;
    const Expr from_below = can_prove(index >= 0, facts) ? index : max(index, 0);
    place.push_back(can_prove(index <= last, facts) ? from_below : min(from_below, last));
  }
  return make_producer_load(load.producer, std::move(place));
}

/// Returns the values of an index, in terms of the elements of inputs at fixed positions.
Interval values_of_index(const Expr& index, const IntervalMap& domains, const Facts& facts,
                         InputTest is_input) {
  // Variables stand for the elements, which values_of would take for arbitrary numbers.
  VarMap elements;
  std::vector<Var> symbols;
  const Expr hidden =
      rewrite(index, [&](const ProducerLoad& load, const Expr&) -> std::optional<Expr> {
        const std::optional<Expr> element = fixed_element(load, domains, facts, is_input);
        if (!element) return std::nullopt;
        symbols.emplace_back("element", element->dtype());
        set(elements, symbols.back(), *element);
        return symbols.back();
      });
  const Interval values = values_of(hidden, domains, facts);
  if (elements.empty() || !values.is_bounded()) return values;
  if (values.is_point()) return Interval::point(substitute(*values.min(), elements));
  return Interval::of(substitute(*values.min(), elements), substitute(*values.max(), elements));
}

void add_element_needs(const std::vector<TensorRead>& reads, const Tensor& tensor,
                       const IntervalMap& domains, const Facts& facts, InputTest is_input,
                       DimensionTest rounds_up, Needs& needs) {
  for (const auto& [read, indices] : reads) {
    if (!read.same_as(tensor)) continue;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const Interval index = values_of_index(indices[i], domains, facts, is_input);
      const bool overruns = rounds_up(i) && index.is_bounded();
      needs[i].push_back(overruns ? index : within_shape(index, tensor.shape()[i], facts));
    }
  }
}

/// Adds the requirements of a scan on one of its parts. A scan requires all steps of an initial
/// state, and the computed steps of an update. In the spatial dimensions, it requires the domains
/// of its spatial axes from both.
void add_scan_needs(const Scan& scan, const Tensor& tensor, const IntervalMap& domains,
                    Needs& needs) {
  for (std::size_t k = 0; k < scan.update.size(); ++k) {
    if (scan.init[k].same_as(tensor)) needs[0].push_back(whole_dimension(tensor.shape()[0]));
    if (scan.update[k].same_as(tensor)) needs[0].push_back(*domains.find(scan.scan_axis.var()));
  }
  for_each_space(scan, [&](std::size_t k, std::size_t dim, const IterVar& axis) {
    for (const Tensor& part : {scan.init[k], scan.update[k]})
      if (part.same_as(tensor)) needs[dim].push_back(*domains.find(axis.var()));
  });
}

void add_region_needs(const TensorCompute& compute, const Tensor& tensor,
                      const IntervalMap& domains, const Facts& facts, Needs& needs) {
  for (const TensorRegion& input : compute.inputs) {
    if (!input.tensor.same_as(tensor)) continue;
    for (std::size_t i = 0; i < input.ranges.size(); ++i) {
      // The minimum and the last value share variables. Simplifying the last value as one
      // expression gives a tighter interval. Facts are not used: they could introduce outer loops,
      // which have no domain here.
      const Range& range = input.ranges[i];
      const Expr last = arith::simplify(range.min + range.extent - 1);
      needs[i].push_back(values_of(Interval::of(range.min, last), domains, facts));
    }
  }
}

}  // namespace

void add_needs(const Operation& reader, const std::vector<TensorRead>& reads, const Tensor& tensor,
               const IntervalMap& domains, const Facts& facts, InputTest is_input,
               DimensionTest rounds_up, Needs& needs) {
  match(
      reader.kind(), [](const Placeholder&) {},
      [&](const Compute&) {
        add_element_needs(reads, tensor, domains, facts, is_input, rounds_up, needs);
      },
      [&](const Scan& scan) { add_scan_needs(scan, tensor, domains, needs); },
      [&](const Extern&) { need_all(tensor, needs); },
      [&](const TensorCompute& compute) {
        add_region_needs(compute, tensor, domains, facts, needs);
        add_element_needs(reads, tensor, domains, facts, is_input, rounds_up, needs);
      });
}

namespace {

constexpr std::int64_t kMaxPoints = 4096;

}  // namespace

std::optional<std::int64_t> only_value(const Expr& e, const IntervalMap& values) {
  if (contains<ProducerLoad>(e) || contains<Call>(e)) return std::nullopt;
  // The variables with their first and last values.
  std::vector<std::tuple<Var, std::int64_t, std::int64_t>> ranges;
  std::int64_t points = 1;
  for (const Var& var : free_vars(e)) {
    const Interval* all = values.find(var);
    if (!all || !all->is_bounded()) return std::nullopt;
    const auto first = constant_int(*all->min()), last = constant_int(*all->max());
    if (!first || !last || *last < *first || *last - *first >= kMaxPoints / points)
      return std::nullopt;
    points *= *last - *first + 1;
    ranges.emplace_back(var, *first, *last);
  }
  // The digits of the point's number, in a mixed radix, are the distances from the first values.
  std::unordered_map<const ExprNode*, std::int64_t> now;
  const auto value_at = [&](std::int64_t point) {
    for (const auto& [var, first, last] : ranges) {
      now[&var.node()] = first + point % (last - first + 1);
      point /= last - first + 1;
    }
    return evaluate_int(e, [&](const Var& var) { return now.at(&var.node()); });
  };
  const std::int64_t only = value_at(0);
  for (std::int64_t point = 1; point < points; ++point)
    if (value_at(point) != only) return std::nullopt;
  return only;
}

namespace {

/// Maximum number of nodes of minimum and extent together. Hulls of typical hand-written schedules
/// have a dozen.
constexpr std::size_t kReadable = 48;
/// The limit for exact bounds, which trade longer expressions for less memory.
constexpr std::size_t kExactReadable = 256;

/// Whether the extent is the distance between a data-dependent index and another index. Such a
/// distance can be arbitrarily large in iterations that a guard skips.
bool is_distance_of_data(const Expr& extent) {
  return contains<ProducerLoad>(extent) && any_node(extent, [](const Binary& n) {
           return n.op == BinaryOp::Max || n.op == BinaryOp::Min;
         });
}

bool is_usable(const Range& range, std::size_t most = kReadable) {
  return node_count(range.min) + node_count(range.extent) <= most &&
         !is_distance_of_data(range.extent);
}

/// Replaces each minimum or maximum in an end of an interval by one of its operands, such that the
/// end does not move inwards. The result is simpler. `end` is Min for the minimum of the interval
/// and Max for its maximum.
Expr loosened(const Expr& e, BinaryOp end) {
  const Binary* node = e.as<Binary>();
  if (!node) return e;
  switch (node->op) {
    case BinaryOp::Add:
      return loosened(node->a, end) + loosened(node->b, end);
    case BinaryOp::Sub:
      return loosened(node->a, end) -
             loosened(node->b, end == BinaryOp::Min ? BinaryOp::Max : BinaryOp::Min);
    case BinaryOp::Min:
    case BinaryOp::Max:
      if (node->op == end) return fold(end, loosened(node->a, end), loosened(node->b, end));
      return loosened(constant_int(node->a) ? node->b : node->a, end);
    default:
      return e;
  }
}

/// Returns the outer one of two ends. Without a proof of their order, returns a minimum or maximum.
Expr outermost(const Expr& a, const Expr& b, BinaryOp end, const Facts& facts) {
  if (can_prove(end == BinaryOp::Min ? a <= b : b <= a, facts)) return a;
  if (can_prove(end == BinaryOp::Min ? b <= a : a <= b, facts)) return b;
  return arith::simplify(end == BinaryOp::Min ? min(a, b) : max(a, b), facts);
}

Interval loose_hull(const std::vector<Interval>& sets, const Facts& facts) {
  std::optional<Expr> low, high;
  for (const Interval& set : sets) {
    if (set.is_empty()) continue;
    if (!set.is_bounded()) return Interval::everything();
    const Expr min = arith::simplify(loosened(*set.min(), BinaryOp::Min), facts);
    const Expr max = arith::simplify(loosened(*set.max(), BinaryOp::Max), facts);
    low = low ? outermost(*low, min, BinaryOp::Min, facts) : min;
    high = high ? outermost(*high, max, BinaryOp::Max, facts) : max;
  }
  return low ? Interval::of(*low, *high) : Interval::empty();
}

/// Whether one of the sets is provably the whole declared range. Requirements lie within the shape,
/// so the other sets add nothing, even if they contain symbols.
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

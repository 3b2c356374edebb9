#include "te/bounds/required_region.h"

#include <algorithm>

#include "tenon/arith/simplify.h"
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

/// Clips both ends to the shape, or neither. Clipping one end could yield intervals such as [i, 0],
/// whose extent is not constant.
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

/// Replaces elements of inputs that are used as indices by symbols. An element at a fixed position
/// has the same value everywhere.
class InputElements {
 public:
  InputElements(const IntervalMap& domains, const Facts& facts, InputTest is_input)
      : domains_(domains), facts_(facts), is_input_(is_input) {}

  /// Replaces every such element by a variable. Elements at varying places are kept.
  Expr hide(const Expr& index) {
    return rewrite(index, [&](const ProducerLoad& load, const Expr&) -> std::optional<Expr> {
      const std::optional<Expr> element = element_of(load);
      if (!element) return std::nullopt;
      symbols_.emplace_back("element", element->dtype());
      set(values_, symbols_.back(), *element);
      return symbols_.back();
    });
  }

  Interval show(const Interval& set) const {
    if (values_.empty() || !set.is_bounded()) return set;
    if (set.is_point()) return Interval::point(substitute(*set.min(), values_));
    return Interval::of(substitute(*set.min(), values_), substitute(*set.max(), values_));
  }

 private:
  std::optional<Expr> element_of(const ProducerLoad& load) const {
    if (!load.producer->dtype().is_index() || !is_input_(Tensor::of(load))) return std::nullopt;
    std::vector<Expr> place;
    for (std::size_t dim = 0; dim < load.indices.size(); ++dim) {
      const Interval at = values_of(load.indices[dim], domains_, facts_);
      if (!at.is_point()) return std::nullopt;
      // Outer loops may overshoot the reader, which then reads nothing.
      const Expr& index = *at.min();
      const Expr last = load.producer->shape()[dim] - 1;
      const Expr from_below = can_prove(index >= 0, facts_) ? index : max(index, 0);
      place.push_back(can_prove(index <= last, facts_) ? from_below : min(from_below, last));
    }
    return make_producer_load(load.producer, std::move(place));
  }

  const IntervalMap& domains_;
  const Facts& facts_;
  InputTest is_input_;
  std::vector<Var> symbols_;
  VarMap values_;
};

void add_element_needs(const std::vector<TensorReads>& reads, const Tensor& tensor,
                       const IntervalMap& domains, const Facts& facts, InputTest is_input,
                       DimensionTest rounds_up, Needs& needs) {
  auto found = std::find_if(reads.begin(), reads.end(),
                            [&](const TensorReads& r) { return r.tensor.same_as(tensor); });
  if (found == reads.end()) return;
  for (const std::vector<Expr>& indices : found->indices) {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      InputElements elements(domains, facts, is_input);
      const Interval index = values_of(elements.hide(indices[i]), domains, facts);
      const Interval shown = elements.show(index);
      const bool goes_on = rounds_up(i) && shown.is_bounded();
      needs[i].push_back(goes_on ? shown : within_shape(shown, tensor.shape()[i], facts));
    }
  }
}

/// Adds the requirements of a scan: all steps of an initial state, the computed steps of an update,
/// and the same part of space of both.
void add_scan_needs(const Scan& scan, const Tensor& tensor, const IntervalMap& domains,
                    Needs& needs) {
  std::size_t spatial = 0;
  for (std::size_t k = 0; k < scan.update.size(); ++k) {
    const bool is_init = scan.init[k].same_as(tensor);
    const bool is_update = scan.update[k].same_as(tensor);
    if (is_init) needs[0].push_back(whole_dimension(scan.init[k].shape()[0]));
    if (is_update) needs[0].push_back(*domains.find(scan.scan_axis.var()));
    for (std::size_t i = 1; i < scan.update[k].shape().size(); ++i, ++spatial) {
      const Interval& space = *domains.find(scan.spatial_axis[spatial].var());
      if (is_init) needs[i].push_back(space);
      if (is_update) needs[i].push_back(space);
    }
  }
}

void add_region_needs(const TensorCompute& compute, const Tensor& tensor,
                      const IntervalMap& domains, const Facts& facts, Needs& needs) {
  for (const TensorRegion& input : compute.inputs) {
    if (!input.tensor.same_as(tensor)) continue;
    for (std::size_t i = 0; i < input.ranges.size(); ++i) {
      // The ends share variables; simplifying them together gives a tighter interval.
      const Range& range = input.ranges[i];
      const Expr last = arith::simplify(range.min + range.extent - 1, facts);
      needs[i].push_back(values_of(Interval::of(range.min, last), domains, facts));
    }
  }
}

}  // namespace

void add_needs(const Operation& reader, const std::vector<TensorReads>& reads, const Tensor& tensor,
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

}  // namespace tenon::te

#include "te/bounds/required_region.h"

#include <algorithm>

#include "tenon/arith/simplify.h"

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

/// Both ends are cut to the shape, or none is. Cutting one alone would give intervals such as [i,
/// 0], true but awkward: their extents are no numbers any more.
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

void add_element_needs(const std::vector<TensorReads>& reads, const Tensor& tensor,
                       const IntervalMap& domains, const Facts& facts, Needs& needs) {
  auto found = std::find_if(reads.begin(), reads.end(),
                            [&](const TensorReads& r) { return r.tensor.same_as(tensor); });
  if (found == reads.end()) return;
  for (const std::vector<Expr>& indices : found->indices) {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      needs[i].push_back(
          within_shape(values_of(indices[i], domains, facts), tensor.shape()[i], facts));
    }
  }
}

/// An initial state is needed for all its steps, an update for the steps that the scan makes; both
/// for the same part of space.
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
      // The ends share variables; simplified together they give the tighter interval.
      const Range& range = input.ranges[i];
      const Expr last = arith::simplify(range.min + range.extent - 1, facts);
      needs[i].push_back(values_of(Interval::of(range.min, last), domains, facts));
    }
  }
}

}  // namespace

void add_needs(const Operation& reader, const std::vector<TensorReads>& reads, const Tensor& tensor,
               const IntervalMap& domains, const Facts& facts, Needs& needs) {
  match(
      reader.kind(), [](const Placeholder&) {},
      [&](const Compute&) { add_element_needs(reads, tensor, domains, facts, needs); },
      [&](const Scan& scan) { add_scan_needs(scan, tensor, domains, needs); },
      [&](const Extern&) { need_all(tensor, needs); },
      [&](const TensorCompute& compute) {
        add_region_needs(compute, tensor, domains, facts, needs);
        add_element_needs(reads, tensor, domains, facts, needs);
      });
}

}  // namespace tenon::te

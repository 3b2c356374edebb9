// The requirements of a reader on a tensor, given the domains of the reader's axes.
#pragma once

#include "te/operations/collect_reads.h"
#include "tenon/arith/interval.h"
#include "tenon/support/function_ref.h"

namespace tenon::te {

/// The required intervals per dimension of a tensor, one per read.
using Needs = std::vector<std::vector<arith::Interval>>;

/// Adds what `reader` requires of `tensor` for every point in `domains` (of the reader's root
/// axes). Indices are assumed to be within the tensor's shape: an unknown index requires the whole
/// dimension, and an index that provably covers the dimension requires no more. If an index is an
/// element of a tensor that satisfies `is_input`, at a position that does not vary, the requirement
/// is expressed in terms of that element. Along a dimension that is rounded up, requirements are
/// not clipped to the shape.
void add_needs(const Operation& reader, const std::vector<TensorReads>& reads, const Tensor& tensor,
               const arith::IntervalMap& domains, const arith::Facts& facts,
               FunctionRef<bool(const Tensor&)> is_input,
               FunctionRef<bool(std::size_t dim)> rounds_up, Needs& needs);

}  // namespace tenon::te

// What a reader needs of a tensor, given the domains of the reader's axes.
#pragma once

#include "te/operations/collect_reads.h"
#include "tenon/arith/interval.h"
#include "tenon/support/function_ref.h"

namespace tenon::te {

/// Per dimension of a tensor, the intervals that are needed, one per read.
using Needs = std::vector<std::vector<arith::Interval>>;

/// Adds what `reader` needs of `tensor` for every point in `domains` (of the reader's root axes).
/// Indices are taken to lie within the tensor's shape: a read of which nothing is known needs the
/// whole dimension, and one that surely needs the whole dimension needs no more. Where an index is
/// itself read from a tensor of which `is_input` holds, at one place, that element is what is
/// needed. Along a dimension that rounds up, all is needed that the points ask for.
void add_needs(const Operation& reader, const std::vector<TensorReads>& reads, const Tensor& tensor,
               const arith::IntervalMap& domains, const arith::Facts& facts,
               FunctionRef<bool(const Tensor&)> is_input,
               FunctionRef<bool(std::size_t dim)> rounds_up, Needs& needs);

}  // namespace tenon::te

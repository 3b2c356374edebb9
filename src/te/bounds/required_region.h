// What a reader needs of a tensor, given the domains of the reader's axes.
#pragma once

#include "tenon/arith/interval.h"
#include "tenon/te/operation.h"

namespace tenon::te {

/// The reads of one tensor in an operation: index lists, equal ones once, in order of appearance.
struct TensorReads {
  Tensor tensor;
  std::vector<std::vector<Expr>> indices;
};

/// The reads in the bodies of a compute (sources, conditions, inits and ranges of reductions
/// included); empty for the other kinds, whose needs do not depend on indices.
std::vector<TensorReads> collect_reads(const Operation& op);

/// Per dimension of a tensor, the intervals that are needed, one per read.
using Needs = std::vector<std::vector<arith::Interval>>;

/// Adds what `reader` needs of `tensor` for every point in `domains` (of the reader's root axes).
/// Indices are taken to lie within the tensor's shape: a read of which nothing is known needs the
/// whole dimension, and one that surely needs the whole dimension needs no more.
void add_needs(const Operation& reader, const std::vector<TensorReads>& reads, const Tensor& tensor,
               const arith::IntervalMap& domains, const arith::Facts& facts, Needs& needs);

}  // namespace tenon::te

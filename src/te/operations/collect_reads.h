// The reads of an operation, by tensor.
#pragma once

#include "tenon/te/operation.h"

namespace tenon::te {

/// The reads of one tensor in an operation: index lists without duplicates, in order of appearance.
struct TensorReads {
  Tensor tensor;
  std::vector<std::vector<Expr>> indices;
};

/// Returns the reads of single elements: in the bodies of a compute (including sources, conditions,
/// inits and ranges of reductions), and in the scalars and region bounds of a tensor compute. Empty
/// for other kinds.
std::vector<TensorReads> collect_reads(const Operation& op);

}  // namespace tenon::te

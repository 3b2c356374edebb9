// What the bodies of an operation read, tensor by tensor.
#pragma once

#include "tenon/te/operation.h"

namespace tenon::te {

/// The reads of one tensor in an operation: index lists, equal ones once, in order of appearance.
struct TensorReads {
  Tensor tensor;
  std::vector<std::vector<Expr>> indices;
};

/// The reads of single elements: in the bodies of a compute (sources, conditions, inits and ranges
/// of reductions included), and in the scalars and in the ends of regions of a tensor compute. The
/// other kinds have none.
std::vector<TensorReads> collect_reads(const Operation& op);

}  // namespace tenon::te

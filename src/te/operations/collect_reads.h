// What the bodies of an operation read, tensor by tensor.
#pragma once

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

}  // namespace tenon::te

// Whether a tensor intrinsic computes the same as a part of a stage's loops that it is to replace.
#pragma once

#include "te/operations/dim_pairs.h"
#include "te/relations/rules.h"
#include "tenon/te/intrin.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

/// The computation to be replaced by one call, in terms of the loops around it.
struct TensorizedPart {
  /// The range of every root axis of the stage, also as intervals and as facts.
  AxisRanges axes;
  arith::IntervalMap values;
  Facts facts;
};

/// The counterpart of an input of the intrinsic.
struct MatchedInput {
  /// The position of the tensor among the operation's inputs.
  std::size_t tensor;
  /// The part of it that is read as this input.
  std::vector<Range> region;
  DimPairs dims;
};

struct IntrinMatch {
  /// For each input of the intrinsic. Several inputs may be regions of the same tensor.
  std::vector<MatchedInput> inputs;
  DimPairs output_dims;
  /// Values of variables that are extents of the intrinsic.
  tir::VarMap sizes;
  /// Empty if they match, otherwise the difference.
  std::string difference;
};

/// Matches an intrinsic. Data axes correspond by position, which is the order in the output's
/// memory; reduction axes and inputs by use. Commutative operands may be swapped. `facts` are those
/// of the loops around.
IntrinMatch match_intrin(const Operation& op, const TensorIntrinNode& intrin,
                         const TensorizedPart& part, arith::Facts& facts);

}  // namespace tenon::te

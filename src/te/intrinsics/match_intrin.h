// Whether a tensor intrinsic computes what a stage computes in the part of its loops that the
// intrinsic is to replace.
#pragma once

#include "te/operations/dim_pairs.h"
#include "te/relations/rules.h"
#include "tenon/te/intrin.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

/// What one call of the intrinsic is to compute, in terms of the loops around it.
struct TensorizedPart {
  /// The range of every root axis of the stage, the same as intervals, and as facts.
  AxisRanges axes;
  arith::IntervalMap values;
  Facts facts;
};

/// What an input of the intrinsic stands for.
struct MatchedInput {
  /// The place of the tensor among the operation's inputs.
  std::size_t tensor;
  /// The part of it that is read as this input.
  std::vector<Range> region;
  DimPairs dims;
};

struct IntrinMatch {
  /// For each input of the intrinsic. One tensor may be several of them, by different regions.
  std::vector<MatchedInput> inputs;
  DimPairs output_dims;
  /// Values of variables that are extents of the intrinsic.
  tir::VarMap sizes;
  /// Empty if they match; else how they differ.
  std::string difference;
};

/// Data axes go together by their order, which is that of the output's memory; reduction axes and
/// inputs by how they are used. Operands of commutative operators may trade places. `facts` are of
/// the loops around.
IntrinMatch match_intrin(const Operation& op, const TensorIntrinNode& intrin,
                         const TensorizedPart& part, arith::Facts& facts);

}  // namespace tenon::te

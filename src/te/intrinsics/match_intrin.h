// Whether a tensor intrinsic computes what a stage computes in the part of its loops that the
// intrinsic is to replace.
//
//   stage      (A[i, k] * B[k, j]) + A[j, k]
//   intrinsic  c[y, r] + (a[r, x] * b[x, r])        a: B, b: A, c: A, r: k
//
// Both sides are written on the intrinsic's axes and get a canonical form, in which operands of
// commutative operators have one order and reads keep only what varies with the axes. If the forms
// are equal, the reads of both sides are paired. The pairs determine the tensor and the region that
// each input of the intrinsic is.
#pragma once

#include "te/operations/dim_pairs.h"
#include "te/relations/rules.h"
#include "tenon/te/intrin.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

/// The region of a tensor that is an input of the intrinsic.
struct MatchedInput {
  /// The tensor's index among the inputs of the operation.
  std::size_t tensor;
  std::vector<Range> region;
  DimPairs dims;
};

struct IntrinMatch {
  /// One operand for each input of the intrinsic. One tensor may be the operand of several inputs,
  /// with different regions.
  std::vector<MatchedInput> inputs;
  DimPairs output_dims;
  /// Values of variables that are extents of the intrinsic.
  tir::VarMap sizes;
  /// Empty if they match; otherwise a sentence about how they differ.
  std::string difference;
};

/// The index of the tensor that is read among the inputs of an operation.
std::size_t index_of_input(const tir::ProducerLoad& read, const std::vector<Tensor>& inputs);

/// `part` has the range of every root axis of the stage in one call of the intrinsic, in terms of
/// the loops around it; `facts` are about these loops. Data axes are paired in order, which is that
/// of the output's memory; reduction axes and inputs are paired by their use. Operands of
/// commutative operators may be swapped.
IntrinMatch match_intrin(const Operation& op, const TensorIntrinNode& intrin,
                         const AxisRanges& part, Facts& facts);

}  // namespace tenon::te

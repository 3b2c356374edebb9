// The statements of a stage that calls a tensor intrinsic. In a tensorized stage, the call replaces
// a loop and all loops inside it. In a stage that declares the call itself (TensorCompute), the
// call is the innermost statement.
//
//   for (i, 0, 64) for (j.outer, 0, 4) for (j.inner, 0, 16) C[i, j] = A[i, j] + B[i, j]
//   -> for (i, 0, 64) for (j.outer, 0, 4) vadd(C[i, j.outer*16 ...], A[...], B[...])
//
// If the loop does not divide its axis, the tail is smaller than the intrinsic and keeps its loops.
//
//   -> for (j.outer, 0, 5) if (likely(j.outer*16 + 15 < 70)) vadd(...) else for (j.inner, 0, 16) if (...) ...
#pragma once

#include <tuple>

#include "te/loops/compute_nest.h"
#include "te/operations/declare.h"
#include "te/relations/propagate.h"
#include "tenon/te/intrin.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

// Comparison of a tensor intrinsic with the part of a stage's loops that it is to replace.
//
//   stage      (A[i, k] * B[k, j]) + A[j, k]
//   intrinsic  c[y, r] + (a[r, x] * b[x, r])        a: B, b: A, c: A, r: k
//
// Both sides are expressed in the intrinsic's axes and canonicalized: operands of commutative
// operators are sorted, and reads keep only the parts of indices that vary with the axes. If the
// forms are equal, the reads of both sides are paired. The pairs determine the tensor and the
// region for each input of the intrinsic.

struct IntrinMatch {
  /// For each input of the intrinsic: the number of the operation's input that serves as this
  /// input, the region that is read, and which dimensions of the two correspond. One input of the
  /// operation may serve as several inputs of the intrinsic, with different regions.
  std::vector<std::tuple<std::size_t, std::vector<Range>, DimPairs>> inputs;
  DimPairs output_dims;
  /// Values of the variables in the intrinsic's extents.
  tir::VarMap sizes;
  /// Empty if both sides match; otherwise a sentence about the difference.
  std::string difference;
};

/// Returns the index of the read tensor among the inputs of an operation.
std::size_t index_of_input(const tir::ProducerLoad& read, const std::vector<Tensor>& inputs);

/// Matches the operation with the intrinsic. `part` has the range of every root axis of the stage
/// in one call of the intrinsic, in terms of the loops around the call. `facts` are about these
/// loops. Data axes are paired in order, because they determine the order of the output's memory.
/// Inputs and reduction axes are paired by their use. The order of reduction axes must agree unless
/// the reducer is commutative. Operands of commutative operators may be swapped. `overruns` returns
/// whether a dimension of an input has elements beyond its extent.
IntrinMatch match_intrin(const Operation& op, const TensorIntrinNode& intrin,
                         const AxisRanges& part, Facts& facts,
                         FunctionRef<bool(std::size_t input, std::size_t dim)> overruns);

bool calls_intrinsic(const FrozenStage& stage);

/// Returns
/// - the number of the stage's outermost loops that remain around the call,
/// - the statement inside the remaining loops, including its guards,
/// - the initialization, which runs before the remaining loops of a reduction. Present if the
///   intrinsic has a reset.
///
/// Throws ScheduleError, with the line of tensorize, if the intrinsic does not compute what the
/// replaced loops compute, or cannot be called there.
std::tuple<std::size_t, Stmt, std::optional<Stmt>> make_intrinsic_body(StageId stage,
                                                                       const Program& program,
                                                                       const ComputeNest& nest);

}  // namespace tenon::te

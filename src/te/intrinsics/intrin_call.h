// One call of a tensor intrinsic in a stage: the loops that it replaces, and the region of each
// tensor that its buffers view.
#pragma once

#include "te/intrinsics/match_intrin.h"
#include "te/loops/compute_nest.h"

namespace tenon::te {

/// A region of a tensor as a buffer of the intrinsic.
struct IntrinView {
  /// The declared buffer, if the intrinsic's dimensions are the last of the region; otherwise a
  /// buffer with the region's dimensions, of which those that the intrinsic lacks are 1.
  tir::Buffer buffer;
  Tensor tensor;
  std::vector<Range> region;
  DimPairs dims;

  /// The buffer's index for the intrinsic's index.
  std::vector<Expr> index(const std::vector<Expr>& theirs) const;
  /// The tensor's index for the intrinsic's index.
  std::vector<Expr> index_of_tensor(const std::vector<Expr>& theirs) const;
};

struct IntrinCall {
  const TensorIntrinNode& intrin;
  /// The number of the stage's outermost loops that remain around the call.
  std::size_t depth;
  /// Whether loops of the reduction remain around the call.
  bool is_split_reduction;
  /// "tensorize of axis `j` of stage `C` with intrinsic `vadd`", for messages.
  std::string what;
  SourceLocation where;
  /// The views, in the order of the intrinsic's inputs and outputs.
  std::vector<IntrinView> inputs = {}, outputs = {};
  /// The intrinsic's code, on the buffers of the views.
  TensorIntrinBody code = intrin.body;
  /// The values of the intrinsic's own variables.
  tir::VarMap values = {};

  [[noreturn]] void refuse(const std::string& text) const {
    throw ScheduleError(what + ": " + text, where);
  }
};

/// The index of the tensorized leaf.
std::optional<std::size_t> tensorized_leaf(const FrozenStage& stage);

/// The call that replaces a tensorized leaf, or the call of a tensor_compute. ScheduleError if the
/// intrinsic computes something else, or if its buffers cannot view the regions.
IntrinCall make_intrin_call(StageId stage, const Program& program, const ComputeNest& nest);

}  // namespace tenon::te

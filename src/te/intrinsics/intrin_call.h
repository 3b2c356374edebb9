// What one call of a tensor intrinsic in a stage is to compute: the loops that it replaces, and the
// part of each tensor that its buffers stand for.
#pragma once

#include "te/intrinsics/intrin_view.h"
#include "te/loops/compute_nest.h"

namespace tenon::te {

struct IntrinCall {
  const TensorIntrinNode& intrin;
  /// The number of the stage's outermost loops that remain around it.
  std::size_t depth;
  std::vector<IntrinView> inputs, outputs;
  /// The intrinsic's code, on the buffers of the views.
  TensorIntrinBody code;
  /// The values of the intrinsic's own variables.
  tir::VarMap values;
  /// Whether loops of the reduction remain around the intrinsic.
  bool is_split_reduction;
  /// "tensorize of axis `j` of stage `C` with intrinsic `vadd`", for messages.
  std::string what;
  SourceLocation where;

  [[noreturn]] void refuse(const std::string& text) const {
    throw ScheduleError(what + ": " + text, where);
  }
};

/// The leaf that is tensorized.
std::optional<std::size_t> tensorized_leaf(const FrozenStage& stage);

/// The call that takes the place of a tensorized leaf. ScheduleError where the intrinsic computes
/// something else, or its buffers cannot stand for the parts.
IntrinCall match_tensorized(StageId stage, std::size_t leaf, const Program& program,
                            const ComputeNest& nest);

/// The call of a tensor_compute.
IntrinCall call_of(StageId stage, const Program& program);

}  // namespace tenon::te

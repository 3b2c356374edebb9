// One call of a tensor intrinsic in a stage: the loops that it replaces, and the parts of tensors
// that its buffers represent.
#pragma once

#include "te/intrinsics/intrin_view.h"
#include "te/loops/compute_nest.h"

namespace tenon::te {

struct IntrinCall {
  const TensorIntrinNode& intrin;
  /// Number of the stage's outermost loops that remain around it.
  std::size_t depth;
  std::vector<IntrinView> inputs, outputs;
  /// The intrinsic's code, on the buffers of the views.
  TensorIntrinBody code;
  /// The values of the intrinsic's own variables.
  tir::VarMap values;
  /// Whether reduction loops remain around the intrinsic.
  bool is_split_reduction;
  /// Description for messages: "tensorize of axis `j` of stage `C` with intrinsic `vadd`".
  std::string what;
  SourceLocation where;

  [[noreturn]] void refuse(const std::string& text) const {
    throw ScheduleError(what + ": " + text, where);
  }
};

/// Returns the position of the tensorized leaf.
std::optional<std::size_t> tensorized_leaf(const FrozenStage& stage);

/// Returns the call that replaces a tensorized leaf. ScheduleError if the intrinsic computes
/// something else, or if its buffers cannot represent the parts.
IntrinCall match_tensorized(StageId stage, std::size_t leaf, const Program& program,
                            const ComputeNest& nest);

/// Returns the call of a tensor_compute.
IntrinCall call_of(StageId stage, const Program& program);

}  // namespace tenon::te

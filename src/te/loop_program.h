// The loops of a schedule, with the memory of each tensor: what schedule_ops returns, for those who
// look into it.
#pragma once

#include "tenon/te/graph.h"
#include "tenon/te/schedule_ops.h"

namespace tenon::te {

struct LoopProgram {
  /// Every tensor in the layout that its operation gives it.
  tir::PrimFunc func;
  /// Of every tensor that has memory of its own, the arguments among them; producers first.
  std::vector<std::pair<OutputId, tir::Buffer>> buffers;
};

/// Throws what schedule_ops throws.
LoopProgram make_loop_program(const StageGraph& graph, const Bounds& bounds,
                              const std::vector<FunctionArgument>& arguments, SourceLocation where);

}  // namespace tenon::te

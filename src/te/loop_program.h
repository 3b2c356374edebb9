// The result of schedule_ops with the buffer of each tensor, for tools that inspect it.
#pragma once

#include "tenon/te/graph.h"
#include "tenon/te/schedule_ops.h"

namespace tenon::te {

struct LoopProgram {
  /// The function, with every tensor in the layout of its operation.
  tir::PrimFunc func;
  /// The buffers of all tensors that have their own memory, including arguments; producers first.
  std::vector<std::pair<OutputId, tir::Buffer>> buffers;
};

/// Makes the loop program. Throws the errors of schedule_ops.
LoopProgram make_loop_program(const StageGraph& graph, const Bounds& bounds,
                              const std::vector<FunctionArgument>& arguments, SourceLocation where);

}  // namespace tenon::te

#include "driver/lost_results.h"

#include <algorithm>

namespace tenon {

namespace {

/// The stages whose results are arguments.
std::vector<te::StageId> stages_of(const te::StageGraph& graph, const std::vector<LowerArgument>& args,
                                   const TensorBinds& binds) {
  std::vector<te::StageId> stages;
  auto add = [&](const te::Tensor& tensor) {
    if (const std::optional<te::StageId> stage = graph.find(tensor.op())) stages.push_back(*stage);
  };
  for (const LowerArgument& arg : args) {
    if (const auto* tensor = std::get_if<te::Tensor>(&arg)) add(*tensor);
    const auto* buffer = std::get_if<tir::Buffer>(&arg);
    if (!buffer) continue;
    for (const auto& [tensor, bound] : binds)
      if (bound.same_as(*buffer)) add(tensor);
  }
  return stages;
}

}  // namespace

void refuse_lost_results(const te::StageGraph& graph, const std::vector<LowerArgument>& args,
                         const TensorBinds& binds, const SourceLocation& where) {
  const std::vector<te::StageId> passed = stages_of(graph, args, binds);
  for (te::StageId output : graph.outputs()) {
    if (std::find(passed.begin(), passed.end(), output) != passed.end()) continue;
    throw LowerError("build: `" + graph.stage(output).origin_op.name() +
                         "` is an output of the schedule and none of the arguments, so that its result would "
                         "be lost; pass it, or create the schedule of what is passed",
                     where);
  }
}

}  // namespace tenon

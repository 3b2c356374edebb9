#include "tenon/driver/unbound_outputs.h"

#include <algorithm>

#include "tenon/driver/arguments.h"
#include "tenon/te/graph.h"

namespace tenon {

void refuse_unbound_outputs(const te::StageGraph& graph, const std::vector<LowerArgument>& args,
                            const std::vector<std::pair<te::Tensor, tir::Buffer>>& binds,
                            const SourceLocation& where) {
  std::vector<te::StageId> passed;
  for (const te::Tensor& tensor : tensors_among(args, binds)) {
    if (const std::optional<te::StageId> stage = graph.find(tensor.op())) {
      passed.push_back(*stage);
    } else if (!tensor.op().as<te::Placeholder>()) {
      throw LowerError(
          "build: no stage computes argument `" + tensor.name() +
              "`, so that its array would never be written: it is inlined, or not part of the "
              "schedule; leave it out of the arguments, or compute it at root",
          where);
    }
  }
  for (te::StageId output : graph.outputs()) {
    if (std::find(passed.begin(), passed.end(), output) != passed.end()) continue;
    throw LowerError(
        "build: `" + graph.stage(output).origin_op.name() +
            "` is an output of the schedule and none of the arguments, so that its result would "
            "be lost; pass it, or create the schedule of what is passed",
        where);
  }
}

}  // namespace tenon

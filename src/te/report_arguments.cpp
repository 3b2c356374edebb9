#include "te/report_arguments.h"

#include <unordered_set>

#include "tenon/te/graph.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;

namespace {

/// Returns the scalars that callers pass: variables in bodies and ranges that are not axes.
std::vector<Var> scalars_of(const StageGraph& graph, const Bounds& bounds,
                            const std::vector<std::pair<Var, std::int64_t>>& sizes) {
  std::vector<Var> scalars;
  std::unordered_set<const ExprNode*> known;
  for (const auto& [size, value] : sizes) {
    scalars.push_back(size);
    known.insert(&size.node());
  }
  const auto add = [&](const Expr& e) {
    for (const Var& var : free_vars(e))
      if (!var.dtype().is_handle() && known.insert(&var.node()).second) scalars.push_back(var);
  };
  for (const Bounds::Entry& entry : bounds.entries()) known.insert(&entry.axis.var().node());
  for (const StageId id : graph.ids()) {
    const Operation& op = graph.stage(id).op;
    // Variables in the shape of an input are determined by the input.
    if (op.as<Placeholder>())
      for (const Expr& extent : op.output(0).shape())
        for (const Var& var : free_vars(extent)) known.insert(&var.node());
  }
  for (const StageId id : graph.ids())
    for (const Expr& body : graph.stage(id).op.body()) add(body);
  for (const Bounds::Entry& entry : bounds.entries()) {
    add(entry.range.min);
    add(entry.range.extent);
  }
  return scalars;
}

}  // namespace

std::vector<FunctionArgument> report_arguments(
    const StageGraph& graph, const Bounds& bounds,
    const std::vector<std::pair<Var, std::int64_t>>& sizes) {
  std::vector<FunctionArgument> arguments;
  for (const Var& scalar : scalars_of(graph, bounds, sizes)) arguments.emplace_back(scalar);
  for (const StageId id : graph.ids()) {
    const FrozenStage& stage = graph.stage(id);
    const bool is_input = stage.op.as<Placeholder>() && !stage.scan_part(0);
    if (!is_input && !stage.is_output) continue;
    for (int k = 0; k < stage.op.num_outputs(); ++k) arguments.emplace_back(stage.op.output(k));
  }
  return arguments;
}

}  // namespace tenon::te

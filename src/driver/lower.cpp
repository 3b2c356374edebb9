#include "tenon/driver/lower.h"

namespace tenon {

tir::PrimFunc lower_to_loops(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                             const LowerOptions& options, SourceLocation where) {
  const te::StageGraph graph = te::freeze(schedule, where);
  const te::Bounds bounds = te::infer_bound(graph);
  return te::schedule_ops(graph, bounds, args, {.name = options.name, .binds = options.binds}, where);
}

tir::IRModule lower(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                    const LowerOptions& options, SourceLocation where) {
  lowering::LowerOptions passes = options.passes;
  passes.simple_mode |= options.simple_mode;
  passes.instrument_bounds |= options.instrument_bounds;
  tir::PrimFunc func = lowering::run_pipeline(lower_to_loops(schedule, args, options, where), passes);
  tir::IRModule module;
  module.functions.emplace(options.name, std::move(func));
  return module;
}

}  // namespace tenon

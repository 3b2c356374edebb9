#include "tenon/driver/build.h"

#include "driver/host_schedule.h"
#include "driver/lost_results.h"
#include "driver/races.h"
#include "driver/region_races.h"
#include "driver/user_line.h"
#include "tenon/te/check_reads.h"
#include "tenon/support/deep_stack.h"
#include "tenon/te/check_reads.h"

namespace tenon {

namespace {

/// The printed program, made ready for code: the passes that no text shows.
tir::IRModule for_host(const tir::IRModule& module, const lowering::LowerOptions& passes) {
  tir::IRModule ready;
  for (const auto& [name, func] : module.functions)
    ready.functions.emplace(name, lowering::run_passes(lowering::host_passes(), func, passes));
  return ready;
}

}  // namespace

codegen::Artifact compile(const tir::IRModule& module, const Target& target, const BuildOptions& options,
                          SourceLocation where) {
  if (module.functions.empty()) throw LowerError("build: the module has no functions", where);
  tir::TargetFacts facts = target.facts();
  facts.fast_math |= options.fast_math;
  switch (facts.kind) {
    case tir::TargetKind::Llvm:
      break;
    case tir::TargetKind::C:
    case tir::TargetKind::Cuda:
    case tir::TargetKind::OpenCl:
      throw TargetError(
          "target `" + target.str() + "` cannot be built for by this version of Tenon; use llvm", where);
  }
  std::vector<std::filesystem::path> link(options.link.begin(), options.link.end());
  return with_user_line(where, [&] {
    return with_deep_stack([&] {
      if (!options.allow_parallel_reduction_race)
        for (const auto& [name, func] : module.functions) refuse_region_races(func);
      return codegen::compile(
          for_host(module, options.passes, facts), facts,
          {.opt_level = options.opt_level, .link = std::move(link), .on_step = options.on_step});
    });
  });
}

codegen::Artifact compile(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                          const Target& target, const BuildOptions& options, SourceLocation where) {
  const te::StageGraph graph = te::freeze(schedule, where);
  if (!options.allow_parallel_reduction_race) refuse_races(graph);
  if (target.facts().kind == tir::TargetKind::Llvm) refuse_device_threads(graph);
  const te::Bounds bounds = with_deep_stack([&] { return te::infer_bound(graph); });
  te::check_reads(graph, bounds, te::Outside::Partly);
  const tir::IRModule module = lower(schedule, args,
                                     {.name = options.name,
                                      .binds = options.binds,
                                      .instrument_bounds = options.instrument_bounds,
                                      .passes = options.passes},
                                     where);
  return compile(module, target, options, where);
}

runtime::Module build(const tir::IRModule& module, const Target& target, const BuildOptions& options,
                      SourceLocation where) {
  return codegen::load(compile(module, target, options, where));
}

runtime::Module build(const std::vector<tir::IRModule>& modules, const Target& target,
                      const BuildOptions& options, SourceLocation where) {
  tir::IRModule all;
  for (const tir::IRModule& module : modules)
    for (const auto& [name, func] : module.functions)
      if (!all.functions.emplace(name, func).second)
        throw LowerError("build: function `" + name + "` is given twice", where);
  return build(all, target, options, where);
}

runtime::Module build(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                      const Target& target, const BuildOptions& options, SourceLocation where) {
  return codegen::load(compile(schedule, args, target, options, where));
}

}  // namespace tenon

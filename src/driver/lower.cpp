#include "tenon/driver/lower.h"

#include <chrono>
#include <iostream>

#include "driver/check_function.h"
#include "driver/proved_faults.h"
#include "driver/schedule_steps.h"
#include "driver/user_line.h"
#include "tenon/arith/simplifier_memory.h"
#include "tenon/driver/races.h"
#include "tenon/support/deep_stack.h"
#include "tenon/te/exact_bound.h"
#include "tenon/te/freeze.h"
#include "tenon/te/schedule_ops_as_text.h"
#include "tenon/te/warnings.h"

namespace tenon {

namespace {

/// The sentence about a schedule whose axes race; nullopt for any other.
std::optional<std::string> race_of(const te::StageGraph& graph) {
  try {
    refuse_races(graph);
  } catch (const ScheduleError& race) {
    return race.what();
  }
  return std::nullopt;
}

/// Runs one step and reports how long it took.
template <class F>
auto timed(const StepListener& on_step, std::string_view step, F run) {
  const auto start = std::chrono::steady_clock::now();
  auto result = run();
  if (on_step)
    on_step(step, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return result;
}

}  // namespace

te::StageGraph freeze_schedule(const te::Schedule& schedule, const StepListener& on_step,
                               const SourceLocation& where) {
  return timed(on_step, "freeze", [&] { return te::freeze(schedule, where); });
}

te::Bounds bounds_of(const te::StageGraph& graph, Bounds which, const StepListener& on_step) {
  return timed(on_step, "infer-bound", [&] {
    return which == Bounds::Exact ? te::infer_exact_bound(graph) : te::infer_bound(graph);
  });
}

void tell_warnings(const te::Schedule& schedule, const te::StageGraph& graph,
                   const te::Bounds& bounds) {
  for (const std::string& each : te::untold_warnings(schedule, graph, bounds))
    std::cerr << "warning: " << each << std::endl;
}

tir::PrimFunc loops_of(const te::StageGraph& graph, const te::Bounds& bounds,
                       const std::vector<LowerArgument>& args, const LowerOptions& options,
                       const SourceLocation& where) {
  return timed(options.on_step, "schedule-ops", [&] {
    const te::FunctionOptions function{
        .name = options.name, .binds = options.binds, .check_intrinsics = options.check_intrinsics};
    tir::PrimFunc loops = options.simple_mode
                              ? te::schedule_ops_as_text(graph, bounds, args, function, where)
                              : te::schedule_ops(graph, bounds, args, function, where);
    // The loops of data axes are independent by construction.
    note_conflicts(loops, lowering::LoopsToProve::OfExternCode, options.passes, race_of(graph));
    return loops;
  });
}

tir::IRModule lower_loops(tir::PrimFunc loops, const LowerOptions& options) {
  refuse_wrong_accesses(loops);
  tir::IRModule module;
  module.functions.emplace(
      options.name,
      lowering::run_pipeline(std::move(loops), {.simple_mode = options.simple_mode,
                                                .instrument_bounds = options.instrument_bounds,
                                                .passes = options.passes}));
  return module;
}

tir::PrimFunc lower_to_loops(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                             const LowerOptions& options, SourceLocation where) {
  const te::StageGraph graph = freeze_schedule(schedule, options.on_step, where);
  return loops_of(graph, bounds_of(graph, options.bounds, options.on_step), args, options, where);
}

tir::IRModule lower(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                    const LowerOptions& options, SourceLocation where) {
  return with_user_line(where, [&] {
    return with_deep_stack([&] {
      const arith::SimplifierMemory memory;
      const te::StageGraph graph = freeze_schedule(schedule, options.on_step, where);
      const te::Bounds bounds = bounds_of(graph, options.bounds, options.on_step);
      tell_warnings(schedule, graph, bounds);
      return lower_loops(loops_of(graph, bounds, args, options, where), options);
    });
  });
}

tir::IRModule lower(const tir::PrimFunc& func, const LowerFunctionOptions& options,
                    SourceLocation where) {
  tir::PrimFunc named = func;
  if (options.name) named.attrs.global_symbol = *options.name;
  const std::string name = named.attrs.global_symbol;
  if (name.empty()) throw LowerError("lower: the name of a function must not be empty", where);
  tir::IRModule module;
  module.functions.emplace(
      name, with_user_line(where, [&] {
        return with_deep_stack([&] {
          check_function(named, name);
          if (named.form != tir::Form::MultiDimensional && named.form != tir::Form::Blocks)
            throw LowerError("lower: function `" + name + "` has been lowered already");
          if (named.form == tir::Form::MultiDimensional) refuse_wrong_accesses(named);
          if (named.form == tir::Form::Blocks)
            named = lowering::run_passes(lowering::block_passes(), std::move(named),
                                         {.passes = options.passes});
          note_conflicts(named, lowering::LoopsToProve::All, options.passes);
          return lowering::run_pipeline(std::move(named),
                                        {.simple_mode = options.simple_mode,
                                         .instrument_bounds = options.instrument_bounds,
                                         .passes = options.passes});
        });
      }));
  return module;
}

}  // namespace tenon

#include "tenon/driver/lower.h"

#include <iostream>

#include "driver/constants.h"
#include "driver/lower_steps.h"
#include "tenon/arith/simplifier_memory.h"
#include "tenon/codegen/compile_options.h"
#include "tenon/driver/checks.h"
#include "tenon/driver/user_line.h"
#include "tenon/te/freeze.h"
#include "tenon/te/infer_bound.h"
#include "tenon/te/schedule_ops.h"
#include "tenon/te/warnings.h"

namespace tenon {

namespace {

/// Returns the message of the error that refuse_races throws; nullopt if it does not throw.
std::optional<std::string> race_of(const te::StageGraph& graph) {
  try {
    refuse_races(graph);
  } catch (const ScheduleError& race) {
    return race.what();
  }
  return std::nullopt;
}

std::pair<te::StageGraph, te::Bounds> freeze_and_infer(const te::Schedule& schedule,
                                                       const LowerOptions& options,
                                                       const SourceLocation& where) {
  auto start = std::chrono::steady_clock::now();
  const te::StageGraph graph = te::freeze(schedule, where);
  codegen::finish_step(options.on_step, "freeze", start);
  const te::Bounds bounds =
      options.bounds == Bounds::Exact ? te::infer_exact_bound(graph) : te::infer_bound(graph);
  codegen::finish_step(options.on_step, "infer-bound", start);
  return {graph, bounds};
}

lowering::PipelineOptions pipeline_options(const LowerOptions& options) {
  return {.simple_mode = options.simple_mode,
          .instrument_bounds = options.instrument_bounds,
          .passes = options.passes};
}

}  // namespace

void emit_warnings(const te::Schedule& schedule, const te::StageGraph& graph,
                   const te::Bounds& bounds, const LowerOptions& options) {
  for (const std::string& warning : te::pending_warnings(schedule, graph, bounds)) {
    if (options.on_warning)
      options.on_warning(warning);
    else
      std::cerr << "warning: " << warning << std::endl;
  }
}

tir::IRModule make_loops(const te::StageGraph& graph, const te::Bounds& bounds,
                         const std::vector<LowerArgument>& args, const LowerOptions& options,
                         const SourceLocation& where) {
  auto start = std::chrono::steady_clock::now();
  const te::FunctionOptions function{
      .name = options.name, .binds = options.binds, .check_intrinsics = options.check_intrinsics};
  tir::PrimFunc whole = options.simple_mode
                            ? te::schedule_ops_as_text(graph, bounds, args, function, where)
                            : te::schedule_ops(graph, bounds, args, function, where);
  // Only loops of extern code have to be proved independent. The loops over data axes are
  // independent by construction.
  note_conflicts(whole, lowering::LoopsToProve::OfExternCode, race_of(graph));
  codegen::finish_step(options.on_step, "schedule-ops", start);
  std::vector<tir::Var> constants;
  for (std::size_t n = 0; options.separate_constants && n < args.size(); ++n) {
    const te::Tensor* tensor = std::get_if<te::Tensor>(&args[n]);
    if (tensor && te::is_constant_input(*tensor)) constants.push_back(whole.params[n]);
  }
  tir::IRModule loops;
  for (const tir::PrimFunc& func : separate_constants(whole, constants))
    loops.functions.emplace(func.attrs.global_symbol, func);
  return loops;
}

tir::IRModule lower_loops(tir::IRModule loops, const LowerOptions& options) {
  for (auto& [name, func] : loops.functions) {
    lowering::refuse_wrong_accesses(func);
    // Only extern code needs size checks here, because te::check_reads has already checked the
    // reads of stages.
    if (!options.simple_mode && tir::contains(func.body, tir::AttrKind::ExternScope))
      func = lowering::with_size_checks(func, lowering::size_conditions(func));
    func = lowering::run_pipeline(func, pipeline_options(options));
  }
  return loops;
}

tir::PrimFunc lower_to_loops(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                             const LowerOptions& options, SourceLocation where) {
  const arith::SimplifierMemory memory;
  LowerOptions whole = options;
  whole.separate_constants = false;
  const auto [graph, bounds] = freeze_and_infer(schedule, options, where);
  return make_loops(graph, bounds, args, whole, where).functions.at(options.name);
}

tir::IRModule lower(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                    const LowerOptions& options, SourceLocation where) {
  return run_steps(where, [&] {
    const arith::SimplifierMemory memory;
    const auto [graph, bounds] = freeze_and_infer(schedule, options, where);
    emit_warnings(schedule, graph, bounds, options);
    return lower_loops(make_loops(graph, bounds, args, options, where), options);
  });
}

tir::IRModule lower(const tir::PrimFunc& func, const LowerOptions& options, SourceLocation where) {
  tir::PrimFunc named = func;
  if (options.name.is_given() || named.attrs.global_symbol.empty())
    named.attrs.global_symbol = options.name;
  const std::string name = named.attrs.global_symbol;
  if (name.empty()) throw LowerError("lower: the name of a function must not be empty", where);
  return run_steps(where, [&] {
    check_function(named, name);
    if (!is_unlowered(named))
      throw LowerError("lower: function `" + name + "` has been lowered already");
    if (named.form == tir::Form::MultiDimensional) lowering::refuse_wrong_accesses(named);
    std::vector<arith::SizeCondition> conditions;
    if (named.form == tir::Form::Blocks) {
      conditions = lowering::size_conditions(named);
      named = lowering::run_passes(lowering::block_passes(), std::move(named),
                                   {.passes = options.passes});
    }
    note_conflicts(named, lowering::LoopsToProve::All);
    if (!options.simple_mode) {
      std::ranges::copy(lowering::size_conditions(named), std::back_inserter(conditions));
      named = lowering::with_size_checks(std::move(named), conditions);
    }
    tir::IRModule module;
    module.functions.emplace(name,
                             lowering::run_pipeline(std::move(named), pipeline_options(options)));
    return module;
  });
}

}  // namespace tenon

#include "tenon/driver/compilation.h"

#include <iostream>

#include "driver/constants.h"
#include "tenon/driver/checks.h"
#include "tenon/driver/lower.h"
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

lowering::PipelineOptions pipeline_options(const LowerOptions& options) {
  return {.simple_mode = options.simple_mode,
          .instrument_bounds = options.instrument_bounds,
          .passes = options.passes};
}

}  // namespace

const te::StageGraph& Compilation::graph() {
  if (!graph_)
    graph_ = timed(options_.on_step, "freeze", [&] { return te::freeze(schedule_, where_); });
  return *graph_;
}

const te::Bounds& Compilation::bounds() {
  if (!bounds_) {
    const te::StageGraph& frozen = graph();
    bounds_ = timed(options_.on_step, "infer-bound", [&] {
      return options_.bounds == Bounds::Exact ? te::infer_exact_bound(frozen)
                                              : te::infer_bound(frozen);
    });
  }
  return *bounds_;
}

const std::vector<arith::SizeCondition>& Compilation::read_conditions() {
  if (!read_conditions_) read_conditions_ = te::check_reads(graph(), bounds(), te::Outside::Partly);
  return *read_conditions_;
}

const tir::IRModule& Compilation::loops() {
  if (!loops_) {
    const te::Bounds& inferred = bounds();
    const tir::PrimFunc whole = timed(options_.on_step, "schedule-ops", [&] {
      const te::FunctionOptions function{.name = options_.name,
                                         .binds = options_.binds,
                                         .check_intrinsics = options_.check_intrinsics};
      tir::PrimFunc made =
          options_.simple_mode
              ? te::schedule_ops_as_text(graph(), inferred, args_, function, where_)
              : te::schedule_ops(graph(), inferred, args_, function, where_);
      // Only loops of extern code have to be proved independent. The loops over data axes are
      // independent by construction.
      note_conflicts(made, lowering::LoopsToProve::OfExternCode, race_of(graph()));
      return made;
    });
    std::vector<tir::Var> constants;
    for (std::size_t n = 0; options_.separate_constants && n < args_.size(); ++n) {
      const te::Tensor* tensor = std::get_if<te::Tensor>(&args_[n]);
      if (tensor && te::is_constant_input(*tensor)) constants.push_back(whole.params[n]);
    }
    tir::IRModule programs;
    for (const tir::PrimFunc& func : separate_constants(whole, constants))
      programs.functions.emplace(func.attrs.global_symbol, func);
    loops_ = std::move(programs);
  }
  return *loops_;
}

const tir::IRModule& Compilation::module() {
  if (!module_) {
    tir::IRModule lowered = loops();
    for (auto& [name, func] : lowered.functions) {
      lowering::refuse_wrong_accesses(func);
      // Only extern code needs size checks here, because te::check_reads has already checked the
      // reads of stages.
      if (!options_.simple_mode && tir::contains(func.body, tir::AttrKind::ExternScope))
        func = lowering::with_size_checks(func, lowering::size_conditions(func));
      func = lowering::run_pipeline(func, pipeline_options(options_));
    }
    module_ = std::move(lowered);
  }
  return *module_;
}

void Compilation::emit_warnings() {
  for (const std::string& warning : te::pending_warnings(schedule_, graph(), bounds())) {
    if (options_.on_warning)
      options_.on_warning(warning);
    else
      std::cerr << "warning: " << warning << std::endl;
  }
}

tir::PrimFunc lower_to_loops(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                             const LowerOptions& options, SourceLocation where) {
  LowerOptions whole = options;
  whole.separate_constants = false;
  return Compilation(schedule, args, whole, where).loops().functions.at(options.name);
}

tir::IRModule lower(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                    const LowerOptions& options, SourceLocation where) {
  return run_steps(where, [&] {
    Compilation compilation(schedule, args, options, where);
    compilation.emit_warnings();
    return compilation.module();
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

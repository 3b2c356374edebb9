#include "tenon/driver/lower.h"

#include "driver/function_form.h"
#include "driver/user_line.h"
#include "tenon/support/deep_stack.h"
#include "tenon/te/freeze.h"

namespace tenon {

namespace {

/// Runs one step and reports how long it took.
template <class F>
auto timed(const LowerOptions& options, std::string_view step, F run) {
  const auto start = std::chrono::steady_clock::now();
  auto result = run();
  if (options.on_step) options.on_step(step, std::chrono::steady_clock::now() - start);
  return result;
}

}  // namespace

tir::PrimFunc lower_to_loops(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                             const LowerOptions& options, SourceLocation where) {
  const te::StageGraph graph =
      timed(options, "freeze", [&] { return te::freeze(schedule, where); });
  const te::Bounds bounds = timed(options, "infer-bound", [&] { return te::infer_bound(graph); });
  return timed(options, "schedule-ops", [&] {
    return te::schedule_ops(graph, bounds, args,
                            {.name = options.name,
                             .binds = options.binds,
                             .check_intrinsics = options.check_intrinsics},
                            where);
  });
}

tir::IRModule lower(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                    const LowerOptions& options, SourceLocation where) {
  lowering::LowerOptions passes = options.passes;
  passes.simple_mode |= options.simple_mode;
  passes.instrument_bounds |= options.instrument_bounds;
  tir::PrimFunc func = with_user_line(where, [&] {
    return with_deep_stack([&] {
      return lowering::run_pipeline(lower_to_loops(schedule, args, options, where), passes);
    });
  });
  tir::IRModule module;
  module.functions.emplace(options.name, std::move(func));
  return module;
}

tir::IRModule lower(const tir::PrimFunc& func, const LowerFunctionOptions& options,
                    SourceLocation where) {
  lowering::LowerOptions passes = options.passes;
  passes.simple_mode |= options.simple_mode;
  passes.instrument_bounds |= options.instrument_bounds;
  tir::PrimFunc named = func;
  if (options.name) named.attrs.global_symbol = *options.name;
  const std::string name = named.attrs.global_symbol;
  if (name.empty()) throw LowerError("lower: the name of a function must not be empty", where);
  tir::IRModule module;
  module.functions.emplace(
      name, with_user_line(where, [&] {
        return with_deep_stack([&] {
          check_function(named, name);
          if (!named.buffers.empty() && is_lowered(named))
            throw LowerError("lower: function `" + name + "` has been lowered already");
          return lowering::run_pipeline(std::move(named), passes);
        });
      }));
  return module;
}

}  // namespace tenon

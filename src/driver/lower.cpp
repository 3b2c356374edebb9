#include "tenon/driver/lower.h"

#include "driver/checks/static_errors.h"
#include "tenon/driver/check_function.h"
#include "tenon/driver/compilation.h"
#include "tenon/driver/user_line.h"
#include "tenon/support/deep_stack.h"

namespace tenon {

tir::PrimFunc lower_to_loops(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                             const LowerOptions& options, SourceLocation where) {
  return Compilation(schedule, args, options, where).loops();
}

tir::IRModule lower(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                    const LowerOptions& options, SourceLocation where) {
  return with_user_line(where, [&] {
    return with_deep_stack([&] {
      Compilation compilation(schedule, args, options, where);
      compilation.emit_warnings();
      return compilation.module();
    });
  });
}

tir::IRModule lower(const tir::PrimFunc& func, const LowerOptions& options, SourceLocation where) {
  tir::PrimFunc named = func;
  if (options.name.is_given()) named.attrs.global_symbol = options.name;
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

#include "te/schedule/operand_checks.h"

#include <algorithm>

#include "te/operations/body.h"
#include "tenon/tir/print.h"

namespace tenon::te {

std::optional<IterVar> find_axis_used(const Expr& e, std::span<const IterVar> axes) {
  if (tir::is_constant(e)) return std::nullopt;
  const std::vector<Var> used = tir::free_vars(e);
  for (const IterVar& axis : axes)
    if (std::any_of(used.begin(), used.end(),
                    [&](const Var& var) { return axis.var().same_as(var); }))
      return axis;
  return std::nullopt;
}

namespace {

std::vector<Tensor> tensors_read(const Expr& e) {
  TensorCollector reads;
  reads.visit(e);
  return std::move(reads.found);
}

}  // namespace

void check_known_at_call(std::string_view primitive, const ScheduleData& schedule,
                         const StageData& stage, const IterVar& axis, const Expr& e,
                         const std::string& what, const SourceLocation& where) {
  const std::string rule = what + " must be known before the function runs, but ";
  const std::vector<Tensor> read = tensors_read(e);
  if (!read.empty())
    fail(primitive, stage, axis, rule + "reads tensor `" + read.front().name() + "`", where);
  if (tir::effect_of(e) != tir::Effect::Pure)
    fail(primitive, stage, axis,
         rule + "`" + tir::print_expr(e) + "` is a call that may give another value each time",
         where);
  for (const StageData& other : schedule.stages)
    if (const std::optional<IterVar> used = find_axis_used(e, other.all_iter_vars))
      fail(primitive, stage, axis,
           rule + "uses axis `" + used->name() + "` of " + describe(other) +
               ", which changes while it runs",
           where);
}

void check_store_predicate(const ScheduleData& schedule, const StageData& stage,
                           const Expr& condition, const SourceLocation& where) {
  if (!stage.op.as<Compute>() && !stage.op.as<TensorCompute>())
    fail("set_store_predicate", stage, "only the stores of a compute can be guarded", where);
  if (!condition.dtype().is_bool() || !condition.dtype().is_scalar())
    fail("set_store_predicate", stage, "the condition must be Bool, is " + condition.dtype().str(),
         where);
  for (const Tensor& tensor : tensors_read(condition)) {
    const std::optional<StageOutput> output = schedule.find(tensor);
    if (output && schedule.stage(output->stage).op.as<Placeholder>()) continue;
    fail(
        "set_store_predicate", stage,
        "the condition reads tensor `" + tensor.name() +
            "`, which is no placeholder of this schedule and need not be there; say it in the body, with "
            "if_then_else",
        where);
  }
}

void check_predicate_stays(std::string_view primitive, const StageData& stage,
                           std::span<const IterVar> staying, const SourceLocation& where) {
  if (!stage.store_predicate) return;
  std::vector<IterVar> gone = stage.all_iter_vars;
  std::erase_if(gone, [&](const IterVar& axis) { return contains(staying, axis); });
  const std::optional<IterVar> used = find_axis_used(*stage.store_predicate, gone);
  if (!used) return;
  fail(primitive, stage,
       "its store predicate is about axis `" + used->name() + "`, which would be gone; call " +
           std::string(primitive) + " before set_store_predicate",
       where);
}

void check_pragma_value(const StageData& stage, const IterVar& axis, const std::string& key,
                        const Expr& value, const SourceLocation& where) {
  auto refuse = [&](const std::string& wanted) {
    fail("pragma", stage, axis,
         "\"" + key + "\" takes " + wanted + ", got `" + tir::print_expr(value) + "`", where);
  };
  const std::optional<std::int64_t> number = tir::constant_int(value);
  if (key == "auto_unroll_max_step" && (!number || *number < 0))
    refuse("a constant integer, 0 or more");
  if (key == "unroll_explicit" && !number) refuse("a constant integer or bool");
  const bool is_source = key == "import_llvm" || key == "import_c";
  if (is_source && !value.as<tir::StringImm>()) refuse("a text: source, or the path of a file");
}

}  // namespace tenon::te

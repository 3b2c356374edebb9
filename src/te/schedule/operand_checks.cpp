#include "te/schedule/operand_checks.h"

#include <algorithm>

#include "te/operations/body.h"
#include "tenon/tir/pragma.h"
#include "tenon/tir/print.h"

namespace tenon::te {

namespace {

using VarSet = std::unordered_set<const tir::ExprNode*>;

VarSet vars_of(const Expr& e) {
  VarSet vars;
  if (tir::is_constant(e)) return vars;
  for (const Var& var : tir::free_vars(e)) vars.insert(&var.node());
  return vars;
}

/// Returns the first axis whose variable is in the set; null if absent.
const IterVar* find_axis_among(const VarSet& vars, std::span<const IterVar> axes) {
  const auto found = std::find_if(axes.begin(), axes.end(), [&](const IterVar& axis) {
    return vars.contains(&axis.var().node());
  });
  return found == axes.end() ? nullptr : &*found;
}

std::vector<Tensor> tensors_read(const Expr& e) {
  TensorCollector reads;
  reads.visit(e);
  return std::move(reads.found);
}

}  // namespace

void check_known_at_call(const StageEdit& edit, const IterVar& axis, const Expr& e,
                         const std::string& what) {
  const std::string rule = what + " must be known before the function runs, but ";
  const std::vector<Tensor> read = tensors_read(e);
  if (!read.empty()) edit.fail(axis, rule + "reads tensor `" + read.front().name() + "`");
  if (tir::effect_of(e) != tir::Effect::Pure)
    edit.fail(axis, rule + "`" + tir::print_expr(e) +
                        "` is a call that may give another value each time");
  const VarSet vars = vars_of(e);
  if (vars.empty()) return;
  for (const StageData& other : edit.schedule().stages)
    if (const IterVar* used = find_axis_among(vars, other.all_iter_vars))
      edit.fail(axis, rule + "uses axis `" + used->name() + "` of " + describe(other) +
                          ", which changes while it runs");
}

void check_store_predicate(const StageEdit& edit, const Expr& condition) {
  const Operation& op = edit.stage().op;
  if (!op.as<Compute>() && !op.as<TensorCompute>())
    edit.fail("only the stores of a compute can be guarded");
  if (!condition.dtype().is_bool() || !condition.dtype().is_scalar())
    edit.fail("the condition must be Bool, is " + condition.dtype().str());
  for (const Tensor& tensor : tensors_read(condition)) {
    const std::optional<StageOutput> output = edit.schedule().find(tensor);
    if (output && edit.schedule().stage(output->stage).op.as<Placeholder>()) continue;
    edit.fail("the condition reads tensor `" + tensor.name() +
              "`, which is not a placeholder of this schedule and may not exist yet; express the "
              "condition in the body, with if_then_else");
  }
}

void check_predicate_stays(const StageEdit& edit, std::span<const IterVar> staying) {
  const StageData& stage = edit.stage();
  if (!stage.store_predicate) return;
  const VarSet vars = vars_of(*stage.store_predicate);
  std::vector<IterVar> gone = stage.all_iter_vars;
  std::erase_if(gone, [&](const IterVar& axis) { return contains(staying, axis); });
  const IterVar* used = find_axis_among(vars, gone);
  if (!used) return;
  edit.fail("its store predicate uses axis `" + used->name() + "`, which would be removed; call " +
            edit.primitive() + " before set_store_predicate");
}

void check_pragma_value(const StageEdit& edit, const IterVar& axis, const std::string& key,
                        const Expr& value) {
  auto refuse = [&](const std::string& wanted) {
    edit.fail(axis, "\"" + key + "\" takes " + wanted + ", got `" + tir::print_expr(value) + "`");
  };
  using tir::PragmaKey;
  const std::optional<PragmaKey> known = tir::find_pragma_key(key);
  const std::optional<std::int64_t> number = tir::constant_int(value);
  if (known == PragmaKey::AutoUnrollMaxStep && (!number || *number < 0))
    refuse("a constant integer, 0 or more");
  if (known == PragmaKey::BlocksPerMultiprocessor && (!number || *number < 1))
    refuse("a constant integer, 1 or more");
  if (known == PragmaKey::UnrollExplicit && !number) refuse("a constant integer or bool");
  const bool is_source = known == PragmaKey::ImportLlvm || known == PragmaKey::ImportC;
  if (is_source && !value.as<tir::StringImm>()) refuse("a string: source, or the path of a file");
}

}  // namespace tenon::te

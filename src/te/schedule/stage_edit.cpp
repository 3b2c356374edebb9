#include "te/schedule/stage_edit.h"

#include <algorithm>

#include "te/operations/body.h"
#include "te/operations/declare.h"
#include "te/relations/propagate.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/pragma.h"
#include "tenon/tir/print.h"

namespace tenon::te {

namespace {

StageNumber number_of(const ScheduleData& schedule,
                      const std::variant<StageNumber, GroupNumber>& target,
                      std::string_view primitive, const SourceLocation& where) {
  if (const GroupNumber* group = std::get_if<GroupNumber>(&target))
    throw ScheduleError(std::string(primitive) + " of group `" + schedule.group(*group).name +
                            "`: a group has no loops and no storage of its own; use a stage of it",
                        where);
  return std::get<StageNumber>(target);
}

}  // namespace

StageEdit::StageEdit(const Stage& handle, std::string_view primitive, const SourceLocation& where)
    : StageEdit(*handle.schedule_, number_of(*handle.schedule_, handle.target(), primitive, where),
                std::string(primitive), where) {}

StageEdit::StageEdit(ScheduleData& schedule, StageNumber number, std::string primitive,
                     const SourceLocation& where)
    : schedule_(schedule),
      number_(number),
      primitive_(std::move(primitive)),
      where_(where),
      warnings_(schedule.warnings.size()) {
  check_is_there(schedule_, number_, primitive_, where_);
}

StageEdit::~StageEdit() {
  if (std::uncaught_exceptions() == exceptions_)
    ++schedule_.version;
  else if (schedule_.warnings.size() > warnings_)
    schedule_.warnings.resize(warnings_);
}

StageEdit StageEdit::on(StageData& copy) const {
  StageEdit result = *this;
  result.copy_ = &copy;
  return result;
}

// ---- messages -----------------------------------------------------------------------------------

std::string StageEdit::subject() const { return primitive_ + " of " + describe(stage()); }
std::string StageEdit::subject(const IterVar& axis) const {
  return primitive_ + " of " + describe(stage(), axis);
}

void StageEdit::fail(const std::string& text) const { te::fail(primitive_, stage(), text, where_); }
void StageEdit::fail(const IterVar& axis, const std::string& text) const {
  te::fail(primitive_, stage(), axis, text, where_);
}
void StageEdit::warn(const std::string& text) const { warn_once(schedule_, text, where_); }

namespace {

std::string text_of(const AxisAttributes& attributes) {
  std::string text;
  auto add = [&](const std::string& mark) { text += (text.empty() ? "" : ", ") + mark; };
  if (attributes.run) add(run_text(*attributes.run));
  if (attributes.thread) add("bound to `" + attributes.thread->axis.name() + "`");
  for (const Pragma& pragma : attributes.pragmas) add("pragma `" + pragma.key + "`");
  for (const PrefetchRequest& request : attributes.prefetches)
    add("prefetch of `" + request.tensor.name() + "`");
  return text;
}

}  // namespace

void StageEdit::warn_dropped_marks() const {
  for (const IterVar& axis : stage().leaf_iter_vars) {
    const AxisAttributes* attributes = stage().attributes_of(axis);
    const std::string lost = attributes ? text_of(*attributes) : "";
    if (!lost.empty())
      warn(subject(axis) + ": its scheduling (" + lost +
           ") has no effect, since an inlined stage has no loops; mark its readers' loops");
  }
}

void StageEdit::warn_of_lost_marks(std::span<const IterVar> before) const {
  for (const IterVar& axis : before) {
    const AxisAttributes* attributes = stage().attributes_of(axis);
    if (!attributes || stage().has_leaf(axis)) continue;
    const std::string lost = text_of(*attributes);
    if (lost.empty()) continue;
    warn(subject(axis) + ": its scheduling (" + lost +
         ") no longer holds; mark a loop that was made from it");
  }
}

// ---- loops --------------------------------------------------------------------------------------

namespace {

std::string what_became_of(const Relation& relation) {
  return match(
      relation,
      [](const Split& r) {
        return "it has already been split into " + describe(std::vector{r.outer, r.inner}) +
               ": use one of these";
      },
      [](const Fuse& r) {
        return "it has already been fused into `" + r.fused.name() + "`: use that";
      },
      [](const Rebase& r) { return "it has been rebased to `" + r.rebased.name() + "`"; },
      [](const Singleton&) { return std::string("it is not a parent"); },
      [](const Transform& r) {
        return "its layout has been transformed into " + describe(r.transformed) +
               ": use one of these";
      });
}

}  // namespace

IterVar StageEdit::leaf(const IterVar& axis) const {
  IterVar current = axis;
  while (!stage().has_leaf(current)) {
    const Relation* consumer = stage().consumer_of(current);
    if (!consumer)
      fail(axis, "the axis is not part of this stage, whose loops are " +
                     describe(stage().leaf_iter_vars));
    const Rebase* rebase = std::get_if<Rebase>(consumer);
    if (!rebase) fail(axis, what_became_of(*consumer));
    current = rebase->rebased;
  }
  return current;
}

AxisAttributes& StageEdit::attributes(const IterVar& axis) const {
  if (std::holds_alternative<AttachInline>(stage().attach))
    warn(subject(axis) +
         ": it has no effect, since the stage is inlined and has no loops; mark the loops of its "
         "readers, or compute the stage at a loop or at root");
  return stage().attributes_of_or_new(axis);
}

// ---- checks -------------------------------------------------------------------------------------

bool StageEdit::runs_over_elements(const IterVar& axis) const {
  return derived_from(stage().op.axis(), stage().relations).contains(axis);
}

void StageEdit::check_not_tensorized(const IterVar& axis) const {
  const AxisAttributes* attributes = stage().attributes_of(axis);
  if (attributes && attributes->tensorize)
    fail(axis, "the axis is tensorized with intrinsic `" + attributes->tensorize->name() +
                   "`, which takes the place of this loop; change the loops first, then tensorize");
}

void StageEdit::check_not_tensorized() const {
  for (const IterVar& leaf : stage().leaf_iter_vars) check_not_tensorized(leaf);
}

void StageEdit::check_has_memory() const {
  if (const StageData* scan = schedule_.scan_of_state(number_))
    fail("it shares the memory of the state of " + describe(*scan) +
         ": apply the primitive to that stage");
}

void StageEdit::check_can_inline() const {
  const Compute* compute = stage().op.as<Compute>();
  if (!compute) fail("only a compute can be inlined");
  if (stage().is_output) fail("it is an output of the schedule and has no readers");
  if (compute->reduction())
    fail("it is a reduction, which cannot be part of an expression; use compute_at");
  check_not_tensorized();
}

tir::StorageScope parse_scope(const std::string& subject, std::string_view scope,
                              const SourceLocation& where) {
  if (std::optional<tir::StorageScope> known = tir::find_storage_scope(scope)) return *known;
  throw ScheduleError(subject + ": " + tir::no_such_scope(scope), where);
}

void check_is_there(const ScheduleData& schedule, StageNumber number, std::string_view primitive,
                    const SourceLocation& where) {
  const StageData& stage = schedule.stage(number);
  if (!std::holds_alternative<AttachInline>(stage.attach)) return;
  if (std::ranges::find(schedule.order, number) != schedule.order.end()) return;
  fail(primitive, stage, "normalize has inlined it, so it is not a stage of this schedule", where);
}

namespace {

using VarSet = std::unordered_set<const tir::ExprNode*>;

VarSet vars_of(const Expr& e) {
  VarSet vars;
  if (tir::is_constant(e)) return vars;
  for (const Var& var : tir::free_vars(e)) vars.insert(&var.node());
  return vars;
}

/// Returns the first axis whose variable is in the set; null if no variable matches.
const IterVar* find_axis_among(const VarSet& vars, std::span<const IterVar> axes) {
  const auto found = std::ranges::find_if(
      axes, [&](const IterVar& axis) { return vars.contains(&axis.var().node()); });
  return found == axes.end() ? nullptr : &*found;
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
    edit.fail(
        "the condition reads tensor `" + tensor.name() +
        "`, which is not a placeholder of this schedule and may not exist at the store; put the "
        "condition into the body, with if_then_else");
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
  edit.fail("its store predicate is about axis `" + used->name() + "`, which would be gone; call " +
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
  if (is_source && !value.as<tir::StringImm>()) refuse("a text: source, or the path of a file");
}

std::vector<IterVar> numbered_axes(const std::vector<Expr>& shape) {
  std::vector<IterVar> axes;
  for (std::size_t n = 0; n < shape.size(); ++n)
    axes.push_back(axis_over(shape[n], "ax" + std::to_string(n)));
  return axes;
}

std::vector<Expr> guards_of(const StageData& stage, std::span<const IterVar> roots,
                            const AxisRanges& ranges, const AxisValues& values,
                            arith::Facts& facts) {
  const AxisFlags guarded = find_guarded(stage.relations, ranges, facts);
  arith::IntervalMap leaves;
  for (const IterVar& leaf : stage.leaf_iter_vars)
    if (const Range* range = ranges.find(leaf))
      leaves.set(leaf.var(), arith::Interval::from_range(*range));
  // Intermediate axes need guards too: if an axis overshoots, the root's value computed from it may
  // still be inside the root's range.
  std::vector<Expr> guards;
  for (const IterVar& axis : stage.all_iter_vars) {
    if (!guarded.value_or(axis, false) || !values.contains(axis)) continue;
    if (contains(stage.op.root_iter_vars(), axis) && !contains(roots, axis)) continue;
    const Range& range = ranges.at(axis);
    const Expr value = values.at(axis) - range.min;
    const arith::Interval reached = arith::values_of(value, leaves, facts);
    if (!reached.max() || !arith::can_prove(*reached.max() < range.extent, facts))
      guards.push_back(value < range.extent);
  }
  return guards;
}

Expr zero_of(DataType type) {
  return type.is_floating() ? tir::make_float(type, 0) : tir::make_int(type, 0);
}

void reset_loops(const StageEdit& edit) {
  StageData& stage = edit.stage();
  const std::vector<IterVar> before = stage.leaf_iter_vars;
  stage.all_iter_vars = stage.op.root_iter_vars();
  stage.leaf_iter_vars = loops_of(stage.op);
  for (const Relation& relation : stage.relations)
    if (const Split* split = std::get_if<Split>(&relation))
      edit.schedule().replaced_splits.emplace_back(*split, describe(stage, split->parent));
  stage.relations.clear();
  edit.warn_of_lost_marks(before);
  std::erase_if(stage.attributes, [&](const auto& entry) { return !stage.has_axis(entry.first); });
}

void check_attached_axes_stay(const StageEdit& edit, std::span<const IterVar> staying) {
  const ScheduleData& schedule = edit.schedule();
  for (StageNumber other : schedule.order) {
    const AttachAt* at = std::get_if<AttachAt>(&schedule.effective_attach(other).first);
    if (!at || at->stage != edit.number() || contains(staying, at->axis)) continue;
    edit.fail(describe(schedule.stage(other)) + " is computed at its loop `" + at->axis.name() +
              "`, which would be gone; call " + edit.primitive() + " before compute_at");
  }
}

}  // namespace tenon::te

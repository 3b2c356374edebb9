#include "te/schedule/schedule_data.h"

#include <algorithm>

#include "te/schedule/stage_edit.h"

namespace tenon::te {

// ---- queries ------------------------------------------------------------------------------------

std::optional<StageNumber> ScheduleData::find(const Operation& op) const {
  auto found = stage_of.find(op.get());
  return found == stage_of.end() ? std::nullopt : std::optional(found->second);
}

StageNumber ScheduleData::require(const Operation& op, std::string_view primitive,
                                  const SourceLocation& where) const {
  if (std::optional<StageNumber> number = find(op)) {
    check_is_there(*this, *number, primitive, where);
    return *number;
  }
  throw ScheduleError(std::string(primitive) + ": operation `" + op.name() +
                          "` is not part of this schedule" + hint_for_stranger(op),
                      where);
}

/// Lists operations of the schedule for an error about an operation that does not belong to the
/// schedule.
std::string ScheduleData::hint_for_stranger(const Operation& op) const {
  for (const StageNumber number : order) {
    const Operation& own = stage(number).origin_op;
    if (own.name() == op.name())
      return ", whose `" + own.name() + "` is another operation, declared at " +
             to_string(own.where()) + "; the one given is declared at " + to_string(op.where());
  }
  constexpr std::size_t kMaxNames = 8;
  std::string names;
  for (std::size_t n = 0; n < std::min(order.size(), kMaxNames); ++n)
    names += (n == 0 ? "`" : ", `") + stage(order[n]).origin_op.name() + "`";
  return ", which has " + names + (order.size() > kMaxNames ? ", ..." : "") +
         "; the one given is declared at " + to_string(op.where());
}

std::optional<StageOutput> ScheduleData::find(const Tensor& tensor) const {
  std::optional<StageNumber> number = find(tensor.op());
  return number ? std::optional(StageOutput{*number, tensor.value_index()}) : std::nullopt;
}

StageOutput ScheduleData::require(const Tensor& tensor, std::string_view primitive,
                                  const SourceLocation& where) const {
  return {require(tensor.op(), primitive, where), tensor.value_index()};
}

Tensor ScheduleData::tensor(const StageOutput& output) const {
  return stage(output.stage).op.output(output.index);
}

const std::vector<StageOutput>& ScheduleData::reads(StageNumber number) const {
  return reads_[number.index()];
}

std::vector<StageNumber> ScheduleData::readers(StageNumber number) const {
  const std::set<StageNumber>& all = readers_[number.index()];
  std::vector<StageNumber> result;
  for (StageNumber reader : order) {
    if (result.size() == all.size()) break;
    if (all.contains(reader)) result.push_back(reader);
  }
  return result;
}

const std::set<StageNumber>& ScheduleData::readers_by_age(StageNumber number) const {
  return readers_[number.index()];
}

std::size_t ScheduleData::position(StageNumber number) const {
  auto found = std::ranges::find(order, number);
  internal_check(found != order.end(), "a stage that is not in the schedule's order");
  return static_cast<std::size_t>(found - order.begin());
}

bool ScheduleData::has_operation_named(const std::string& name) const {
  return names_.contains(name);
}

const StageData* ScheduleData::scan_of_state(StageNumber number) const {
  const std::optional<StageNumber> scan = scan_of_state_[number.index()];
  return scan ? &stage(*scan) : nullptr;
}

std::pair<const Attach&, const SourceLocation&> ScheduleData::effective_attach(
    StageNumber number) const {
  const StageData& own = stage(number);
  const Attach* attach = &own.attach;
  const SourceLocation* where = &own.attach_where;
  std::optional<GroupNumber> outer = own.group;
  while (std::holds_alternative<AttachRoot>(*attach) && outer) {
    attach = &group(*outer).attach;
    where = &group(*outer).attach_where;
    outer = group(*outer).group;
  }
  return {*attach, *where};
}

// ---- changes ------------------------------------------------------------------------------------

StageNumber ScheduleData::insert_stage(const Operation& op, std::size_t position) {
  ++version;
  const StageNumber number(stages.size());
  stages.push_back(StageData::make(op));
  reads_.emplace_back();
  readers_.emplace_back();
  scan_of_state_.emplace_back();
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(position), number);
  register_op(number);
  return number;
}

namespace {

/// Replaces an axis of a stage everywhere in the schedule.
void replace_axis(ScheduleData& schedule, StageNumber number, const IterVar& old_axis,
                  const IterVar& new_axis) {
  StageData& stage = schedule.stage(number);
  auto replace = [&](IterVar& axis) {
    if (axis.same_as(old_axis)) axis = new_axis;
  };
  std::ranges::for_each(stage.all_iter_vars, replace);
  std::ranges::for_each(stage.leaf_iter_vars, replace);
  for (auto& [axis, attributes] : stage.attributes) replace(axis);
  for (Relation& relation : stage.relations) {
    match(
        relation, [&](Split& r) { replace(r.parent); },
        [&](Fuse& r) { replace(r.outer), replace(r.inner); }, [&](Rebase& r) { replace(r.parent); },
        [](Singleton&) {}, [&](Transform& r) { std::ranges::for_each(r.originals, replace); });
  }
  const auto replace_in = [&](auto& attached) {
    AttachAt* at = std::get_if<AttachAt>(&attached.attach);
    if (at && at->stage == number) replace(at->axis);
  };
  std::ranges::for_each(schedule.stages, replace_in);
  std::ranges::for_each(schedule.groups, replace_in);
}

}  // namespace

void ScheduleData::set_op(StageNumber number, Operation op) {
  // A reduction axis whose range now reads another tensor is recreated with the same variable.
  const std::vector<IterVar> before = stage(number).op.reduce_axis();
  for (const IterVar& axis : op.reduce_axis())
    for (const IterVar& old_axis : before)
      if (axis.var().same_as(old_axis.var()) && !axis.same_as(old_axis))
        replace_axis(*this, number, old_axis, axis);
  stage(number).op = std::move(op);
  register_op(number);
}

void ScheduleData::register_op(StageNumber number) {
  const Operation& op = stage(number).op;
  stage_of.insert_or_assign(op.get(), number);
  known_ops.push_back(op);
  names_.insert(op.name());
  std::vector<StageOutput>& reads = reads_[number.index()];
  for (const StageOutput& read : reads) readers_[read.stage.index()].erase(number);
  reads.clear();
  for (const Tensor& input : op.inputs()) {
    const std::optional<StageOutput> output = find(input);
    if (!output)
      internal_error("a stage reads tensor `" + input.name() + "`, which no stage computes");
    reads.push_back(*output);
    readers_[output->stage.index()].insert(number);
  }
  if (op.as<Scan>()) register_scan(number);
}

void ScheduleData::register_scan(StageNumber number) {
  if (!scans_.empty() && number <= scans_.back()) {
    // The scan is already registered, but its parts have changed. The parts of all scans are
    // recorded again.
    std::ranges::fill(scan_of_state_, std::nullopt);
    for (StageNumber scan : scans_) claim_state(scan);
  } else {
    scans_.push_back(number);
    claim_state(number);
  }
}

void ScheduleData::claim_state(StageNumber number) {
  const Scan& scan = *stage(number).op.as<Scan>();
  for (const std::vector<Tensor>* tensors : {&scan.init, &scan.update, &scan.state})
    for (const Tensor& tensor : *tensors) {
      std::optional<StageNumber>& owner = scan_of_state_[find(tensor.op())->index()];
      if (!owner) owner = number;
    }
}

std::vector<IterVar> loops_of(const Operation& op) {
  std::vector<IterVar> loops = op.root_iter_vars();
  std::erase_if(loops, [](const IterVar& axis) { return axis.kind() == IterKind::Opaque; });
  return loops;
}

// ---- messages ------------------------------------------------------------------------

std::string describe(const StageSpec& stage) { return "stage `" + stage.origin_op.name() + "`"; }

std::string describe(const StageSpec& stage, const IterVar& axis) {
  return "axis `" + axis.name() + "` of " + describe(stage);
}

std::string describe(std::span<const IterVar> axes) {
  std::string text;
  for (const IterVar& axis : axes) text += (text.empty() ? "`" : ", `") + axis.name() + "`";
  return text.empty() ? "none" : text;
}

void fail(std::string_view primitive, const StageSpec& stage, const std::string& text,
          const SourceLocation& where) {
  throw ScheduleError(std::string(primitive) + " of " + describe(stage) + ": " + text, where);
}

void fail(std::string_view primitive, const StageSpec& stage, const IterVar& axis,
          const std::string& text, const SourceLocation& where) {
  throw ScheduleError(std::string(primitive) + " of " + describe(stage, axis) + ": " + text, where);
}

std::vector<IterVar> stored_axes(const StageSpec& stage) {
  for (const Relation& relation : stage.relations)
    if (const Transform* transform = std::get_if<Transform>(&relation))
      return transform->transformed;
  // The layout is transformed, but a dataflow rewrite has removed the loops over the new layout.
  if (stage.layout) return {};
  return stage.op.axis();
}

void warn_once(ScheduleData& schedule, const std::string& text, const SourceLocation& where) {
  const std::string warning = text + " (at " + to_string(where) + ")";
  std::vector<std::string>& warnings = schedule.warnings;
  if (std::ranges::find(warnings, warning) == warnings.end()) warnings.push_back(warning);
}

}  // namespace tenon::te

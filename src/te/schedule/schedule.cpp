#include "tenon/te/schedule.h"

#include <algorithm>
#include <unordered_set>

#include "te/schedule/schedule_data.h"
#include "tenon/te/analysis.h"

namespace tenon::te {

// ---- making a schedule --------------------------------------------------------------------------

int add_group(ScheduleData& schedule, const TensorList& outputs, const TensorList& inputs,
              bool include_inputs, const SourceLocation& where);

Schedule create_schedule(const std::vector<Operation>& outputs, SourceLocation where) {
  if (outputs.empty()) throw ScheduleError("create_schedule: needs at least one output", where);
  auto data = std::make_shared<ScheduleData>();
  for (const Operation& op : post_dfs_order(outputs)) {
    const StageId id = data->insert_stage(op, data->order.size());
    const Scan* scan = op.as<Scan>();
    if (!scan) continue;
    std::vector<Tensor> inputs = scan->state;
    inputs.insert(inputs.end(), scan->inputs.begin(), scan->inputs.end());
    const int group = add_group(*data, scan->update, inputs, false, where);
    data->groups[static_cast<std::size_t>(group)].attach = AttachScanUpdate{id, scan->scan_axis};
    data->groups[static_cast<std::size_t>(group)].name = op.name() + ".update";
  }
  for (const Operation& output : outputs) {
    const StageId id = *data->find(output);
    if (std::exchange(data->stage(id).is_output, true)) continue;
    data->outputs.push_back(id);
  }
  return Schedule(std::move(data));
}

Schedule create_schedule(const Operation& output, SourceLocation where) {
  return create_schedule(std::vector<Operation>{output}, where);
}
Schedule create_schedule(const Tensor& output, SourceLocation where) {
  return create_schedule(std::vector<Operation>{output.op()}, where);
}
Schedule create_schedule(std::initializer_list<Operation> outputs, SourceLocation where) {
  return create_schedule(std::vector<Operation>(outputs), where);
}
Schedule create_schedule(const std::vector<Tensor>& outputs, SourceLocation where) {
  return create_schedule(std::vector<Operation>(outputs.begin(), outputs.end()), where);
}

// ---- questions ----------------------------------------------------------------------------------

Stage Schedule::operator[](const StageKey& key) const {
  std::optional<StageId> id = data_->find(key.op);
  if (!id)
    throw ScheduleError("operation `" + key.op.name() + "` is not part of this schedule",
                        key.where);
  return Stage(data_, *id, false);
}

std::vector<Stage> Schedule::stages() const {
  std::vector<Stage> result;
  for (StageId id : data_->order) result.push_back(Stage(data_, id, false));
  return result;
}
std::vector<Operation> Schedule::outputs() const {
  std::vector<Operation> result;
  for (StageId id : data_->outputs) result.push_back(data_->stage(id).op);
  return result;
}
const std::vector<std::string>& Schedule::warnings() const { return data_->warnings; }

Schedule Schedule::copy() const { return Schedule(std::make_shared<ScheduleData>(*data_)); }

Schedule Schedule::normalize(SourceLocation where) const {
  Schedule result = copy();
  te::normalize(*result.data_, where);
  return result;
}

// ---- groups -------------------------------------------------------------------------------------

namespace {

using GroupId = std::optional<int>;

/// The innermost group that contains both.
GroupId common_group(const ScheduleData& schedule, GroupId a, GroupId b) {
  std::vector<int> outer_of_a;
  for (GroupId g = a; g; g = schedule.groups[static_cast<std::size_t>(*g)].group)
    outer_of_a.push_back(*g);
  for (GroupId g = b; g; g = schedule.groups[static_cast<std::size_t>(*g)].group)
    if (std::find(outer_of_a.begin(), outer_of_a.end(), *g) != outer_of_a.end()) return g;
  return std::nullopt;
}

/// Stages between inputs and outputs: those from which an input is reached.
class Between {
 public:
  Between(const ScheduleData& schedule, std::vector<StageId> inputs, bool include_inputs)
      : schedule_(schedule), inputs_(std::move(inputs)), include_inputs_(include_inputs) {}

  std::vector<StageId> found;

  bool visit(StageId id) {
    if (auto known = reaches_.find(id); known != reaches_.end()) return known->second;
    const bool is_input = std::find(inputs_.begin(), inputs_.end(), id) != inputs_.end();
    bool reaches = is_input;
    if (!is_input)
      for (const StageOutput& read : schedule_.reads(id)) reaches = visit(read.stage) || reaches;
    reaches_.emplace(id, reaches);
    if (is_input ? include_inputs_ : reaches) found.push_back(id);
    return reaches;
  }

 private:
  const ScheduleData& schedule_;
  std::vector<StageId> inputs_;
  bool include_inputs_;
  std::unordered_map<StageId, bool> reaches_;
};

std::vector<StageId> stages_of(const ScheduleData& schedule, const TensorList& tensors,
                               const SourceLocation& where) {
  std::vector<StageId> ids;
  for (const Tensor& tensor : tensors.tensors())
    ids.push_back(schedule.require(tensor, "create_group", where).stage);
  return ids;
}

/// The groups below `outer` that lie wholly among the stages; throws if one lies there partly.
std::vector<int> covered_groups(const ScheduleData& schedule, std::span<const StageId> stages,
                                GroupId outer, const SourceLocation& where) {
  std::vector<int> touched, missing(schedule.groups.size(), 0);
  for (StageId id = 0; id < static_cast<StageId>(schedule.stages.size()); ++id) {
    const bool inside = std::find(stages.begin(), stages.end(), id) != stages.end();
    for (GroupId g = schedule.stage(id).group; g && g != outer;
         g = schedule.groups[static_cast<std::size_t>(*g)].group) {
      if (!inside) ++missing[static_cast<std::size_t>(*g)];
      if (inside && std::find(touched.begin(), touched.end(), *g) == touched.end())
        touched.push_back(*g);
    }
  }
  for (int g : touched)
    if (missing[static_cast<std::size_t>(g)] > 0)
      throw ScheduleError("create_group: the stages intersect group `" +
                              schedule.groups[static_cast<std::size_t>(g)].name +
                              "` without containing it",
                          where);
  return touched;
}

}  // namespace

int add_group(ScheduleData& schedule, const TensorList& outputs, const TensorList& inputs,
              bool include_inputs, const SourceLocation& where) {
  Between between(schedule, stages_of(schedule, inputs, where), include_inputs);
  for (StageId output : stages_of(schedule, outputs, where)) between.visit(output);
  const std::vector<StageId>& members = between.found;
  if (members.empty())
    throw ScheduleError("create_group: no stage lies between the inputs and the outputs", where);

  GroupId outer = schedule.stage(members.front()).group;
  for (StageId id : members) outer = common_group(schedule, outer, schedule.stage(id).group);
  const std::vector<int> subgroups = covered_groups(schedule, members, outer, where);

  const int group = static_cast<int>(schedule.groups.size());
  GroupData data;
  data.name = "group of " + schedule.stage(members.back()).op.name();
  data.group = outer;
  schedule.groups.push_back(std::move(data));
  for (int sub : subgroups)
    if (schedule.groups[static_cast<std::size_t>(sub)].group == outer)
      schedule.groups[static_cast<std::size_t>(sub)].group = group;
  for (StageId id : members) {
    StageData& stage = schedule.stage(id);
    if (stage.group == outer) stage.group = group;
    const AttachAt* at = std::get_if<AttachAt>(&stage.attach);
    if (!at || common_group(schedule, schedule.stage(at->stage).group, group) == group) continue;
    schedule.warnings.push_back("create_group: " + describe(stage) +
                                " was computed at a loop outside of the group; it is now " +
                                "computed at the group's root (at " + to_string(where) + ")");
    stage.attach = AttachRoot{};
  }
  return group;
}

Stage Schedule::create_group(const TensorList& outputs, const TensorList& inputs,
                             bool include_inputs, SourceLocation where) const {
  return Stage(data_, add_group(*data_, outputs, inputs, include_inputs, where), true);
}

}  // namespace tenon::te

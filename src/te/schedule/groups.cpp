#include "te/schedule/groups.h"

#include <algorithm>

namespace tenon::te {

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

}  // namespace tenon::te

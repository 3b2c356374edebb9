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

/// Stages between inputs and outputs: those from which an input is reached. Producers come before
/// their readers.
class Between {
 public:
  Between(const ScheduleData& schedule, const std::vector<StageId>& inputs, bool include_inputs)
      : schedule_(schedule),
        inputs_(inputs.begin(), inputs.end()),
        include_inputs_(include_inputs) {}

  std::vector<StageId> found;

  /// Without recursion: chains of stages may be longer than the stack is deep.
  void visit(StageId output) {
    std::vector<Visit> path;
    enter(output, path);
    while (!path.empty()) {
      Visit& top = path.back();
      if (top.next < top.reads.size()) {
        enter(top.reads[top.next++].stage, path);
        continue;
      }
      const StageId id = top.id;
      const bool is_input = inputs_.contains(id);
      bool reaches = is_input;
      for (const StageOutput& read : top.reads) reaches = reaches || reaches_.at(read.stage);
      reaches_[id] = reaches;
      if (is_input ? include_inputs_ : reaches) found.push_back(id);
      path.pop_back();
    }
  }

 private:
  struct Visit {
    StageId id;
    std::vector<StageOutput> reads;
    std::size_t next = 0;
  };

  void enter(StageId id, std::vector<Visit>& path) {
    if (!reaches_.emplace(id, false).second) return;
    path.push_back({id, inputs_.contains(id) ? std::vector<StageOutput>{} : schedule_.reads(id)});
  }

  const ScheduleData& schedule_;
  std::unordered_set<StageId> inputs_;
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
  const std::unordered_set<StageId> members(stages.begin(), stages.end());
  for (StageId id = 0; id < static_cast<StageId>(schedule.stages.size()); ++id) {
    const bool inside = members.contains(id);
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

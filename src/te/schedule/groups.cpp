#include "te/schedule/groups.h"

#include <algorithm>

namespace tenon::te {

namespace {

using OuterGroup = std::optional<GroupNumber>;

/// Returns the innermost group that contains both.
OuterGroup common_group(const ScheduleData& schedule, OuterGroup a, OuterGroup b) {
  std::vector<GroupNumber> outer_of_a;
  for (OuterGroup g = a; g; g = schedule.group(*g).group) outer_of_a.push_back(*g);
  for (OuterGroup g = b; g; g = schedule.group(*g).group)
    if (std::find(outer_of_a.begin(), outer_of_a.end(), *g) != outer_of_a.end()) return g;
  return std::nullopt;
}

/// Collects the stages between inputs and outputs: those that depend on an input. Producers precede
/// their readers.
class Between {
 public:
  Between(const ScheduleData& schedule, const std::vector<StageNumber>& inputs, bool include_inputs)
      : schedule_(schedule),
        inputs_(inputs.begin(), inputs.end()),
        include_inputs_(include_inputs) {}

  std::vector<StageNumber> found;

  /// Iterative, because chains of stages may be longer than the stack.
  void visit(StageNumber output) {
    std::vector<Visit> path;
    enter(output, path);
    while (!path.empty()) {
      Visit& top = path.back();
      if (top.next < top.reads.size()) {
        enter(top.reads[top.next++].stage, path);
        continue;
      }
      const StageNumber id = top.id;
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
    StageNumber id;
    std::vector<StageOutput> reads;
    std::size_t next = 0;
  };

  void enter(StageNumber id, std::vector<Visit>& path) {
    if (!reaches_.emplace(id, false).second) return;
    path.push_back({id, inputs_.contains(id) ? std::vector<StageOutput>{} : schedule_.reads(id)});
  }

  const ScheduleData& schedule_;
  std::unordered_set<StageNumber> inputs_;
  bool include_inputs_;
  std::unordered_map<StageNumber, bool> reaches_;
};

std::vector<StageNumber> stages_of(const ScheduleData& schedule, const TensorList& tensors,
                                   const SourceLocation& where) {
  std::vector<StageNumber> ids;
  for (const Tensor& tensor : tensors.tensors())
    ids.push_back(schedule.require(tensor, "create_group", where).stage);
  return ids;
}

/// Returns the groups in `outer` that consist entirely of these stages. Throws if a group contains
/// some but not all of them.
std::vector<GroupNumber> covered_groups(const ScheduleData& schedule,
                                        std::span<const StageNumber> stages, OuterGroup outer,
                                        const SourceLocation& where) {
  const std::unordered_set<StageNumber> members(stages.begin(), stages.end());
  std::vector<GroupNumber> touched;
  std::vector<bool> is_touched(schedule.groups.size()), has_others(schedule.groups.size());
  for (std::size_t n = 0; n < schedule.stages.size(); ++n) {
    const bool inside = members.contains(StageNumber(n));
    for (OuterGroup g = schedule.stages[n].group; g && g != outer; g = schedule.group(*g).group) {
      if (!inside) has_others[g->index()] = true;
      if (!inside || is_touched[g->index()]) continue;
      is_touched[g->index()] = true;
      touched.push_back(*g);
    }
  }
  for (GroupNumber g : touched)
    if (has_others[g.index()])
      throw ScheduleError("create_group: the stages intersect group `" + schedule.group(g).name +
                              "` without containing it",
                          where);
  return touched;
}

}  // namespace

GroupNumber add_group(ScheduleData& schedule, const TensorList& outputs, const TensorList& inputs,
                      bool include_inputs, const SourceLocation& where) {
  Between between(schedule, stages_of(schedule, inputs, where), include_inputs);
  for (StageNumber output : stages_of(schedule, outputs, where)) between.visit(output);
  const std::vector<StageNumber>& members = between.found;
  if (members.empty())
    throw ScheduleError("create_group: no stage lies between the inputs and the outputs", where);

  OuterGroup outer = schedule.stage(members.front()).group;
  for (StageNumber id : members) outer = common_group(schedule, outer, schedule.stage(id).group);
  const std::vector<GroupNumber> subgroups = covered_groups(schedule, members, outer, where);

  const GroupNumber group(schedule.groups.size());
  GroupData data;
  data.name = "group of " + schedule.stage(members.back()).op.name();
  data.group = outer;
  schedule.groups.push_back(std::move(data));
  for (GroupNumber sub : subgroups)
    if (schedule.group(sub).group == outer) schedule.group(sub).group = group;
  for (StageNumber id : members) {
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

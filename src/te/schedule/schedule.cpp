#include "tenon/te/schedule.h"

#include <algorithm>
#include <map>
#include <set>

#include "te/schedule/normalize.h"
#include "te/schedule/schedule_data.h"
#include "tenon/te/operation.h"

namespace tenon::te {

namespace {

// Groups: stages that are attached together.

using OuterGroup = std::optional<GroupNumber>;

/// Returns the innermost group that contains both groups; nullopt if no group does.
OuterGroup common_group(const ScheduleData& schedule, OuterGroup a, OuterGroup b) {
  std::vector<GroupNumber> outer_of_a;
  for (OuterGroup g = a; g; g = schedule.group(*g).group) outer_of_a.push_back(*g);
  for (OuterGroup g = b; g; g = schedule.group(*g).group)
    if (std::ranges::find(outer_of_a, *g) != outer_of_a.end()) return g;
  return std::nullopt;
}

std::vector<StageNumber> stages_of(const ScheduleData& schedule, const TensorList& tensors,
                                   const SourceLocation& where) {
  std::vector<StageNumber> ids;
  for (const Tensor& tensor : tensors.tensors())
    ids.push_back(schedule.require(tensor, "create_group", where).stage);
  return ids;
}

/// Returns the stages between inputs and outputs, which are those that depend on an input.
/// Producers precede their readers.
std::vector<StageNumber> stages_between(const ScheduleData& schedule,
                                        const std::vector<StageNumber>& inputs,
                                        const std::vector<StageNumber>& outputs,
                                        bool include_inputs) {
  const std::set<StageNumber> all_inputs(inputs.begin(), inputs.end());
  std::vector<StageNumber> found;
  std::map<StageNumber, bool> depends_on_input;
  // Iterative, because chains of stages may be longer than the stack. The path leads from an output
  // to the current stage; each stage has the number of its reads that have been entered.
  std::vector<std::pair<StageNumber, std::size_t>> path;
  const auto enter = [&](StageNumber id) {
    if (depends_on_input.emplace(id, false).second) path.emplace_back(id, 0);
  };
  for (const StageNumber output : outputs) {
    enter(output);
    while (!path.empty()) {
      auto& [id, next] = path.back();
      const bool is_input = all_inputs.contains(id);
      const std::vector<StageOutput>& reads = schedule.reads(id);
      if (!is_input && next < reads.size()) {
        enter(reads[next++].stage);
        continue;
      }
      const auto depends = [&](const StageOutput& read) { return depends_on_input.at(read.stage); };
      depends_on_input[id] = is_input || std::ranges::any_of(reads, depends);
      if (is_input ? include_inputs : depends_on_input[id]) found.push_back(id);
      path.pop_back();
    }
  }
  return found;
}

/// Returns the groups in `outer` that consist entirely of these stages. Throws if a group contains
/// some but not all of them.
std::vector<GroupNumber> covered_groups(const ScheduleData& schedule,
                                        std::span<const StageNumber> stages, OuterGroup outer,
                                        const SourceLocation& where) {
  const std::set<StageNumber> members(stages.begin(), stages.end());
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

/// Makes a group of the stages between the inputs and the outputs, and returns its number. Stages
/// attached outside the group move to the group's root, with a warning.
GroupNumber add_group(ScheduleData& schedule, const TensorList& outputs, const TensorList& inputs,
                      bool include_inputs, const SourceLocation& where) {
  const std::vector<StageNumber> input_stages = stages_of(schedule, inputs, where);
  const std::vector<StageNumber> members =
      stages_between(schedule, input_stages, stages_of(schedule, outputs, where), include_inputs);
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

}  // namespace

// ---- creation -----------------------------------------------------------------------------------

Schedule create_schedule(const std::vector<Operation>& outputs, SourceLocation where) {
  if (outputs.empty()) throw ScheduleError("create_schedule: needs at least one output", where);
  auto data = std::make_shared<ScheduleData>();
  for (const Operation& op : post_dfs_order(outputs)) data->insert_stage(op, data->order.size());
  for (const Operation& output : outputs) {
    const StageNumber id = *data->find(output);
    if (std::exchange(data->stage(id).is_output, true)) continue;
    data->outputs.push_back(id);
  }
  for (const StageNumber id : std::vector(data->order)) {
    if (!data->stage(id).op.as<Scan>()) continue;
    copy_shared_parts(*data, id);
    const Operation op = data->stage(id).op;
    const Scan& scan = *op.as<Scan>();
    for (const Tensor& state : scan.state)
      if (const StageData* owner = data->scan_of_state(*data->find(state.op()));
          owner != &data->stage(id))
        throw ScheduleError("scan `" + op.name() + "`: its state `" + state.name() +
                                "` is a state of scan `" + owner->origin_op.name() +
                                "` as well; declare a placeholder for each",
                            op.where());
    std::vector<Tensor> inputs = scan.state;
    inputs.insert(inputs.end(), scan.inputs.begin(), scan.inputs.end());
    GroupData& group = data->group(add_group(*data, scan.update, inputs, false, where));
    group.attach = AttachScanUpdate{id, scan.scan_axis};
    group.attach_where = op.where();
    group.name = op.name() + ".update";
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

// ---- queries ------------------------------------------------------------------------------------

Stage Schedule::operator[](const StageKey& key) const {
  std::optional<StageNumber> id = data_->find(key.op);
  if (!id)
    throw ScheduleError("operation `" + key.op.name() + "` is not part of this schedule" +
                            data_->hint_for_stranger(key.op),
                        key.where);
  return Stage(data_, *id);
}

std::vector<Stage> Schedule::stages() const {
  std::vector<Stage> result;
  for (StageNumber id : data_->order) result.push_back(Stage(data_, id));
  return result;
}
std::vector<Operation> Schedule::outputs() const {
  std::vector<Operation> result;
  for (StageNumber id : data_->outputs) result.push_back(data_->stage(id).op);
  return result;
}
const std::vector<std::string>& Schedule::warnings() const { return data_->warnings; }

Schedule Schedule::copy() const { return Schedule(std::make_shared<ScheduleData>(*data_)); }

Schedule Schedule::normalize(SourceLocation where) const {
  Schedule result = copy();
  te::normalize(*result.data_, where);
  return result;
}

Stage Schedule::create_group(const TensorList& outputs, const TensorList& inputs,
                             bool include_inputs, SourceLocation where) const {
  const GroupNumber group = add_group(*data_, outputs, inputs, include_inputs, where);
  ++data_->version;
  return Stage(data_, group);
}

}  // namespace tenon::te

#include "tenon/te/schedule.h"

#include "te/schedule/groups.h"
#include "te/schedule/normalize.h"
#include "tenon/te/post_dfs_order.h"

namespace tenon::te {

// ---- creation -----------------------------------------------------------------------------------

Schedule create_schedule(const std::vector<Operation>& outputs, SourceLocation where) {
  if (outputs.empty()) throw ScheduleError("create_schedule: needs at least one output", where);
  auto data = std::make_shared<ScheduleData>();
  for (const Operation& op : post_dfs_order(outputs)) {
    const StageNumber id = data->insert_stage(op, data->order.size());
    const Scan* scan = op.as<Scan>();
    if (!scan) continue;
    std::vector<Tensor> inputs = scan->state;
    inputs.insert(inputs.end(), scan->inputs.begin(), scan->inputs.end());
    GroupData& group = data->group(add_group(*data, scan->update, inputs, false, where));
    group.attach = AttachScanUpdate{id, scan->scan_axis};
    group.name = op.name() + ".update";
  }
  for (const Operation& output : outputs) {
    const StageNumber id = *data->find(output);
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
  return Stage(data_, add_group(*data_, outputs, inputs, include_inputs, where));
}

}  // namespace tenon::te

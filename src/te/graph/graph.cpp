#include "tenon/te/graph.h"

namespace tenon::te {

std::optional<ScanPart> FrozenStage::scan_part(int output) const {
  if (scan_parts.empty()) return std::nullopt;
  return scan_parts[static_cast<std::size_t>(output)];
}

std::span<const StageId> StageGraph::reads(StageId id) const { return reads_[id.index()]; }
std::span<const StageId> StageGraph::readers(StageId id) const { return readers_[id.index()]; }
const std::vector<TensorReaders>& StageGraph::output_readers(StageId id) const {
  return output_readers_[id.index()];
}
const std::vector<AttachPoint>& StageGraph::attach_path(StageId id) const {
  return attach_paths_[id.index()];
}
std::span<const StageId> StageGraph::attached_in(StageId stage) const {
  return attached_[stage.index()];
}

std::vector<StageId> StageGraph::attached_at(StageId stage, const IterVar& axis) const {
  std::vector<StageId> result;
  for (StageId id : attached_in(stage))
    if (attach_path(id).front().axis.same_as(axis)) result.push_back(id);
  return result;
}

std::optional<StageId> StageGraph::find(const Operation& op) const {
  auto found = stage_of_.find(op.get());
  return found == stage_of_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<OutputId> StageGraph::find(const Tensor& tensor) const {
  const std::optional<StageId> id = find(tensor.op());
  return id ? std::optional(OutputId{*id, tensor.value_index()}) : std::nullopt;
}

Tensor StageGraph::resolve(const Tensor& tensor) const {
  std::optional<StageId> id = find(tensor.op());
  return id ? stage(*id).op.output(tensor.value_index()) : tensor;
}

}  // namespace tenon::te

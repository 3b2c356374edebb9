// The frozen schedule: stages in order with dense numbers, who reads whom, who is computed where.
// What bound inference and the making of loops work on; nothing in it changes any more.
//
//   te::StageGraph graph = te::freeze(schedule);
//   for (te::StageId s = graph.size(); s-- > 0;) infer(graph.stage(s), graph.attach_path(s));
#pragma once

#include "tenon/te/schedule.h"

namespace tenon::te {

/// One loop around a stage.
struct AttachPoint {
  StageId stage;
  IterVar axis;
};

/// A stage that reads a tensor.
struct TensorReaders {
  Tensor tensor;
  std::vector<StageId> readers;
};

class StageGraph {
 public:
  int size() const { return static_cast<int>(stages_.size()); }
  /// Producers have smaller numbers than their readers. The numbers in `attach` are of this graph;
  /// a member of a group carries the group's place.
  const StageData& stage(StageId id) const { return stages_[static_cast<std::size_t>(id)]; }

  /// The stages that this one reads, and those that read it; ascending.
  std::span<const StageId> reads(StageId id) const;
  std::span<const StageId> readers(StageId id) const;
  /// The readers of each output of the stage, one entry per output.
  const std::vector<TensorReaders>& output_readers(StageId id) const;

  /// The loops around the stage, innermost first: its attach point, the loops outside of that in
  /// the same stage, then those around that stage, ...; empty at root.
  const std::vector<AttachPoint>& attach_path(StageId id) const;
  /// The stages attached directly at this loop, in order.
  std::vector<StageId> attached_at(StageId stage, const IterVar& axis) const;
  /// All stages attached directly at some loop of this stage, in order.
  std::span<const StageId> attached_in(StageId stage) const;

  /// The stage that computes the operation, be it current or one that it had before; none if it was
  /// inlined.
  std::optional<StageId> find(const Operation& op) const;
  /// The tensor that now stands for a tensor that the user holds.
  Tensor resolve(const Tensor& tensor) const;
  const std::vector<StageId>& outputs() const { return outputs_; }
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  friend class GraphBuilder;
  StageGraph() = default;
  std::vector<StageData> stages_;
  std::vector<std::vector<StageId>> reads_, readers_, attached_;
  std::vector<std::vector<TensorReaders>> output_readers_;
  std::vector<std::vector<AttachPoint>> attach_paths_;
  std::vector<StageId> outputs_;
  std::vector<std::string> warnings_;
  std::unordered_map<const OperationNode*, StageId> stage_of_;
  /// Keeps the operations of stage_of_ alive.
  std::vector<Operation> past_ops_;
};

/// The scope that a stage is kept in: the one that was set, else by the threads around it: Local
/// under threadIdx, Shared under blockIdx alone, Global otherwise.
tir::StorageScope scope_of(const StageGraph& graph, StageId stage);

}  // namespace tenon::te

// The frozen schedule: stages in order with dense numbers, who reads whom, who is computed where.
// What bound inference and the making of loops work on; nothing in it changes any more.
//
//   te::StageGraph graph = te::freeze(schedule);
//   for (te::StageId id : graph.ids() | std::views::reverse)       // consumers first
//     infer(graph.stage(id), graph.attach_path(id));
#pragma once

#include <span>
#include <unordered_map>

#include "tenon/te/schedule.h"
#include "tenon/te/stage_data.h"

namespace tenon::te {

struct FrozenStage;

/// A stage's number in a StageGraph: producers have smaller numbers than their readers.
using StageId = DenseId<FrozenStage>;
/// A tensor by its stage and the index of its output.
using OutputId = OutputOf<StageId>;

/// One loop around a stage.
struct AttachPoint {
  StageId stage;
  IterVar axis;
};

/// What a tensor is to the scan that keeps it in the memory of its state.
struct ScanPart {
  /// What the tensor holds of the state.
  enum class Role : std::uint8_t {
    Initial,  ///< the steps before the first
    Update,   ///< what a step adds
    State,    ///< the placeholder that a step reads earlier steps from
  };
  Role role;
  /// The state, as an output of the scan.
  OutputId state;
};

/// A stage as it is computed: no longer inlined, its place and its memory settled.
struct FrozenStage : StageSpec {
  /// The loop that it is computed in; none at root. A member of a group is where the group is.
  std::optional<AttachPoint> place = std::nullopt;
  /// Whether it is computed there as (a part of) the update of the scan: innermost, behind all that
  /// is attached to the time loop.
  bool is_scan_update = false;
  /// The scope that was set, else the one by the threads around it: Local under threadIdx, Shared
  /// under blockIdx alone, Global otherwise. What fills the state of a scan is where the scan is.
  tir::StorageScope scope = tir::StorageScope::Global;
  bool scope_is_set = false;
  /// Per output; empty if no output is part of a scan.
  std::vector<std::optional<ScanPart>> scan_parts = {};

  /// None if the output is no part of a scan.
  std::optional<ScanPart> scan_part(int output) const;
};

/// A stage that reads a tensor.
struct TensorReaders {
  Tensor tensor;
  std::vector<StageId> readers;
};

class StageGraph {
 public:
  std::size_t size() const { return stages_.size(); }
  /// All stages in order.
  std::span<const StageId> ids() const { return ids_; }
  const FrozenStage& stage(StageId id) const { return stages_[id.index()]; }

  /// The stages that this one reads, and those that read it; ascending.
  std::span<const StageId> reads(StageId id) const;
  std::span<const StageId> readers(StageId id) const;
  /// The readers of each output of the stage, one entry per output.
  const std::vector<TensorReaders>& output_readers(StageId id) const;

  /// The loops around the stage, innermost first: its place, the loops outside of that in the same
  /// stage, then those around that stage, ...; empty at root.
  const std::vector<AttachPoint>& attach_path(StageId id) const;
  /// The stages attached directly at this loop, in order.
  std::vector<StageId> attached_at(StageId stage, const IterVar& axis) const;
  /// All stages attached directly at some loop of this stage, in order.
  std::span<const StageId> attached_in(StageId stage) const;

  /// The stage that computes the operation, be it current or one that it had before; none if it was
  /// inlined.
  std::optional<StageId> find(const Operation& op) const;
  std::optional<OutputId> find(const Tensor& tensor) const;
  /// The tensor that now stands for a tensor that the user holds.
  Tensor resolve(const Tensor& tensor) const;
  const std::vector<StageId>& outputs() const { return outputs_; }
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  friend class GraphBuilder;
  StageGraph() = default;
  std::vector<FrozenStage> stages_;
  std::vector<StageId> ids_;
  std::vector<std::vector<StageId>> reads_, readers_, attached_;
  std::vector<std::vector<TensorReaders>> output_readers_;
  std::vector<std::vector<AttachPoint>> attach_paths_;
  std::vector<StageId> outputs_;
  std::vector<std::string> warnings_;
  std::unordered_map<const OperationNode*, StageId> stage_of_;
  /// Keeps the operations of stage_of_ alive.
  std::vector<Operation> past_ops_;
};

}  // namespace tenon::te

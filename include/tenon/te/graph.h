// The frozen schedule: numbered stages, their dependences and their attach points. Immutable; the
// input of bound inference and loop generation.
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

/// The number of a stage in a StageGraph. Producers have smaller numbers than their readers.
using StageId = DenseId<FrozenStage>;
/// A tensor, identified by its stage and output index.
using OutputId = OutputOf<StageId>;

/// A loop that a stage is attached to.
struct AttachPoint {
  StageId stage;
  IterVar axis;
};

/// A tensor that is stored in the memory of a scan's state, and its role in the scan.
struct ScanPart {
  /// The part of the state that the tensor holds.
  enum class Role : std::uint8_t {
    Initial,  ///< the values before the first step
    Update,   ///< the result of a step
    State,    ///< the placeholder through which a step reads earlier steps
  };
  Role role;
  /// The output of the scan whose memory the tensor shares.
  OutputId state;
};

/// A stage that is not inlined, with its final attach point and memory.
struct FrozenStage : StageSpec {
  /// The loop that the stage is attached to; nullopt at root. Members of a group have the group's
  /// attach point.
  std::optional<AttachPoint> place = std::nullopt;
  /// Whether the stage computes the update of a scan, or a part of the update. Such a stage is
  /// placed in the innermost loop of the scan, after all stages attached to the time loop.
  bool is_scan_update = false;
  /// The memory scope that the schedule set. If it set none, the scope that the enclosing threads
  /// imply: Local under threadIdx, Shared under blockIdx only, Global otherwise. Parts of a scan's
  /// state have the scope of the scan.
  tir::StorageScope scope = tir::StorageScope::Global;
  bool scope_is_set = false;
  /// The scan part of each output. Empty if no output is part of a scan.
  std::vector<std::optional<ScanPart>> scan_parts = {};

  /// Returns the scan part of an output; nullopt if it is not part of a scan.
  std::optional<ScanPart> scan_part(int output) const;
};

class StageGraph {
 public:
  std::size_t size() const { return stages_.size(); }
  /// Returns all stages, producers first.
  std::span<const StageId> ids() const { return ids_; }
  const FrozenStage& stage(StageId id) const { return stages_[id.index()]; }

  /// Return the stages that this one reads, and the stages that read it, in ascending order.
  std::span<const StageId> reads(StageId id) const;
  std::span<const StageId> readers(StageId id) const;
  /// Returns the readers of each output of the stage.
  const std::vector<std::vector<StageId>>& output_readers(StageId id) const;

  /// Returns the loops around the stage, innermost first: its attach point, the loops outside it in
  /// the same stage, then the loops around that stage, and so on. Empty at root.
  const std::vector<AttachPoint>& attach_path(StageId id) const;
  /// Returns the stages attached directly to this loop, producers first.
  std::vector<StageId> attached_at(StageId stage, const IterVar& axis) const;

  /// Returns the stage for `op`, also if a rewrite has since replaced the operation; nullopt if it
  /// was inlined.
  std::optional<StageId> find(const Operation& op) const;
  std::optional<OutputId> find(const Tensor& tensor) const;
  const std::vector<StageId>& outputs() const { return outputs_; }
  /// Returns the splits that no stage has as a relation any more, but whose counts occur in ranges.
  const std::vector<ReplacedSplit>& replaced_splits() const { return replaced_splits_; }

 private:
  friend class GraphBuilder;
  StageGraph() = default;
  std::vector<FrozenStage> stages_;
  std::vector<StageId> ids_;
  std::vector<std::vector<StageId>> reads_, readers_, attached_;
  std::vector<std::vector<std::vector<StageId>>> output_readers_;
  std::vector<std::vector<AttachPoint>> attach_paths_;
  std::vector<StageId> outputs_;
  std::vector<ReplacedSplit> replaced_splits_;
  std::unordered_map<const OperationNode*, StageId> stage_of_;
  /// The operations that are keys of `stage_of_`, kept alive because the keys are their addresses.
  std::vector<Operation> past_ops_;
};

}  // namespace tenon::te

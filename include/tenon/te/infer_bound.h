// Bound inference: computes the range of every axis of a frozen schedule from the regions that the
// consumers of each stage require.
//
//   te::Bounds bounds = te::infer_bound(s);
//   bounds[s[B].axis(0)]       // range(min=(i.outer*8), ext=10), for one iteration of i.outer
//   std::cout << bounds;       // a table
//
// An output is required in full. Any other stage is required where its consumers read it during one
// iteration of the loops around it. Consumer loops inside the attach point are relaxed to their
// full range, as are thread-bound loops whose threads share the stage's memory. The required region
// is the hull of all reads: a superset of the elements touched. Ranges then propagate from root
// axes to loops.
#pragma once

#include <iosfwd>

#include "tenon/te/schedule.h"

namespace tenon::te {

class StageGraph;
template <class T>
class AxisMap;
using StageId = DenseId<struct FrozenStage>;

class Bounds {
 public:
  /// The range of one axis of one stage.
  struct Entry {
    StageId stage;
    IterVar axis;
    Range range;
  };

  /// Returns the range of the axis. BoundError if the axis does not belong to the schedule.
  const Range& operator[](const IterVar& axis) const;
  const Range& at(const IterVar& axis) const { return (*this)[axis]; }
  /// Returns the range of the axis, or null if it does not belong to the schedule.
  const Range* find(const IterVar& axis) const;
  const AxisMap<Range>& ranges() const;
  /// Returns all axes, by stage, producers first. Within a stage: the axes of the operation, axes
  /// created by relations, then bound threads.
  const std::vector<Entry>& entries() const;
  /// Returns the frozen schedule if the bounds were inferred from a Schedule; null if the caller
  /// passed a graph.
  const StageGraph* graph() const;
  /// Whether the bounds were inferred from this schedule in its current version.
  bool are_of(const Schedule& schedule) const;

  struct Data;
  explicit Bounds(Shared<const Data> data) : data_(std::move(data)) {}
  // A move copies, so that a moved-from handle is not empty.
  Bounds(const Bounds&) = default;
  Bounds& operator=(const Bounds&) = default;
  /// For use inside te only (src/te/bounds/bound_inference.h).
  const Data& data() const { return *data_; }

 private:
  Shared<const Data> data_;
};

Bounds infer_bound(const StageGraph& graph);
/// Freezes the schedule in its current state and infers its bounds.
Bounds infer_bound(const Schedule& schedule, SourceLocation where = SourceLocation::current());

/// Prints one line per axis: stage, axis, range.
std::ostream& operator<<(std::ostream& out, const Bounds& bounds);

// Bound inference that covers only the elements touched. infer_bound may cover more, as TVM 0.9
// does.
//
//   te::StageGraph graph = te::freeze(s);
//   lower(te::schedule_ops(graph, te::infer_exact_bound(graph), {A, B, C}))
//
// Differences from infer_bound:
// - Iterations of a split loop beyond the end of the axis require nothing. If 20 elements are
//   computed in 7 tiles of 3, infer_exact_bound requires 20 elements of a producer, infer_bound 21.
// - The required region does not exceed the tensor. If a padded tile spans 62 elements of a tensor
//   with 58, infer_exact_bound requires 58 elements, infer_bound 62.
// - The row that a stage reads may be an element of a placeholder, as in X[index[i], j]. If X is
//   attached to loop i, infer_exact_bound requires one row of X, infer_bound all rows.

Bounds infer_exact_bound(const StageGraph& graph);

// Reports: the region that the readers of each tensor require, and the readers that determine it.

struct RequiredDimension {
  /// The hull of the reads, not rounded up to the extents of loops.
  Range range;
  /// The readers that determine the ends of the hull: one reader for both ends, or one for each
  /// end.
  std::vector<StageId> decided_by;
};

using RequiredBox = std::vector<RequiredDimension>;

/// Returns the required region of every output of every stage. The outputs of a compute are
/// computed together, so that a read of one output requires the same region of all outputs. Outputs
/// of the schedule, and tensors without readers, are required in full; no reader determines their
/// range. If `exact`, uses the bounds of infer_exact_bound.
std::vector<std::vector<RequiredBox>> required_boxes(const StageGraph& graph, bool exact);

}  // namespace tenon::te

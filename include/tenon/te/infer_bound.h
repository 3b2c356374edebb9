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
  // Moves are copies, so that a handle is never empty.
  Bounds(const Bounds&) = default;
  Bounds& operator=(const Bounds&) = default;
  /// For use inside te only (src/te/bounds/bounds_data.h).
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
// - The part of a split's loops that overshoots the divided axis reads nothing. For 20 elements in
//   7 tiles of 3, a producer needs 20 elements; infer_bound reserves 21.
// - A padded tile is not larger than the tensor: 62 of 58 elements become 58.
// - A stage that is computed where an element `index(i)` of an input selects the row to read
//   computes that row. infer_bound computes all rows in every iteration.

Bounds infer_exact_bound(const StageGraph& graph);

// The requirements on every stage and the readers that determine them, for reports.

struct RequiredDimension {
  /// The hull of the reads, not rounded up to the extents of loops.
  Range range;
  /// The readers that reach an end of the hull: one that reaches both, or one for each end.
  std::vector<StageId> decided_by;
};

using RequiredBox = std::vector<RequiredDimension>;

/// Returns the requirements by stage and output. The outputs of a compute are computed together, so
/// that reads of one output count for all outputs. Outputs of the schedule, and tensors without
/// readers, are required in full; no reader determines their range. `exact`: uses the bounds of
/// infer_exact_bound.
std::vector<std::vector<RequiredBox>> required_boxes(const StageGraph& graph, bool exact);

}  // namespace tenon::te

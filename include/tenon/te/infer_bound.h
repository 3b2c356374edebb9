// Bound inference: the range of every axis of a frozen schedule, from what each stage's readers
// need of it.
//
//   te::Bounds bounds = te::infer_bound(s);
//   bounds[s[B].axis(0)]                      // range(min=(i.outer*8), ext=10): what one iteration of
//   i.outer needs std::cout << bounds;                      // a table
//
// Outputs are needed whole. Any other stage is needed where its readers read it while one iteration
// of the loops around it runs: every loop of a reader inside of those is relaxed to its whole
// range, and so are loops bound to threads that share the memory that the stage is kept in. The
// union over all reads is their box hull, never less than what is touched. Ranges then go down from
// root axes to loops.
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

  /// BoundError if the axis is none of the schedule's.
  const Range& operator[](const IterVar& axis) const;
  const Range& at(const IterVar& axis) const { return (*this)[axis]; }
  /// Null if the axis is none of the schedule's.
  const Range* find(const IterVar& axis) const;
  const AxisMap<Range>& ranges() const;
  /// All axes: by stage, producers first; in a stage its operation's axes, then those that
  /// relations made, then the threads bound to it.
  const std::vector<Entry>& entries() const;
  /// The frozen schedule, where the bounds are of a schedule; null where they are of a graph that
  /// the caller has.
  const StageGraph* graph() const;

  struct Data;
  explicit Bounds(Shared<const Data> data) : data_(std::move(data)) {}
  // Moving copies, so that a handle is never empty.
  Bounds(const Bounds&) = default;
  Bounds& operator=(const Bounds&) = default;
  /// For the room that made them (src/te/bounds/bounds_data.h).
  const Data& data() const { return *data_; }

 private:
  Shared<const Data> data_;
};

Bounds infer_bound(const StageGraph& graph);
/// The bounds of the schedule as it is frozen now.
Bounds infer_bound(const Schedule& schedule, SourceLocation where = SourceLocation::current());

/// One line per axis: stage, axis, range.
std::ostream& operator<<(std::ostream& out, const Bounds& bounds);

}  // namespace tenon::te

// Thread axes that are hoisted above the loops bound to them. Memory that is private to a thread is
// visible only in that thread. The thread axis must therefore enclose the stage and all its
// readers:
//
//   s[L].compute_at(s[C], bx).bind(s[L].axis(1), tx);   // L in local memory, C's axis bound to tx
//
//   attr blockIdx.x, attr threadIdx.x:  L[tx] = ...; C[tx] = L[tx]
#pragma once

#include <map>

#include "te/relations/propagate.h"
#include "tenon/te/graph.h"

namespace tenon::te {

/// The threads around a stage that are not loops around it. They are bound to the stage's own
/// loops, or to loops of readers whose variables occur in the requirements on the stage.
class LiftedThreads {
 public:
  /// Precondition: all ranges are inferred.
  LiftedThreads(const StageGraph& graph, const AxisRanges& ranges);

  /// Returns the hoisted threads of a stage; empty if the threads share its memory.
  std::vector<IterVar> around(StageId stage) const;

  /// Returns those hoisted threads of the stages attached inside this stage's loops that share this
  /// stage's memory and that the stage does not run in. All of them execute the code after the
  /// inner stages. See idle_threads.
  std::vector<IterVar> idle_inside(StageId stage) const;

  /// Returns the threads whose variables occur in the readers' requirements on the stage: each
  /// thread computes its own part. They may also be loops around the stage.
  std::vector<IterVar> divided_by_readers(StageId stage) const;

  /// Returns the number of these threads that need the stage: the maximum extent of the readers'
  /// loops that are bound to the tag. Nullopt if all threads need it because they share it without
  /// dividing it.
  std::optional<Expr> needed(StageId stage, const IterVar& thread) const;

  /// Returns the number of threads of the tag in the stage's launch, over all axes bound to it.
  /// Each of them has its own copy of the stage.
  Expr launched(StageId stage, const IterVar& thread, const Facts& facts) const;

 private:
  /// Returns the threads that divide the work of the stage's readers and are not loops around the
  /// stage.
  std::vector<IterVar> of_readers(StageId stage) const;
  StageId outermost(StageId stage) const;

  const StageGraph& graph_;
  const AxisRanges& ranges_;
  std::unordered_map<const tir::ExprNode*, IterVar> thread_of_var_;
  /// All thread axes of a launch, from loops and environments. The key is the stage that contains
  /// the launch's outermost loops.
  std::map<StageId, std::vector<IterVar>> threads_of_launch_;
};

}  // namespace tenon::te

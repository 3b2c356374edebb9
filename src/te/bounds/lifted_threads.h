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

/// For each stage, the thread axes that enclose it although no loop around it is bound to them.
/// They are bound to the stage's own loops, or to loops of readers. In the second case, the
/// readers' requirements on the stage contain the loop's variable.
class LiftedThreads {
 public:
  /// Precondition: all ranges are inferred.
  LiftedThreads(const StageGraph& graph, const AxisRanges& ranges);

  /// Returns the hoisted threads of a stage; empty if the threads share its memory.
  std::vector<IterVar> around(StageId stage) const;

  /// Returns the hoisted threads of the stages that are attached inside this stage's loops, if
  /// these threads share this stage's memory but do not enclose this stage. All of them execute the
  /// code of this stage that follows the attached stages. See idle_threads.
  std::vector<IterVar> idle_inside(StageId stage) const;

  /// Returns the threads whose variables occur in the readers' requirements on the stage. Each of
  /// these threads computes its own part of the stage. They may also be bound to loops around the
  /// stage.
  std::vector<IterVar> divided_by_readers(StageId stage) const;

  /// Returns how many threads of the axis `thread` need the stage: the maximum extent of the
  /// readers' loops that are bound to it. Returns nullopt if all threads compute a reader together
  /// without dividing it, because all threads then need the stage.
  std::optional<Expr> needed(StageId stage, const IterVar& thread) const;

  /// Returns the number of threads that the stage's launch has for the tag of `thread`: the maximum
  /// over all axes with this tag. Each thread has its own copy of the stage.
  Expr launched(StageId stage, const IterVar& thread, const Facts& facts) const;

 private:
  /// Returns the threads that divide the work of the stage's readers and are not bound to loops
  /// around the stage.
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

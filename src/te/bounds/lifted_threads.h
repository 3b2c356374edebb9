// Threads that stand further out than the loops bound to them. Memory of which each thread has its
// own is seen by its readers only if they run in the same threads, so that these stand around the
// stage and around all of its readers:
//
//   s[L].compute_at(s[C], bx).bind(s[L].axis(1), tx);   // L in local memory, C's axis bound to tx
//
//   attr blockIdx.x, attr threadIdx.x:  L[tx] = ...; C[tx] = L[tx]
#pragma once

#include <map>

#include "te/relations/propagate.h"
#include "tenon/te/graph.h"

namespace tenon::te {

/// The threads that stand around a stage without being loops around it: those bound to its own
/// loops, and those of its readers in terms of which it is said what is needed of it, and where.
class LiftedThreads {
 public:
  /// Precondition: all ranges are inferred.
  LiftedThreads(const StageGraph& graph, const AxisRanges& ranges);

  /// None of a stage whose memory the threads share.
  std::vector<IterVar> around(StageId stage) const;

  /// Those around stages inside of its loops that share its memory, though none of its own loops is
  /// bound to one of the tag: all of them run what stands behind those stages. See idle_threads.
  std::vector<IterVar> idle_inside(StageId stage) const;

  /// The threads in terms of which it is said what is needed of the stage, and where: each of them
  /// computes its own part. They may stand around it as loops.
  std::vector<IterVar> divided_by_readers(StageId stage) const;

  /// In how many of these threads the stage is needed: as many as the longest loop has iterations
  /// that is bound to the tag in a reader. Nullopt if all threads need it, for a stage that they
  /// share without dividing it.
  std::optional<Expr> needed(StageId stage, const IterVar& thread) const;

  /// How many threads of the tag the stage's launch has, whatever axes they are bound to: each of
  /// them has the stage for itself.
  Expr launched(StageId stage, const IterVar& thread, const Facts& facts) const;

 private:
  /// Those divided by its readers that are no loops around it.
  std::vector<IterVar> of_readers(StageId stage) const;
  StageId outermost(StageId stage) const;

  const StageGraph& graph_;
  const AxisRanges& ranges_;
  std::unordered_map<const tir::ExprNode*, IterVar> thread_of_var_;
  /// By the stage whose loops are the outermost, all threads of loops and environments.
  std::map<StageId, std::vector<IterVar>> threads_of_launch_;
};

}  // namespace tenon::te

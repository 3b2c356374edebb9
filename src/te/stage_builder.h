// Generates the statements of stages: the loop nest of each, with the stages that are attached
// inside it.
#pragma once

#include <functional>

#include "te/loops/compute_nest.h"
#include "te/loops/thread_reduce.h"
#include "tenon/te/graph.h"
#include "tenon/te/schedule_ops.h"

namespace tenon::te {

/// The statements of one stage by their position in its loops. Inner stages are generated once the
/// enclosing threads are known.
struct NestedBody {
  /// The headers of the loops, outermost first.
  std::vector<const LoopHeaders*> levels;
  /// The stages that are computed inside each loop, before its body.
  std::vector<std::vector<StageId>> attached;
  /// The guards, inside the innermost loop. Inside them follow `stages`, and then the stage's own
  /// statement.
  std::vector<Expr> guards = {};
  std::vector<StageId> stages = {};
  std::optional<Stmt> innermost = std::nullopt;
  /// Adds statements inside the first `extension_depth` loops to the loops inside them, such as the
  /// initialization of a reduction.
  std::function<Stmt(Stmt loops)> extension = nullptr;
  std::size_t extension_depth = 0;
};

/// Whether to compute a stage in a call in which no reader needs it.
enum class Unread : std::uint8_t { Skipped, Computed };

class StageBuilder {
 public:
  StageBuilder(Program& program, Unread unread);

  /// Returns the whole program: stages at root in order, each nested inside the realizations of the
  /// previous stages.
  Stmt build();

 private:
  /// Returns the stage's memory, its statements, and then the consumer.
  Stmt pipeline(StageId stage, const std::optional<Stmt>& consumer);
  Stmt realize(StageId stage, Stmt body);
  Stmt provide(StageId stage);
  /// Returns the condition under which the stage is computed; nullopt if it always is.
  std::optional<Expr> skip_condition(StageId stage) const;

  Stmt provide_compute(StageId stage);
  Stmt provide_thread_reduction(StageId stage);
  Stmt provide_intrinsic(StageId stage);
  Stmt provide_extern(StageId stage);
  Stmt provide_scan(StageId stage);

  /// Returns a body with its loops in order. Stages attached to a leaf are inside all leaves before
  /// it.
  NestedBody body_of(StageId stage, const LoopNest& nest) const;
  /// Adds the initialization `init` of a reduction, in the loops that it does not share with the
  /// update, down to the first `depth` leaves.
  void initialize(NestedBody& body, const ComputeNest& nest, std::size_t depth, Stmt init) const;
  /// Returns the body of the first `depth` loops.
  Stmt emit_level(const NestedBody& body, std::size_t depth);
  /// Returns the body preceded by these stages, each nested inside the realizations of the previous
  /// stages.
  Stmt emit_before(const std::vector<StageId>& stages, std::optional<Stmt> body);

  /// Returns the attributes of the hoisted threads (LiftedThreads) around these stages.
  LoopHeaders threads_of(const std::vector<StageId>& attached) const;
  LoopHeader launch_of(const IterVar& thread) const;
  /// Returns the headers without the headers of threads that are already open.
  LoopHeaders without_open_threads(const LoopHeaders& level) const;

  /// Returns the stages that compute these tensors, in ascending order.
  std::vector<StageId> stages_of(const std::vector<Tensor>& tensors) const;

  Program& program_;
  /// The stages attached at each leaf position, per stage, in order. The list after the last leaf
  /// contains the stages that update a scan.
  std::vector<std::vector<std::vector<StageId>>> attached_;
  /// The stages that compute the initial states of each scan, in order.
  std::vector<std::vector<StageId>> initial_;
  std::vector<StageId> at_root_;
  /// The condition under which each stage is read.
  std::vector<std::optional<Expr>> needs_;
  bool has_threads_ = false;
  /// Threads whose attributes enclose the statement being generated.
  std::vector<IterVar> open_;
};

}  // namespace tenon::te

// Generates the statements of stages: the loop nest of each, with the stages that are attached
// inside it.
#pragma once

#include <functional>

#include "te/loops/compute_nest.h"
#include "te/loops/thread_reduce.h"
#include "tenon/te/graph.h"
#include "tenon/te/schedule_ops.h"

namespace tenon::te {

/// The statements of one stage, by their position in the stage's loops. Statements of inner stages
/// are generated later, when the enclosing threads are known.
struct NestedBody {
  /// The headers of the loops, outermost first.
  std::vector<const LoopHeaders*> levels;
  /// For each loop, the stages that are computed inside it, before its body.
  std::vector<std::vector<StageId>> attached;
  /// The guards inside the innermost loop. They enclose `stages` and then `innermost`, the stage's
  /// own statement.
  std::vector<Expr> guards = {};
  std::vector<StageId> stages = {};
  std::optional<Stmt> innermost = std::nullopt;
  /// Adds statements inside the first `extension_depth` loops, such as the initialization of a
  /// reduction. It receives the loops inside them and returns these with the added statements.
  std::function<Stmt(Stmt loops)> extension = nullptr;
  std::size_t extension_depth = 0;
};

class StageBuilder {
 public:
  /// `computes_unread` is whether a stage is computed in a call of the function in which no reader
  /// needs it.
  StageBuilder(Program& program, bool computes_unread);

  /// Returns the whole program. It contains the stages at root in order, each nested inside the
  /// Realize statements of the previous stages.
  Stmt build();

 private:
  /// Returns a Realize of the stage's memory that contains the stage's statements and then the
  /// consumer.
  Stmt pipeline(StageId stage, const std::optional<Stmt>& consumer);
  Stmt realize(StageId stage, Stmt body);
  Stmt provide(StageId stage);
  /// Returns the condition under which the stage is computed; nullopt if it is always computed.
  std::optional<Expr> skip_condition(StageId stage) const;

  Stmt provide_compute(StageId stage);
  Stmt provide_thread_reduction(StageId stage);
  Stmt provide_intrinsic(StageId stage);
  Stmt provide_extern(StageId stage);
  Stmt provide_scan(StageId stage);

  /// Returns the loops of the nest with the stages attached inside them. A stage attached to a leaf
  /// is inside the loops of this leaf and of all leaves before it.
  NestedBody body_of(StageId stage, const LoopNest& nest) const;
  /// Adds the initialization `init` of a reduction. It has its own loops for the leaves that it
  /// does not share with the update, up to the first `depth` leaves.
  void initialize(NestedBody& body, const ComputeNest& nest, std::size_t depth, Stmt init) const;
  /// Returns the statements inside the first `depth` loops.
  Stmt emit_level(const NestedBody& body, std::size_t depth);
  /// Returns the body inside the headers. Omits threads whose attributes already enclose the
  /// current statement; the attributes of the others enclose the statements that `body` generates.
  Stmt emit_inside(const LoopHeaders& headers, FunctionRef<Stmt()> body);
  /// Returns the body preceded by these stages. Each stage is nested inside the Realize statements
  /// of the previous ones, and the body inside all of them.
  Stmt emit_before(const std::vector<StageId>& stages, std::optional<Stmt> body);

  /// Returns the attributes of threads that are hoisted above the loops of these stages
  /// (LiftedThreads).
  LoopHeaders threads_of(const std::vector<StageId>& attached) const;
  LoopHeader launch_of(const IterVar& thread) const;
  /// Returns the headers, except those of threads whose attributes already enclose the current
  /// statement.
  LoopHeaders without_open_threads(const LoopHeaders& level) const;

  /// Returns the stages that compute these tensors, in ascending order.
  std::vector<StageId> stages_of(const std::vector<Tensor>& tensors) const;

  Program& program_;
  /// For each stage and each leaf position, the stages attached there, in order. The entry after
  /// the last leaf contains the stages that update a scan.
  std::vector<std::vector<std::vector<StageId>>> attached_;
  /// The stages that compute the initial states of each scan, in order.
  std::vector<std::vector<StageId>> initial_;
  std::vector<StageId> at_root_;
  /// The condition under which each stage is read.
  std::vector<std::optional<Expr>> needs_;
  bool has_threads_ = false;
  /// Threads whose attributes enclose the statement that is being generated.
  std::vector<IterVar> open_;
};

}  // namespace tenon::te

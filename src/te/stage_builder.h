// Generates the statements of stages: the loop nest of each, with the stages that are attached
// inside it.
#pragma once

#include "te/loops/compute_nest.h"
#include "te/loops/thread_reduce.h"

namespace tenon::te {

/// The initialization of a reduction in the loops that it does not share with the update, down to
/// the first `depth` leaves.
struct Initialisation {
  const ComputeNest* nest;
  std::size_t depth;
  Stmt init;
};

/// The statements of one stage by their position in its loops. Inner stages are generated once the
/// enclosing threads are known.
struct NestedBody {
  struct Level {
    const Shells* shells;
    /// Stages that are computed inside the loop, before the loop's body.
    std::vector<StageId> attached;
  };
  /// An addition to the inner loops: stages or an initialization before them, or a reduction across
  /// threads around them.
  using With =
      std::variant<std::monostate, Initialisation, std::vector<StageId>, const ThreadReduction*>;

  /// The loops, outermost first.
  std::vector<Level> levels;
  /// The guards, inside the innermost loop. Inside them follow `stages`, and then the stage's own
  /// statement.
  Shells guards = {};
  std::vector<StageId> stages = {};
  std::optional<Stmt> innermost = std::nullopt;
  /// The addition, inside the first `with_depth` loops.
  With with = {};
  std::size_t with_depth = 0;
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

  /// Returns the loops in order. Stages attached to a leaf are inside all leaves before it.
  std::vector<NestedBody::Level> levels_of(StageId stage, const LoopNest& nest);
  /// Returns the body of the first `depth` loops.
  Stmt inside(const NestedBody& body, std::size_t depth);
  Stmt innermost(const NestedBody& body);
  /// Combines the loops with their addition.
  Stmt joined(const NestedBody::With& with, Stmt loops);
  Stmt initialised(const Initialisation& front) const;
  /// Returns the body preceded by these stages, each nested inside the realizations of the previous
  /// stages.
  Stmt behind(const std::vector<StageId>& stages, std::optional<Stmt> body);

  /// Returns the attributes of the hoisted threads (LiftedThreads) around these stages.
  Shells threads_of(const std::vector<StageId>& attached) const;
  /// Returns the headers without the attributes of threads that are already open.
  Shells closed_only(const Shells& level) const;

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
  std::vector<std::optional<Expr>> read_conditions_;
  bool has_threads_ = false;
  /// Threads whose attributes enclose the statement being generated.
  std::vector<IterVar> open_;
};

}  // namespace tenon::te

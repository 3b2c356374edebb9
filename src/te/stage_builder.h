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
    /// Stages computed inside the loop, before what it contains.
    std::vector<StageId> attached;
  };
  /// An addition to the inner loops: stages or an initialization before them, or a reduction across
  /// threads around them.
  using With =
      std::variant<std::monostate, Initialisation, std::vector<StageId>, const ThreadReduction*>;

  /// Outermost first.
  std::vector<Level> levels;
  /// Innermost, inside the guards: these stages, then this statement.
  Shells guards = {};
  std::vector<StageId> stages = {};
  std::optional<Stmt> innermost = std::nullopt;
  /// Placed inside the first `with_depth` loops.
  With with = {};
  std::size_t with_depth = 0;
};

/// Whether a stage is computed in a call in which it has no readers.
enum class Unread : std::uint8_t { Skipped, Computed };

class StageBuilder {
 public:
  StageBuilder(Program& program, Unread unread);

  /// Returns the whole program: stages at root in order, each inside the memory of the previous
  /// ones.
  Stmt build();

 private:
  /// Returns the stage's memory, its statements, and then the statements that use it.
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
  /// Returns what the first `depth` loops contain.
  Stmt inside(const NestedBody& body, std::size_t depth);
  Stmt innermost(const NestedBody& body);
  /// Combines the loops with their addition.
  Stmt joined(const NestedBody::With& with, Stmt loops);
  Stmt initialised(const Initialisation& front) const;
  /// Returns the body preceded by these stages, each inside the memory of the previous ones.
  Stmt behind(const std::vector<StageId>& stages, std::optional<Stmt> body);

  /// Returns the attributes of threads that own private memory for one of these stages, and that
  /// execute both the stage and its readers.
  Shells threads_of(const std::vector<StageId>& attached) const;
  /// Returns the shells without the attributes of threads that are already open.
  Shells closed_only(const Shells& level) const;

  /// Returns the stages that compute these tensors, ascending.
  std::vector<StageId> stages_of(const std::vector<Tensor>& tensors) const;

  Program& program_;
  /// Per stage and leaf position, the stages attached there, in order; after the last leaf, those
  /// that update a scan.
  std::vector<std::vector<std::vector<StageId>>> attached_;
  /// Per scan, the stages that compute its initial states, in order.
  std::vector<std::vector<StageId>> initial_;
  std::vector<StageId> at_root_;
  /// Per stage, the condition under which it is read.
  std::vector<std::optional<Expr>> read_conditions_;
  bool has_threads_ = false;
  /// Threads whose attributes enclose the statement being generated.
  std::vector<IterVar> open_;
};

}  // namespace tenon::te

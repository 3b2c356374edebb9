// Statements of stages: the loop nest of each, with the stages that are computed inside of it.
#pragma once

#include "te/loops/compute_nest.h"
#include "te/loops/thread_reduce.h"

namespace tenon::te {

/// The initialisation of a reduction in the loops that it does not share with the update, down to
/// the first `depth` leaves.
struct Initialisation {
  const ComputeNest* nest;
  std::size_t depth;
  Stmt init;
};

/// The statements of one stage, by where they stand in its loops. What is computed inside of the
/// loops is made when it is known which threads stand around it.
struct NestedBody {
  struct Level {
    const Shells* shells;
    /// Computed inside the loop, in front of what it contains.
    std::vector<StageId> attached;
  };
  /// What stands with the loops inside of some: stages or an initialisation in front of them, or a
  /// reduction across threads around them.
  using With =
      std::variant<std::monostate, Initialisation, std::vector<StageId>, const ThreadReduction*>;

  /// Outermost first.
  std::vector<Level> levels;
  /// Innermost, behind guards: these stages, then this statement.
  Shells guards = {};
  std::vector<StageId> stages = {};
  std::optional<Stmt> innermost = std::nullopt;
  /// Inside of the first `with_depth` loops.
  With with = {};
  std::size_t with_depth = 0;
};

/// Whether a stage is computed in a call in which nothing reads it.
enum class Unread : std::uint8_t { Skipped, Computed };

class StageBuilder {
 public:
  StageBuilder(Program& program, Unread unread);

  /// The whole program: stages at root one after the other, each in the scope of the memory of
  /// those before.
  Stmt build();

 private:
  /// The stage's memory, its statements, then the statements that use it.
  Stmt pipeline(StageId stage, const std::optional<Stmt>& consumer);
  Stmt realize(StageId stage, Stmt body);
  Stmt provide(StageId stage);
  /// The condition under which the stage is computed; nullopt if it always is.
  std::optional<Expr> skip_condition(StageId stage) const;

  Stmt provide_compute(StageId stage);
  Stmt provide_thread_reduction(StageId stage);
  Stmt provide_intrinsic(StageId stage);
  Stmt provide_extern(StageId stage);
  Stmt provide_scan(StageId stage);

  /// The loops in their order. What is attached at a leaf stands inside all leaves that came before
  /// it.
  std::vector<NestedBody::Level> levels_of(StageId stage, const LoopNest& nest);
  /// What the first `depth` loops contain.
  Stmt inside(const NestedBody& body, std::size_t depth);
  Stmt innermost(const NestedBody& body);
  /// The loops together with what stands with them.
  Stmt joined(const NestedBody::With& with, Stmt loops);
  Stmt initialised(const Initialisation& front) const;
  /// The body behind these stages, each in the scope of the memory of those before.
  Stmt behind(const std::vector<StageId>& stages, std::optional<Stmt> body);

  /// The attributes of threads that have memory of their own for one of these stages, and run both
  /// it and its readers.
  Shells threads_of(const std::vector<StageId>& attached) const;
  /// The shells but for the attributes of threads that are open already.
  Shells closed_only(const Shells& level) const;

  /// The stages that make these, ascending.
  std::vector<StageId> stages_of(const std::vector<Tensor>& tensors) const;

  Program& program_;
  /// Per stage and leaf position, the stages attached there, in order; after the last leaf, those
  /// that update a scan.
  std::vector<std::vector<std::vector<StageId>>> attached_;
  /// Per scan, the stages that compute its initial states, in order.
  std::vector<std::vector<StageId>> initial_;
  std::vector<StageId> at_root_;
  /// Per stage, what must hold for it to be read.
  std::vector<std::optional<Expr>> read_conditions_;
  bool has_threads_ = false;
  /// Threads whose attributes stand around the statement being made.
  std::vector<IterVar> open_;
};

}  // namespace tenon::te

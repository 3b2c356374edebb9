// If-conversion of accumulations: a guarded accumulation becomes an unguarded one that adds a
// selected term. Lanes whose condition fails add the identity element.
//
//   if (k % 3 != 0) B[i] = B[i] + A[k]   =>   B[i] = B[i] + if_then_else(k % 3 != 0, A[k], 0)
//
// An unguarded store would race with other threads that access the element while the condition
// fails. The conversion therefore requires that the same task also stores the element
// unconditionally.
#pragma once

#include "lower/hoisted_extents.h"
#include "tenon/arith/facts.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

/// The elements that the current task has stored unconditionally, and the memory that only the task
/// can access. A task is an iteration of the innermost parallel loop.
class StoredByTask {
 public:
  /// A snapshot of the state. `leave` returns to it by dropping everything added since.
  struct Mark {
    std::size_t stores, memories, loops;
  };
  Mark mark() const { return {stores_.size(), memories_.size(), loops_.size()}; }
  void leave(const Mark& mark);

  /// Adds the elements that the statement stores unconditionally.
  void add_stores_of(const tir::Stmt& s);
  void add_memory(const tir::Var& data) { memories_.push_back(data); }
  /// Records that the walk is inside `loop`.
  void enter(const tir::For& loop);
  bool has(const tir::Buffer& buffer, const tir::Expr& index, const arith::Facts& facts) const;

 private:
  struct Stored {
    tir::Buffer buffer;
    tir::Expr index;
    /// The loops around the store.
    std::vector<RangedVar> loops;
  };

  void add(const tir::Stmt& s, tir::VarMap& lets, std::vector<RangedVar>& loops);
  bool covers(const Stored& stored, std::size_t loop, const tir::Expr& first,
              const tir::Expr& index, const arith::Facts& facts) const;

  std::vector<Stored> stores_;
  std::vector<tir::Var> memories_;
  std::vector<RangedVar> loops_;
};

/// Converts the guarded accumulations of a loop body. A condition is kept if it guards other
/// statements as well, or if an element does not provably exist and belong to the task. `facts`
/// hold around the body.
tir::Stmt with_chosen_terms(const tir::Stmt& body, const arith::Facts& facts,
                            const StoredByTask& own);

}  // namespace tenon::lowering

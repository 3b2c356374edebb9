// Accumulations under a condition as accumulations of a chosen term, which lanes can do: those that
// do not take part add what changes nothing.
//
//   if (k % 3 != 0) B[i] = B[i] + A[k]   =>   B[i] = B[i] + if_then_else(k % 3 != 0, A[k], 0)
//
// A guarded store becomes an unguarded one, which races with any other thread that accesses the
// element where the condition fails. So it must be an element that the task stores anyway.
#pragma once

#include "lower/extent_bound.h"
#include "tenon/arith/facts.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

/// The elements that the current task, an iteration of the innermost parallel loop, has stored
/// unconditionally, and the memory that belongs to it alone.
class StoredByTask {
 public:
  /// The state at a place: what is added after it is dropped by `leave`.
  struct Mark {
    std::size_t stores, memories, loops;
  };
  Mark mark() const { return {stores_.size(), memories_.size(), loops_.size()}; }
  void leave(const Mark& mark);

  /// Adds the elements that the statement stores unconditionally.
  void add_stores_of(const tir::Stmt& s);
  void add_memory(const tir::Var& data) { memories_.push_back(data); }
  /// The current place is inside of the loop.
  void enter(const tir::For& loop);
  bool has(const tir::Buffer& buffer, const tir::Expr& index, const arith::Facts& facts) const;

 private:
  struct Stored {
    tir::Buffer buffer;
    tir::Expr index;
    /// The loops that the store was in.
    std::vector<RangedVar> loops;
  };

  void add(const tir::Stmt& s, tir::VarMap& lets, std::vector<RangedVar>& loops);
  bool covers(const Stored& stored, std::size_t loop, const tir::Expr& first,
              const tir::Expr& index, const arith::Facts& facts) const;

  std::vector<Stored> stores_;
  std::vector<tir::Var> memories_;
  std::vector<RangedVar> loops_;
};

/// A loop's body. Where the element is not known to exist or is not the task's, or the condition
/// guards more than accumulations, it stays as it is. The facts are of what is around the body.
tir::Stmt with_chosen_terms(const tir::Stmt& body, const arith::Facts& facts,
                            const StoredByTask& own);

}  // namespace tenon::lowering

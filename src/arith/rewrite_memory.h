// What visits of the two passes gave, so that an expression that is met again is not simplified
// again: the copies of an unrolled body, the second round of the rewriter, the operands of a
// difference that decides a comparison, what a pass after this one has left as it was.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tenon/tir/compare.h"
#include "tenon/tir/stmt.h"

namespace tenon::arith {

/// Its size is fixed: what falls on a place that is taken replaces what was there.
class RewriteMemory {
 public:
  enum class Step : std::uint8_t { Rewrite, Canonical };
  struct Visit {
    tir::Expr e, result;
    /// What was known of the variables of `e` (Facts::State::known_of).
    std::uint64_t known;
    Step step;
    /// How deep the visit went into rules that ask for another.
    int depth;
  };

  /// That of the SimplifierMemory that lives on this thread; null without one.
  static RewriteMemory* of_thread();

  static constexpr std::size_t kFew = 1 << 9, kMany = 1 << 12;
  explicit RewriteMemory(std::size_t places) : visits_(places) {}

  /// The visit of this very expression, or one of an equal one that gives what this would.
  const Visit* find(const tir::Expr& e, Step step, std::uint64_t known) const {
    const std::optional<Visit>& visit = visits_[place_of(e, step, known)];
    if (!visit || visit->known != known || visit->step != step) return nullptr;
    if (visit->e.same_as(e)) return &*visit;
    if (visit->e.node().hash != e.node().hash || !tir::structural_equal(visit->e, e))
      return nullptr;
    const bool is_settled = visit->result.same_as(visit->e);
    if (!is_settled && !is_shareable(e)) return nullptr;
    // Folding knows equal operands of a minimum of data by their handles.
    return contains(e, tir::Content::DataExtremum) ? nullptr : &*visit;
  }
  void add(Visit visit) {
    const std::size_t place = place_of(visit.e, visit.step, visit.known);
    if (!visits_[place]) taken_.push_back(place);
    visits_[place] = std::move(visit);
  }
  /// Whether what one expression becomes may stand for what an equal one does. A variable has one
  /// definition, so what defines some stands once; and of data, handles tell equal parts apart.
  static bool is_shareable(const tir::Expr& e) {
    return (e.dtype().is_index() || e.dtype().is_bool()) && !contains<tir::LetExpr>(e) &&
           !contains<tir::Reduce>(e);
  }
  void clear() {
    for (const std::size_t place : taken_) visits_[place].reset();
    taken_.clear();
  }

 private:
  std::size_t place_of(const tir::Expr& e, Step step, std::uint64_t known) const {
    const std::uint64_t mixed =
        (e.node().hash ^ (known * 2 + static_cast<std::uint64_t>(step))) * 0x9e3779b97f4a7c15u;
    return (mixed >> 32) & (visits_.size() - 1);
  }

  std::vector<std::optional<Visit>> visits_;
  std::vector<std::size_t> taken_;
};

}  // namespace tenon::arith

// The memo table of both passes. Expressions repeat in the copies of an unrolled body, in the
// second round of the rewriter, in the differences that decide comparisons, and in later passes
// over an unchanged expression.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tenon/tir/compare.h"
#include "tenon/tir/stmt.h"

namespace tenon::arith {

/// A table of fixed size: a new entry replaces an old one in the same slot.
class RewriteMemory {
 public:
  enum class Step : std::uint8_t { Rewrite, Canonical };
  struct Visit {
    tir::Expr e, result;
    /// The facts about the variables of `e` (Facts::State::known_of).
    std::uint64_t known;
    Step step;
    /// The depth of nested visits requested by rules.
    int depth;
  };

  /// Returns the table of the innermost SimplifierMemory on this thread; null if no table exists.
  static RewriteMemory* of_thread();

  static constexpr std::size_t kFew = 1 << 9, kMany = 1 << 12;
  explicit RewriteMemory(std::size_t places) : visits_(places) {}

  /// Returns the visit of this expression, or of an equal expression with the same result.
  const Visit* find(const tir::Expr& e, Step step, std::uint64_t known) const {
    const std::optional<Visit>& visit = visits_[place_of(e, step, known)];
    if (!visit || visit->known != known || visit->step != step) return nullptr;
    if (visit->e.same_as(e)) return &*visit;
    if (visit->e.node().hash != e.node().hash || !tir::structural_equal(visit->e, e))
      return nullptr;
    const bool is_settled = visit->result.same_as(visit->e);
    if (!is_settled && !is_shareable(e)) return nullptr;
    // Results with minima of data are not shared, because folding recognizes their equal operands
    // by handle.
    return contains(e, tir::Content::DataExtremum) ? nullptr : &*visit;
  }
  void add(Visit visit) {
    const std::size_t place = place_of(visit.e, visit.step, visit.known);
    if (!visits_[place]) taken_.push_back(place);
    visits_[place] = std::move(visit);
  }
  /// Whether the result for one expression is valid for equal ones. Excludes expressions that
  /// define variables, which must stay unique, and data, where folding distinguishes handles.
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

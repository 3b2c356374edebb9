// The iterations of independent loops, and the indices that they reach.
//
//   const IterationBox box({{i, Range(0, n)}});
//   box.ends_of(i * 2 + 1);                 // 1 to n*2 - 1, both attained
//   box.inside(*box.ends_of(i), m);         // n <= 0 || n <= m
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tenon/arith/facts.h"
#include "tenon/arith/interval.h"

namespace tenon::arith {

/// A condition on symbolic sizes. If it is false, an access is out of bounds.
struct SizeCondition {
  tir::Expr condition;
  /// The size of the dimension that is accessed, if an argument that broadcasts could have 1 here.
  std::optional<tir::Var> size;
  /// The error message if it is false.
  std::string message;
};

class IterationBox {
 public:
  /// The variables of the loops and their ranges, which must not depend on other loops of the box.
  using Loops = std::vector<std::pair<tir::Var, tir::Range>>;
  explicit IterationBox(Loops loops);

  /// Returns the minimum and maximum, both attained, of an index: a linear combination of loops and
  /// terms that depend on no loop, its quotient or remainder by a positive constant, its minimum or
  /// maximum with such a term, and sums of these that share no loop. Nullopt for other indices, and
  /// if a constant end exceeds int64.
  std::optional<Interval> ends_of(const tir::Expr& index) const;

  /// Returns the condition on symbolic sizes under which both ends are in [0, extent) or the box is
  /// empty. It is the constant true if that provably holds, and the constant false if it holds for
  /// no box that is not empty. Without ends, some element must exist.
  tir::Expr inside(const std::optional<Interval>& ends, const tir::Expr& extent) const;

  /// Whether the condition holds for all boxes that are not empty.
  bool can_prove(const tir::Expr& condition) const;
  /// Returns the disjunction of `condition` and the condition that the box is empty.
  tir::Expr or_empty(const tir::Expr& condition) const;

 private:
  Loops::const_iterator loop_of(const tir::Expr& e) const;
  bool uses_loops(const tir::Expr& e) const;
  std::optional<Interval> ends_of_operation(const tir::Expr& e) const;

  Loops loops_;
  std::optional<tir::Expr> is_empty_;
  Facts facts_;
  std::vector<Facts::Scope> scopes_;
};

/// Adds the condition unless an equal one is there.
void add_condition(std::vector<SizeCondition>& conditions, SizeCondition condition);

/// Returns the rest of a message: "at index 0 from 0 to (m - 1), but this dimension has n
/// elements"; without ends, "at index 0, but this dimension has n elements".
std::string outside_text(std::size_t dim, const std::optional<Interval>& ends,
                         const tir::Expr& extent);

/// Returns the value of a position in int64, computed without wrapping.
tir::Expr wide_position(const tir::Expr& e);

}  // namespace tenon::arith

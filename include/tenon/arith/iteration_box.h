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

/// A condition on symbolic sizes that must hold, because an access is out of bounds otherwise.
struct SizeCondition {
  tir::Expr condition;
  /// The size of the accessed dimension, if this size is a variable and the tensor is an argument.
  /// If the argument is a buffer that broadcasts, the size 1 is valid even if `condition` is false.
  std::optional<tir::Var> size;
  /// The error message if the condition is false.
  std::string message;
};

class IterationBox {
 public:
  /// The loop variables with their ranges. The range of a loop must not depend on other loops of
  /// the box.
  using Loops = std::vector<std::pair<tir::Var, tir::Range>>;
  explicit IterationBox(Loops loops);

  /// Returns the minimum and maximum of an index. Both are values that the index takes. The index
  /// may be
  /// - a linear combination of loop variables and of terms that depend on no loop,
  /// - its quotient or remainder by a positive constant,
  /// - its minimum or maximum with a term that depends on no loop,
  /// - a sum of these in which no loop occurs twice.
  ///
  /// Nullopt for other indices, and if a constant minimum or maximum exceeds int64.
  std::optional<Interval> ends_of(const tir::Expr& index) const;

  /// Returns the condition on symbolic sizes under which `ends` are in [0, extent) or the box is
  /// empty. Returns the constant true if this provably always holds, and the constant false if it
  /// provably fails for every box with an iteration. If `ends` is nullopt, the condition is 0 <
  /// extent, as any access needs at least one element.
  tir::Expr inside(const std::optional<Interval>& ends, const tir::Expr& extent) const;

  /// Whether the condition provably holds for every box with at least one iteration.
  bool can_prove(const tir::Expr& condition) const;
  /// Returns `condition || box is empty`.
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

/// Adds the condition unless the list contains an equal condition for the same size.
void add_condition(std::vector<SizeCondition>& conditions, SizeCondition condition);

/// Returns the end of an error message: "at index 0 from 0 to (m - 1), but this dimension has n
/// elements". Without `ends`: "at index 0, but this dimension has n elements".
std::string outside_text(std::size_t dim, const std::optional<Interval>& ends,
                         const tir::Expr& extent);

/// Returns an index or size converted to int64, with its int32 operations done in int64, so that
/// they cannot overflow. Operations of other types, which may be defined to wrap, keep their type.
tir::Expr wide_position(const tir::Expr& e);

}  // namespace tenon::arith

// What is known at a place in the program: ranges and values of variables, and conditions of
// enclosing scopes.
//
//   Facts facts;
//   facts.bind(i, Range(0, 16));
//   {
//     auto scope = facts.assume(i < n);          // until the end of the block
//     can_prove(i < n, facts);                   // true
//   }
#pragma once

#include <memory>

#include "tenon/arith/const_bound.h"
#include "tenon/arith/modular_set.h"
#include "tenon/tir/ops.h"

namespace tenon::arith {

using tir::Expr;
using tir::IterVar;
using tir::Range;
using tir::Var;

class Facts {
 public:
  Facts();
  Facts(Facts&&) noexcept;
  Facts& operator=(Facts&&) noexcept;
  ~Facts();

  /// The variable ranges over [min, min + extent). Re-binding with an equal range is allowed;
  /// another range replaces it only with `replace` (loops that reuse a variable).
  void bind(const Var& var, const Range& range, bool replace = false);
  /// The variable equals the expression: simplification puts it in its place unless it is large
  /// (extent-1 ranges do this too).
  void bind(const Var& var, const Expr& value, bool replace = false);
  /// The constant bounds of a variable directly.
  void bind_bound(const Var& var, ConstBound bound);

  /// As long as it lives, what was assumed holds.
  class Scope {
   public:
    Scope(Scope&&) noexcept;
    Scope& operator=(Scope&&) = delete;
    ~Scope();

   private:
    friend class Facts;
    Scope(Facts* facts, std::size_t mark) : facts_(facts), mark_(mark) {}
    Facts* facts_;
    std::size_t mark_;
  };
  /// The condition holds until the scope ends. Conjunctions are taken apart; `x % c == b` gives a
  /// modular fact; comparisons with a constant give bounds of the compared expression; `likely` is
  /// looked through.
  [[nodiscard]] Scope assume(const Expr& condition);

  /// The private state that const_bound, modular_set and the simplifier read
  /// (src/arith/facts_state.h).
  struct State;
  /// As that says.
  State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

}  // namespace tenon::arith

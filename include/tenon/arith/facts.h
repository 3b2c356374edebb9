// Facts that hold at a point of the program: ranges and values of variables, and the conditions of
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
#include <utility>

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

  /// States that the variable is in [min, min + extent). A second call must give an equal range,
  /// unless `replace` is true, as for a variable that several loops use.
  void bind(const Var& var, const Range& range, bool replace = false);
  /// States that the variable equals the expression. Simplification substitutes the value unless it
  /// is large. A range of extent 1 has the same effect.
  void bind(const Var& var, const Expr& value, bool replace = false);
  /// States constant bounds of the variable.
  void bind_bound(const Var& var, ConstBound bound);

  /// Drops all facts about the variable, for example before a later let binds it to another value.
  void forget(const Var& var);

  /// Internal state, shared by const_bound, modular_set and the simplifier
  /// (src/arith/facts_state.h).
  struct State;
  /// Returns the internal state.
  State& state() const { return *state_; }

  /// The lifetime of assumptions: drops the facts that have been added to the state since its
  /// construction.
  class Scope {
   public:
    explicit Scope(State& state);
    Scope(Scope&& other) noexcept
        : state_(std::exchange(other.state_, nullptr)), mark_(other.mark_) {}
    Scope& operator=(Scope&&) = delete;
    ~Scope();

   private:
    State* state_;
    std::size_t mark_;
  };
  /// Assumes the condition until the scope ends. Conjunctions are split, `x % c == b` becomes a
  /// modular fact, a comparison with a constant bounds the other operand, and `likely` is ignored.
  [[nodiscard]] Scope assume(const Expr& condition);

 private:
  std::unique_ptr<State> state_;
};

}  // namespace tenon::arith

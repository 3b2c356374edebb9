// What Facts holds, for the analyses and the simplifier of this room.
#pragma once

#include <array>
#include <limits>
#include <utility>
#include <variant>
#include <vector>

#include "arith/rewrite_memory.h"
#include "arith/rule_proofs.h"
#include "tenon/arith/facts.h"
#include "tenon/support/dense_map.h"

namespace tenon::arith {

/// ConstBound in the form the analyses compute with: an infinite end is the greatest or least
/// value.
struct Bound {
  static constexpr std::int64_t kPlusInfinity = std::numeric_limits<std::int64_t>::max();
  static constexpr std::int64_t kMinusInfinity = std::numeric_limits<std::int64_t>::min();

  std::int64_t min = kMinusInfinity;
  std::int64_t max = kPlusInfinity;

  static Bound everything() { return {}; }
  static Bound exactly(std::int64_t v) { return {v, v}; }
  /// All values of an integer type; everything for int64 and for floats.
  static Bound of_type(DataType type);
  static Bound of(const ConstBound& b);
  ConstBound to_const_bound() const;

  bool is_exactly(std::int64_t v) const { return min == v && max == v; }
  bool is_point() const { return min == max; }
  friend bool operator==(const Bound&, const Bound&) = default;
};

Bound intersect(const Bound& a, const Bound& b);
/// wraps.h, with the facts in the form that the analyses have.
inline bool wraps(const Expr& e, const Facts::State& state);
bool wraps_by_walk(const Expr& e, const Facts::State& state);
/// Whether `e` wraps, and some sum, difference or product in it may leave its type.
bool may_overflow(const Expr& e, const Facts::State& state);
/// The same of the operation at the root alone, whatever is known of its result.
bool root_may_overflow(const Expr& e, const Facts::State& state);
/// Whether the bounds of some sum, difference or product in `e` are finite and exceed its type.
bool leaves_type(const Expr& e, const Facts::State& state);
/// Whether a value within the bound may become another one by a cast of one integer type to
/// another.
bool may_wrap(const Bound& value, DataType from, DataType to);
Bound bound_of(const Expr& e, const Facts::State& state);
ModularSet modular_set_of(const Expr& e, const Facts::State& state);
/// The values that are in both; coeff 0, base 1 if there are none.
ModularSet intersect(const ModularSet& a, const ModularSet& b);

struct Facts::State {
  struct OfVar {
    explicit OfVar(Expr var) : var(std::move(var)) {}
    /// Keeps the variable, whose address is the key, alive.
    Expr var;
    std::optional<Bound> bound;
    std::optional<ModularSet> modular;
    std::optional<Expr> value;
    bool is_data = false;
    /// What this adds to `known`.
    std::uint64_t mark = 0;
  };
  /// An expression that lies within a bound.
  struct BoundFact {
    Expr e;
    Bound bound;
  };
  /// `e` holds, or does not.
  struct Literal {
    Expr e;
    bool holds;
  };
  /// What a scope leaves behind, to be taken back in reverse.
  struct DropBound {};
  struct DropLiteral {};
  struct RestoreModular {
    Expr var;
    std::optional<ModularSet> modular;
  };
  struct RestoreRange {
    Expr var;
    std::optional<Bound> bound;
  };
  using Undo = std::variant<DropBound, DropLiteral, RestoreModular, RestoreRange>;

  DenseMap<const tir::ExprNode*, OfVar> vars;
  std::vector<BoundFact> bound_facts;
  std::vector<Literal> literals;
  std::vector<Undo> undo;
  ProofMemory proofs;
  /// Where much is simplified under these facts, and nothing is remembered for longer.
  std::unique_ptr<RewriteMemory> rewrites;

  /// For each bit, those of the values of such variables, which take their place; null as long as
  /// none has one.
  std::unique_ptr<std::array<std::uint64_t, 64>> values;
  /// The bits of the variables that hold data.
  std::uint64_t data = 0;
  /// Within arithmetic of data, where positions are data as well (InData).
  mutable bool in_data = false;

  /// Of what visits under these facts have given; null if nothing is remembered.
  RewriteMemory* memory() const;
  /// Stands for all that is known of the variables of `e`: where it is the same, so are the facts
  /// that can concern `e` (but for chance, once in 2^64).
  std::uint64_t known_of(const Expr& e) const;

  const OfVar* find(const Expr& var) const { return vars.find(&var.node()); }
  /// Changes what is known of the variable: calls `edit` on its entry.
  template <class F>
  void change(const Expr& var, const F& edit) {
    OfVar& known = *vars.try_emplace(&var.node(), var).first;
    edit(known);
    mark(known);
  }

  /// Begins a scope: what undo_to takes.
  std::size_t enter() const { return undo.size(); }
  void add_bound(const Expr& e, Bound bound);
  /// Adds what the condition says of constant bounds and remainders.
  void add_numeric_facts(const Expr& condition);
  /// Adds the parts of the (simplified) condition as literal facts.
  void add_literals(const Expr& condition);
  void add_data(const Expr& var);
  /// The variable lies within the bound, until the scope ends.
  void add_range(const Expr& var, Bound bound);
  /// Whether an enclosing condition says that `e` holds or does not.
  std::optional<bool> decide(const Expr& e) const;
  void undo_to(std::size_t mark);

 private:
  /// Facts add up to `known`, in the bits of their variables, and are taken from it again.
  void mark(OfVar& var);
  void mark(std::uint64_t variables, std::uint64_t by);
  void mark(const BoundFact& fact, int sign);
  void mark(const Literal& literal, int sign);

  /// For each bit of ExprNode::variables, the sum of the marks of the facts with such variables.
  std::array<std::uint64_t, 64> known{};
};

/// Most expressions have nothing in them that data could come from.
inline bool wraps(const Expr& e, const Facts::State& state) {
  if (state.in_data) return true;
  constexpr std::uint64_t kSources = [] {
    tir::Contents sources;
    for (const tir::Content source :
         {tir::kContentOf<tir::Load>, tir::kContentOf<tir::ProducerLoad>,
          tir::kContentOf<tir::Reduce>, tir::kContentOf<tir::Call>, tir::kContentOf<tir::Cast>})
      sources.add(source);
    return sources.kinds;
  }();
  const tir::Contents& contents = e.node().contents;
  const tir::Binary* comparison = e.dtype().is_bool() ? e.as<tir::Binary>() : nullptr;
  const DataType type = comparison ? comparison->a.dtype() : e.dtype();
  const bool is_index = type.is_int() && type.bits >= 32;
  if (is_index && (contents.kinds & kSources) == 0 && (contents.variables & state.data) == 0)
    return false;
  return wraps_by_walk(e, state);
}

/// Says, while it lives, whether the visited expression is an operand of arithmetic that wraps.
/// Indices and guards are not.
class InData {
 public:
  InData(const Facts::State& state, bool in_data)
      : state_(state), before_(std::exchange(state.in_data, in_data)) {}
  /// Treats all of `e` as data if any part of it is data.
  InData(const Facts::State& state, const Expr& e) : InData(state, wraps(e, state)) {}
  ~InData() { state_.in_data = before_; }
  InData(const InData&) = delete;
  InData& operator=(const InData&) = delete;

 private:
  const Facts::State& state_;
  bool before_;
};

/// Holds for the life of the object; for use inside the room, where no Facts::Scope is at hand.
class Assumption {
 public:
  Assumption(const Facts& facts, const Expr& condition);
  /// Assumes a simplified condition that says nothing of integers.
  static Assumption of_settled(const Facts& facts, const Expr& condition);
  /// The axes range over their domains.
  static Assumption of_axes(const Facts& facts, const std::vector<tir::IterVar>& axes);
  ~Assumption();
  Assumption(const Assumption&) = delete;
  Assumption& operator=(const Assumption&) = delete;

 private:
  Assumption(Facts::State& state, std::size_t mark) : state_(state), mark_(mark) {}

  Facts::State& state_;
  std::size_t mark_;
};

}  // namespace tenon::arith

// What Facts holds, for the analyses and the simplifier of this room.
#pragma once

#include <array>
#include <limits>
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
  static constexpr std::int64_t kMinusInfinity = -kPlusInfinity;

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
/// Whether arithmetic in the type may wrap; that of indices, int32 and int64, is taken not to.
bool may_wrap(DataType type);
/// Whether a value within the bound may become another one by a cast of one integer type to
/// another.
bool may_wrap(const Bound& value, DataType from, DataType to);
Bound bound_of(const Expr& e, const Facts::State& state);
ModularSet modular_set_of(const Expr& e, const Facts::State& state);
/// The values that are in both; coeff 0, base 1 if there are none.
ModularSet intersect(const ModularSet& a, const ModularSet& b);

struct __attribute__((visibility("hidden"))) Facts::State {
  struct OfVar {
    explicit OfVar(Expr var) : var(std::move(var)) {}
    /// Keeps the variable, whose address is the key, alive.
    Expr var;
    std::optional<Bound> bound;
    std::optional<ModularSet> modular;
    std::optional<Expr> value;
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

/// Holds for the life of the object; for use inside the room, where no Facts::Scope is at hand.
class __attribute__((visibility("hidden"))) Assumption {
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

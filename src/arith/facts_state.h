// The memo table of both passes of the simplifier. Expressions repeat in the copies of an unrolled
// body, in the second round of the rewriter, in the differences that decide comparisons, and in
// later passes over an unchanged expression.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "arith/rule_proofs.h"
#include "tenon/arith/facts.h"
#include "tenon/support/dense_map.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/stmt.h"

namespace tenon::arith {

/// A table of fixed size: a new entry replaces an old one in the same slot.
class RewriteMemory {
 public:
  struct Visit {
    tir::Expr e, result;
    /// A fingerprint of the facts about the variables of `e` (see Facts::State::known_of).
    std::uint64_t known;
    /// Whether the canonical pass made the visit, or the rewriter.
    bool is_canonical;
    /// The depth of nested visits requested by rules.
    int depth;
  };

  /// Returns the table of the innermost SimplifierMemory on this thread; null if no table exists.
  static RewriteMemory* of_thread();

  static constexpr std::size_t kFew = 1 << 9, kMany = 1 << 12;
  explicit RewriteMemory(std::size_t places) : visits_(places) {}

  /// Returns the memoized visit of this expression, or of an equal expression if it has the same
  /// result.
  const Visit* find(const tir::Expr& e, bool is_canonical, std::uint64_t known) const {
    const std::optional<Visit>& visit = visits_[place_of(e, is_canonical, known)];
    if (!visit || visit->known != known || visit->is_canonical != is_canonical) return nullptr;
    if (visit->e.same_as(e)) return &*visit;
    if (!tir::structural_equal(visit->e, e)) return nullptr;
    const bool is_settled = visit->result.same_as(visit->e);
    if (!is_settled && !is_shareable(e)) return nullptr;
    // A result that contains a minimum or maximum of data is valid for this handle only, because
    // constant folding recognizes its equal operands by handle.
    return contains(e, tir::Content::DataExtremum) ? nullptr : &*visit;
  }
  void add(Visit visit) {
    const std::size_t place = place_of(visit.e, visit.is_canonical, visit.known);
    if (!visits_[place]) taken_.push_back(place);
    visits_[place] = std::move(visit);
  }
  /// Whether the result for an expression may be reused for a structurally equal one. This is not
  /// allowed if the expression defines variables, which must stay unique. It is not allowed for
  /// data either, because constant folding compares the operands of data by handle.
  static bool is_shareable(const tir::Expr& e) {
    return (e.dtype().is_index() || e.dtype().is_bool()) && !contains<tir::LetExpr>(e) &&
           !contains<tir::Reduce>(e);
  }
  void clear() {
    for (const std::size_t place : taken_) visits_[place].reset();
    taken_.clear();
  }

 private:
  std::size_t place_of(const tir::Expr& e, bool is_canonical, std::uint64_t known) const {
    const std::uint64_t mixed =
        (e.node().hash ^ (known * 2 + (is_canonical ? 1 : 0))) * 0x9e3779b97f4a7c15u;
    return (mixed >> 32) & (visits_.size() - 1);
  }

  std::vector<std::optional<Visit>> visits_;
  std::vector<std::size_t> taken_;
};

// The state of Facts, shared by the analyses and the simplifier of arith.

/// ConstBound in the form used for computation: infinite ends are the limits of int64.
struct Bound {
  static constexpr std::int64_t kPlusInfinity = std::numeric_limits<std::int64_t>::max();
  static constexpr std::int64_t kMinusInfinity = std::numeric_limits<std::int64_t>::min();

  std::int64_t min = kMinusInfinity;
  std::int64_t max = kPlusInfinity;

  static Bound everything() { return {}; }
  static Bound exactly(std::int64_t v) { return {v, v}; }
  /// Returns all values of an integer type; unbounded for int64 and floats.
  static Bound of_type(DataType type);
  static Bound of(const ConstBound& b);
  ConstBound to_const_bound() const;

  bool is_point() const { return min == max; }
  friend bool operator==(const Bound&, const Bound&) = default;
};

Bound intersect(const Bound& a, const Bound& b);
/// Implementation of wraps.h on the internal state.
inline bool wraps(const Expr& e, const Facts::State& state);
bool wraps_by_walk(const Expr& e, const Facts::State& state);
/// Returns an expression that equals `after` and overflows as `before` does. If only `before`
/// contains data, an operation in `after` that may overflow gets an operand marked as data, so that
/// it wraps.
Expr keep_wrapping(const Expr& before, const Expr& after, const Facts::State& state);
/// Whether `e` wraps and a sum, difference or product in it may overflow.
bool may_overflow(const Expr& e, const Facts::State& state);
/// Like may_overflow, but only for the operation at the root, regardless of facts about its result.
bool root_may_overflow(const Expr& e, const Facts::State& state);
/// Whether the bounds of some sum, difference or product in `e` are finite and exceed its type.
/// Does not consider the operands of these operations: if the result fits, it does not matter that
/// a part of it wraps.
bool leaves_type(const Expr& e, const Facts::State& state);
/// Like leaves_type, but also considers the operands.
bool any_part_leaves_type(const Expr& e, const Facts::State& state);
/// Whether casting a value within the bound from one integer type to another may change it.
bool may_wrap(const Bound& value, DataType from, DataType to);
Bound bound_of(const Expr& e, const Facts::State& state);
ModularSet modular_set_of(const Expr& e, const Facts::State& state);
/// Returns the intersection of two sets. Coefficient 0 and base 1 represent the empty set.
ModularSet intersect(const ModularSet& a, const ModularSet& b);

struct Facts::State {
  struct OfVar {
    explicit OfVar(Expr var) : var(std::move(var)) {}
    /// The variable, kept alive because its address is the key.
    Expr var;
    std::optional<Bound> bound;
    std::optional<ModularSet> modular;
    std::optional<Expr> value;
    bool is_data = false;
    /// A hash of the facts about the variable, which is included in `known`.
    std::uint64_t mark = 0;
  };
  /// An expression and its bound.
  struct BoundFact {
    Expr e;
    Bound bound;
  };
  /// A condition `e` and whether it holds.
  struct Literal {
    Expr e;
    bool holds;
  };

  DenseMap<const tir::ExprNode*, OfVar> vars;
  std::vector<BoundFact> bound_facts;
  std::vector<Literal> literals;
  /// Actions that remove the facts of the open scopes, run in reverse order.
  std::vector<std::function<void()>> undo;
  ProofMemory proofs;
  /// Memo table for large expressions under these facts, if no longer-lived one exists.
  std::unique_ptr<RewriteMemory> rewrites;

  /// The variables that occur in values of other variables. Both are grouped by their bit in a
  /// 64-bit Bloom filter: entry b has the bits of all variables in the values of variables with bit
  /// b. Null if no variable has a value.
  std::unique_ptr<std::array<std::uint64_t, 64>> values;
  /// A Bloom filter of the variables that hold data.
  std::uint64_t data = 0;
  /// Whether the current expression is inside data arithmetic, where indices are data too (InData).
  mutable bool in_data = false;

  /// Returns the memo table for these facts; null if no table exists.
  RewriteMemory* memory() const;
  /// Returns a fingerprint of the facts about the variables of `e`. Equal fingerprints imply equal
  /// facts about `e`, except with a probability of 2^-64.
  std::uint64_t known_of(const Expr& e) const;

  const OfVar* find(const Expr& var) const { return vars.find(&var.node()); }
  /// Changes the facts about the variable by calling `edit` on its entry.
  template <class F>
  void change(const Expr& var, const F& edit) {
    OfVar& known = *vars.try_emplace(&var.node(), var).first;
    edit(known);
    mark(known);
  }

  /// Adds constant bounds and remainders implied by the condition.
  void add_numeric_facts(const Expr& condition);
  /// Adds the parts of the (simplified) condition as literal facts.
  void add_literals(const Expr& condition);
  /// Sets one of the facts about the variable until the scope ends.
  template <class T>
  void set_in_scope(const Expr& var, std::optional<T> OfVar::*member, const T& value);
  /// Returns whether an enclosing condition implies `e` or its negation; nullopt if neither.
  std::optional<bool> decide(const Expr& e) const;
  void undo_to(std::size_t mark);

 private:
  /// Adds a fact about the variables of `fact.e` until the scope ends.
  template <class Fact>
  void add_fact(std::vector<Fact>& facts, Fact fact, std::uint64_t hash);
  /// Update `known` when a fact is added or removed. Each function adds the change of the hash in
  /// the entries of the variables.
  void mark(OfVar& var);
  void mark(std::uint64_t variables, std::uint64_t by);

  /// Hashes of facts, grouped by the bit of their variables in a 64-bit Bloom filter
  /// (ExprNode::variables). Entry b is the sum of the hashes of all facts about variables with bit
  /// b.
  std::array<std::uint64_t, 64> known{};
};

/// Fast path: most expressions contain no source of data.
inline bool wraps(const Expr& e, const Facts::State& state) {
  if (state.in_data) return true;
  constexpr std::uint64_t kSources = [] {
    tir::Contents sources;
    for (const tir::Content source :
         {tir::kContentOf<tir::Load>, tir::kContentOf<tir::ProducerLoad>,
          tir::kContentOf<tir::Reduce>, tir::kContentOf<tir::Call>, tir::kContentOf<tir::Cast>})
      sources.add(source);
    sources.add(tir::Content::DataVariable);
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

/// Sets, during its lifetime, whether the visited expression is an operand of arithmetic that
/// wraps. Indices and guards are not such operands.
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

/// Assumes the condition until the scope ends. A settled condition has been simplified, and is not
/// simplified again under its own bounds.
[[nodiscard]] Facts::Scope assume(const Facts& facts, const Expr& condition,
                                  bool is_settled = false);
/// Assumes that the axes are in their domains.
[[nodiscard]] Facts::Scope assume_axes(const Facts& facts, const std::vector<tir::IterVar>& axes);

}  // namespace tenon::arith

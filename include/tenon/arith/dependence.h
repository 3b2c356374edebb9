// The dependence analysis: which elements a statement accesses, and whether two accesses can touch
// the same element in related iterations. It covers flow, anti and output dependences.
//
//   const WrittenMemory memory(func.body);
//   const Footprint body = footprint(loop.body, memory);
//   Facts facts;                                            // what holds around the loop
//   find_conflict(body, body, Relation::other_iteration(loop), facts)       // parallel, vectorized
//   find_conflict(first, second, Relation::same_iteration(), facts)         // may `second` go first?
//   find_conflict(body, body, Relation::later_iteration(loop), facts)       // carried by the loop
//
// The result is nullopt if the accesses are provably disjoint, and a Conflict if no proof was
// found. Buffers with different data pointers are assumed to be disjoint. Callers must check
// `noalias` if arguments may overlap.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "tenon/arith/facts.h"
#include "tenon/tir/block.h"
#include "tenon/tir/function.h"

namespace tenon::arith {

/// The memory that a function writes, and its buffer views. The first query walks the body.
class WrittenMemory {
 public:
  explicit WrittenMemory(tir::Stmt body) : body_(std::move(body)) {}
  /// Whether the expression is stable: it reads no memory that the function writes, and calls no
  /// function with side effects. Its value then depends only on its variables.
  bool is_stable(const Expr& e) const;
  /// Returns the data pointer that a view, or a view of a view, refers to; `data` itself if it is
  /// not a view. Nullopt if several definitions of the view have different sources.
  std::optional<Var> root_of(const Var& data) const;

 private:
  struct Found {
    std::unordered_set<const tir::ExprNode*> written, ambiguous;
    /// Maps the data pointer of each view to the data pointer of its source.
    std::unordered_map<const tir::ExprNode*, Var> source_of;
  };
  const Found& found() const;

  tir::Stmt body_;
  mutable std::optional<Found> found_;
};

enum class AccessKind : std::uint8_t { Read, Write };

/// A variable that takes every value of `range`. Without a range it may take any value.
struct FreeVar {
  Var var;
  std::optional<Range> range;
};

/// An access to elements of one buffer by a load, a store, a block region or a pointer argument.
struct Access {
  AccessKind kind;
  tir::Buffer buffer;
  /// Scalar indices, with the values of lets substituted. Vector lanes and offsets within a region
  /// appear as variables, which are listed in `inner`.
  std::vector<Expr> indices;
  /// Whether `indices` describes the accessed elements. If false, the access may touch any element.
  bool is_known = true;
  /// Variables that vary within one execution of the statement: loops inside the statement, vector
  /// lanes, and lets whose value is not stable (WrittenMemory::is_stable).
  std::vector<FreeVar> inner = {};
  /// Conditions under which the access happens.
  std::vector<Expr> guards = {};
  /// Whether the access also depends on a condition that `guards` does not list: a condition that
  /// is not stable, or an enclosing loop that may have no iteration.
  bool has_other_guards = false;
  /// Name of the buffer that the enclosing statement stores to. It identifies a stage in
  /// stage_lines.h.
  std::string stage = {};
  /// The data pointer that `buffer` is a view of; nullopt if `buffer` is not a view.
  std::optional<Var> memory = std::nullopt;

  bool is_write() const { return kind == AccessKind::Write; }
  const tir::ExprNode* memory_key() const {
    return memory ? &memory->node() : &buffer->data.node();
  }
};

/// Returns the access to one element, or to the lanes of a vector index.
Access access_of(AccessKind kind, const tir::Buffer& buffer, const std::vector<Expr>& indices);
/// Returns the access to every element of the region.
Access access_of(AccessKind kind, const tir::BufferRegion& region);

/// All accesses of a statement.
struct Footprint {
  std::vector<Access> accesses;
  /// Whether the statement may access memory that `accesses` does not list, because the statement
  /// has too many accesses or binds data pointers to new names.
  bool is_opaque = false;
};

/// Returns the accesses of the statement, except for accesses to memory that the statement
/// allocates. A block contributes its declared regions, guarded by its predicate. A call
/// contributes the ranges of its access pointers, and the whole of each buffer whose address it
/// receives. A call that receives no address accesses no buffer.
Footprint footprint(const tir::Stmt& s, const WrittenMemory& memory);
/// Returns the accesses made by evaluating the expression.
Footprint footprint(const Expr& e, const WrittenMemory& memory);

/// The values of variables.
using Values = std::unordered_map<const tir::ExprNode*, std::int64_t>;

/// Evaluates an integer expression. RuntimeError if it contains a load or a variable without a
/// value.
std::int64_t value_of(const Expr& e, const Values& values);

/// Calls `visit(element, is_certain)` for each element of flat memory that the access may touch.
/// Enumerates the values of the inner variables, and stores them in `values` during the call of
/// `visit`. Throws RuntimeError if an index is not known.
void for_each_element(const Access& access, Values& values,
                      const std::function<void(std::int64_t, bool)>& visit, std::size_t depth = 0);

/// The relation between the iterations in which two accesses happen. A variable that the relation
/// does not mention has the same value in both iterations.
class Relation {
 public:
  /// The iteration of the second access relative to the first.
  enum class Step : std::uint8_t { Any, Other, Later, Earlier };

  static Relation same_iteration() { return {}; }
  /// Two distinct iterations of the loop in either order, as in parallel and vectorized loops.
  static Relation other_iteration(const tir::For& loop) {
    return Relation().with(loop, Step::Other);
  }
  /// The second access is in a later iteration, as for loop-carried dependences.
  static Relation later_iteration(const tir::For& loop) {
    return Relation().with(loop, Step::Later);
  }

  /// Adds a loop. Outer loops are added before inner loops. The bounds of the loop may use the
  /// variables of loops added earlier.
  Relation with(const tir::For& loop, Step step) &&;
  Relation with(Var var, std::optional<Range> range, Step step) &&;

  const std::vector<std::pair<FreeVar, Step>>& loops() const { return loops_; }

 private:
  std::vector<std::pair<FreeVar, Step>> loops_;
};

/// Two accesses to the same buffer, at least one of them a write, that are not provably disjoint.
struct Conflict {
  Access first, second;
};

/// Whether equal indices of the two buffers are the same element.
bool same_layout(const tir::Buffer& a, const tir::Buffer& b);

/// Whether the two accesses provably touch no common element in any related pair of iterations.
/// `facts` must hold around the related loops. The function adds the variables of both iterations
/// to them.
bool are_disjoint(const Access& first, const Access& second, const Relation& relation,
                  Facts& facts);

/// Like are_disjoint, for accesses to flat memory. Enumerates the values of `vars` instead of
/// proving, and returns false if that takes too many steps. `vars` must contain all variables of
/// both accesses, including the loops of `relation`.
bool are_disjoint_by_trial(Access first, Access second, const std::vector<FreeVar>& vars,
                           const Relation& relation);

/// Whether the access provably touches a different element in each iteration of `loops`, which are
/// given outermost first. Vector lanes count as an additional loop. All other variables are
/// constant.
bool touches_distinct_elements(const Access& access, const std::vector<FreeVar>& loops,
                               Facts& facts);

/// Returns the first pair of accesses, including a write, that is not provably disjoint. To compare
/// a statement with itself, pass its footprint twice.
std::optional<Conflict> find_conflict(const Footprint& first, const Footprint& second,
                                      const Relation& relation, Facts& facts);

/// Returns the facts about a function's arguments: extents are >= 0 and strides are >= 1.
Facts facts_of_arguments(const tir::PrimFunc& func);

/// Returns the access as text: "reads A[i, j + 1]".
std::string access_text(const Access& access);

}  // namespace tenon::arith

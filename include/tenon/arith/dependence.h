// The dependence analysis: which elements a statement accesses, and whether two accesses can touch
// the same element in related iterations. Flow, anti and output dependences alike.
//
//   const WrittenMemory memory(func.body);
//   const Footprint body = footprint(loop.body, memory);
//   Facts facts;                                            // what holds around the loop
//   find_conflict(body, body, Relation::other_iteration(loop), facts)       // parallel, vectorized
//   find_conflict(first, second, Relation::same_iteration(), facts)         // may `second` go first?
//   find_conflict(body, body, Relation::later_iteration(loop), facts)       // carried by the loop
//
// nullopt means proved disjoint; a Conflict means that no proof was found. Buffers behind different
// data pointers are disjoint, so callers check `noalias` where arguments may overlap.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "tenon/arith/facts.h"
#include "tenon/tir/block.h"
#include "tenon/tir/function.h"

namespace tenon::arith {

/// The memory that a function writes, and its buffer views.
class WrittenMemory {
 public:
  explicit WrittenMemory(const tir::Stmt& body);
  /// Whether the expression has the same value wherever it is evaluated with the same variables: it
  /// reads no written memory and calls nothing with side effects.
  bool is_stable(const Expr& e) const;
  /// The data pointer of the buffer that the view, or the view of a view, is taken from; the data
  /// pointer itself for any other buffer; nullopt for a view of different buffers in different
  /// places.
  std::optional<Var> root_of(const Var& data) const;

 private:
  std::unordered_set<const tir::ExprNode*> written_, ambiguous_;
  /// The data pointer of a view's source, by that of the view.
  std::unordered_map<const tir::ExprNode*, Var> source_of_;
};

enum class AccessKind : std::uint8_t { Read, Write };

/// A variable that takes every value of its range, or any value without one.
struct FreeVar {
  Var var;
  std::optional<Range> range;
};

/// Elements of one buffer: a load, a store, a region of a block or the target of a pointer.
struct Access {
  AccessKind kind;
  tir::Buffer buffer;
  /// Scalars, with lets substituted. Lanes and the offsets within a region are among `inner`.
  std::vector<Expr> indices;
  /// False: any elements of the buffer.
  bool is_known = true;
  /// The variables that differ within one instance: loops inside the statement, lanes, lets whose
  /// value is not stable.
  std::vector<FreeVar> inner = {};
  /// Conditions under which the access happens.
  std::vector<Expr> guards = {};
  /// The name of the buffer that the statement stores to, by which stage_lines.h finds its line.
  std::string stage = {};
  /// The data pointer that `buffer` is a view of; unset for buffers that are no views.
  std::optional<Var> memory = std::nullopt;

  bool is_write() const { return kind == AccessKind::Write; }
  const tir::ExprNode* memory_key() const {
    return memory ? &memory->node() : &buffer->data.node();
  }
};

/// One element, or the lanes of a vector index.
Access access_of(AccessKind kind, const tir::Buffer& buffer, const std::vector<Expr>& indices);
/// Every element of the region.
Access access_of(AccessKind kind, const tir::BufferRegion& region);

/// The accesses of a statement.
struct Footprint {
  std::vector<Access> accesses;
  /// The statement may access memory that is not listed: it has too many accesses, or renames
  /// memory.
  bool is_opaque = false;
};

/// The accesses of the statement, except to memory that it allocates itself. A block counts with
/// the regions of its header, under its predicate; a call with what its access pointers cover, and
/// with all of each buffer whose address it is given. A call that is given no address accesses no
/// buffer.
Footprint footprint(const tir::Stmt& s, const WrittenMemory& memory);
/// The accesses of evaluating the expression.
Footprint footprint(const Expr& e, const WrittenMemory& memory);

/// How the iterations of the two accesses are related. Variables that it does not mention have the
/// same value in both.
class Relation {
 public:
  /// Where the second access is, seen from the first.
  enum class Step : std::uint8_t { Any, Other, Later, Earlier };
  struct Loop {
    FreeVar loop;
    Step step;
  };

  static Relation same_iteration() { return {}; }
  /// Two different iterations of the loop, whichever comes first: parallel and vectorized loops.
  static Relation other_iteration(const tir::For& loop) {
    return Relation().with(loop, Step::Other);
  }
  /// The second access is in a later iteration than the first: dependences that the loop carries.
  static Relation later_iteration(const tir::For& loop) {
    return Relation().with(loop, Step::Later);
  }

  /// Adds a loop, outermost first. Range bounds may use loops that were added before.
  Relation with(const tir::For& loop, Step step) &&;
  Relation with(Var var, std::optional<Range> range, Step step) &&;

  const std::vector<Loop>& loops() const { return loops_; }

 private:
  std::vector<Loop> loops_;
};

/// Two accesses to one buffer, at least one of them a write, not proved disjoint.
struct Conflict {
  Access first, second;
};

/// Whether the two accesses touch no common element in any pair of iterations that are related so.
/// The facts are those of the place around the related loops; variables are added to them.
bool are_disjoint(const Access& first, const Access& second, const Relation& relation,
                  Facts& facts);

/// Whether the access touches another element in each iteration of the loops, given outermost
/// first, lanes counting as a loop more: an injective index. Other variables are the same in all
/// iterations.
bool touches_distinct_elements(const Access& access, const std::vector<FreeVar>& loops,
                               Facts& facts);

/// The first pair of accesses with a write that is not proved disjoint. Pass the same footprint
/// twice to compare a statement with itself.
std::optional<Conflict> find_conflict(const Footprint& first, const Footprint& second,
                                      const Relation& relation, Facts& facts);

/// The facts of a function's arguments: extents are at least 0 and strides at least 1.
Facts facts_of_arguments(const tir::PrimFunc& func);

/// "reads A[i, j + 1]"
std::string access_text(const Access& access);

}  // namespace tenon::arith

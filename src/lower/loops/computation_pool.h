// Expressions by number, for passes that look for equal ones: equal trees have one number, whatever
// nodes they are made of.
//
//   ComputationPool pool;
//   pool.id_of(x * 4 + y) == pool.id_of(x * 4 + y)      // two trees, one number
//
// Interning a node costs its number of children, so shared trees are never walked twice. Lists lie
// in one piece for all entries: what is returned is valid until the next call.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tenon/support/dense_map.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

/// 0, 1, 2, ...
using ComputationId = int;

class ComputationPool {
 public:
  ComputationId id_of(const tir::Expr& e);
  /// How many numbers there are so far.
  std::size_t size() const { return entries_.size(); }
  const tir::Expr& expr(ComputationId id) const { return entries_[id].expr; }
  /// Direct sub-expressions, left to right.
  std::span<const ComputationId> children(ComputationId id) const {
    return all(entries_[id].children);
  }
  /// The number of nodes of the tree; a double, because shared trees can be exponentially large.
  double size(ComputationId id) const { return entries_[id].size; }
  /// Whether a let may hold it: no constant, variable, ramp, broadcast, call or load, and no call
  /// or load inside.
  bool is_eligible(ComputationId id) const { return entries_[id].eligible; }
  bool contains_let(ComputationId id) const { return entries_[id].contains_let; }
  /// Whether it divides an integer by a value that may be zero, and so must not be computed
  /// unconditionally.
  bool may_fault(ComputationId id) const { return entries_[id].may_fault; }
  /// Whether only the first child is evaluated in any case: a choice, or a logical operation.
  bool is_lazy(ComputationId id) const;
  /// The legacy text, which orders computations of equal size.
  const std::string& text(ComputationId id);
  /// Numbers of the free variables, ascending.
  std::span<const ComputationId> free_vars(ComputationId id);
  /// The nearest eligible sub-expressions, one for each time they occur.
  std::span<const ComputationId> direct_parts(ComputationId id);

 private:
  /// Of numbers_.
  struct List {
    std::uint32_t first = 0, count = 0;
  };
  struct Entry {
    tir::Expr expr;
    List children;
    double size = 1;
    /// The one before it with the same structural hash; -1: none.
    ComputationId equal_hash = -1;
    bool eligible = false;
    bool contains_effect = false;  // a call or a load
    bool contains_let = false;
    bool may_fault = false;
    std::optional<List> free_vars = {};
    std::optional<List> direct_parts = {};
  };

  std::span<const ComputationId> all(List list) const {
    return std::span(numbers_).subspan(list.first, list.count);
  }
  List keep(std::span<const ComputationId> numbers);
  Entry make_entry(const tir::Expr& e, List children) const;
  std::vector<ComputationId> find_free_vars(ComputationId id);

  std::vector<Entry> entries_;
  std::vector<ComputationId> numbers_;
  DenseMap<const tir::ExprNode*, ComputationId> by_node_;
  /// The last entry of a structural hash.
  DenseMap<std::size_t, ComputationId> by_hash_;
  DenseMap<ComputationId, std::string> texts_;
  /// Keeps nodes alive whose address is a key of by_node_ but whose expression is another, equal
  /// one.
  std::vector<tir::Expr> aliases_;
  /// The children found so far of the expressions that id_of is at.
  std::vector<ComputationId> open_;
};

}  // namespace tenon::lowering

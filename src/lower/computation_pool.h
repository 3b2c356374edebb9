// Expressions by number, for passes that look for equal ones: equal trees have one number, whatever
// nodes they are made of.
//
//   ComputationPool pool;
//   pool.id_of(x * 4 + y) == pool.id_of(x * 4 + y)      // two trees, one number
//
// Interning a node costs its number of children, so shared trees are never walked twice.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tenon/tir/expr.h"

namespace tenon::lowering {

using ComputationId = int;

class ComputationPool {
 public:
  ComputationId id_of(const tir::Expr& e);
  const tir::Expr& expr(ComputationId id) const { return entries_[id].expr; }
  /// Direct sub-expressions, left to right.
  const std::vector<ComputationId>& children(ComputationId id) const {
    return entries_[id].children;
  }
  /// The number of nodes of the tree; a double, because shared trees can be exponentially large.
  double size(ComputationId id) const { return entries_[id].size; }
  /// Whether a let may hold it: no constant, variable, ramp, broadcast, call or load, and no call
  /// or load inside.
  bool is_eligible(ComputationId id) const { return entries_[id].eligible; }
  bool contains_let(ComputationId id) const { return entries_[id].contains_let; }
  /// The legacy text, which orders computations of equal size.
  const std::string& text(ComputationId id);
  /// Numbers of the free variables, ascending.
  const std::vector<ComputationId>& free_vars(ComputationId id);
  /// The nearest eligible sub-expressions, one for each time they occur.
  const std::vector<ComputationId>& direct_parts(ComputationId id);

 private:
  struct Entry {
    tir::Expr expr;
    std::vector<ComputationId> children;
    double size = 1;
    bool eligible = false;
    bool contains_effect = false;  // a call or a load
    bool contains_let = false;
    std::optional<std::string> text = {};
    std::optional<std::vector<ComputationId>> free_vars = {};
    std::optional<std::vector<ComputationId>> direct_parts = {};
  };

  Entry make_entry(const tir::Expr& e, std::vector<ComputationId> children) const;

  std::deque<Entry> entries_;  // references survive growth
  std::unordered_map<const tir::ExprNode*, ComputationId> by_node_;
  /// Candidates of one structural hash.
  std::unordered_multimap<std::size_t, ComputationId> by_hash_;
  /// Keeps nodes alive whose address is a key of by_node_ but whose expression is another, equal
  /// one.
  std::vector<tir::Expr> aliases_;
};

}  // namespace tenon::lowering

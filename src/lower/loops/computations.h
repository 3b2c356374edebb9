// The candidates of common subexpression elimination: value numbers of expressions, and counts of
// the computations of a statement or an expression.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "tenon/support/dense_map.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/stmt.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

// ---- value numbers ------------------------------------------------------------------------------

// Value numbering of expressions (hash consing): structurally equal trees have the same number,
// whichever nodes they consist of.
//
//   ComputationPool pool;
//   pool.id_of(x * 4 + y) == pool.id_of(x * 4 + y)      // two trees, one number
//
// Interning a node costs time proportional to its number of children, so shared subtrees are walked
// once. All lists share one array, so a returned span is valid only until the next call.

/// Numbers count up from 0.
using ComputationId = int;

class ComputationPool {
 public:
  ComputationId id_of(const tir::Expr& e);
  /// The number of distinct expressions so far.
  std::size_t size() const { return entries_.size(); }
  const tir::Expr& expr(ComputationId id) const { return entries_[id].expr; }
  /// The direct subexpressions, left to right.
  std::span<const ComputationId> children(ComputationId id) const {
    return all(entries_[id].children);
  }
  /// The number of nodes of the tree; a double, because shared trees can be exponentially large.
  double size(ComputationId id) const { return entries_[id].size; }
  /// Whether a let may bind the expression. Constants, variables, ramps, broadcasts, calls and
  /// loads are not eligible, nor are expressions that contain a call or a load.
  bool is_eligible(ComputationId id) const { return entries_[id].eligible; }
  bool contains_let(ComputationId id) const { return entries_[id].contains_let; }
  /// Whether the expression divides an integer by a value that may be zero, so that it must not be
  /// speculated.
  bool may_fault(ComputationId id) const { return entries_[id].may_fault; }
  /// Whether only the first child is evaluated unconditionally, as in a choice or a logical
  /// operation.
  bool is_lazy(ComputationId id) const;
  /// The expression's legacy text (print_legacy), which orders computations of equal size.
  const std::string& text(ComputationId id);
  /// The numbers of the free variables, ascending.
  std::span<const ComputationId> free_vars(ComputationId id);
  /// The nearest eligible subexpressions, repeated once per occurrence.
  std::span<const ComputationId> direct_parts(ComputationId id);

 private:
  /// A range of `numbers_`.
  struct List {
    std::uint32_t first = 0, count = 0;
  };
  struct Entry {
    tir::Expr expr;
    List children;
    double size = 1;
    /// The previous entry with the same structural hash, or -1.
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
  /// The last entry for each structural hash.
  DenseMap<std::size_t, ComputationId> by_hash_;
  DenseMap<ComputationId, std::string> texts_;
  /// Keeps nodes alive whose address is a key of by_node_ although the entry holds another, equal
  /// node.
  std::vector<tir::Expr> aliases_;
  /// The children collected so far for the expressions that id_of is visiting.
  std::vector<ComputationId> open_;
};

// ---- counts -------------------------------------------------------------------------------------
/// The maximal eligible computations with their number of occurrences, in order of first
/// appearance.
class ComputationTable {
 public:
  /// The number of occurrences; `is_certain` states that at least one of them is evaluated
  /// unconditionally.
  void add(ComputationId id, double count, bool is_certain) {
    counts_[id] += count;
    if (is_certain) certain_.try_emplace(id, true);
  }
  double count(ComputationId id) const {
    const double* found = counts_.find(id);
    return found ? *found : 0;
  }
  bool is_certain(ComputationId id) const { return certain_.contains(id); }
  bool empty() const { return counts_.empty(); }
  const DenseMap<ComputationId, double>& counts() const { return counts_; }

 private:
  DenseMap<ComputationId, double> counts_;
  DenseMap<ComputationId, bool> certain_;
};

class ComputationCounter {
 public:
  explicit ComputationCounter(ComputationPool& pool) : pool_(pool) {}

  ComputationTable table_of(const tir::Expr& e);
  ComputationTable table_of(const tir::Stmt& s);

 private:
  void add(const tir::Expr& e, ComputationTable& table);
  void add(const tir::Stmt& s, ComputationTable& table);
  /// Returns the computations that at least two parts of `s` have in common, with the sum of their
  /// counts.
  const ComputationTable& common_of(const tir::Stmt& s);
  ComputationTable make_common(const tir::Stmt& s);
  void note_order(ComputationId id);

  ComputationPool& pool_;
  /// State of the expression being added: its nodes outside of computations, children first and
  /// each once; the number of occurrences of each node; and whether one of them is unconditional.
  std::vector<ComputationId> order_;
  std::vector<double> occurrences_;
  std::vector<bool> is_certain_;
  struct Remembered {
    tir::Stmt stmt;  // keeps the key alive
    ComputationTable table;
  };
  std::unordered_map<const tir::StmtNode*, Remembered> common_;
};

}  // namespace tenon::lowering

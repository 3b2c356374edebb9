// How often a statement or an expression computes what: the candidates of common subexpression
// elimination.
#pragma once

#include <unordered_map>

#include "lower/loops/computation_pool.h"
#include "tenon/tir/stmt.h"

namespace tenon::lowering {

/// Maximal eligible computations with their number of occurrences, in order of first appearance.
class ComputationTable {
 public:
  /// `is_certain`: one of the occurrences is evaluated whatever is chosen.
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
  /// What at least two of the parts have in common, with the sum of their counts.
  const ComputationTable& common_of(const tir::Stmt& s);
  ComputationTable make_common(const tir::Stmt& s);
  void note_order(ComputationId id);

  ComputationPool& pool_;
  /// Of the expression that is being added: its nodes that are no parts of computations, children
  /// first, each once; and how often each occurs, by number, 0 for all others, and whether one of
  /// the places is evaluated whatever is chosen.
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

// Counts of the computations of a statement or an expression: the candidates of common
// subexpression elimination.
#pragma once

#include <unordered_map>

#include "lower/loops/computation_pool.h"
#include "tenon/tir/stmt.h"

namespace tenon::lowering {

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

// How often a statement or an expression computes what: the candidates of common subexpression
// elimination.
#pragma once

#include <memory>
#include <unordered_map>

#include "lower/computation_pool.h"
#include "tenon/tir/stmt.h"

namespace tenon::lowering {

/// Maximal eligible computations with their number of occurrences, in order of first appearance.
class ComputationTable {
 public:
  struct Item {
    ComputationId id;
    double count;
  };
  void add(ComputationId id, double count);
  double count(ComputationId id) const;
  const std::vector<Item>& items() const { return items_; }

 private:
  std::vector<Item> items_;
  std::unordered_map<ComputationId, std::size_t> positions_;
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

  ComputationPool& pool_;
  struct Remembered {
    tir::Stmt stmt;  // keeps the key alive
    ComputationTable table;
  };
  std::unordered_map<const tir::StmtNode*, Remembered> common_;
};

}  // namespace tenon::lowering

// When which temporary is used: the statements of a function in order, each scope as a begin and an
// end, with the allocations that they touch. What rewrite_storage plans with.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "lower/extent_bound.h"
#include "tenon/tir/stmt.h"

namespace tenon::lowering {

using AllocationId = int;

struct Allocation {
  tir::Allocate node;
  /// As allocated: free of variables that are defined between `place` and the allocation.
  std::vector<tir::Expr> extents;
  tir::Expr condition;
  /// The loop, let or thread attribute in whose body the memory is to be allocated; null: the
  /// function's body.
  const tir::StmtNode* place;
  /// Thread axes around it that share the memory: every index must tell them apart before memory is
  /// handed over.
  std::vector<RangedVar> sharing_threads;
  /// Tasks of a persistent region share it: while some still read it, others may be at a later
  /// statement.
  bool is_shared_by_tasks;

  tir::StorageScope scope() const;
  /// Bits, if the extents are constant and the product is no overflow.
  std::optional<std::int64_t> constant_bits() const;
};

struct Moment {
  enum class Kind : std::uint8_t { Leaf, Begin, End };
  Kind kind;
  tir::Stmt stmt;
  /// Allocations made beside the statement (not inside it) that it uses, in order of use. On Begin
  /// as on End.
  std::vector<AllocationId> touched;
  /// Whether `touched` is all of the statement's own doing (false for the operands of an attribute
  /// or allocation).
  bool is_whole_statement = true;
};

struct StorageTimeline {
  std::vector<Allocation> allocations;
  std::vector<Moment> moments;
  std::unordered_map<const tir::ExprNode*, AllocationId> by_data;

  std::optional<AllocationId> find(const tir::Var& data) const;
};

StorageTimeline make_storage_timeline(const tir::Stmt& body);

}  // namespace tenon::lowering

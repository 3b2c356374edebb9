// The timeline that rewrite_storage plans with: the statements of a function in order, with the
// allocations that they touch. Each scope has a begin and an end.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "lower/hoisted_extents.h"
#include "tenon/tir/stmt.h"

namespace tenon::lowering {

using AllocationId = int;

struct Allocation {
  tir::Allocate node;
  /// The allocated extents; they do not use variables defined between `place` and the allocation.
  std::vector<tir::Expr> extents;
  tir::Expr condition;
  /// The loop, let or thread attribute in whose body the memory is allocated; nullptr for the
  /// function body.
  const tir::StmtNode* place;
  /// The enclosing thread axes that share the memory. Memory may be reused in place only if every
  /// index distinguishes these threads.
  std::vector<RangedVar> sharing_threads;
  /// Whether tasks of a persistent region share the memory. While some tasks still read it, others
  /// may have reached a later statement.
  bool is_shared_by_tasks;

  tir::StorageScope scope() const;
  /// The size in bits; nullopt if an extent is not constant or the product overflows.
  std::optional<std::int64_t> constant_bits() const;
};

struct Moment {
  enum class Kind : std::uint8_t { Leaf, Begin, End };
  Kind kind;
  tir::Stmt stmt;
  /// The allocations outside the statement that the statement uses, in order of use. Begin and End
  /// have the same list.
  std::vector<AllocationId> touched;
  /// Whether `touched` covers the whole statement (false for the operands of an attribute or
  /// allocation).
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

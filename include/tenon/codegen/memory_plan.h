// Where the memory of flat programs is: positions of elements, and which temporaries a thread keeps
// on its stack.
//
//   flat_index(T, {i, j})                     // i * 16 + j, of T: 8 x 16
//   StackPlan plan(body); plan.contains(acc)  // small and of constant size
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "tenon/tir/stmt.h"

namespace tenon::codegen {

/// The alignment that the runtime's workspaces promise, in bytes.
inline constexpr int kWorkspaceAlignment = 128;

/// The position in elements behind the buffer's data pointer; a vector if the last index is one.
/// Precondition: there is an index.
tir::Expr flat_index(const tir::Buffer& buffer, const std::vector<tir::Expr>& indices);

/// nullopt for a size that is known at run time only, or that 64 bits do not count. An extent below
/// zero counts as zero.
std::optional<std::int64_t> constant_bytes(const tir::Allocate& allocation);

/// The temporaries that a function (or the body of a parallel loop) keeps on its thread's stack;
/// the others come from the workspace pool. There is a budget, and the smallest come first: they
/// are what register tiles are made of. Bodies of parallel loops within have plans of their own.
class StackPlan {
 public:
  StackPlan() = default;
  explicit StackPlan(const tir::Stmt& body);
  bool contains(const tir::Allocate& n) const { return on_stack_.contains(&n.data.node()); }

 private:
  std::unordered_set<const tir::ExprNode*> on_stack_;
};

}  // namespace tenon::codegen

// Rewriting of all bodies of an operation together. Components of one reduction remain components
// of one reduction.
#pragma once

#include "tenon/support/dense_map.h"
#include "tenon/te/operation.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

/// Applies f to every body. For components of a reduction, applies f to the reducer, the sources,
/// the inits and the condition. A body that does not change is returned as the same handle. If
/// `maps_ranges` is true, also applies f to the ranges of reduction axes and recreates an axis
/// whose range changes. Otherwise the axes stay the same handles, which users and relations refer
/// to.
std::vector<Expr> map_bodies(const std::vector<Expr>& bodies, tir::ExprMap f,
                             bool maps_ranges = false);

/// Applies f to the combination and the identity of a reducer, which may use axes of the operation
/// and parameters of the function. Returns the same handle if nothing changes.
tir::CommReducer map_reducer(const tir::CommReducer& reducer, tir::ExprMap f);

/// Returns bodies that are the components of the reduction.
std::vector<Expr> components_of(const std::shared_ptr<const tir::ReduceNode>& reduction);

/// Calls f for every spatial axis of a scan, with the number of its state and its dimension.
void for_each_space(const Scan& scan,
                    FunctionRef<void(std::size_t k, std::size_t dim, const IterVar& axis)> f);

/// Results by the node of an expression.
using ExprMemo = DenseMap<const tir::ExprNode*, Expr>;

/// Rewrites an expression bottom-up. `replace` receives each read of a tensor, with rewritten
/// indices. If it returns nullopt, the read is kept. A sub-expression that calls with the same
/// `done` share is rewritten once and remains shared.
Expr rewrite_loads(const Expr& e,
                   FunctionRef<std::optional<Expr>(const tir::ProducerLoad& load)> replace,
                   ExprMemo& done);

/// Whether the operator is a quotient or a remainder.
inline bool is_division(tir::BinaryOp op) {
  using enum tir::BinaryOp;
  return op == FloorDiv || op == FloorMod || op == TruncDiv || op == TruncMod;
}

/// Appends the tensor unless the list contains it.
void add_once(std::vector<Tensor>& tensors, const Tensor& tensor);
/// Adds to `found` the tensors that the expressions read, in order of first appearance (a read
/// inside an index precedes the read around it).
void add_tensors_read(std::span<const Expr> expressions, std::vector<Tensor>& found);
/// Returns the tensors that the expression reads, in the same order.
std::vector<Tensor> tensors_read(const Expr& e);

/// A read of an element: the tensor and the indices.
using TensorRead = std::pair<Tensor, std::vector<Expr>>;

/// Returns the reads of single elements in a compute (in bodies, and in sources, conditions, inits
/// and ranges of reductions) or in a tensor compute (in scalars and region bounds), without
/// duplicates, in order of appearance. Empty for operations of other kinds.
std::vector<TensorRead> collect_reads(const Operation& op);

}  // namespace tenon::te

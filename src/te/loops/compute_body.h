// The statements of a compute at one point: stores of its elements.
#pragma once

#include "te/loops/compute_nest.h"

namespace tenon::te {

/// Returns output[axes] = body, for every output.
Stmt make_stores(const FrozenStage& stage, const Program& program, const LoopNest& nest);

/// Returns output[axes] = 0, for every output.
Stmt make_zeros(const FrozenStage& stage, const Program& program, const LoopNest& nest);

struct ReductionBody {
  /// The statement output[axes] = start value.
  Stmt init;
  /// The statement output[axes] = combine(output[axes], source), under the reduction's condition.
  Stmt update;
};

/// Makes the statements of a reduction. All new values are computed from the old ones: if a later
/// output reads an earlier one, its value is saved before the store.
ReductionBody make_reduction(const FrozenStage& stage, const Program& program,
                             const ComputeNest& nest);

/// Returns buffers[k][indices] = values[k] with simultaneous semantics: a value that reads a buffer
/// stored before it is computed first.
Stmt store_together(const std::vector<tir::Buffer>& buffers, std::vector<Expr> values,
                    const std::vector<Expr>& indices);

/// Returns the reducer's result for the operands `lhs` and `rhs`.
std::vector<Expr> combine(const tir::CommReducerNode& reducer, const std::vector<Expr>& lhs,
                          const std::vector<Expr>& rhs);

}  // namespace tenon::te

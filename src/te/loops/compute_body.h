// The statements of a compute at one point: stores of its elements.
#pragma once

#include "te/loops/compute_nest.h"

namespace tenon::te {

/// output[axes] = body, for every output.
Stmt make_stores(const FrozenStage& stage, const Program& program, const LoopNest& nest);

/// output[axes] = 0, for every output.
Stmt make_zeros(const FrozenStage& stage, const Program& program, const LoopNest& nest);

struct ReductionBody {
  /// output[axes] = start value.
  Stmt init;
  /// output[axes] = combine(output[axes], source), where the reduction's condition holds.
  Stmt update;
};

/// All new values of an update come from the old ones: where a later output reads an earlier one,
/// its value is kept before that is stored.
ReductionBody make_reduction(const FrozenStage& stage, const Program& program,
                             const ComputeNest& nest);

/// buffers[k][indices] = values[k] as if at once: a value that reads a buffer stored before it is
/// computed first.
Stmt store_together(const std::vector<tir::Buffer>& buffers, std::vector<Expr> values,
                    const std::vector<Expr>& indices);

/// The reducer's result where its left side is `lhs` and its right side `rhs`.
std::vector<Expr> combine(const tir::CommReducerNode& reducer, const std::vector<Expr>& lhs,
                          const std::vector<Expr>& rhs);

}  // namespace tenon::te

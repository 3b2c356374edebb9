// The loops of a compute and of its initialization, with their guards.
#pragma once

#include "te/loops/loop_nest.h"

namespace tenon::te {

/// The loops of a compute and of its initialization, and the number of shared loops.
struct ComputeNest {
  LoopNest main;
  std::vector<Expr> main_guards;
  /// Conditions under which an element is computed. Otherwise the element is set to 0
  /// (Rounding::filled).
  std::vector<Expr> fill_guards;
  /// The number of outermost leaves that the initialization and the update share: those before the
  /// first leaf that carries a reduction.
  std::size_t common;
  /// The loops of the initialization. Present only for reductions.
  std::optional<LoopNest> init;
  std::vector<Expr> init_guards;
  /// The ranges that the axes would have if no reduction were empty. Present only if a loop runs
  /// over both elements and reduction steps and the reduction may be empty: `init` must run even
  /// then.
  std::optional<AxisRanges> with_a_step;
  /// Whether steps for which the reduction's condition is false add the identity, so that the
  /// condition is not tested.
  bool skips_condition = false;
};

ComputeNest make_compute_nest(StageId stage, const Program& program);

// The statements of a compute at one point: stores of its elements.

/// Returns output[axes] = body, or 0 where a fill guard fails, for every output.
Stmt make_stores(const FrozenStage& stage, const Program& program, const ComputeNest& nest);

/// Returns the two statements of a reduction: the init, output[axes] = start value, and the update,
/// output[axes] = combine(output[axes], source) under the reduction's condition. All new values are
/// computed from old values. If the value of a later output reads an earlier output, it is computed
/// before the earlier output is stored.
std::pair<Stmt, Stmt> make_reduction(const FrozenStage& stage, const Program& program,
                                     const ComputeNest& nest);

/// Returns the stores buffers[k][indices] = values[k] for all k, as if they were simultaneous. A
/// value that reads the buffer of an earlier store is computed before all stores.
Stmt store_together(const std::vector<tir::Buffer>& buffers, std::vector<Expr> values,
                    const std::vector<Expr>& indices);

/// Returns the reducer's result for the operands `lhs` and `rhs`.
std::vector<Expr> combine(const tir::CommReducerNode& reducer, const std::vector<Expr>& lhs,
                          const std::vector<Expr>& rhs);

}  // namespace tenon::te

// The computation of a reduction block: its outputs, the combiner of two partial results, and the
// values that it combines.
//
//   v0 = select(V[i] >= A[i, k], I[i], k)           outputs  I[i], V[i]
//   v1 = select(V[i] >= A[i, k], V[i], A[i, k])     combiner argmax(x, y)
//   I[i] = v0;  V[i] = v1                           values   k, A[i, k]
#pragma once

#include "tenon/arith/reducer_laws.h"
#include "tenon/tir/block.h"

namespace tenon::s_tir {

struct ReductionBody {
  /// For each output: its store, its initial value, and the value that is combined with it.
  std::vector<tir::Store> outputs;
  std::vector<tir::Expr> identities, values;
  tir::CommReducer combiner;
  /// Whether all values are computed before the first is stored.
  bool has_lets = false;

  /// Return the init and the update for other elements and values.
  tir::Stmt init(const std::vector<tir::Store>& to) const;
  tir::Stmt update(const std::vector<tir::Store>& to, const std::vector<tir::Expr>& with) const;
};

/// Returns the reduction. Nullopt unless the block has an init and its update is by a known
/// reducer, starting from its identity.
std::optional<ReductionBody> find_reduction_body(const tir::Block& block);

/// Returns a counterexample, as part of a sentence, to the laws of a registered reducer that the
/// change relies on; nullopt if none is found. Sums, products, minima and maxima satisfy all laws.
std::optional<std::string> broken_law(const ReductionBody& body, arith::ReductionChange change);

}  // namespace tenon::s_tir

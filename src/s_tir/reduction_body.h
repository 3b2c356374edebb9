// What a reduction block computes: its outputs, what combines two partial results of them, and what
// is combined with them.
//
//   v0 = select(V[i] >= A[i, k], I[i], k)           outputs  I[i], V[i]
//   v1 = select(V[i] >= A[i, k], V[i], A[i, k])     combiner argmax(x, y)
//   I[i] = v0;  V[i] = v1                           values   k, A[i, k]
#pragma once

#include "tenon/arith/reducer_laws.h"
#include "tenon/tir/block.h"

namespace tenon::s_tir {

struct ReductionBody {
  /// For each output: where it is stored, what it starts from, and what is combined with it.
  std::vector<tir::Store> outputs;
  std::vector<tir::Expr> identities, values;
  tir::CommReducer combiner;
  /// All values are computed before one is stored.
  bool has_lets = false;

  /// The outputs in other elements: their first values; and other values combined with them.
  tir::Stmt init(const std::vector<tir::Store>& to) const;
  tir::Stmt update(const std::vector<tir::Store>& to, const std::vector<tir::Expr>& with) const;
};

/// Nullopt unless the block has an init and its update is by a reducer that is known, from the
/// reducer's identity.
std::optional<ReductionBody> find_reduction_body(const tir::Block& block);

/// A counterexample to the laws of a registered reducer that the change relies on, as part of a
/// sentence; nullopt if none is found. Sums, products, minima and maxima have them all.
std::optional<std::string> broken_law(const ReductionBody& body, arith::ReductionChange change);

}  // namespace tenon::s_tir

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
  /// One element per output: the update's store, the initial value, and the value that is combined
  /// into the output.
  std::vector<tir::Store> outputs;
  std::vector<tir::Expr> identities, values;
  tir::CommReducer combiner;
  /// Whether all values are computed in lets before the first store.
  bool has_lets = false;

  /// Returns the update with the elements `to` and the values `with`.
  tir::Stmt update(const std::vector<tir::Store>& to, const std::vector<tir::Expr>& with) const;
};

/// Returns the stores of the values to the elements.
tir::Stmt stores_to(const std::vector<tir::Store>& elements, const std::vector<tir::Expr>& values);

/// Returns the reduction of a block. Nullopt unless the block has an init, its update is a known
/// reducer, and the init stores the reducer's identity.
std::optional<ReductionBody> find_reduction_body(const tir::Block& block);

/// Checks that a registered reducer satisfies the laws that the change relies on. Returns a
/// counterexample as part of a sentence, or nullopt if none is found. Sums, products, minima and
/// maxima satisfy all laws.
std::optional<std::string> broken_law(const ReductionBody& body, arith::ReductionChange change);

}  // namespace tenon::s_tir

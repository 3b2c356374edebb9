// Analysis of scalar loops whose iterations might run as lanes of vectors.
//
//   for (i, 0, n) { let x = A[i]; B[i] = x*x; S[0] = S[0] + C[i] }     // with integers in S
//
// The stores to B do not conflict between iterations, and S[0] is a reduction: lanes accumulate
// separately and are combined after the loop.
#pragma once

#include <optional>

#include "lower/loops/accumulation.h"
#include "tenon/arith/facts.h"

namespace tenon::lowering {

struct ScalarLoop {
  std::vector<Accumulation> accumulations;
  /// The widest type, in bits, of the values that are computed; at least 8.
  int widest_bits = 8;
  /// Cost per iteration: the number of operations, and the number of accesses by their stride.
  int operations = 0;
  int contiguous = 0;
  /// Loads with a stride of two to four elements.
  int strided = 0;
  /// Other loads whose indices differ between iterations.
  int gathered = 0;
  int scattered = 0;
  /// Stores with a stride of two to four elements that fill each other's gaps.
  int interleaved = 0;
  /// The narrowest element, in bits, that lanes may only access under a condition; nullopt if there
  /// are no such elements.
  std::optional<int> masked_bits;
  bool has_loops = false;
};

/// Returns nullopt unless the body consists of serial loops, lets, conditions and scalar stores,
/// its values are pure, and its iterations are independent except for accumulations. Float
/// accumulations need `may_reassociate`, because lanes change their order. `facts` hold around the
/// loop; the loop variables are added to them.
std::optional<ScalarLoop> read_scalar_loop(const tir::For& loop, arith::Facts& facts,
                                           bool may_reassociate);

/// Whether `index` is provably in bounds of the buffer.
bool is_inside(const tir::Buffer& buffer, const tir::Expr& index, const arith::Facts& facts);

/// Returns the increment of `index` per step of `var`; nullopt unless it is the same for all
/// values.
std::optional<tir::Expr> step_of(const tir::Expr& index, const tir::Var& var);

/// Whether a math function has vector instructions or a polynomial. Vectorizing per-lane library
/// calls gains nothing.
bool has_vector_form(const tir::Call& call);

}  // namespace tenon::lowering

// Analyses of loop bodies, for passes that rearrange iterations. A vector body consists of serial
// loops that only store vectors. The iterations of a scalar loop might become lanes.
//
//   for (k, 0, 8) { S[ramp(0, 1, 4)] = S[ramp(0, 1, 4)] + A[ramp(k*4, 1, 4)] }    // a vector body
//   for (i, 0, n) { let x = A[i]; B[i] = x*x; S[0] = S[0] + C[i] }                // a scalar loop
//
// S is a sum in both. In the vector body, it consists of vectors that stay in registers. In the
// scalar loop, the lanes accumulate separately and are combined after the loop.
#pragma once

#include <optional>

#include "lower/loops/accumulation.h"
#include "tenon/arith/dependence.h"

namespace tenon::lowering {

// ---- vector bodies ------------------------------------------------------------------------------

/// A vector in memory that a statement of the body loads, updates and stores.
struct Accumulator {
  tir::Buffer buffer;
  /// The index with the lets of the body inlined.
  tir::Expr index;
  DataType dtype;
  /// The number of updates of this vector that follow each other without an update of another
  /// vector.
  std::int64_t additions = 1;
};

struct VectorBody {
  /// The distinct accesses of memory that the body does not allocate. `indices` has the vector or
  /// scalar index of each access, with the lets of the body inlined.
  arith::Footprint memory;
  std::vector<tir::Expr> indices;
  std::vector<Accumulator> sums;
  /// The loops inside the body, outermost first.
  std::vector<const tir::For*> loops;
  /// The lets of the body, inlined into each other.
  tir::VarMap lets;
  /// The data pointers of memory that the body allocates; each iteration has its own.
  std::vector<tir::Var> own_memory;
  std::size_t stores = 0;

  bool owns(const tir::Buffer& buffer) const;
};

/// Returns nullopt unless the body consists of serial loops with constant extents, allocations with
/// constant sizes, lets and vector stores. Values and indices must be pure, and vectors must be
/// contiguous or have a constant positive stride. The result refers to loops of `s`.
std::optional<VectorBody> read_vector_body(const tir::Stmt& s);

/// Whether the iterations are independent and may run in any order.
bool has_independent_iterations(const tir::For& loop, const VectorBody& body);

/// Whether some memory has two names (aliases). This analysis cannot detect that both refer to the
/// same elements.
bool renames_memory(const tir::Stmt& s);

// ---- scalar loops -------------------------------------------------------------------------------

struct ScalarLoop {
  /// The accumulations into elements with loop-invariant indices; one for each element.
  std::vector<Accumulation> accumulations;
  /// The widest type, in bits, of the values that are computed; at least 8.
  int widest_bits = 8;
  /// The cost of an iteration: the number of operations, and the number of accesses of each kind.
  int operations = 0;
  int contiguous = 0;
  /// Loads with a stride of two to four elements.
  int strided = 0;
  /// Other loads whose indices differ between iterations.
  int gathered = 0;
  int scattered = 0;
  /// Stores with a stride of two to four elements that fill each other's gaps.
  int interleaved = 0;
  /// The width in bits of the narrowest element that lanes may only access under a condition;
  /// nullopt if no access is masked.
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

/// Whether a math function has vector instructions or a polynomial. Vectorizing per-lane library
/// calls gains nothing.
bool has_vector_form(const tir::Call& call);

}  // namespace tenon::lowering

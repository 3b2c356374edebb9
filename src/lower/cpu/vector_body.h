// Memory accesses of bodies that only store vectors in serial loops. The iterations and sums of
// such bodies can be rearranged.
#pragma once

#include <optional>

#include "tenon/arith/dependence.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

/// A vector that a statement of the body loads, updates and stores.
struct Accumulator {
  tir::Buffer buffer;
  /// The index with the lets of the body inlined.
  tir::Expr index;
  DataType dtype;
  /// The number of consecutive updates before another vector is updated.
  std::int64_t additions = 1;
};

/// A distinct access of memory that the body does not allocate.
struct VectorAccess {
  arith::Access access;
  /// The index, a vector or a scalar, with the lets of the body inlined.
  tir::Expr index;
};

struct VectorBody {
  struct Loop {
    tir::Var var;
    tir::Range range;
  };
  std::vector<VectorAccess> accesses;
  std::vector<Accumulator> sums;
  /// The loops inside the body, outermost first.
  std::vector<Loop> loops;
  /// The data pointers of memory that the body allocates; each iteration has its own.
  std::vector<tir::Var> own_memory;
  std::size_t stores = 0;

  bool owns(const tir::Buffer& buffer) const;
};

/// Returns nullopt unless the body consists of serial loops with constant extents, allocations with
/// constant sizes, lets and vector stores. Values and indices must be pure, and vectors must be
/// contiguous or have a constant positive stride.
std::optional<VectorBody> read_vector_body(const tir::Stmt& s);

/// Returns the number of vector registers of `vector_bits` bits that a value of the type occupies.
int registers_for(DataType dtype, int vector_bits);

/// Whether the iterations are independent and may run in any order.
bool has_independent_iterations(const tir::For& loop, const VectorBody& body);

/// Whether memory has two names (aliases), which this analysis cannot distinguish.
bool renames_memory(const tir::Stmt& s);

}  // namespace tenon::lowering

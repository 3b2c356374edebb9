// What a loop's body does to memory, for bodies that are nothing but vectors stored in serial
// loops: the kind whose iterations and sums can be rearranged.
#pragma once

#include <optional>

#include "tenon/arith/dependence.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

/// A vector that a statement of the body reads, changes and stores.
struct Accumulator {
  tir::Buffer buffer;
  /// Lets of the body are inlined.
  tir::Expr index;
  DataType dtype;
  /// How often it is changed before it is another vector's turn.
  std::int64_t additions = 1;
};

/// An access of memory from outside, each once.
struct VectorAccess {
  arith::Access access;
  /// Its index, a vector or a scalar. Lets of the body are inlined.
  tir::Expr index;
};

struct VectorBody {
  struct Loop {
    tir::Var var;
    tir::Range range;
  };
  std::vector<VectorAccess> accesses;
  std::vector<Accumulator> sums;
  /// The loops inside, outer ones first.
  std::vector<Loop> loops;
  /// Data pointers of memory that the body allocates: each of its runs has its own.
  std::vector<tir::Var> own_memory;
  std::size_t stores = 0;

  bool owns(const tir::Buffer& buffer) const;
};

/// nullopt for a body that holds anything else than serial loops of constant extents, allocations
/// of constant size, lets, and stores of vectors whose values and indices are computed without side
/// effects, contiguous or with a constant positive stride.
std::optional<VectorBody> read_vector_body(const tir::Stmt& s);

/// Vector registers of the given width that the value takes.
int registers_for(DataType dtype, int vector_bits);

/// Whether the loop's iterations touch nothing that another one writes, so that they may run in any
/// order.
bool has_independent_iterations(const tir::For& loop, const VectorBody& body);

/// Whether memory is known under two names, which nothing here can tell apart.
bool renames_memory(const tir::Stmt& s);

}  // namespace tenon::lowering

// Recognition of stores that accumulate: S = S op term.
#pragma once

#include <optional>

#include "tenon/tir/walk.h"

namespace tenon::lowering {

/// A store that accumulates into an element: `element = element op term`.
struct Accumulation {
  tir::Buffer buffer;
  /// The index of the element with the lets of the body inlined.
  tir::Expr index;
  tir::BinaryOp op;
  tir::Expr term;
};

/// Returns the accumulation that the store performs; nullopt if the store does not accumulate.
/// `lets` holds the values of the enclosing lets.
std::optional<Accumulation> read_accumulation(const tir::Store& store, const tir::VarMap& lets);

/// Whether the expression loads from the memory.
bool reads(const tir::Expr& e, const tir::Var& data);

}  // namespace tenon::lowering

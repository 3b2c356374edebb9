// Stores that accumulate: S = S op term.
#pragma once

#include <optional>

#include "tenon/tir/walk.h"

namespace tenon::lowering {

/// An element that an iteration accumulates into, the same one in all iterations.
struct Accumulation {
  tir::Buffer buffer;
  /// Lets of the body are inlined.
  tir::Expr index;
  tir::BinaryOp op;
};

/// `target = target op term`, as a statement of the body does it.
struct AccumulationStep {
  Accumulation target;
  tir::Expr term;
};

/// The store as a step of an accumulation; `lets` has the values of the lets around it.
std::optional<AccumulationStep> read_accumulation(const tir::Store& store, const tir::VarMap& lets);

/// Whether the expression loads from the memory.
bool reads(const tir::Expr& e, const tir::Var& data);

}  // namespace tenon::lowering

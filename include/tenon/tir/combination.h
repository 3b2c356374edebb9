// The combination that a reduction block performs: `out = out (+) value`, starting at the identity.
#pragma once

#include "tenon/tir/block.h"

namespace tenon::tir {

/// One combination step of a reduction.
struct Combination {
  /// Add, Mul, Min or Max.
  BinaryOp op;
  /// The operand other than the element.
  Expr value;
  /// Whether the element is the left operand.
  bool element_is_left;
};

/// Returns the combination, or nullopt unless the block's body is one store of the form `out = out
/// (+) value` and its init is the operator's identity element in the element type.
std::optional<Combination> find_combination(const Block& block);

/// Returns the combination of a block without an init, which combines the element's previous value.
std::optional<Combination> find_update(const Block& block);

/// Returns the identity element of Add, Mul, Min, Max, And or Or: -0.0 for float sums, +/- infinity
/// for float Min and Max. (TVM 0.9 text shows the largest finite numbers for Min and Max.)
Expr identity_of(BinaryOp op, DataType type);

}  // namespace tenon::tir

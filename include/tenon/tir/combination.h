// The combination that a reduction block makes: `out = out (+) value`, starting from the identity.
#pragma once

#include "tenon/tir/block.h"

namespace tenon::tir {

/// What an element is combined with.
struct Combination {
  /// Add, Mul, Min or Max.
  BinaryOp op;
  /// What is combined with the element.
  Expr value;
  /// Whether the element is the left operand.
  bool element_is_left;
};

/// Nullopt unless the block's body is one store of that form, and its init the identity of the
/// operator in the element's type.
std::optional<Combination> find_combination(const Block& block);

/// The same of a block whose init is elsewhere: what its element was before, combined.
std::optional<Combination> find_update(const Block& block);

/// The value that changes none that it is combined with by Add, Mul, Min, Max, And or Or: -0.0 for
/// sums of floats, the infinities for their minima and maxima. TVM 0.9 text shows these as the
/// greatest finite numbers.
Expr identity_of(BinaryOp op, DataType type);

}  // namespace tenon::tir

// The combination that a reduction block performs: `out = out (+) value`, where (+) is an operator
// and the init stores its identity element.
#pragma once

#include "tenon/tir/block.h"

namespace tenon::tir {

/// One step of a reduction, which combines an element of the output with a value.
struct Combination {
  /// Add, Mul, Min or Max.
  BinaryOp op;
  /// The operand that is not the element of the output.
  Expr value;
  /// Whether the element of the output is the left operand.
  bool element_is_left;
};

/// Returns the combination, or nullopt unless the block's body is one store of the form `out = out
/// (+) value` and its init is the operator's identity element in the element type.
std::optional<Combination> find_combination(const Block& block);

/// Returns the combination of a block without an init. Such a block combines a value with whatever
/// the element contains.
std::optional<Combination> find_update(const Block& block);

/// Returns the identity element of Add, Mul, Min, Max, And or Or: -0.0 for float sums, +/- infinity
/// for float Min and Max. (TVM 0.9 text shows the largest finite numbers for Min and Max.)
Expr identity_of(BinaryOp op, DataType type);

/// Returns the finite number that TVM 0.9 text has in place of an infinity that identity_of has
/// returned. Returns nullopt for any other node, even if its value is infinite.
std::optional<double> finite_identity(const ExprNode& node);

}  // namespace tenon::tir

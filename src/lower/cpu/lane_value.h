// Extraction of lanes from vector expressions: several lanes as a vector, or one as a scalar.
#pragma once

#include <optional>

#include "tenon/tir/walk.h"

namespace tenon::lowering {

/// Lanes first, ..., first + count - 1 of vectors with `lanes` lanes.
struct LanePart {
  int lanes;
  tir::Expr first;
  int count;
};

/// Returns the selected lanes of `e`; nullopt if they cannot be computed separately.
std::optional<tir::Expr> part_of(const tir::Expr& e, const LanePart& part);

/// Rebuilds an arithmetic operation, comparison, cast or select with the operands that `operand`
/// returns; nullopt for other expressions, or if `operand` returns nullopt.
std::optional<tir::Expr> lane_wise(const tir::Expr& e,
                                   FunctionRef<std::optional<tir::Expr>(const tir::Expr&)> operand);

/// Returns the value of `e` in lane `lane`; nullopt if that lane cannot be computed separately.
std::optional<tir::Expr> lane_value(const tir::Expr& e, const tir::Var& lane);

}  // namespace tenon::lowering

// Some lanes of a vector expression, or one as a scalar.
#pragma once

#include <optional>

#include "tenon/tir/walk.h"

namespace tenon::lowering {

/// Lanes first, ..., first + count - 1 of vectors of `lanes` lanes.
struct LanePart {
  int lanes;
  tir::Expr first;
  int count;
};

/// These lanes of a vector; nullopt where they cannot be computed alone.
std::optional<tir::Expr> part_of(const tir::Expr& e, const LanePart& part);

/// The operation on what is made of each operand; nullopt where that is for one, or if it is no
/// arithmetic, test, cast or select.
std::optional<tir::Expr> lane_wise(const tir::Expr& e,
                                   FunctionRef<std::optional<tir::Expr>(const tir::Expr&)> operand);

/// The value of `e` in lane number `lane`; nullopt if that lane cannot be computed alone.
std::optional<tir::Expr> lane_value(const tir::Expr& e, const tir::Var& lane);

}  // namespace tenon::lowering

// Whether an index goes to another element in each iteration of the loops around it.
//
//   is_injective(i*8 + j, {{i, [0, 4)}, {j, [0, 8)}})     true
//   is_injective(i*8 + j, {{i, [0, 4)}, {j, [0, 9)}})     false: (0, 8) and (1, 0)
//   is_injective(i*8 + j, {{i, [0, 4)}, {j, [0, 9)}}, {j < 8})    true
//   is_injective(floordiv(i, 2), {{i, [0, 4)}})           false
#pragma once

#include "lower/extent_bound.h"

namespace tenon::lowering {

/// True only where it is proved, false else: for sums of the loops' variables, each multiplied by
/// more than all smaller terms can add up to. The lanes of a vector index count as a loop more.
/// Variables other than the loops' are taken to be the same in all iterations. The guards hold in
/// all iterations that count.
bool is_injective(const tir::Expr& index, const std::vector<RangedVar>& loops,
                  const std::vector<tir::Expr>& guards = {});

}  // namespace tenon::lowering

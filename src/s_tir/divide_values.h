// Values of iterators divided into what loops outside of a place make of them and what loops inside
// do.
//
//   value i_0 * 8 + i_1, with i_1 inside: outer i_0, inner i_1, of which there are 8
#pragma once

#include "s_tir/iter_map.h"
#include "tenon/tir/expr.h"

namespace tenon::s_tir {

/// A value of an iterator as outer * (number of inner values) + inner + base. A value that is all
/// outer has no base beside it.
struct Division {
  tir::Expr outer = 0, inner = 0, base = 0;
  /// Where the inner values begin.
  tir::Expr inner_min = 0;
  tir::Expr outer_extent = 1, inner_extent = 1;
  bool is_all_outer() const { return tir::is_one(inner_extent); }
  bool is_all_inner() const { return tir::is_one(outer_extent); }
};

struct DividedValues {
  std::vector<Division> values;
  /// The bounds of numbers that are all outside, or all inside.
  tir::Expr outer_predicate, inner_predicate;
};

/// Nullopt unless in each value the digits of loops outside come before those of loops inside.
/// `is_inner`: of each loop of the map, in order.
std::optional<DividedValues> divide_values(const IterMap& map, std::vector<bool> is_inner);

}  // namespace tenon::s_tir

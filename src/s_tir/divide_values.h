// Division of iterator values into contributions of loops outside a node and loops inside it.
//
//   value i_0 * 8 + i_1, with i_1 inside: outer i_0, inner i_1, of which there are 8
#pragma once

#include "s_tir/iter_map.h"
#include "tenon/tir/expr.h"

namespace tenon::s_tir {

/// A value of an iterator as outer * (number of inner values) + inner + base. A value without an
/// inner part has no separate base.
struct Division {
  tir::Expr outer = 0, inner = 0, base = 0;
  /// The minimum of the inner values.
  tir::Expr inner_min = 0;
  tir::Expr outer_extent = 1, inner_extent = 1;
  bool is_all_outer() const { return tir::is_one(inner_extent); }
  bool is_all_inner() const { return tir::is_one(outer_extent); }
};

struct DividedValues {
  std::vector<Division> values;
  /// The bounds of numbers that are outer as a whole, and of those that are inner as a whole.
  tir::Expr outer_predicate, inner_predicate;
};

/// Divides the values. Nullopt unless the digits of outer loops precede those of inner loops in
/// each value. `is_inner` has one entry per loop of the map.
std::optional<DividedValues> divide_values(const IterMap& map, std::vector<bool> is_inner);

}  // namespace tenon::s_tir

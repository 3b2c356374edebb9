// Index maps that move digits: every new index is a sum of scaled digits floormod(floordiv(old,
// lower), extent) of old indices, as splitting, fusing and permuting dimensions make them. Such a
// map is a bijection of boxes exactly if every digit of every old index goes to exactly one place,
// without gaps; its inverse is then again such a map.
//
//   (i, j) -> (j//8, i, j%8)  over 16 x 64:   inverse (a, b, c) -> (b, a*8 + c), new box 8 x 16 x 8
#pragma once

#include "tenon/te/relation.h"

namespace tenon::te {

struct Bijection {
  Transform::Map inverse;
  /// The extents of the new box.
  std::vector<Expr> extents;
};

/// Nullopt if the map cannot be shown to be a bijection from the box of these extents. The
/// inverse's parameters are named axis0, axis1, ...
std::optional<Bijection> invert(const Transform::Map& forward, const std::vector<Expr>& extents);
/// The same of the box whose extents are rounded up to what the map divides them by. Nullopt where
/// one that would have to be is symbolic.
std::optional<Bijection> invert_padded(const Transform::Map& forward,
                                       const std::vector<Expr>& extents);

/// An index that the map divides, and whose extent leaves a rest.
struct Undivided {
  std::size_t index;
  std::int64_t extent, by;
};
/// The first one; nullopt if there is none.
std::optional<Undivided> find_undivided(const Transform::Map& forward,
                                        const std::vector<Expr>& extents);

}  // namespace tenon::te

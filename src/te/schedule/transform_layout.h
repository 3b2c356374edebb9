// Index maps that permute digits: every new index is a sum of scaled digits floormod(floordiv(old,
// lower), extent) of old indices. Such maps arise from splitting, fusing and permuting dimensions.
// A map is a bijection of boxes if and only if every digit of every old index occurs in exactly one
// new index, without gaps. Its inverse then has the same form.
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

/// Returns the inverse; nullopt if the map is not provably a bijection from the box with these
/// extents. The inverse's parameters are named axis0, axis1, ...
std::optional<Bijection> invert(const Transform::Map& forward, const std::vector<Expr>& extents);
/// Like `invert`, for the box whose extents are rounded up to multiples of the map's divisors.
std::optional<Bijection> invert_padded(const Transform::Map& forward,
                                       const std::vector<Expr>& extents);

/// Returns the reason why `invert` returns nullopt, for messages.
std::string why_no_bijection(const Transform::Map& forward, const std::vector<Expr>& extents);

}  // namespace tenon::te

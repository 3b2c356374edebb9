// The dimensions of two boxes, one of which may have dimensions of one element that the other does
// not have.
#pragma once

#include "tenon/arith/facts.h"

namespace tenon::te {

using tir::Expr;

/// How the dimensions of a part go together with those of the intrinsic: in order, but for
/// dimensions of extent 1, which either side may have without the other.
struct DimPairs {
  /// Per dimension of the part, the intrinsic's.
  std::vector<std::optional<std::size_t>> theirs;
  /// The intrinsic's dimensions that go with none.
  std::vector<std::size_t> unpaired;

  /// Whether the intrinsic's dimensions are just the last ones of the part.
  bool are_the_last() const;
};

/// Nullopt where they do not go together.
std::optional<DimPairs> pair_dims(const std::vector<Expr>& part, const std::vector<Expr>& theirs,
                                  arith::Facts& facts);

}  // namespace tenon::te

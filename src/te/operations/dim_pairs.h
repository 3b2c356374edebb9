// The dimensions of two boxes, either of which may have dimensions of one element that the other
// lacks.
#pragma once

#include "tenon/arith/facts.h"

namespace tenon::te {

using tir::Expr;

/// Pairs of the dimensions of a part and of an intrinsic. They are paired in order; either side may
/// have dimensions of extent 1 without a partner.
struct DimPairs {
  /// Per dimension of the part, the intrinsic's.
  std::vector<std::optional<std::size_t>> theirs;
  /// The intrinsic's dimensions without a partner.
  std::vector<std::size_t> unpaired;

  /// Whether the intrinsic's dimensions are exactly the last ones of the part.
  bool are_the_last() const;
};

/// Nullopt if the extents do not allow it.
std::optional<DimPairs> pair_dims(const std::vector<Expr>& part, const std::vector<Expr>& theirs,
                                  arith::Facts& facts);

}  // namespace tenon::te

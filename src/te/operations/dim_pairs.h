// Pairing of the dimensions of two boxes, either of which may have additional dimensions of extent
// 1.
#pragma once

#include "tenon/arith/facts.h"

namespace tenon::te {

using tir::Expr;

/// The pairing of the dimensions of a part with those of the intrinsic, in order, skipping
/// dimensions of extent 1.
struct DimPairs {
  /// The intrinsic's dimension for each dimension of the part.
  std::vector<std::optional<std::size_t>> theirs;
  /// The intrinsic's dimensions without a partner.
  std::vector<std::size_t> unpaired;

  /// Whether the intrinsic's dimensions are exactly the last ones of the part.
  bool are_the_last() const;
};

/// Returns the pairing; nullopt if the dimensions cannot be paired.
std::optional<DimPairs> pair_dims(const std::vector<Expr>& part, const std::vector<Expr>& theirs,
                                  arith::Facts& facts);

}  // namespace tenon::te

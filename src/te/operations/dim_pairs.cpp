#include "te/operations/dim_pairs.h"

#include <algorithm>

#include "tenon/arith/simplify.h"
#include "tenon/tir/expr.h"

namespace tenon::te {

using namespace tir;

bool DimPairs::are_the_last() const {
  return unpaired.empty() && std::ranges::is_sorted(theirs, {}, [](const auto& partner) {
           return partner.has_value();
         });
}

std::optional<DimPairs> pair_dims(const std::vector<Expr>& part, const std::vector<Expr>& theirs,
                                  arith::Facts& facts) {
  DimPairs pairs;
  pairs.theirs.resize(part.size());
  std::size_t i = part.size(), j = theirs.size();
  while (i > 0 || j > 0) {
    const bool is_unit = i > 0 && is_one(part[i - 1]);
    const bool is_free = j > 0 && theirs[j - 1].as<VarNode>();
    // A variable may have any value. It is paired as an extent above 1 if the other side has more
    // dimensions.
    if (i > 0 && j > 0 &&
        ((is_free && !(is_unit && i > j)) ||
         arith::can_prove_equal(part[i - 1], theirs[j - 1], facts))) {
      pairs.theirs[--i] = --j;
    } else if (is_unit) {
      --i;
    } else if (j > 0 && is_one(theirs[j - 1])) {
      pairs.unpaired.push_back(--j);
    } else {
      return std::nullopt;
    }
  }
  return pairs;
}

}  // namespace tenon::te
